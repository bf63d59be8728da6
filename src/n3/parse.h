// First stage of the downlink: it reads TEID, QoS flow and T-PDU from an Ethernet frame of N3. A fast recogniser
// compares words for the most frequent form: IPv4 without options, and a G-PDU with one short PDU Session Container.
// The parsers of wire/ read all other frames and give the reason of every refusal.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "engine/drop_reason.h"
#include "n3/interface.h"
#include "n3/punt_class.h"
#include "wire/bytes.h"
#include "wire/gtpu.h"

namespace splitplane::datapath {

// The place of the T-PDU of a G-PDU, and the bearer's keys.
struct GPdu {
  std::uint32_t teid = 0;
  std::uint32_t source = 0;             // key of the sender's address (ran/source_key.h)
  std::uint16_t offset = 0, bytes = 0;  // of the T-PDU inside the frame
  std::uint8_t sdap = 0;                // RQI and QFI, as in the container's second octet
  bool has_qfi = false;                 // false: no PDU Session Container, the bearer's own QFI applies
  std::uint8_t slow = 0;                // why the slow path must look at it (kNoPsc and so on); 0 for most packets
  std::uint16_t sequence_number = 0;    // with kSequenced
};
inline constexpr std::uint8_t kNoPsc = 1, kSequenced = 2, kTimeStamped = 4;  // kSequenced: as the S flag of GTP-U

enum class N3Verdict : std::uint8_t { kGPdu, kPunt, kDrop };

struct N3Parsed {
  N3Verdict verdict;
  DropReason reason;                     // with kDrop
  PuntClass punt = PuntClass::neighbor;  // with kPunt
};

// Parses any frame by the parsers of wire/. It returns kPunt for ARP, neighbor discovery, and the GTP-U messages that
// the control thread handles: Echo, Error Indication, End Marker, Supported Extension Headers Notification.
[[nodiscard]] N3Parsed parse_n3(const std::uint8_t* frame, unsigned bytes, const N3Addresses& ours, GPdu& out);

namespace detail {

// The form that the recogniser knows: what the 48 octets from offset 10 to the T-PDU must be, under a mask. Offsets are
// those of an untagged frame: IPv4 at 14, UDP at 34, GTP-U at 42, optional octets at 50, container at 54, T-PDU at 58.
struct FastForm {
  static constexpr unsigned kFirst = 10;
  std::array<std::uint8_t, 48> octets{}, mask{};

  constexpr void expect(unsigned at, std::uint8_t value, std::uint8_t bits = 0xff) {
    octets[at - kFirst] = value;
    mask[at - kFirst] = bits;
  }
};

constexpr FastForm make_fast_form() {
  FastForm form;
  form.expect(12, 0x08);
  form.expect(13, 0x00);
  form.expect(14, 0x45);        // IPv4 without options
  form.expect(20, 0x00, 0x3f);  // no fragment; "don't fragment" is free
  form.expect(21, 0x00);
  form.expect(23, 17);  // UDP
  form.expect(36, wire::gtpu::kPort >> 8);
  form.expect(37, wire::gtpu::kPort & 0xff);
  form.expect(42, 0x34, 0xfc);  // version 1, PT, E; S and PN are free
  form.expect(43, 0xff);        // G-PDU
  form.expect(53, 0x85);        // PDU Session Container
  form.expect(54, 1);           // of 4 octets
  form.expect(55, 0x00);        // DL PDU SESSION INFORMATION without time stamp or sequence number
  form.expect(56, 0x00, 0x80);  // no paging policy
  form.expect(57, 0x00);        // no further extension header
  return form;
}

inline constexpr auto kFastOctets = std::bit_cast<std::array<std::uint64_t, 6>>(make_fast_form().octets);
inline constexpr auto kFastMask = std::bit_cast<std::array<std::uint64_t, 6>>(make_fast_form().mask);

}  // namespace detail

// Recognises only that form. On false parse_n3 must look at the frame.
[[nodiscard]] inline bool parse_n3_fast(const std::uint8_t* f, unsigned bytes, std::uint32_t our_ipv4, GPdu& out) {
  if (bytes <= kN3OverheadIpv4) [[unlikely]]
    return false;
  std::uint64_t wrong = 0;
  for (unsigned i = 0; i < 6; ++i) {
    std::uint64_t word;
    std::memcpy(&word, f + detail::FastForm::kFirst + 8 * i, 8);
    wrong |= (word ^ detail::kFastOctets[i]) & detail::kFastMask[i];
  }
  std::uint32_t destination;
  std::memcpy(&destination, f + 30, 4);
  const unsigned total = wire::load_be16(f + 16);
  const unsigned udp_length = wire::load_be16(f + 38);
  const unsigned gtpu_length = wire::load_be16(f + 44);
  wrong |= destination ^ our_ipv4;
  wrong |= (udp_length ^ (total - 20U)) | (gtpu_length ^ (udp_length - 16U));
  if (wrong != 0 || total + 14 > bytes || gtpu_length <= 8 || our_ipv4 == 0) [[unlikely]]
    return false;

  out.teid = wire::load_be32(f + 46);
  std::memcpy(&out.source, f + 26, 4);
  out.offset = kN3OverheadIpv4;
  out.bytes = static_cast<std::uint16_t>(gtpu_length - 8);
  out.sdap = f[56];
  out.has_qfi = true;
  out.slow = f[42] & kSequenced;
  out.sequence_number = static_cast<std::uint16_t>(wire::load_be16(f + 50));
  return true;
}

// Recognises that form behind one tag of the VLAN (IEEE 802.1Q). The interface of such a worker has no untagged frames.
[[nodiscard]] inline bool parse_n3_fast_tagged(const std::uint8_t* f, unsigned bytes, std::uint32_t our_ipv4,
                                               std::uint16_t vlan, GPdu& out) {
  if (bytes <= kN3OverheadIpv4 + kVlanTagBytes || wire::load_be16(f + 12) != 0x8100 ||
      (wire::load_be16(f + 14) & 0x0fffU) != vlan) [[unlikely]] {
    return false;
  }
  if (!parse_n3_fast(f + kVlanTagBytes, bytes - kVlanTagBytes, our_ipv4, out)) [[unlikely]]
    return false;
  out.offset = static_cast<std::uint16_t>(out.offset + kVlanTagBytes);
  return true;
}

// For a worker whose frames all have that tag, or all have none.
template <bool kTagged>
[[nodiscard]] inline bool parse_n3_fast(const std::uint8_t* f, unsigned bytes, std::uint32_t our_ipv4,
                                        std::uint16_t vlan, GPdu& out) {
  if constexpr (kTagged) return parse_n3_fast_tagged(f, bytes, our_ipv4, vlan, out);
  return parse_n3_fast(f, bytes, our_ipv4, out);
}

}  // namespace splitplane::datapath
