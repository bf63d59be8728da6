#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace splitplane::app {
namespace {

// Edit distance in which two swapped adjacent letters count as one edit (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

// Length of the printable UTF-8 character at the start of `text` (RFC 3629 4), 0 if there is none.
std::size_t character_octets(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xc0U) == 0x80U; };
  const unsigned first = at(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first >= 0xc2 && first <= 0xdf && follows(1))
    return first == 0xc2 && at(1) < 0xa0 ? 0 : 2;  // C1 control characters
  if (first >= 0xe0 && first <= 0xef && follows(1) && follows(2)) {
    const bool overlong = first == 0xe0 && at(1) < 0xa0;
    const bool surrogate = first == 0xed && at(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3)) {
    return (first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) >= 0x90) ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::optional<std::string_view> closest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_edits = word.size() < 4 ? 2 : 3;
  for (const auto candidate : candidates) {
    const std::size_t n = edits(word, candidate);
    if (n >= best_edits || n >= candidate.size()) continue;
    best = candidate;
    best_edits = n;
  }
  return best;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= limit) return out + "...";
    const std::size_t octets = character_octets(text.substr(i));
    if (octets == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
      ++i;
    } else {
      out += text.substr(i, octets);
      i += octets;
    }
  }
  return out;
}

std::string comma_list(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace splitplane::app
