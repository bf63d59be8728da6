// A returned frame: an SDU that the host sends back to the card that numbers its bearer (docs/design/cards.md). The
// host defines this layout; the P4 programs read the same.
//
//   Ethernet, EtherType 0x88B5 | 0x21 (version 2, kind 1) | RQI and QFI as in the PDU Session Container | two octets 0
//   | downlink TEID, 4 | octets of the SDU, 2 | SDU
//
// With 0 octets it has no SDU: the host dropped a packet of the bearer. The card counts the packets of a bearer that
// are at the host, and serves the bearer by itself again when none is left. With 0 octets and 1 in place of RQI and QFI
// the host has none of them any more, whatever the card has counted.
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <cstdint>

#include "wire/airhdr.h"
#include "wire/bytes.h"

namespace splitplane::datapath {

inline constexpr unsigned kReturnedHeaderBytes = 14 + wire::airhdr::kHeaderBytes;

// Writes the octets between the Ethernet header and the SDU.
inline void write_returned(std::uint32_t teid, std::uint8_t rqi_qfi, std::uint32_t sdu_bytes, std::uint8_t* at) {
  constexpr std::uint32_t kFirst = (wire::airhdr::kVersion << 4 | wire::airhdr::kKindReturned) << 24;
  wire::store_be32(at, kFirst | (rqi_qfi & 0x7fU) << 16);
  wire::store_be32(at + 4, teid);
  wire::store_be16(at + wire::airhdr::kLengthOffset, sdu_bytes);
}

[[nodiscard]] inline std::uint32_t teid_of_returned(const std::uint8_t* frame) {
  return wire::load_be32(frame + 14 + 4);
}

inline constexpr std::uint8_t kAllSettled = 1;  // in place of RQI and QFI of a frame with 0 octets

// Makes a returned frame one without an SDU. The SDU's IP header stays behind it: a card that looks up UE addresses
// finds the bearer by it.
inline void make_settled(rte_mbuf* m) {
  constexpr unsigned kIpHeader = 40;
  auto* const frame = rte_pktmbuf_mtod(m, std::uint8_t*);
  write_returned(teid_of_returned(frame), 0, 0, frame + 14);
  m->data_len = static_cast<std::uint16_t>(std::min<unsigned>(m->data_len, kReturnedHeaderBytes + kIpHeader));
  m->pkt_len = m->data_len;
}

}  // namespace splitplane::datapath
