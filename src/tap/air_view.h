// Translates frames of the header-mode air (EtherType 0x88B5, airhdr, RLC PDU) into Wireshark's UDP framings: `rlc-nr`
// shows the RLC PDU, `pdcp-nr` the PDCP PDU inside it with its SDAP header and the inner IP packet. On the writer's
// thread: the worker only copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tap/settings.h"

namespace splitplane::tap {

inline constexpr std::uint16_t kFramingPort = 9999;
// Octets that a view puts in front of the PDU at most: Ethernet, IPv4, UDP, framing.
inline constexpr std::size_t kMostViewBytes = 14 + 20 + 8 + 27;

class AirView {
 public:
  explicit AirView(View view) : view_(view) {}

  struct Frame {
    std::span<const std::uint8_t> octets;  // valid until the next call
    std::uint32_t original_bytes = 0;
  };
  // `frame` holds the first octets of a frame of `original_bytes`. Nothing: not an air frame, or one without what the
  // view shows (RLC control and segments have no PDCP header at a known place), or of the 65,536th bearer.
  [[nodiscard]] std::optional<Frame> translate(std::span<const std::uint8_t> frame, std::uint32_t original_bytes);

 private:
  // Wireshark's UE number has 16 bits, a bearer 32: numbers are given in the order of appearance, from 1, and none when
  // all are given. The bearer is in the MAC address of its UE.
  [[nodiscard]] std::optional<std::uint16_t> ue_of(std::uint32_t bearer);

  View view_;
  std::unordered_map<std::uint32_t, std::uint16_t> ues_;
  std::vector<std::uint8_t> made_;
};

}  // namespace splitplane::tap
