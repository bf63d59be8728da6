// First stage of the downlink: an Ethernet frame from N3 to TEID, QoS flow and T-PDU. The usual form (IPv4 without
// options, G-PDU with one short PDU Session Container) is recognised by comparing words; everything else takes the
// parsers of wire/, which give the reason of every refusal.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>

#include "datapath/drop_reason.h"
#include "datapath/n3_interface.h"
#include "wire/bytes.h"

namespace splitplane::datapath {

// Where the T-PDU of a G-PDU lies, and whose it is.
struct GPdu {
  std::uint32_t teid = 0;
  std::uint16_t offset = 0, bytes = 0;  // of the T-PDU inside the frame
  std::uint8_t sdap = 0;                // RQI and QFI, as in the container's second octet
  bool has_qfi = false;                 // false: no PDU Session Container, the bearer's own QFI applies
};

enum class N3Verdict : std::uint8_t { kGPdu, kPunt, kDrop };

struct N3Parsed {
  N3Verdict verdict;
  DropReason reason;  // kDrop: why
};

// Any frame, by the parsers of wire/. kPunt: ARP, neighbour discovery or an Echo Request, for the control
// thread.
[[nodiscard]] N3Parsed parse_n3(const std::uint8_t* frame, unsigned bytes, const N3Addresses& ours, GPdu& out);

// The usual form only; false says nothing about the frame but that parse_n3 must look at it. Offsets are those of an
// untagged frame: IPv4 at 14, UDP at 34, GTP-U at 42, optional octets at 50, container at 54, T-PDU at 58.
[[nodiscard]] inline bool parse_n3_usual(const std::uint8_t* f, unsigned bytes, std::uint32_t our_ipv4, GPdu& out) {
  if (bytes <= kN3OverheadIpv4) [[unlikely]] return false;
  const auto word64 = [f](unsigned at) { std::uint64_t v; std::memcpy(&v, f + at, 8); return __builtin_bswap64(v); };
  const auto word32 = [f](unsigned at) { std::uint32_t v; std::memcpy(&v, f + at, 4); return v; };
  const unsigned total = wire::load_be16(f + 16);
  const unsigned udp_length = wire::load_be16(f + 38);
  const unsigned gtpu_length = wire::load_be16(f + 44);

  // EtherType and version/IHL; then fragment bits (but not "don't fragment") and protocol.
  std::uint64_t wrong = (word64(12) ^ 0x0800450000000000ULL) & 0xffffff0000000000ULL;
  wrong |= (word64(20) ^ 0x0000001100000000ULL) & 0x3fff00ff00000000ULL;
  wrong |= word32(30) ^ our_ipv4;
  wrong |= wire::load_be16(f + 36) ^ 2152U;
  // Version 1, PT, E (S and PN may be set: the octets are there anyway), G-PDU; next: PDU Session Container of 4 octets,
  // type DL without flags, and no header behind it.
  wrong |= (static_cast<std::uint64_t>(wire::load_be16(f + 42)) ^ 0x34ffU) & 0xfcffU;
  wrong |= (word64(50) ^ 0x0000008501000000ULL) & 0x000000ffffff80ffULL;
  wrong |= static_cast<std::uint64_t>(udp_length ^ (total - 20U)) | static_cast<std::uint64_t>(gtpu_length ^ (udp_length - 16U));
  if (wrong != 0 || total + 14 > bytes || gtpu_length <= 8 || our_ipv4 == 0) [[unlikely]] return false;

  out.teid = __builtin_bswap32(word32(46));
  out.offset = kN3OverheadIpv4;
  out.bytes = static_cast<std::uint16_t>(gtpu_length - 8);
  out.sdap = f[56] & 0x7f;
  out.has_qfi = true;
  return true;
}

}  // namespace splitplane::datapath
