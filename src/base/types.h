// Strong types of the user plane. In an interface a bare integer never stands for one of these.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/host_device.h"

namespace splitplane {

// An integer with a meaning. No arithmetic: a TEID plus one is not a TEID.
template <class Tag, class Rep>
struct Strong {
  Rep value{};
  SPLITPLANE_HD friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

using Teid = Strong<struct TeidTag, std::uint32_t>;          // GTP-U tunnel endpoint (TS 29.281 5.1)
using BearerId = Strong<struct BearerIdTag, std::uint32_t>;  // a bearer of this gNB; equals its downlink TEID
using Qfi = Strong<struct QfiTag, std::uint8_t>;             // QoS flow, 0..63 (TS 38.415 5.5.3.3)
using ShardId = Strong<struct ShardIdTag, std::uint8_t>;     // unit of steering: 256 of them
using PeerId = Strong<struct PeerIdTag, std::uint16_t>;      // a GTP-U peer (UPF) on N3

// The type-of-service octet (DSCP in the upper six bits) of each QoS flow's packets.
using TosByQfi = std::array<std::uint8_t, 64>;

// PDCP COUNT = HFN || SN, 32 bits (TS 38.323 6.3.5).
struct Count {
  std::uint32_t value{};
  SPLITPLANE_HD friend constexpr auto operator<=>(const Count&, const Count&) = default;
};

enum class Direction : std::uint8_t { kUplink = 0, kDownlink = 1 };  // values as in TS 33.401 Annex B
enum class RlcMode : std::uint8_t { kTm = 0, kUm = 1, kAm = 2 };

}  // namespace splitplane

template <class Tag, class Rep>
struct std::hash<splitplane::Strong<Tag, Rep>> {
  std::size_t operator()(const splitplane::Strong<Tag, Rep>& v) const noexcept { return std::hash<Rep>{}(v.value); }
};
