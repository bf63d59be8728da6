// For tests of card/ only: the bearers and UPFs that card and host share, in every form that a card serves and in some
// that only a host serves. Also how the control plane would describe them to a card.
#pragma once

#include <vector>

#include "card/protocol/bearer.h"
#include "gnb/datapath/test_gnb.h"
#include "n3/interface.h"
#include "n3/test_frames.h"
#include "ran/bearer_config.h"

namespace splitplane::nic::test {

using datapath::test::Bytes;
using datapath::test::kAirMac;
using datapath::test::kOurIpv4;
using datapath::test::kUeMac;
using datapath::test::kUpfMac;

inline constexpr ShardId kShard{1};
inline constexpr std::uint32_t kLines = 64;
inline constexpr unsigned kVfN3 = 0, kVfAir = 1, kVfCopies = 2, kHostVfs = 3;
inline constexpr unsigned kAirFrameBytes = 1514;
inline constexpr std::uint16_t kMtu = 1500;
inline constexpr std::uint32_t kLease = 2000;  // COUNTs: less than half of the sequence numbers of 12 bits

// Peers by number. Only the host can reach one over IPv6. One is not resolved, so neither can reach it.
inline constexpr std::uint16_t kPeer = 0, kOtherPeer = 1, kPeerIpv6 = 2, kPeerUnresolved = 3;
inline constexpr MacAddress kOtherUpfMac{{0x02, 0, 0, 0, 0, 0x03}};

struct TestBearer {
  ran::BearerConfig config;
  Place place = Place::kHost;
  std::uint16_t peer = kPeer;
  std::uint32_t next_count = 0;
  std::uint8_t epoch = 0;
  bool monitored = false;  // gets containers with time stamps (QMP); the host must answer them in uplink

  [[nodiscard]] std::uint32_t id() const { return config.id.value; }
};

inline std::uint32_t teid(std::uint32_t index) {
  return ran::make_teid(3, kShard, index);
}

// 16 forms (RLC and PDCP SN lengths, SDAP each way) on the card, some of them also on the host. Then forms that a
// card does not take: UM, TM, a UPF over IPv6. COUNTs start shortly before their SN or the COUNT itself wraps.
inline std::vector<TestBearer> all_bearers() {
  std::vector<TestBearer> all;
  const auto add = [&all](TestBearer b) {
    const auto index = static_cast<std::uint32_t>(all.size()) + 1;
    b.config.id = BearerId{teid(index)};
    b.config.uplink_teid = Teid{0xaa000000 | index};
    b.config.ue_ipv4 = IpAddress::v4({10, 45, 0, static_cast<std::uint8_t>(index)});
    std::array<std::uint8_t, 16> ue{0xfd, 0x45};
    ue[15] = static_cast<std::uint8_t>(index);
    b.config.ue_ipv6 = IpAddress::v6(ue);
    all.push_back(b);
  };
  const auto form = [](unsigned bits) {
    TestBearer b;
    b.config.rlc_sn_bits = (bits & 1) != 0 ? 18 : 12;
    b.config.pdcp_sn_bits = (bits & 2) != 0 ? 18 : 12;
    b.config.sdap_header_dl = (bits & 4) != 0;
    b.config.sdap_header_ul = (bits & 8) != 0;
    constexpr std::array<std::uint16_t, 4> kPollPdu{32, 0, 1, 3};
    b.config.poll_pdu = kPollPdu[(bits ^ bits >> 2) & 3];
    b.config.qfi = Qfi{static_cast<std::uint8_t>(5 + 3 * bits)};
    b.next_count = (b.config.pdcp_sn_bits == 12 ? 1U << 12 : 1U << 18) - 20;
    b.epoch = static_cast<std::uint8_t>(bits % 3);
    return b;
  };
  for (const Place place : {Place::kCard, Place::kHost}) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      if (place != Place::kCard && bits % 5 != 0) continue;
      TestBearer b = form(bits);
      b.place = place;
      b.peer = bits % 4 == 3 ? kOtherPeer : kPeer;
      add(b);
    }
  }
  TestBearer last_count = form(15);
  last_count.place = Place::kCard;
  // The last step of HFN. After the last COUNT a card stops by its lease (CardLease.ends_with_the_last_count).
  last_count.next_count = 0xfffc0000 - 20;
  add(last_count);
  TestBearer unresolved = form(15);
  unresolved.place = Place::kCard;
  unresolved.peer = kPeerUnresolved;
  add(unresolved);
  TestBearer monitored = form(15);
  monitored.place = Place::kCard;
  monitored.monitored = true;
  add(monitored);
  monitored.place = Place::kHost;
  add(monitored);
  add({.config = {.rlc_mode = RlcMode::kUm, .rlc_sn_bits = 12, .pdcp_sn_bits = 12}});
  add({.config = {.rlc_mode = RlcMode::kUm, .rlc_sn_bits = 6}, .peer = kPeerIpv6});
  add({.config = {.rlc_mode = RlcMode::kTm, .rlc_sn_bits = 0, .sdap_header_dl = false, .sdap_header_ul = false}});
  return all;
}

inline CardBearer card_bearer(const TestBearer& b) {
  CardBearer c;
  c.id = b.config.id;
  c.teid = Teid{b.config.id.value};
  c.ue_ipv4 = b.config.ue_ipv4;
  c.ue_ipv6 = b.config.ue_ipv6;
  c.place = b.place;
  c.rlc_sn_bits = b.config.rlc_sn_bits;
  c.pdcp_sn_bits = b.config.pdcp_sn_bits;
  c.sdap_dl = b.config.sdap_header_dl;
  c.sdap_ul = b.config.sdap_header_ul;
  c.epoch = b.epoch;
  c.poll_pdu = b.config.poll_pdu;
  c.qfi = b.config.qfi;
  c.n3_ipv4 = __builtin_bswap32(kOurIpv4);
  c.n3_ipv6 = IpAddress::v6(datapath::test::kOurIpv6);
  c.n3_vlan = kAnyVlan;
  c.air_dst = kUeMac;
  c.air_src = kAirMac;
  c.vf_n3 = kVfN3;
  c.vf_air = kVfAir;
  c.copies_vf = kVfCopies;
  c.uplink_teid = b.config.uplink_teid;
  c.peer = b.peer;
  c.next_count = b.next_count;
  c.lease = kLease;
  return c;
}

inline std::vector<CardPeer> card_peers() {
  const auto peer = [](unsigned number, MacAddress mac, std::uint8_t last) {
    return CardPeer{.number = number,
                    .dst = mac,
                    .src = datapath::test::kOurMac,
                    .from = IpAddress::v4({10, 100, 0, 1}),
                    .to = IpAddress::v4({10, 100, 0, last}),
                    .max_payload = kMtu - datapath::kN3OverheadIpv4 + 14};
  };
  return {peer(kPeer, kUpfMac, 2), peer(kOtherPeer, kOtherUpfMac, 7)};
}

inline void set_host_peers(datapath::N3Peers& peers, const datapath::N3Addresses& ours) {
  using datapath::make_peer;
  peers[kPeer] = make_peer(ours, IpAddress::v4({10, 100, 0, 2}), kUpfMac);
  peers[kOtherPeer] = make_peer(ours, IpAddress::v4({10, 100, 0, 7}), kOtherUpfMac);
  peers[kPeerIpv6] = make_peer(ours, IpAddress::v6(datapath::test::kUpfIpv6), kUpfMac);
  peers[kPeerUnresolved] = make_peer(ours, IpAddress::v4({10, 100, 0, 3}), std::nullopt);
}

}  // namespace splitplane::nic::test
