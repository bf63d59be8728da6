#include "crypto/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace splitplane::crypto {
namespace {

constexpr std::size_t kMaxKeyFile = std::size_t{64} << 20;

// Closes a file when it goes out of scope.
struct OpenFile {
  int number;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Takes the next word off the line; empty at its end or at a comment.
std::string_view take_word(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (line.starts_with('#')) line = {};
  std::size_t length = 0;
  while (length < line.size() && !is_blank(line[length])) ++length;
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

std::optional<std::uint32_t> number_of(std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number == 0) return std::nullopt;
  return number;
}

Expected<std::optional<Secret>> key_of_word(std::string_view word) {
  if (word == "-") return std::optional<Secret>{};
  auto secret = Secret::from_hex(word);
  if (!secret) return tl::unexpected(secret.error());
  return std::optional<Secret>(std::move(*secret));
}

}  // namespace

Expected<void> KeyFile::read() {
  const OpenFile file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat about{};
  if (file.number < 0 || ::fstat(file.number, &about) != 0) return fail("key file {}: {}", path_, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return fail("key file {} is no regular file", path_);
  if ((about.st_mode & 077) != 0) {
    return fail("key file {} may be read by others than its owner; allowed: mode 0600 or 0400", path_);
  }
  const auto octets = static_cast<std::size_t>(about.st_size);
  if (octets > kMaxKeyFile) return fail("key file {} has {} octets; allowed: at most {}", path_, octets, kMaxKeyFile);
  auto text = SecretMemory::map(std::max<std::size_t>(octets, 1), SecretMemory::Locking::kPreferred);
  if (!text) return tl::unexpected(text.error());
  std::size_t done = 0;
  while (done < octets) {
    const ssize_t n = ::read(file.number, text->data() + done, octets - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("key file {}: it could not be read as a whole", path_);
    done += static_cast<std::size_t>(n);
  }
  text_ = std::move(*text);
  octets_ = octets;
  // Each line is looked at once, so that a mistake is known when the program starts.
  const auto looked = look_for(0);
  if (looked) return {};
  text_.reset();
  octets_ = 0;
  return tl::unexpected(looked.error());
}

Expected<KeyFile::Keys> KeyFile::find(std::uint32_t number) {
  for (const bool again : {false, true}) {
    if (again || !text_) {
      if (auto done = read(); !done) return tl::unexpected(done.error());
    }
    auto found = look_for(number);
    if (!found) return tl::unexpected(found.error());
    if (*found) return std::move(**found);
  }
  return fail("key file {} has no keys with number {}", path_, number);
}

// 0: looks at all lines, and finds none.
Expected<std::optional<KeyFile::Keys>> KeyFile::look_for(std::uint32_t number) const {
  std::string_view rest(reinterpret_cast<const char*>(text_->data()), octets_);
  for (std::size_t line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view first = take_word(line);
    if (first.empty()) continue;
    const auto of_line = number_of(first);
    if (!of_line) {
      return fail("key file {}, line {}: it begins with no number; allowed: 1 to 4294967295", path_, line_number);
    }
    if (number != 0 && *of_line != number) continue;
    auto cipher = key_of_word(take_word(line));
    auto integrity = key_of_word(take_word(line));
    if (!cipher || !integrity || !take_word(line).empty()) {
      return fail(
          "key file {}, line {}: behind the number are not two keys; allowed: 32 or 64 hexadecimal digits each, or -",
          path_, line_number);
    }
    if (number != 0) return std::optional<Keys>(Keys{std::move(*cipher), std::move(*integrity)});
  }
  return std::optional<Keys>{};
}

}  // namespace splitplane::crypto
