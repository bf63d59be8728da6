// Generator and sink over real DPDK ports (net_ring: packets that are sent come back) with injected time; also replayed
// captures. Starts DPDK once for the tests of this folder.
#include <gmock/gmock.h>
#include <pcap/pcap.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/port.h"
#include "engine/test_dpdk.h"
#include "traffic/generator.h"
#include "traffic/packet_maker.h"
#include "traffic/replay.h"
#include "traffic/selftest.h"
#include "traffic/sink.h"

namespace splitplane::traffic {
namespace {

[[maybe_unused]] const auto* const kDpdk =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("traffic"));

class Pair : public testing::Test {
 protected:
  Pair() : pool_(rte_pktmbuf_pool_create("pair", 4095, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY)) {
    port_ = *datapath::Port::open({.name = "loop", .device = "net_ring0"}, pool_);
    for (std::uint32_t id = 1; id <= 4; ++id) {
      FlowSpec flow;
      flow.bearer.id = BearerId{id};
      flow.bearer.upf = *IpAddress::parse("10.100.0.2");
      flow.gnb = *IpAddress::parse("10.100.0.1");
      flow.bearer.ue_ipv4 = *IpAddress::parse("10.45.0.2");
      flows_.push_back(flow);
    }
  }
  ~Pair() override {
    port_.reset();
    EXPECT_EQ(rte_mempool_in_use_count(pool_), 0U) << "mbufs did not return to their pool";
    rte_mempool_free(pool_);
  }

  static MakerSettings maker(std::uint32_t run = 1) {
    return {.server_ipv4 = *IpAddress::parse("10.200.0.1"), .sizes = {60}, .run = run};
  }
  GeneratorSettings settings(std::uint64_t packets) const {
    return {.port = port_->id(), .pool = pool_, .packets = packets};
  }
  static Mix in_turn(std::uint32_t flows) { return {flows, Mix::Order::kInTurn, {1}, 1}; }

  rte_mempool* pool_;
  std::unique_ptr<datapath::Port> port_;
  std::vector<FlowSpec> flows_;
};

TEST_F(Pair, every_packet_leaves_when_it_is_due_and_is_checked) {
  PacketMaker packets(maker(), flows_);
  Generator generator(settings(1000), packets, Schedule(Constant{}, 1e6, 1), in_turn(4));
  Sink sink({.port = port_->id(), .flows = 4});
  generator.start(5'000'000);
  std::uint64_t now = 5'000'000;
  for (; !generator.finished(); now += 1000) {
    EXPECT_EQ(generator.poll(now), 1U);
    sink.poll([&] { return now + 250; });
  }
  EXPECT_EQ(sink.stamped(), 1000U);
  EXPECT_EQ(sink.checker().total(), (FlowCounts{.next = 1000, .unique = 1000}));
  EXPECT_EQ(sink.latency().min(), 250U);
  EXPECT_EQ(sink.latency().max(), 250U);
  EXPECT_EQ(generator.lateness().max(), 0U);
  EXPECT_EQ(generator.stats().late.get(), 0U);
}

TEST_F(Pair, a_generator_that_was_held_up_catches_up_and_the_latency_shows_it) {
  PacketMaker packets(maker(), flows_);
  Generator generator(settings(100), packets, Schedule(Constant{}, 1e6, 1), in_turn(4));
  Sink sink({.port = port_->id(), .flows = 4});
  generator.start(0);
  const std::uint64_t now = 1'000'000;  // nothing happened for a millisecond
  while (!generator.finished()) {
    generator.poll(now);
    sink.poll([&] { return now; });
  }
  EXPECT_EQ(sink.stamped(), 100U);
  EXPECT_EQ(generator.stats().late.get(), 100U);
  EXPECT_EQ(sink.latency().max(), 1'000'000U);  // of the first packet, which was due at 0
  EXPECT_EQ(sink.latency().min(), 901'000U);
}

TEST_F(Pair, what_the_port_refuses_is_offered_again_or_given_up_and_counted) {
  for (const bool retry : {true, false}) {
    PacketMaker packets(maker(), flows_);
    GeneratorSettings limited = settings(2000);
    limited.retry = retry;
    Generator generator(limited, packets, Schedule(Bursts{2000}, 1e6, 1), in_turn(4));
    generator.start(0);
    for (int turn = 0; turn < 100; ++turn) generator.poll(1);  // no sink receives, so the ring of 1,024 fills
    EXPECT_EQ(generator.stats().sent.get(), 1023U);
    EXPECT_GT(generator.stats().refusals.get(), 0U);
    EXPECT_EQ(generator.stats().refused.get(), retry ? 0U : 977U);
    Sink sink({.port = port_->id(), .flows = 4});
    while (sink.poll([] { return 2; }) != 0 || generator.poll(2) != 0) {
    }
    EXPECT_EQ(sink.checker().total().lost(), 0U) << "a refused packet gives its number back";
    EXPECT_EQ(sink.stamped(), retry ? 2000U : 1023U);
    generator.end(3);
    EXPECT_EQ(generator.stats().unsent.get(), 0U);
  }
}

TEST_F(Pair, what_was_due_at_the_end_and_did_not_leave_is_counted) {
  PacketMaker packets(maker(), flows_);
  GeneratorSettings timed = settings(0);
  timed.duration_ns = 10'000;
  Generator generator(timed, packets, Schedule(Constant{}, 1e6, 1), in_turn(4));
  generator.start(0);
  EXPECT_EQ(generator.poll(3'000), 4U);
  EXPECT_FALSE(generator.finished());
  generator.end(20'000);
  EXPECT_TRUE(generator.finished());
  EXPECT_EQ(generator.stats().unsent.get(), 6U);
  Sink sink({.port = port_->id(), .flows = 4});
  sink.poll([] { return 1'000'000; });
  EXPECT_EQ(sink.stamped(), 4U);
}

TEST_F(Pair, what_did_not_leave_is_counted_at_once_however_much_it_is) {
  constexpr std::uint64_t kDay = 86'400ULL * 1'000'000'000;
  for (const std::uint64_t packets : {std::uint64_t{0}, std::uint64_t{7'000'000'000'000}}) {
    PacketMaker maker_of_60(maker(), flows_);
    GeneratorSettings limited = settings(packets);
    limited.duration_ns = kDay;
    Generator generator(limited, maker_of_60, Schedule(Constant{}, 2e8, 1), in_turn(4));
    generator.start(5);
    EXPECT_EQ(generator.poll(1'000'005), 32U);
    generator.end(2 * kDay);  // walking through them, 5 ns each, would take a day too
    EXPECT_EQ(generator.stats().unsent.get(), (packets == 0 ? 200'000'000ULL * 86'400 : packets) - 32);
    EXPECT_TRUE(generator.finished());
    Sink sink({.port = port_->id(), .flows = 4});
    EXPECT_EQ(sink.poll([] { return 1'000'005; }), 32U);
  }
}

TEST_F(Pair, how_far_behind_is_known_while_the_port_refuses) {
  PacketMaker packets(maker(), flows_);
  Generator generator(settings(2000), packets, Schedule(Bursts{2000}, 1e6, 1), in_turn(4));
  generator.start(0);
  for (std::uint64_t now = 1; now <= 100; ++now) generator.poll(now);  // no sink receives, so the ring of 1,024 fills
  generator.poll(1'000'000);
  EXPECT_EQ(generator.stats().behind_ns.get(), 1'000'000U);
  generator.end(1'000'000);
  EXPECT_EQ(generator.stats().unsent.get() + generator.stats().refused.get() + generator.stats().sent.get(), 2000U);
  Sink sink({.port = port_->id(), .flows = 4});
  while (sink.poll([] { return 2'000'000; }) != 0) {
  }
}

TEST_F(Pair, stamps_of_another_run_and_of_flows_beyond_the_last_are_not_ours) {
  Sink sink({.port = port_->id(), .flows = 3});
  for (const std::uint32_t run : {7U, 8U}) {
    PacketMaker packets(maker(run), flows_);
    Generator generator(settings(8), packets, Schedule(Constant{}, 1e9, 1), in_turn(4));
    generator.start(0);
    generator.poll(1000);
    sink.poll([] { return 1000; });
  }
  const auto seen = [&](Seen what) { return sink.stats().seen[static_cast<std::size_t>(what)].get(); };
  EXPECT_EQ(seen(Seen::stamped), 6U);
  EXPECT_EQ(seen(Seen::flow_unknown), 2U);
  EXPECT_EQ(seen(Seen::other_run), 8U);
  EXPECT_EQ(sink.run(), 7U);
}

TEST_F(Pair, a_stamp_from_the_future_is_counted_and_not_wrapped) {
  PacketMaker packets(maker(), flows_);
  Generator generator(settings(1), packets, Schedule(Constant{}, 1e6, 1), in_turn(4));
  Sink sink({.port = port_->id(), .flows = 4});
  generator.start(1000);
  generator.poll(1000);
  sink.poll([] { return 500; });
  EXPECT_EQ(sink.stats().from_future.get(), 1U);
  EXPECT_EQ(sink.latency().max(), 0U);
}

TEST(SelfTest, counts_and_percentiles_are_exact_in_virtual_time) {
  const auto result = run_self_test(0.02);  // the real-time parts need quiet machines; this test only runs them
  ASSERT_TRUE(result) << result.error().message;
  const ExactResult& exact = result->exact;
  EXPECT_TRUE(exact.good()) << exact.sink.unique << " of " << exact.sent << ", " << exact.latency.worst();
  EXPECT_GT(exact.device.lost, 0U);
  EXPECT_GT(exact.device.overflowed, 0U);
  EXPECT_GT(exact.sink.duplicates, 0U);
  EXPECT_GT(exact.sink.reordered, 0U);
  EXPECT_EQ(result->rate.lost, 0U);
  EXPECT_GT(result->ceiling.pair_mpps, 0);
}

// A capture of `frames` at these times, written by libpcap.
std::string capture_of(const std::vector<std::vector<std::uint8_t>>& frames, const std::vector<int>& micros,
                       int link = DLT_EN10MB) {
  const std::string path = testing::TempDir() + "replay-" + std::to_string(getpid()) + ".pcap";
  pcap_t* const file = pcap_open_dead(link, 65535);
  pcap_dumper_t* const out = pcap_dump_open(file, path.c_str());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto bytes = static_cast<bpf_u_int32>(frames[i].size());
    const pcap_pkthdr header{.ts = {.tv_sec = 1700000000, .tv_usec = micros[i]}, .caplen = bytes, .len = bytes};
    pcap_dump(reinterpret_cast<std::uint8_t*>(out), &header, frames[i].data());
  }
  pcap_dump_close(out);
  pcap_close(file);
  return path;
}

TEST_F(Pair, a_capture_is_replayed_octet_for_octet_in_its_own_time) {
  const std::vector<std::vector<std::uint8_t>> frames{std::vector<std::uint8_t>(60, 1),
                                                      std::vector<std::uint8_t>(99, 2)};
  auto replay = Replay::load(capture_of(frames, {10, 35}), 2048);
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_THAT(replay->times_ns(), testing::ElementsAre(0, 25'000));
  Generator generator(settings(4), *replay, Schedule(Recorded{replay->times_ns(), 1}, 1, 1), in_turn(2));
  generator.start(0);
  EXPECT_EQ(generator.poll(24'999), 1U);
  EXPECT_EQ(generator.poll(25'000), 1U);
  EXPECT_EQ(generator.poll(1'000'000), 2U);
  std::array<rte_mbuf*, 8> got{};
  ASSERT_EQ(rte_eth_rx_burst(port_->id(), 0, got.data(), 8), 4U);
  for (unsigned i = 0; i < 4; ++i) {
    const auto* at = rte_pktmbuf_mtod(got[i], const std::uint8_t*);
    EXPECT_EQ(std::vector<std::uint8_t>(at, at + got[i]->data_len), frames[i % 2]);
  }
  rte_pktmbuf_free_bulk(got.data(), 4);
}

TEST(Replay, a_file_that_cannot_be_replayed_is_refused_in_one_sentence) {
  EXPECT_THAT(Replay::load("/no/such.pcap", 2048).error().message, testing::HasSubstr("No such file"));
  EXPECT_THAT(Replay::load(capture_of({}, {}), 2048).error().message, testing::HasSubstr("holds no frame"));
  EXPECT_THAT(Replay::load(capture_of({{1, 2}}, {0}, DLT_RAW), 2048).error().message,
              testing::HasSubstr("allowed: Ethernet"));
  const std::vector<std::vector<std::uint8_t>> long_frame{std::vector<std::uint8_t>(3000, 1)};
  EXPECT_THAT(Replay::load(capture_of(long_frame, {0}), 2048).error().message, testing::HasSubstr("has 3000 octets"));
  for (const std::size_t octets : {0U, 1U, 13U}) {
    const std::vector<std::vector<std::uint8_t>> short_frame{std::vector<std::uint8_t>(14, 1),
                                                             std::vector<std::uint8_t>(octets, 1)};
    EXPECT_THAT(Replay::load(capture_of(short_frame, {0, 1}), 2048).error().message,
                testing::HasSubstr(fmt::format("frame 2 has {} octets; allowed: at least 14", octets)));
  }
  const std::string garbage = testing::TempDir() + "garbage-" + std::to_string(getpid());
  std::ofstream(garbage) << "this is no capture at all, whatever its name says";
  EXPECT_FALSE(Replay::load(garbage, 2048));
  std::filesystem::remove(garbage);
}

}  // namespace
}  // namespace splitplane::traffic
