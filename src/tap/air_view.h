// Translates frames of the header-mode air (EtherType 0x88B5, airhdr, RLC PDU) into Wireshark's UDP framings. `rlc-nr`
// shows the RLC PDU. `pdcp-nr` shows the PDCP PDU inside it with its SDAP header and the inner IP packet. It runs on
// the writer's thread; the worker only copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tap/framing_headers.h"
#include "tap/secured_drbs.h"
#include "tap/settings.h"

namespace splitplane::tap {

// The most octets that a view puts in front of the PDU: Ethernet, IPv4, UDP, framing.
inline constexpr std::size_t kMostViewBytes = kFramingHeaderBytes + 27;

class AirView {
 public:
  // Without `secured` each bearer is shown as one without security.
  explicit AirView(View view, std::shared_ptr<const SecuredDrbs> secured = nullptr)
      : view_(view), secured_(std::move(secured)) {}

  struct Frame {
    std::span<const std::uint8_t> octets;  // valid until the next call
    std::uint32_t original_bytes = 0;
  };
  // `frame` holds the first octets of a frame of `original_bytes`. Returns nothing if it is no air frame, or if it
  // lacks what the view shows. RLC control and segments have no PDCP header at a known place. It also returns nothing
  // from the 65,536th bearer on.
  [[nodiscard]] std::optional<Frame> translate(std::span<const std::uint8_t> frame, std::uint32_t original_bytes);

 private:
  // Wireshark's UE number has 16 bits, a bearer 32. Numbers are assigned in the order of appearance, from 1; after the
  // last one there are none. The MAC address of the UE contains the bearer.
  [[nodiscard]] std::optional<std::uint16_t> ue_of(std::uint32_t bearer);

  View view_;
  std::shared_ptr<const SecuredDrbs> secured_;
  std::unordered_map<std::uint32_t, std::uint16_t> ues_;
  std::vector<std::uint8_t> made_;
};

}  // namespace splitplane::tap
