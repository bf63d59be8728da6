// A fence: a frame that a card sends to a VF of its host when the host asks for it. It comes behind all frames that the
// card sent there before (docs/design/placement.md). The card's control side makes it, as packet-out of a P4 target.
//
//   Ethernet, EtherType 0x88B5 | 0x22 (version 2, kind 2) | 0 | two octets 0 | number of bearers, 4
//   | octets that follow, 2 | token, 8 | for each bearer: identity, 4
//
// The token is random. So a stranger on a wire cannot forge a fence that a worker takes for its card's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "wire/airhdr.h"
#include "wire/bytes.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

inline constexpr unsigned kFenceHeaderBytes = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes;
inline constexpr unsigned kMostFenced = 256;  // bearers of one fence

[[nodiscard]] constexpr unsigned fence_bytes(std::size_t bearers) {
  return kFenceHeaderBytes + 8 + 4 * static_cast<unsigned>(bearers);
}

// `at` has room for fence_bytes(ids.size()). The MAC addresses are 0: a fence never leaves the VF.
inline void write_fence(std::uint64_t token, std::span<const BearerId> ids, std::uint8_t* at) {
  constexpr std::uint32_t kFirst = (wire::airhdr::kVersion << 4 | wire::airhdr::kKindFence) << 24;
  std::memset(at, 0, wire::ethernet::kHeaderBytes);
  wire::store_be16(at + 12, wire::airhdr::kEtherType);
  wire::store_be32(at + 14, kFirst);
  wire::store_be32(at + 18, static_cast<std::uint32_t>(ids.size()));
  wire::store_be16(at + 22, static_cast<std::uint32_t>(8 + 4 * ids.size()));
  wire::store_be64(at + kFenceHeaderBytes, token);
  for (std::size_t i = 0; i < ids.size(); ++i) wire::store_be32(at + fence_bytes(i), ids[i].value);
}

struct Fence {
  std::uint64_t token = 0;
  std::uint32_t bearers = 0;
  const std::uint8_t* ids = nullptr;
  [[nodiscard]] std::uint32_t id(std::uint32_t i) const { return wire::load_be32(ids + 4 * std::size_t{i}); }
};

// Nothing: the frame is no fence, or a broken one.
[[nodiscard]] inline std::optional<Fence> parse_fence(wire::Octets frame) {
  constexpr std::uint8_t kFirst = wire::airhdr::kVersion << 4 | wire::airhdr::kKindFence;
  if (frame.size() < fence_bytes(0) || wire::load_be16(frame.data() + 12) != wire::airhdr::kEtherType ||
      frame[14] != kFirst) {
    return std::nullopt;
  }
  const std::uint32_t bearers = wire::load_be32(frame.data() + 18);
  if (bearers > kMostFenced || frame.size() < fence_bytes(bearers) ||
      wire::load_be16(frame.data() + 22) != 8 + 4 * bearers) {
    return std::nullopt;
  }
  return Fence{wire::load_be64(frame.data() + kFenceHeaderBytes), bearers, frame.data() + fence_bytes(0)};
}

}  // namespace splitplane::datapath
