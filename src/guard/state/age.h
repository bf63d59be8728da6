// Seconds that passed since a stamp, on a clock of 32 bits that may wrap. A stamp of up to ten minutes ahead counts as
// now: a process that continues another's tables measures its own clock, and the two differ by seconds. A stamp that is
// further ahead is very old, so that it ends.
#pragma once

#include <cstdint>

namespace splitplane::guard {

inline constexpr std::uint32_t kClockSkewSeconds = 600;

// `bits` of the clock were kept in the stamp.
template <unsigned bits = 32>
[[nodiscard]] constexpr std::uint32_t age(std::uint32_t now, std::uint32_t stamp) {
  constexpr std::uint32_t kMask = bits == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits % 32) - 1;
  const std::uint32_t passed = (now - stamp) & kMask;
  return passed > kMask - kClockSkewSeconds ? 0 : passed;
}

}  // namespace splitplane::guard
