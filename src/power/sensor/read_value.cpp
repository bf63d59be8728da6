#include "power/sensor/read_value.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "power/governor/sysfs.h"

namespace splitplane::sensor {
namespace {

constexpr double kMostWatts = 1'000'000;

std::string_view stripped(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// So that intel-rapl:10 stands behind intel-rapl:9.
bool before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    std::uint64_t x = 0, y = 0;
    i = static_cast<std::size_t>(std::from_chars(a.data() + i, a.data() + a.size(), x).ptr - a.data());
    j = static_cast<std::size_t>(std::from_chars(b.data() + j, b.data() + b.size(), y).ptr - b.data());
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace

Expected<std::string> read_text(const std::string& path) {
  errno = 0;
  const auto line = governor::read_line(path);
  if (!line) return fail("{}: {}", path, std::strerror(errno));
  return std::string(stripped(*line));
}

Expected<std::uint64_t> read_count(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  std::uint64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc{} || at != end)
    return fail("{}: holds '{}' and no whole number", path, app::printable(*text, 32));
  return number;
}

Expected<double> watts_in(std::string_view text) {
  const std::string_view number = stripped(text);
  double watts = 0;
  const auto [at, error] =
      std::from_chars(number.data(), number.data() + number.size(), watts, std::chars_format::fixed);
  const std::string_view unit =
      error == std::errc{} ? stripped(number.substr(static_cast<std::size_t>(at - number.data()))) : "none";
  const bool known = unit.empty() || unit == "W" || unit == "Watts" || unit == "watts";
  if (!known || !(watts >= 0 && watts <= kMostWatts))
    return fail("'{}' is no number of watts; allowed: 0 to {}", app::printable(number, 64), kMostWatts);
  return watts;
}

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end(), before);
  return names;
}

}  // namespace splitplane::sensor
