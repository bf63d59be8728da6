// Uplink of the UE side, the sending peer of the gNB's header mode: IP packet -> bearer by source address, and in a
// session with several bearers by QoS flow -> SDAP -> PDCP -> RLC -> airhdr -> Ethernet. It also writes end markers,
// and the STATUS PDUs that answer the gNB's polls. The input and output are octets.
#pragma once

#include "ue/ue_bearers.h"
#include "ue/ue_outcome.h"
#include "ue/ue_packet.h"
#include "ue/ue_session.h"

namespace splitplane::ue {

using wire::MutableOctets;

inline constexpr std::size_t kMaxUplinkOverhead = 14 + 10 + 3 + 3 + 1;  // Ethernet, airhdr, RLC, PDCP, SDAP
inline constexpr std::size_t kStatusFrameBytes = 14 + 10 + 3;           // Ethernet, airhdr, STATUS PDU without NACKs

struct AirLink {
  MacAddress ours, peer;
  std::size_t mtu = 1500;  // octets after the Ethernet header
};

class UeUplink {
 public:
  struct Framed {
    UeOutcome outcome = UeOutcome::ok;
    std::size_t overhead_bytes = 0;  // written at the end of `room`
    std::size_t packet_bytes = 0;    // of `packet`: without octets after its IP length
    UeBearer* bearer = nullptr;
    bool is_protected = false;  // nothing is written yet: PDCP of a secured bearer goes on, then write_lower()
    std::uint8_t sdap = 0;      // with is_protected: the SDAP header, if the bearer has one
  };

  UeUplink(UeBearers& bearers, const AirLink& link) : bearers_(bearers), link_(link) {}
  // Sets the MTU of the air port.
  void take_mtu(std::uint16_t mtu) { link_.mtu = mtu; }

  // Numbers the packet and writes its headers into the last octets of `room`, which is directly before it. On any
  // outcome but ok the bearer's numbers stay. The caller counts `sent`.
  [[nodiscard]] Framed frame(MutableOctets room, Octets packet);
  // The same for an end marker: a PDU of SDAP that has its header alone. The bearer's counters of packets stay.
  [[nodiscard]] Framed frame_end_marker(UeBearer& bearer, MutableOctets room, std::uint8_t octet) {
    return write(bearer, room, octet, 0);
  }

  // For a PDCP PDU of a secured bearer: writes the headers before it into the last octets of `room`, and moves RLC's
  // numbers on. Returns the octets, or 0 if they do not fit; then nothing is changed.
  [[nodiscard]] std::size_t write_lower(UeBearer& bearer, MutableOctets room, std::size_t pdcp_bytes) const;

  // Writes the answer to a poll: ACK_SN is the SN after the highest received one. There are no NACKs, because header
  // mode keeps no copy for a retransmission. Returns the octets, or 0 if they do not fit or the bearer is not AM.
  [[nodiscard]] std::size_t write_status(const UeBearer& bearer, MutableOctets out) const;

  // Once a burst: whether there is room to keep what acknowledged bearers send, and the time.
  void begin_burst(bool has_room, UeSession::Ticks now) {
    has_room_ = has_room;
    now_ = now;
  }

 private:
  [[nodiscard]] UeBearer* find_source(const IpPacket& ip);
  [[nodiscard]] Framed write(UeBearer& bearer, MutableOctets room, std::uint8_t sdap, std::size_t packet_bytes);
  [[nodiscard]] Framed admit_secured(UeBearer& bearer, std::size_t overhead, std::size_t bytes) const;
  [[nodiscard]] std::size_t write_link(const UeBearer& bearer, std::size_t pdu_bytes, MutableOctets out) const;
  UeBearers& bearers_;
  AirLink link_;
  bool has_room_ = true;
  UeSession::Ticks now_ = 0;
};

}  // namespace splitplane::ue
