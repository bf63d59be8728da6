// For tests of card/ only: a card with a generated program on real mbufs, and the frames that its ports send.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <memory>

#include "card/card.h"
#include "card/spec/test_programs.h"
#include "engine/burst.h"
#include "engine/test_environment.h"
#include "n3/test_frames.h"
#include "ran/test_variants.h"

namespace splitplane::nic::test {

using datapath::test::Bytes;
using datapath::test::N3Frame;

inline constexpr MacAddress kAirDst{{0x02, 0, 0, 0, 0, 0x12}}, kAirSrc{{0x02, 0, 0, 0, 0, 0x11}};
inline constexpr unsigned kPuntN3 = 0, kPuntAir = 1, kCopies = 2, kWorkerN3 = 3, kWorkerAir = 4, kVfs = 5;

[[nodiscard]] constexpr unsigned vf_port(unsigned vf) {
  return kFirstVf + vf;
}

[[nodiscard]] inline CardBearer bearer(std::uint32_t number, Place place = Place::kCard) {
  CardBearer b;
  b.id = BearerId{0x05000000 + number};
  b.teid = Teid{0x05000000 + number};
  b.place = place;
  b.poll_pdu = 4;
  b.qfi = Qfi{7};
  b.n3_ipv4 = __builtin_bswap32(datapath::test::kOurIpv4);
  b.n3_vlan = kAnyVlan;
  b.air_dst = kAirDst;
  b.air_src = kAirSrc;
  b.vf_n3 = kWorkerN3;
  b.vf_air = kWorkerAir;
  b.copies_vf = kCopies;
  b.uplink_teid = Teid{0xaa000000 + number};
  b.peer = 9;
  return b;
}

[[nodiscard]] inline ran::BearerConfig ran_config(const CardBearer& b) {
  ran::BearerConfig config;
  config.id = b.id;
  config.rlc_mode = RlcMode::kAm;
  config.rlc_sn_bits = b.rlc_sn_bits;
  config.pdcp_sn_bits = b.pdcp_sn_bits;
  config.sdap_header_dl = b.sdap_dl;
  config.sdap_header_ul = b.sdap_ul;
  return config;
}

// The air frame that an SDU must become, made by the writers of wire/.
[[nodiscard]] inline Bytes air_frame(const CardBearer& b, std::uint32_t count, std::uint32_t rlc, const Bytes& sdu,
                                     bool poll = false, Qfi qfi = Qfi{9}) {
  Bytes frame(14);
  wire::ethernet::write(frame, b.air_dst.octets, b.air_src.octets, wire::ethernet::kTypeAirhdr);
  Bytes headers = ran::test::downlink_headers(ran_config(b), count, rlc, poll, false, qfi, sdu.size());
  headers[3] = b.epoch;
  frame.insert(frame.end(), headers.begin(), headers.end());
  frame.insert(frame.end(), sdu.begin(), sdu.end());
  return frame;
}

[[nodiscard]] inline Bytes from_ue(const CardBearer& b, std::uint32_t count, const Bytes& sdu, Qfi qfi = Qfi{9}) {
  Bytes frame(14);
  wire::ethernet::write(frame, kAirSrc.octets, kAirDst.octets, wire::ethernet::kTypeAirhdr);
  const Bytes pdu = ran::test::uplink_pdu(ran_config(b), count, count, qfi, sdu);
  frame.insert(frame.end(), pdu.begin(), pdu.end());
  return frame;
}

// A frame that returns an SDU from the host to the card for numbering.
[[nodiscard]] inline Bytes returned(const CardBearer& b, const Bytes& sdu, std::uint8_t qos = 9) {
  Bytes frame(24);
  wire::ethernet::write(frame, kAirSrc.octets, kAirDst.octets, wire::ethernet::kTypeAirhdr);
  frame[14] = 0x21;
  frame[15] = qos;
  wire::store_be32(frame.data() + 18, b.teid.value);
  wire::store_be16(frame.data() + 22, static_cast<std::uint32_t>(sdu.size()));
  frame.insert(frame.end(), sdu.begin(), sdu.end());
  return frame;
}

[[nodiscard]] inline N3Frame to(const CardBearer& b, std::size_t bytes = 40) {
  N3Frame frame;
  frame.teid = b.teid.value;
  frame.payload = datapath::test::inner_packet(bytes);
  return frame;
}

// CPU time of this thread in milliseconds. Other load on the machine does not count.
[[nodiscard]] inline double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// SPLITPLANE_EXECUTION=interpreted runs the tests of cards with DPDK's interpreter.
[[nodiscard]] inline Execution execution_of_tests() {
  const char* const text = std::getenv("SPLITPLANE_EXECUTION");
  return text != nullptr && std::string_view(text) == "interpreted" ? Execution::kInterpreted : Execution::kCompiled;
}

class TestCard {
 public:
  explicit TestCard(std::string_view program, CardSettings settings = {})
      : TestCard(program, generated(program), settings) {}
  TestCard(std::string_view name, std::string_view text, CardSettings settings) {
    settings.name = name;
    if (settings.vfs == 1) settings.vfs = kVfs, settings.punt_n3 = kPuntN3, settings.punt_air = kPuntAir;
    settings.execution = execution_of_tests();
    auto made = Card::make(parsed(text), settings);
    if (!made) throw std::runtime_error(made.error().message);  // fails the test
    card = std::move(*made);
  }
  // Every frame that came in was sent, dropped or is a clone; none is left.
  ~TestCard() {
    for (unsigned port = 0; port < card->ports(); ++port) EXPECT_TRUE(take(port).empty()) << "left on port " << port;
    const CardCounters all = card->counters();
    std::uint64_t in = 0, out = 0, drops = 0;
    for (const CardPortCounters& port : all.ports) in += port.in, out += port.out;
    for (const std::uint64_t n : all.drops) drops += n;
    EXPECT_EQ(in, out + all.dropped + all.held);
    EXPECT_EQ(drops, all.dropped) << "a drop without a reason";
    EXPECT_EQ(all.held, 0U);
  }
  void feed(const std::vector<Bytes>& frames, unsigned port) {
    std::vector<rte_mbuf*> mbufs;
    for (const Bytes& frame : frames) mbufs.push_back(pool.make(frame));
    for (std::size_t at = 0; at < mbufs.size(); at += datapath::kBurst) {
      const std::size_t n = std::min(mbufs.size() - at, std::size_t{datapath::kBurst});
      card->process(mbufs.data() + at, static_cast<unsigned>(n), port);
    }
  }
  std::vector<Bytes> take(unsigned port) {
    std::vector<Bytes> frames;
    for (rte_mbuf* m : card->out(port).mbufs) {
      const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
      frames.emplace_back(at, at + m->data_len);
      rte_pktmbuf_free(m);
    }
    card->out(port).mbufs.clear();
    return frames;
  }
  void install(const std::vector<CardBearer>& bearers, bool restart = false) {
    const auto done = card->install(bearers, restart);
    ASSERT_TRUE(done) << done.error().message;
  }
  [[nodiscard]] std::uint64_t punted(PuntReason reason) const {
    return card->counters().punts[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] std::uint64_t dropped(CardDrop reason) const {
    return card->counters().drops[static_cast<std::size_t>(reason)];
  }
  void resolve_peer(std::uint16_t vlan = 0) {
    const auto done = card->set_peer({.number = 9,
                                      .dst = datapath::test::kUpfMac,
                                      .src = datapath::test::kOurMac,
                                      .from = IpAddress::v4({10, 100, 0, 1}),
                                      .to = IpAddress::v4({10, 100, 0, 2}),
                                      .max_payload = 1456,
                                      .vlan = vlan});
    ASSERT_TRUE(done) << done.error().message;
  }

  datapath::test::Pool pool{512};
  std::unique_ptr<Card> card;
};

}  // namespace splitplane::nic::test
