// Leases of PDCP COUNTs (docs/design/cards.md). A card may give a bearer's packets COUNTs below the end of its lease.
// After a restart of the card numbering continues at that end, so no COUNT is used twice. The last kLeaseReserve COUNTs
// of a lease are for packets that the host returns; the others are its direct part. These functions are pure
// arithmetic; COUNTs have 32 bits.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "card/protocol/bearer.h"
#include "ran/count_lease.h"

namespace splitplane::app {

// How far a lease may reach ahead. After a restart a receiver sees a step of at most `most`. It must take that for a
// step forwards, so it is less than half of the SN space (TS 38.323 5.2.2.1).
struct LeaseSize {
  std::uint32_t least = 0, most = 0;
};
[[nodiscard]] constexpr LeaseSize lease_size(unsigned pdcp_sn_bits) {
  // Less than 2047, so that a card that restarts before a packet still finds COUNTs: see first_lease().
  if (pdcp_sn_bits == 12) return {1792, 1792};
  return {4096, 65536};
}

// A lease is as large as what a bearer sends in this time, within lease_size. It is renewed when half of its direct
// part is used.
inline constexpr std::chrono::milliseconds kLeaseHorizon{250};

// What is left of a lease; below 0 if the numbers have passed it.
[[nodiscard]] constexpr std::int32_t left_of_lease(std::uint32_t next, std::uint32_t end) {
  return static_cast<std::int32_t>(end - next);
}

// What is left of its direct part.
[[nodiscard]] constexpr std::int32_t left_for_direct(std::uint32_t next, std::uint32_t end) {
  return left_of_lease(next, end) - static_cast<std::int32_t>(nic::kLeaseReserve);
}

[[nodiscard]] inline std::uint32_t lease_length(unsigned pdcp_sn_bits, double packets_per_second) {
  const LeaseSize size = lease_size(pdcp_sn_bits);
  const double wanted = packets_per_second * std::chrono::duration<double>(kLeaseHorizon).count();
  return wanted >= size.most ? size.most : std::max(size.least, static_cast<std::uint32_t>(wanted));
}

// The length of a lease that begins at `next`, cut at the end of COUNTs: they never wrap.
[[nodiscard]] constexpr std::uint32_t within_counts(std::uint32_t next, std::uint32_t length) {
  return std::min(length, ran::kCountEnd - next);
}

// The first lease of a new run of the card. Its numbers begin `ahead` after the last COUNT that a receiver may have
// seen. Restarts without a packet between them add up. Each takes half of the step that a receiver still takes for one
// forwards. So the step is never too long, and at last nothing is left. The lease of a bearer whose position a receiver
// knows is a whole one. A lease without a direct part suffices: the packets go by way of the host then.
[[nodiscard]] inline std::uint32_t first_lease(unsigned pdcp_sn_bits, std::uint32_t ahead, double packets_per_second) {
  const std::uint32_t half = 1U << (pdcp_sn_bits - 1);
  const std::uint32_t length = lease_length(pdcp_sn_bits, packets_per_second);
  if (ahead == 0) return length;
  return std::min(length, ahead < half ? (half - ahead) / 2 : 0);
}

// The new end of a lease if half or more of its direct part is used; nothing while the lease is long enough.
[[nodiscard]] inline std::optional<std::uint32_t> renewed_lease(unsigned pdcp_sn_bits, std::uint32_t next,
                                                                std::uint32_t end, double packets_per_second) {
  const std::uint32_t length = lease_length(pdcp_sn_bits, packets_per_second);
  if (left_for_direct(next, end) > static_cast<std::int32_t>((length - nic::kLeaseReserve) / 2)) return std::nullopt;
  const std::uint32_t later = next + within_counts(next, length);
  return later == end ? std::nullopt : std::optional(later);
}

// The same for a bearer whose worker asks for more: if a quarter of the lease is used.
[[nodiscard]] inline std::optional<std::uint32_t> lengthened_lease(unsigned pdcp_sn_bits, std::uint32_t next,
                                                                   std::uint32_t end, double packets_per_second) {
  const std::uint32_t length = lease_length(pdcp_sn_bits, packets_per_second);
  if (left_of_lease(next, end) > static_cast<std::int32_t>(length - length / 4)) return std::nullopt;
  const std::uint32_t later = next + within_counts(next, length);
  return later == end ? std::nullopt : std::optional(later);
}

// When to look at a bearer's numbers again: well before its rate could use up the direct part. The worker of a bearer
// whose packets wait asks by itself.
[[nodiscard]] inline std::chrono::microseconds next_lease_look(std::uint32_t next, std::uint32_t end,
                                                               double packets_per_second,
                                                               std::chrono::microseconds idle) {
  constexpr std::chrono::microseconds kSoonest{2000};
  if (packets_per_second <= 0) return idle;
  const std::int32_t left = left_for_direct(next, end);
  if (left <= 0) return kSoonest;
  const double quarter = left / 4.0 / packets_per_second * 1e6;
  return quarter >= static_cast<double>(idle.count())
             ? idle
             : std::max(kSoonest, std::chrono::microseconds(static_cast<std::int64_t>(quarter)));
}

}  // namespace splitplane::app
