// Leases of PDCP COUNTs (docs/design/cards.md). A card may give a bearer's packets COUNTs below the end of its lease.
// After a restart of the card numbering continues at that end, so no COUNT is used twice. These functions are pure
// arithmetic; COUNTs have 32 bits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "ran/count_lease.h"

namespace splitplane::app {

// How far a lease may reach ahead. After a restart a receiver sees a step of at most `most`. It must take that for a
// step forwards, so it is less than half of the SN space (TS 38.323 5.2.2.1).
struct LeaseSize {
  std::uint32_t least = 0, most = 0;
};
[[nodiscard]] constexpr LeaseSize lease_size(unsigned pdcp_sn_bits) {
  if (pdcp_sn_bits == 12) return {1024, 1024};
  return {4096, 65536};
}

// A lease is as large as what a bearer sends in this time, within lease_size. It is renewed when half of it is used.
inline constexpr std::chrono::milliseconds kLeaseHorizon{250};

// What is left of a lease; below 0 if the numbers have passed it.
[[nodiscard]] constexpr std::int32_t left_of_lease(std::uint32_t next, std::uint32_t end) {
  return static_cast<std::int32_t>(end - next);
}

[[nodiscard]] inline std::uint32_t lease_length(unsigned pdcp_sn_bits, double packets_per_second) {
  const LeaseSize size = lease_size(pdcp_sn_bits);
  const double wanted = packets_per_second * std::chrono::duration<double>(kLeaseHorizon).count();
  return wanted >= size.most ? size.most : std::max(size.least, static_cast<std::uint32_t>(wanted));
}

// The length of a lease that begins at `next`, cut at the end of COUNTs, because the card compares for equality only.
[[nodiscard]] constexpr std::uint32_t within_counts(std::uint32_t next, std::uint32_t length) {
  return std::min(length, ran::kCountEnd - next);
}

// The first lease of a new run of the card. Its numbers begin `ahead` after the last COUNT that a receiver may have
// seen. Restarts without a packet between them add up. Each takes half of the step that a receiver still takes for one
// forwards. So the step is never too long, and at last nothing is left.
[[nodiscard]] inline std::uint32_t first_lease(unsigned pdcp_sn_bits, std::uint32_t ahead, double packets_per_second) {
  const std::uint32_t half = 1U << (pdcp_sn_bits - 1);
  return std::min(lease_length(pdcp_sn_bits, packets_per_second), ahead < half ? (half - ahead) / 2 : 0);
}

// The new end of a lease if half or more of it is used; nothing while the lease is long enough.
[[nodiscard]] inline std::optional<std::uint32_t> renewed_lease(unsigned pdcp_sn_bits, std::uint32_t next,
                                                                std::uint32_t end, double packets_per_second) {
  const std::uint32_t length = lease_length(pdcp_sn_bits, packets_per_second);
  if (left_of_lease(next, end) > static_cast<std::int32_t>(length / 2)) return std::nullopt;
  const std::uint32_t later = next + within_counts(next, length);
  return later == end ? std::nullopt : std::optional(later);
}

// When to look at a bearer's numbers again: well before its rate could use up the lease.
[[nodiscard]] inline std::chrono::microseconds next_lease_look(std::uint32_t next, std::uint32_t end,
                                                               double packets_per_second,
                                                               std::chrono::microseconds idle) {
  constexpr std::chrono::microseconds kSoonest{2000};
  const std::int32_t left = left_of_lease(next, end);
  if (left <= 0) return kSoonest;
  if (packets_per_second <= 0) return idle;
  const double quarter = left / 4.0 / packets_per_second * 1e6;
  return quarter >= static_cast<double>(idle.count())
             ? idle
             : std::max(kSoonest, std::chrono::microseconds(static_cast<std::int64_t>(quarter)));
}

}  // namespace splitplane::app
