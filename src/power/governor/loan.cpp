#include "power/governor/loan.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/open_file.h"

namespace splitplane::governor {
namespace {

constexpr std::string_view kSuffix = ".loan";
constexpr int kAttempts = 50;  // its last owner may remove the file between our steps

struct Entry {
  std::string path, value;
};

// One line each: a path, a tab, a value. A line that a crash cut short belongs to a value that was not changed yet.
std::vector<Entry> read_entries(const Descriptor& file) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = ::pread(file.get(), part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  std::vector<Entry> entries;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) entries.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return entries;
}

// Where the tree like /sys begins that has the file; the whole path if it is in none.
std::string root_of(const std::string& path) {
  return path.substr(0, std::min(path.find("/devices/"), path.find("/class/")));
}

// A core can be offline for a time, and its files come back. A tree of files for a test does not.
bool is_gone(const Entry& entry) {
  const std::string root = root_of(entry.path);
  std::error_code failed;
  return root != entry.path && !root.empty() && !std::filesystem::exists(root, failed) && !failed;
}

// Two passes: the kernel refuses a lowest frequency above the highest, so one value may have to wait for the other.
std::vector<std::string> give_back_entries(const std::vector<Entry>& entries) {
  std::vector<std::string> refused;
  for (int pass = 0; pass < 2; ++pass) {
    refused.clear();
    for (const auto& entry : entries) {
      if (is_gone(entry) || read_line(entry.path) == entry.value) continue;
      if (const auto written = write_line(entry.path, entry.value); !written)
        refused.push_back(written.error().message);
    }
    if (refused.empty()) break;
  }
  return refused;
}

}  // namespace

Loan::Loan(Loan&& other) noexcept : file_(std::move(other.file_)), path_(std::move(other.path_)) {}

Expected<Loan> Loan::begin(const std::string& directory, const std::string& name) {
  const std::string path = fmt::format("{}/{}{}", directory, name, kSuffix);
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return fail("directory {} cannot be made: {}", directory, std::strerror(errno));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return fail("{} cannot be opened: {}", path, std::strerror(errno));
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return fail("another worker has it ({})", path);
    if (!is_still_at(file.get(), path)) continue;
    if (const auto refused = give_back_entries(read_entries(file)); !refused.empty())
      return fail("what a run before left could not be given back: {}", refused.front());
    if (::ftruncate(file.get(), 0) != 0) return fail("{}: {}", path, std::strerror(errno));
    return Loan(std::move(file), path);
  }
  return fail("{} comes and goes", path);
}

Expected<void> Loan::remember(const std::string& path) {
  const auto entries = read_entries(file_);
  if (std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.path == path; })) return {};
  const auto value = read_line(path);
  if (!value) return fail("{}: {}", path, std::strerror(errno));
  const std::string line = fmt::format("{}\t{}\n", path, *value);
  if (::write(file_.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return fail("{}: {}", path_, std::strerror(errno));
  return {};
}

Expected<void> Loan::change(const std::string& path, std::string_view value) {
  if (auto remembered = remember(path); !remembered) return remembered;
  return write_line(path, value);
}

std::vector<std::string> Loan::give_back() {
  if (!file_.is_open()) return {};
  auto refused = give_back_entries(read_entries(file_));
  if (refused.empty()) ::unlink(path_.c_str());
  file_.close();
  return refused;
}

std::vector<Restored> restore_all(const std::string& directory) {
  std::vector<Restored> all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(kSuffix)) continue;
    Restored restored{.name = entry.path().stem().string()};
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open()) continue;  // its owner removed it meanwhile
    restored.in_use = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    const auto entries = read_entries(file);
    if (!entries.empty()) restored.root = root_of(entries.front().path);
    if (!restored.in_use) {
      if (!is_still_at(file.get(), path)) continue;  // given back meanwhile; the name may be another owner's now
      restored.refused = give_back_entries(entries);
      if (restored.refused.empty()) ::unlink(path.c_str());
    }
    all.push_back(std::move(restored));
  }
  std::sort(all.begin(), all.end(), [](const Restored& a, const Restored& b) { return a.name < b.name; });
  return all;
}

}  // namespace splitplane::governor
