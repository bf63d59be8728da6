// How far the PDCP COUNTs of a bearer's downlink may go (TS 38.323 6.3.5): never round to 0 again, and not beyond what
// the journal has on disk, so that no run after this one gives a COUNT a second time.
#pragma once

#include <cstdint>

namespace splitplane::ran {

// The COUNT that no packet gets. Behind it numbers would begin at 0 again, under the same key.
inline constexpr std::uint32_t kCountEnd = 0xffffffff;

// Of one bearer, owned by its worker. At `mark` the worker asks for a later end, once, and goes on; at `end` it drops.
struct CountLease {
  std::uint32_t end = kCountEnd;
  std::uint32_t mark = kCountEnd;  // <= end; equal: nothing to ask for, or asked already
};

}  // namespace splitplane::ran
