// The check before the pipeline. SWX extracts headers without checking where the frame ends. So this check finds frames
// in which a program would read beyond the end, or push headers without room. The program decides everything else about
// a frame.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "card/punt_reason.h"
#include "wire/bytes.h"

namespace splitplane::nic {

// What the programs of this project extract (p4/gnb_parser.p4i). IPv4, UDP and GTP-U are one header to them. They
// extract it from every frame of EtherType 0x0800.
namespace parsed {
inline constexpr unsigned kEthernet = 14, kVlan = 4, kIpv4 = 20, kUdp = 8, kGtpu = 8, kGtpuOptional = 4, kPsc = 4;
inline constexpr unsigned kN3 = kIpv4 + kUdp + kGtpu;
inline constexpr unsigned kInnerIpv4 = 20, kInnerIpv6 = 40;
// Ethernet, airhdr, and the longest RLC, PDCP and SDAP headers with one octet.
inline constexpr unsigned kAirFrame = 32;
inline constexpr unsigned kAirhdr = 10;
inline constexpr unsigned kRlc = kEthernet + kAirhdr;  // where an RLC PDU begins, or a returned SDU
}  // namespace parsed

enum class CardSide : std::uint8_t { kN3, kAir, kVf };

// The full check of a frame of side kN3, with `bytes` octets from `f` on. `inner`: the program reads the UE's address.
[[nodiscard]] PuntReason check_n3_frame(const std::uint8_t* f, unsigned bytes, bool inner);
// Checks the outer IPv4 checksum of a frame that passed check_n3_frame().
[[nodiscard]] PuntReason check_ipv4_checksum(const std::uint8_t* f, unsigned bytes);

// Recognises the most frequent frames by a few comparisons: untagged, IPv4 without options, GTP-U with optional octets.
[[nodiscard]] inline bool is_fast_path_n3_frame(const std::uint8_t* f, unsigned bytes) {
  using namespace parsed;
  constexpr unsigned kLayers = kEthernet + kIpv4 + kUdp + kGtpu + kGtpuOptional + kPsc;
  if (bytes <= kLayers + kInnerIpv6) return false;
  const unsigned total = wire::load_be16(f + 16), udp = wire::load_be16(f + 38), gtpu = wire::load_be16(f + 44);
  const bool layers = wire::load_be16(f + 12) == 0x0800 && f[14] == 0x45 && f[23] == 17 &&
                      wire::load_be16(f + 36) == 2152 && (f[42] & 4) != 0;
  return layers && total + kEthernet == bytes && udp + kIpv4 == total && gtpu + kGtpu + kUdp == udp;
}

// Returns `none` if the program may read the frame. `checksums`: a frame from N3 with a wrong outer IPv4 checksum goes
// to the host, which reports it.
[[nodiscard]] inline PuntReason check_frame(const rte_mbuf* m, CardSide side, bool inner, bool checksums = false) {
  using namespace parsed;
  const auto* f = rte_pktmbuf_mtod(m, const std::uint8_t*);
  const unsigned bytes = m->data_len;
  if (side == CardSide::kVf) {  // later segments may pass, because the program does not read them
    if (bytes < kEthernet) return PuntReason::short_frame;
    if (wire::load_be16(f + 12) != 0x88b5) return PuntReason::none;
    if (bytes < kRlc) return PuntReason::short_frame;
    if (f[14] != 0x21) return PuntReason::none;
    const unsigned payload = bytes - kRlc, sdu = wire::load_be16(f + kRlc - 2);
    const unsigned wanted = !inner || payload == 0 ? 1 : (f[kRlc] >> 4 == 6 ? kInnerIpv6 : kInnerIpv4);
    // The link of a VF may pad, too. What lies behind the SDU goes out behind it, and airhdr says where it ends.
    return sdu < wanted || sdu > payload ? PuntReason::short_frame : PuntReason::none;
  }
  if (m->nb_segs != 1) return PuntReason::segmented;
  if (side == CardSide::kN3) {
    const PuntReason reason = is_fast_path_n3_frame(f, bytes) ? PuntReason::none : check_n3_frame(f, bytes, inner);
    return checksums && reason == PuntReason::none ? check_ipv4_checksum(f, bytes) : reason;
  }
  if (bytes < kEthernet) return PuntReason::short_frame;
  if (wire::load_be16(f + 12) != 0x88b5) return PuntReason::none;
  if (bytes <= kRlc) return PuntReason::short_frame;
  const unsigned pdu = wire::load_be16(f + kRlc - 2);
  if (pdu + kRlc > bytes) return PuntReason::length_mismatch;
  // The program passes on an RLC control PDU by its first octet, with the link's padding. The octets that it extracts
  // after a short one must be in the mbuf, but are not used.
  if (f[14] == 0x20 && (f[kRlc] & 0x80) == 0 && pdu != 0) {
    return bytes >= kAirFrame || rte_pktmbuf_tailroom(m) >= kAirFrame ? PuntReason::none : PuntReason::short_frame;
  }
  if (bytes < kAirFrame) return PuntReason::short_frame;
  return pdu + kRlc == bytes ? PuntReason::none : PuntReason::length_mismatch;
}

}  // namespace splitplane::nic
