// Ethernet II with up to two VLAN tags (IEEE 802.3, 802.1Q): the outermost header of N3 and of the air side.
//
//   0              6              12        14                16
//   | destination  | source       | [TPID   | PCP(3) DEI VID(12)]{0..2} | EtherType |
//   TPID 0x8100 (C-VLAN) or 0x88A8 (S-VLAN, the outer tag of QinQ)
#pragma once

#include <array>

#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::ethernet {

inline constexpr std::uint16_t kTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kTypeArp = 0x0806;
inline constexpr std::uint16_t kTypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kTypeVlan = 0x8100;
inline constexpr std::uint16_t kTypeServiceVlan = 0x88A8;
inline constexpr std::uint16_t kTypeAirhdr = 0x88B5;    // IEEE Std 802 Local Experimental EtherType 1
inline constexpr std::uint16_t kSmallestType = 0x0600;  // below: an 802.3 length
inline constexpr std::size_t kHeaderBytes = 14;
inline constexpr std::size_t kTagBytes = 4;
inline constexpr unsigned kMaxTags = 2;

using MacOctets = std::array<std::uint8_t, 6>;

struct Header {
  std::uint8_t header_bytes = 0;  // 14, 18 or 22
  std::uint8_t tag_count = 0;
  std::uint16_t ether_type = 0;
  std::array<std::uint16_t, kMaxTags> tags{};  // tag control information, outermost first

  [[nodiscard]] SPLITPLANE_HD constexpr bool has_vlan() const { return tag_count != 0; }
  // VLAN of the innermost tag (the C-VLAN); 0 without a tag.
  [[nodiscard]] SPLITPLANE_HD constexpr std::uint16_t vlan_id() const {
    return tag_count == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(tags[tag_count - 1U] & 0x0FFF);
  }
};

[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in) {
  if (in.size() < kHeaderBytes) return refuse<Header>(Reason::ethernet_truncated);
  const std::uint8_t* p = in.data();
  Header h;
  h.header_bytes = kHeaderBytes;
  h.ether_type = load_be16(p + 12);
  while (h.ether_type == kTypeVlan || h.ether_type == kTypeServiceVlan) [[unlikely]] {
    if (h.tag_count == kMaxTags) return refuse<Header>(Reason::ethernet_too_many_tags);
    if (in.size() < h.header_bytes + kTagBytes) return refuse<Header>(Reason::ethernet_truncated);
    h.tags[h.tag_count++] = load_be16(p + h.header_bytes);
    h.ether_type = load_be16(p + h.header_bytes + 2);
    h.header_bytes = static_cast<std::uint8_t>(h.header_bytes + kTagBytes);
  }
  if (h.ether_type < kSmallestType) [[unlikely]]
    return refuse<Header>(Reason::ethernet_type_unknown);
  return {h};
}

// Address octets inside a frame that parse() accepted.
[[nodiscard]] SPLITPLANE_HD constexpr std::span<const std::uint8_t, 6> destination(Octets frame) {
  return frame.first<6>();
}
[[nodiscard]] SPLITPLANE_HD constexpr std::span<const std::uint8_t, 6> source(Octets frame) {
  return frame.subspan<6, 6>();
}

// Writes 14 octets, or 18/22 with one/two tags (the outer one of two gets TPID 0x88A8); 0 if that does not fit.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, std::span<const std::uint8_t, 6> to,
                                          std::span<const std::uint8_t, 6> from, std::uint16_t ether_type,
                                          std::span<const std::uint16_t> tags = {}) {
  const std::size_t total = kHeaderBytes + kTagBytes * tags.size();
  if (tags.size() > kMaxTags || out.size() < total) return 0;
  std::uint8_t* p = out.data();
  copy_octets(p, to.data(), 6);
  copy_octets(p + 6, from.data(), 6);
  p += 12;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    store_be16(p, i + 1 < tags.size() ? kTypeServiceVlan : kTypeVlan);
    store_be16(p + 2, tags[i]);
    p += kTagBytes;
  }
  store_be16(p, ether_type);
  return total;
}

}  // namespace splitplane::wire::ethernet
