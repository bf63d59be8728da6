#include "bypass/count_book.h"

#include <algorithm>
#include <bit>

namespace splitplane::bypass {

// Numbers from `first` to `n` have a bit each.
void CountBook::Line::make_room(std::uint64_t n) {
  const std::uint64_t words = std::bit_ceil(n / 64 - first / 64 + 1);
  if (words <= came.size()) return;
  Line longer;
  longer.came.resize(words);
  for (std::uint64_t i = first; i < end; ++i) {
    if (has(i)) longer.set(i);
  }
  came = std::move(longer.came);
}

std::uint64_t CountBook::count_of(const Line& line, std::uint32_t sn) const {
  const std::uint64_t size = std::uint64_t{1} << sn_bits_, mask = size - 1;
  const std::uint64_t ahead = (sn - line.end) & mask, behind = size - ahead;
  return ahead < size / 2 || behind > line.end ? line.end + ahead : line.end - behind;
}

std::uint32_t CountBook::see(std::uint32_t bearer, std::uint32_t sn) {
  Line& line = lines_[bearer];
  const std::uint64_t count = count_of(line, sn);
  const auto low = static_cast<std::uint32_t>(count);
  if (count < line.first) {
    ++repeated_;
    return low;
  }
  if (count == line.first && line.end == count) {  // in order: nothing to record
    line.first = line.end = count + 1;
    return low;
  }
  for (; count - line.first >= kReach; ++line.first) {
    if (line.first < line.end && line.has(line.first)) {
      line.clear(line.first);
    } else {
      ++given_up_;
    }
  }
  line.make_room(count);
  if (count < line.end && line.has(count)) {
    ++repeated_;
    return low;
  }
  line.set(count);
  line.end = std::max(line.end, count + 1);
  for (; line.first < line.end && line.has(line.first); ++line.first) line.clear(line.first);
  return low;
}

std::uint64_t CountBook::missing() const {
  std::uint64_t all = given_up_;
  for (const Line& line : lines_) {
    all += line.end - line.first;
    for (const std::uint64_t word : line.came) all -= static_cast<std::uint64_t>(std::popcount(word));
  }
  return all;
}

}  // namespace splitplane::bypass
