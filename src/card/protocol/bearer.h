// What a card's owner says about the bearers and the UPFs that the card serves: plain data, as it comes over the
// control socket.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ip_address.h"
#include "base/types.h"

namespace splitplane::nic {

// Where a bearer's downlink packets are numbered.
enum class Place : std::uint8_t { kCard, kHost };
inline constexpr std::array<std::string_view, 2> kPlaceNames{"card", "host"};

// The last COUNTs of each lease are for packets that the host returns. When a card has used the others, it gives a
// bearer's packets to the host, which renews the lease and keeps back what would not fit in it.
inline constexpr std::uint32_t kLeaseReserve = 1023;

inline constexpr std::uint16_t kAnyVlan = 0xffff;

// One bearer of the card's tables: RLC AM in header mode.
struct CardBearer {
  BearerId id;                                // in airhdr; the key of uplink frames
  Teid teid;                                  // the key of downlink packets, and of frames that come back from the host
  bool has_flows = false;                     // default bearer of a session, in which flows have other bearers
  Teid session;                               // not 0: the TEID of the session of which the bearer has `flows`
  std::uint64_t flows = 0;                    // bit QFI
  std::optional<IpAddress> ue_ipv4, ue_ipv6;  // the keys instead of the TEID if the program looks up UE addresses
  Place place = Place::kCard;
  std::uint8_t rlc_sn_bits = 18, pdcp_sn_bits = 18;
  bool sdap_dl = true, sdap_ul = true;
  std::uint8_t epoch = 0;            // of RLC, in airhdr
  std::uint16_t poll_pdu = 0;        // pollPDU (TS 38.322 5.3.3.2); 0: never
  Qfi qfi;                           // of packets without a PDU Session Container, and of uplink without SDAP header
  std::uint32_t n3_ipv4 = 0;         // the outer destination address that its packets must have, in memory order
  std::optional<IpAddress> n3_ipv6;  // the same for packets that come over IPv6; nothing: they go to the host
  std::uint16_t n3_vlan = 0;         // 1 to 4094: the VLAN that they must be in; 0: untagged only; kAnyVlan: any
  MacAddress air_dst, air_src;       // of its frames to the air
  unsigned vf_n3 = 0, vf_air = 0;    // the VFs of the bearer's worker, by number
  unsigned copies_vf = 0;            // where clones and uplink RLC control PDUs go
  Teid uplink_teid;                  // at the UPF
  unsigned peer = 0;                 // the UPF, by its number in set_peer()
  std::uint32_t next_count = 0;      // the first PDCP COUNT of a bearer that is new on the card
  std::uint32_t next_rlc = 0;        // and its RLC number: those below it are sent again by the host
  std::uint32_t ahead = 0;           // how far next_count is beyond the COUNTs that a receiver may have seen
  std::uint32_t lease = 4096;        // COUNTs from next_count on; after these set_leases() must have allowed more
  // A bearer that comes from the host: packets that are on their way through the host. New packets follow them there
  // until all of them came back.
  std::uint32_t in_flight = 0;
  bool keeps_copies = false;  // the host's affair: its worker keeps the clones, and sends them again
  friend bool operator==(const CardBearer&, const CardBearer&) = default;
};

// A UPF whose next hop is resolved: the headers of its uplink packets.
struct CardPeer {
  unsigned number = 0;  // 0..255
  MacAddress dst, src;
  IpAddress from, to;             // IPv4
  std::uint16_t max_payload = 0;  // octets of the longest T-PDU that fits the N3 port's MTU
  std::uint16_t vlan = 0;         // 1 to 4094: its frames are tagged
};

// What all uplink packets of a QoS flow have as type of service, by QFI.
using CardMarks = TosByQfi;

// A bearer's numbers on the card.
struct CardNumbers {
  std::uint32_t pdcp_next = 0, rlc_next = 0, in_flight = 0;
  std::uint64_t dl_packets = 0, ul_packets = 0, dl_octets = 0, ul_octets = 0;  // octets of T-PDUs
  std::uint8_t epoch = 0;                                                      // of RLC, as it was installed
  std::uint32_t ahead = 0;      // of pdcp_next: as it was installed, and 0 after the first packet
  std::uint32_t lease_end = 0;  // the first COUNT that is not allowed
  Place place = Place::kCard;   // kHost: pdcp_next, rlc_next and lease_end mean nothing
};
using BearerNumbers = std::pair<BearerId, CardNumbers>;

// A bearer that was the host's until now and whose packets the card gives to the host: from now on the card numbers
// those that come back, and then the others. `settled`: how many of the packets that the card has counted as being at
// the host were the host's to number.
struct CardBeginning {
  BearerId id;
  std::uint32_t next_count = 0, next_rlc = 0;  // of the next PDU
  std::uint32_t lease_end = 0;
  std::uint32_t settled = 0;
  std::uint8_t epoch = 0;
};

// The card may give packets the COUNTs below the number.
using CardLease = std::pair<BearerId, std::uint32_t>;

}  // namespace splitplane::nic
