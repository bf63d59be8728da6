// For tests of gnb/datapath only: a gNB worker's context on real mbufs and rings with a few bearers and peers, and
// endpoints that keep the packets. It checks that the account balances.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "engine/test_environment.h"
#include "gnb/datapath/gnb.h"
#include "n3/test_frames.h"
#include "ran/test_sessions.h"
#include "ran/test_variants.h"
#include "wire/airhdr.h"

namespace splitplane::datapath::test {

// The frames that a sink took, and how many it accepts. A driver would own the mbufs from then on, so the sink frees
// them.
struct Taken {
  std::vector<Bytes> frames;
  std::vector<rte_mbuf*> kept;  // mbufs that went out whole (PassingSink)
  unsigned room = ~0U;
};

inline Bytes content(rte_mbuf* m) {
  const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
  return {at, at + m->data_len};
}

struct TestSink {
  Taken* taken = nullptr;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    const unsigned sent = std::min(n, taken->room);
    taken->room -= sent;
    for (unsigned i = 0; i < sent; ++i) {
      EXPECT_EQ(mbufs[i]->pkt_len, mbufs[i]->data_len);
      taken->frames.push_back(content(mbufs[i]));
      rte_pktmbuf_free(mbufs[i]);
    }
    return sent;
  }
};

// Behaves as net_ring: the receiver gets the mbuf itself and writes to it before it frees it.
struct PassingSink {
  Taken* taken = nullptr;
  bool passes_mbufs = true;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      EXPECT_EQ(rte_mbuf_refcnt_read(mbufs[i]), 1) << "a shared mbuf was handed on";
      taken->frames.push_back(content(mbufs[i]));
      std::memset(rte_pktmbuf_mtod(mbufs[i], void*), 0xdd, mbufs[i]->data_len);
      rte_pktmbuf_free(mbufs[i]);
    }
    return n;
  }
};

// Hands out what the test put in, a burst at a time.
struct TestSource {
  std::deque<rte_mbuf*>* waiting = nullptr;
  unsigned receive(Burst& burst) {
    burst.size = 0;
    while (burst.size < kBurst && !waiting->empty()) {
      burst.mbuf[burst.size++] = waiting->front();
      waiting->pop_front();
    }
    return burst.size;
  }
};

inline constexpr MacAddress kAirMac{{0x02, 0, 0, 0, 0, 0x11}};
inline constexpr MacAddress kUeMac{{0x02, 0, 0, 0, 0, 0x12}};
inline constexpr std::uint32_t kLines = 16;
inline constexpr std::uint16_t kPeerV4 = 0, kPeerV6 = 1, kPeerUnresolved = 2;

// Bearers in shard 1: index 1 is the default (am18), 2 um12 to the IPv6 peer, 3 tm without SDAP, 4 to an unresolved
// peer.
class TestGnb {
 public:
  TestGnb() {
    context->n3 = our_addresses();
    context->copies = copies.get();
    context->punt = punt.get();
    context->inject = inject.get();
    context->pool = pool.get();
    wire::ethernet::write(context->air_header, kUeMac.octets, kAirMac.octets, wire::ethernet::kTypeAirhdr);
    context->bearers.attach(ShardId{1}, {downlink.data(), uplink.data(), drops.data(), kLines});
    context->peers[kPeerV4] = make_peer(context->n3, IpAddress::v4({10, 100, 0, 2}), kUpfMac);
    context->peers[kPeerV6] = make_peer(context->n3, IpAddress::v6(kUpfIpv6), kUpfMac);
    context->peers[kPeerUnresolved] = make_peer(context->n3, IpAddress::v4({10, 100, 0, 3}), std::nullopt);

    add(1, {}, kPeerV4);
    add(2, {.rlc_mode = RlcMode::kUm, .rlc_sn_bits = 12, .pdcp_sn_bits = 12}, kPeerV6);
    add(3, {.rlc_mode = RlcMode::kTm, .rlc_sn_bits = 0, .sdap_header_dl = false, .sdap_header_ul = false}, kPeerV4);
    add(4, {}, kPeerUnresolved);
    context->fixed_bearer = ran::make_downlink(config(1));
  }

  static std::uint32_t teid(std::uint32_t index) { return ran::make_teid(3, ShardId{1}, index); }
  void add(std::uint32_t index, ran::BearerConfig c, std::uint16_t peer) {
    c.id = BearerId{teid(index)};
    c.uplink_teid = Teid{0xaa000000 | index};
    configs_[index] = c;
    downlink[index] = ran::make_downlink(c);
    uplink[index] = ran::make_uplink(c, PeerId{peer});
  }
  // Makes a session of three bearers (ran/test_sessions.h) from index `first` on, and keeps their configurations.
  void add_session(std::uint32_t first) {
    const ran::SessionConfig session = ran::test::make_session_config(teid(first));
    for (std::uint32_t i = 0; i < 3; ++i) {
      add(first + i, session.bearers[i].config, kPeerV4);
      downlink[first + i] = ran::make_session_bearer(session.bearers[i]);
      uplink[first + i] = ran::make_session_uplink(config(first + i), PeerId{kPeerV4});
    }
    auto memory = context->flow_counters.make(session.teid(), kLines);
    context->flow_counters.open(session.teid(), memory);
    context->session_uplinks.open(session, rte_get_tsc_hz());
    downlink[first + 3] = downlink[first];
    downlink[first] = ran::make_session(session);
  }
  // What a flow of that session carried: SDUs and octets downlink, then uplink.
  [[nodiscard]] std::array<std::uint64_t, 4> counted(std::uint32_t first, std::uint8_t qfi) const {
    const auto& [down, up] = context->flow_counters.find(teid(first))->flows[qfi];
    return {down.sdus, down.octets, up.sdus, up.octets};
  }
  [[nodiscard]] const ran::BearerConfig& config(std::uint32_t index) const { return configs_[index]; }

  // The N3 frame of one SDU for a bearer, and the air frame that it must become.
  [[nodiscard]] N3Frame to_bearer(std::uint32_t index) const { return {.teid = teid(index)}; }
  [[nodiscard]] Bytes air_frame(std::uint32_t index, std::uint32_t count, const Bytes& sdu, bool poll = false,
                                bool rqi = false, Qfi qfi = Qfi{9}) const {
    Bytes frame(context->air_header.begin(), context->air_header.end());
    const Bytes headers = ran::test::downlink_headers(config(index), count, count, poll, rqi, qfi, sdu.size());
    frame.insert(frame.end(), headers.begin(), headers.end());
    frame.insert(frame.end(), sdu.begin(), sdu.end());
    return frame;
  }
  // The air frame of one uplink SDU, as the UE side sends it.
  [[nodiscard]] Bytes from_ue(std::uint32_t index, std::uint32_t count, const Bytes& sdu, Qfi qfi = Qfi{9}) const {
    return from_ue(ran::test::uplink_pdu(config(index), count, count, qfi, sdu));
  }
  // airhdr gets the length of the PDU that it has, if the frame is to have one.
  [[nodiscard]] static Bytes from_ue(Bytes from_airhdr) {
    Bytes frame(14);
    wire::ethernet::write(frame, kAirMac.octets, kUeMac.octets, wire::ethernet::kTypeAirhdr);
    if (from_airhdr.size() >= wire::airhdr::kHeaderBytes) ran::test::set_length(from_airhdr);
    frame.insert(frame.end(), from_airhdr.begin(), from_airhdr.end());
    return frame;
  }

  // Packets count as received when they came in by either queue. In full mode RLC PDUs come from MAC, and RLC makes
  // SDUs of them.
  void expect_balance(std::uint64_t received) const {
    const WorkerStats& s = context->stats;
    EXPECT_EQ(received + s.rlc_pdus.get() + s.rlc_delivered.get(),
              s.rlc_queued.get() + s.rlc_taken.get() + s.transmitted_air.get() + s.transmitted_n3.get() +
                  s.returned.get() + s.dropped() + s.punted.get() + s.rlc_control.get() + context->reorder.held() +
                  context->flow_moves.held() + context->session_uplinks.held() + context->card_returns.held());
    EXPECT_EQ(dropped(DropReason::ok), 0U);
  }
  [[nodiscard]] std::uint64_t dropped(DropReason reason) const {
    return context->stats.drops[static_cast<std::size_t>(reason)].get();
  }
  [[nodiscard]] std::uint64_t at_stage(Stage stage) const {
    return context->stats.stages[static_cast<std::size_t>(stage)].packets.get();
  }

  Pool pool;
  Ring copies{64}, punt{4}, inject{8};
  std::vector<ran::BearerDownlink> downlink = std::vector<ran::BearerDownlink>(kLines);
  std::vector<ran::BearerUplink> uplink = std::vector<ran::BearerUplink>(kLines);
  std::vector<ran::BearerDrops> drops = std::vector<ran::BearerDrops>(kLines);
  std::unique_ptr<GnbContext> context = std::make_unique<GnbContext>();

 private:
  std::array<ran::BearerConfig, kLines> configs_;
};

// A burst of the given octets, each in a separate mbuf.
inline Burst burst_of(Pool& pool, const std::vector<Bytes>& frames) {
  Burst burst;
  for (const Bytes& frame : frames) burst.mbuf[burst.size++] = pool.make(frame);
  return burst;
}

}  // namespace splitplane::datapath::test
