// How much memory the RLC entities of one owner need, gNB worker or UE side.
#pragma once

#include <algorithm>

#include "engine/burst.h"
#include "ran/rlc/memory.h"

namespace splitplane::datapath {

// For `max_sdus` SDUs that wait or are not acknowledged, in at most `max_channels` channels.
//
// A page has 64 SDUs in a row of one channel. So the n SDUs that wait in a channel are in n / 64 + 2 pages at most, and
// the owner looks at the SDUs only. Those that were sent may lie in more pages, because an SDU that is missing holds
// its page: eight SDUs a page are more than most losses leave. `max_segments` received segments wait for the rest of
// their SDU, and each holds a buffer. No channel holds more than an eighth of them, but 64 in any case.
[[nodiscard]] inline ran::rlc::MemorySizes channel_memory(std::size_t max_sdus, std::size_t max_channels,
                                                          std::size_t max_segments) {
  const std::size_t pages = std::min(max_sdus, max_sdus / 8 + 2 * max_channels) + kBurst;
  const std::size_t received = 64 + max_sdus / 8;
  return {.sent_pages = 2 * kBurst + pages,
          .received_pages = received,
          .queue_pages = pages,
          .directories = 2 * (pages + received),
          .segments = max_segments,
          .assemblies = max_segments / 2 + 1,
          .intervals = 4096,
          .segments_of_one = std::max<std::size_t>(64, max_segments / 8)};
}

}  // namespace splitplane::datapath
