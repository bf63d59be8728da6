// How far the PDCP COUNTs of a bearer's downlink may go (TS 38.323 6.3.5). They never wrap to 0. They also stay below
// the end that the journal has on disk, so that a later run never uses a COUNT a second time.
#pragma once

#include <cstdint>

namespace splitplane::ran {

// The COUNT that no packet gets. After it numbers would begin at 0 again, under the same key.
inline constexpr std::uint32_t kCountEnd = 0xffffffff;

// The lease of one bearer; its worker owns it. At `mark` the worker asks once for a later end and goes on; at `end` it
// drops.
struct CountLease {
  std::uint32_t end = kCountEnd;
  std::uint32_t mark = kCountEnd;  // <= end; if equal, there is nothing to ask for, or the worker has asked
};

}  // namespace splitplane::ran
