// The stamp inside a generated packet, in the first octets of its UDP payload: the run, the flow, the packet's number,
// and its intended send time. From this alone the sink computes loss, duplication, reordering and latency.
//
//   o0-3 magic | o4-7 check | o8-11 run | o12-15 flow | o16-23 sequence number | o24-31 intended send time, ns
#pragma once

#include <bit>
#include <cstdint>

#include "wire/bytes.h"

namespace splitplane::traffic {

using wire::MutableOctets;
using wire::Octets;

inline constexpr std::size_t kStampBytes = 32;
inline constexpr std::uint32_t kStampMagic = 0x53507447;  // "SPtG"

struct Stamp {
  std::uint32_t run = 0;   // one value per start of a generator: the sink ignores packets of an earlier run
  std::uint32_t flow = 0;  // counted from 0 within the run
  std::uint64_t sequence = 0;
  std::uint64_t intended_ns = 0;  // CLOCK_MONOTONIC of the generator's host
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// Finds a changed octet that a wrong or absent UDP checksum did not show. It does not protect against intent.
[[nodiscard]] constexpr std::uint32_t stamp_check(const Stamp& stamp) {
  std::uint64_t mix = (std::uint64_t{stamp.run} << 32 | stamp.flow) * 0x9e3779b97f4a7c15ULL;
  mix = (std::rotl(mix, 29) ^ stamp.sequence) * 0xbf58476d1ce4e5b9ULL;
  mix = (std::rotl(mix, 31) ^ stamp.intended_ns) * 0x94d049bb133111ebULL;
  return static_cast<std::uint32_t>(mix >> 32);
}

// Writes kStampBytes octets and returns their sum as 32-bit words, for an Internet checksum over them.
inline std::uint64_t write_stamp(std::uint8_t* out, const Stamp& stamp) {
  const std::uint64_t first = std::uint64_t{kStampMagic} << 32 | stamp_check(stamp);
  const std::uint64_t second = std::uint64_t{stamp.run} << 32 | stamp.flow;
  wire::store_be64(out, first);
  wire::store_be64(out + 8, second);
  wire::store_be64(out + 16, stamp.sequence);
  wire::store_be64(out + 24, stamp.intended_ns);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : {first, second, stamp.sequence, stamp.intended_ns}) {
    sum += (word >> 32) + (word & 0xFFFFFFFFU);
  }
  return sum;
}

enum class StampVerdict : std::uint8_t { kGood, kAbsent, kDamaged };

// Reads the stamp at the start of a UDP payload. kDamaged: the magic is there, but the check is wrong.
[[nodiscard]] inline StampVerdict read_stamp(Octets in, Stamp& stamp) {
  if (in.size() < kStampBytes || wire::load_be32(in.data()) != kStampMagic) return StampVerdict::kAbsent;
  stamp.run = wire::load_be32(in.data() + 8);
  stamp.flow = wire::load_be32(in.data() + 12);
  stamp.sequence = wire::load_be64(in.data() + 16);
  stamp.intended_ns = wire::load_be64(in.data() + 24);
  return wire::load_be32(in.data() + 4) == stamp_check(stamp) ? StampVerdict::kGood : StampVerdict::kDamaged;
}

}  // namespace splitplane::traffic
