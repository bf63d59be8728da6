// The wires: a cable between two models, captures that are replayed and recorded, and the peer that checks.
#include <gmock/gmock.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "nicmodel/cable.h"
#include "nicmodel/pcap_wire.h"
#include "nicmodel/test_ring_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace fs = std::filesystem;
using test::RingDriver;
using testing::HasSubstr;
using Octets = std::vector<std::uint8_t>;

// --- peer

std::vector<Octets> take(TrafficPeer& peer, std::uint32_t n, std::uint64_t now) {
  std::vector<WireFrame> frames(32);
  std::vector<Octets> all;
  const std::uint32_t got = peer.arrive(frames.data(), n, now);
  for (std::uint32_t i = 0; i < got; ++i) all.emplace_back(frames[i].octets, frames[i].octets + frames[i].bytes);
  return all;
}
void give(TrafficPeer& peer, const Octets& octets, std::uint64_t now = 1000) {
  const WireFrame frame{octets.data(), static_cast<std::uint32_t>(octets.size())};
  EXPECT_EQ(peer.leave(&frame, 1, now), 1U);
}

TEST(TrafficPeerTest, same_seed_same_frames) {
  const auto frames = [](std::uint64_t seed) {
    TrafficPeer peer({.seed = seed, .sizes = {64, 300, 1518}});
    return take(peer, 32, 7);
  };
  EXPECT_EQ(frames(3), frames(3));
  EXPECT_NE(frames(3), frames(4));
}

TEST(TrafficPeerTest, tells_lost_duplicated_reordered_changed_and_foreign) {
  TrafficPeer peer({.flows = 1, .sizes = {128}});
  auto f = take(peer, 8, 500);
  ASSERT_EQ(f.size(), 8U);
  EXPECT_EQ(f[0].size(), 124U);
  for (const int i : {0, 2, 1, 3, 3}) give(peer, f[static_cast<std::size_t>(i)]);
  EXPECT_EQ(peer.counters().returned.get(), 4U);
  EXPECT_EQ(peer.counters().reordered.get(), 1U);
  EXPECT_EQ(peer.counters().reordered_in_flow.get(), 1U);
  EXPECT_EQ(peer.counters().duplicated.get(), 1U);
  EXPECT_EQ(peer.lost(), 4U);
  Octets payload = f[4];
  payload.back() ^= 1;
  give(peer, payload);
  Octets header = f[5];
  header[0] ^= 1;
  give(peer, header);
  Octets cut = f[6];
  cut.resize(100);
  give(peer, cut);
  EXPECT_EQ(peer.counters().changed.get(), 3U);
  Octets stamp = f[7];
  stamp[TrafficPeer::kUdpHeaderBytes] ^= 1;
  give(peer, stamp);
  give(peer, Octets(60, 0));
  give(peer, Octets(20, 0));
  EXPECT_EQ(peer.counters().foreign.get(), 3U);
  EXPECT_EQ(peer.latency().total(), 7U);
  EXPECT_EQ(peer.latency().max(), 500U);
}

TEST(TrafficPeerTest, reordering_between_flows_is_counted_overall_only) {
  TrafficPeer peer({.flows = 64});
  const auto f = take(peer, 32, 1);
  for (std::size_t i = f.size(); i-- > 0;) give(peer, f[i]);
  EXPECT_EQ(peer.counters().reordered.get(), 31U);
  EXPECT_LT(peer.counters().reordered_in_flow.get(), 31U);
}

TEST(TrafficPeerTest, a_window_bounds_what_is_under_way_and_lost_packets_are_written_off) {
  TrafficPeer peer({.packets = 20, .window = 4, .lost_after_ns = 1000});
  EXPECT_EQ(take(peer, 32, 1).size(), 4U);
  EXPECT_EQ(take(peer, 32, 900).size(), 0U);
  EXPECT_EQ(take(peer, 32, 1002).size(), 4U);  // the four are taken for lost
  EXPECT_EQ(peer.counters().written_off.get(), 4U);
}

TEST(TrafficPeerTest, a_rate_is_kept_over_time) {
  TrafficPeer peer({.packets_per_s = 1e6});
  std::size_t n = 0;
  for (std::uint64_t now = 1; now <= 1'000'001; now += 700) n += take(peer, 32, now).size();
  EXPECT_NEAR(static_cast<double>(n), 1000, 2);
}

// A NIC that stops for a while delays all packets that were due meanwhile, not only the one at which it stopped.
TEST(TrafficPeerTest, open_loop_latency_begins_when_a_packet_is_due) {
  TrafficPeer peer({.flows = 1, .packets_per_s = 1e6});
  EXPECT_EQ(take(peer, 32, 1'000'000).size(), 0U);
  const auto f = take(peer, 32, 1'010'000);  // nothing was taken for 10 us
  ASSERT_EQ(f.size(), 10U);
  give(peer, f[0], 1'011'000);
  EXPECT_EQ(peer.latency().max(), 10'000U);  // due 1 us after the start
  give(peer, f[9], 1'011'000);
  EXPECT_EQ(peer.latency().min(), 1'000U);  // due when it was taken
}

TEST(TrafficPeerTest, closed_loop_latency_begins_when_a_packet_is_sent) {
  TrafficPeer peer({.flows = 1, .window = 8, .packets_per_s = 1e6});
  EXPECT_EQ(take(peer, 32, 1'000'000).size(), 0U);
  const auto f = take(peer, 32, 1'010'000);
  ASSERT_EQ(f.size(), 8U);
  give(peer, f[0], 1'011'000);
  EXPECT_EQ(peer.latency().max(), 1'000U);
}

TEST(TrafficPeerTest, macs_that_changed_places_or_other_headers_are_judged_as_such) {
  TrafficPeer swapped({.returned = Returned::kMacsSwapped});
  Octets f = take(swapped, 1, 1)[0];
  give(swapped, f);
  EXPECT_EQ(swapped.counters().changed.get(), 1U);
  f = take(swapped, 1, 1)[0];
  std::swap_ranges(f.begin(), f.begin() + 6, f.begin() + 6);
  give(swapped, f);
  EXPECT_EQ(swapped.counters().changed.get(), 1U);

  TrafficPeer payload({.sizes = {200}, .returned = Returned::kPayload, .stamp_at = 10});
  f = take(payload, 1, 1)[0];
  Octets other(10, 0xEE);
  other.insert(other.end(), f.begin() + TrafficPeer::kUdpHeaderBytes, f.end());
  give(payload, other);
  EXPECT_EQ(payload.counters().returned.get(), 1U);
  EXPECT_EQ(payload.counters().changed.get(), 0U);
}

TEST(TrafficPeerTest, settings_that_cannot_be_are_refused) {
  EXPECT_THAT(TrafficPeer::check({.flows = 0}).error().message, HasSubstr("flows: 0; allowed: 1 to 65536"));
  EXPECT_THAT(TrafficPeer::check({.sizes = {63}}).error().message, HasSubstr("size: 63; allowed: 64 to 9728"));
  EXPECT_THAT(TrafficPeer::check({.sizes = {}}).error().message, HasSubstr("sizes: 0"));
  EXPECT_THAT(TrafficPeer::check({.window = TrafficPeer::kRemembered + 1}).error().message, HasSubstr("window"));
  EXPECT_TRUE(TrafficPeer::check({}));
}

TEST(LatencySeriesTest, keeps_count_sum_and_highest_of_each_interval) {
  LatencySeries series(1000, 8);
  series.add(0, 5);
  series.add(999, 7);
  series.add(2500, 9);
  series.add(99'000, 1);  // no room any more
  const auto points = series.points();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[0].packets, 2U);
  EXPECT_EQ(points[0].sum_ns, 12U);
  EXPECT_EQ(points[0].largest_ns, 7U);
  EXPECT_EQ(points[1].packets, 0U);
  EXPECT_EQ(points[2].packets, 1U);
}

// --- cable

// There is no driver between: the second NIC is the first one's far end.
TEST(CableTest, joins_two_models_that_echo_for_each_other) {
  Cable cable;
  TrafficPeer peer({.sizes = {64, 700, 1518}, .packets = 5000, .window = 100});
  Nic82599Model echo(cable.end(1));
  RingDriver driver(echo, 4, {});
  ASSERT_TRUE(driver.up(echo));
  // The peer is at the near end of the cable.
  std::array<WireFrame, 32> frames;
  for (std::uint64_t now = 1000; now < 400'000'000 && !peer.done(); now += 1000) {
    std::uint32_t n = peer.arrive(frames.data(), 32, now);
    EXPECT_EQ(cable.end(0).leave(frames.data(), n, now), n);
    echo.step(32, now);
    driver.set().step(now);
    n = cable.end(0).arrive(frames.data(), 32, now);
    EXPECT_EQ(peer.leave(frames.data(), n, now), n);
  }
  EXPECT_EQ(peer.counters().returned.get(), 5000U);
  EXPECT_EQ(peer.counters().changed.get(), 0U);
}

TEST(CableTest, back_to_back_on_threads_each_receives_what_the_other_sent) {
  Cable cable;
  Nic82599Model left(cable.end(0));
  Nic82599Model right(cable.end(1), {{0x02, 0x82, 0x59, 0x90, 0, 2}});
  RingDriver echo(right, 2, {.stall_within_ns = 1'000'000'000});
  test::EchoDriver sender(left, 1);
  left.start();
  right.start();
  ASSERT_TRUE(echo.up(right, true));
  ASSERT_TRUE(sender.up(left, &gpu::Nic82599::sleep));
  // One frame goes round and round between the two drivers.
  Octets frame = TrafficPeer::udp_header(1, 100);
  frame.resize(100, 0x77);
  std::memcpy(sender.slot(0, 0), frame.data(), frame.size());
  sender.tx(0, 0) = gpu::make_tx_data(reinterpret_cast<std::uintptr_t>(sender.slot(0, 0)), 100);
  gpu::ring_doorbell(sender.nic().transmit_doorbell(0), 1);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!gpu::rx_is_done(gpu::load_acquire(&sender.rx(0, 0).hi)) && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
  }
  EXPECT_EQ(sender.rx(0, 0).hi, 100ULL << 32 | 3);
  EXPECT_EQ(Octets(sender.slot(0, 0), sender.slot(0, 0) + 100), frame);
  EXPECT_TRUE(echo.set().stop(std::chrono::seconds(5)));
  EXPECT_TRUE(echo.nic().stop());
  EXPECT_TRUE(sender.nic().stop());
  left.stop();
  right.stop();
  EXPECT_EQ(left.faults().total() + right.faults().total(), 0U);
}

TEST(CableTest, a_far_end_that_takes_nothing_holds_the_near_end_back) {
  Cable cable;
  const Octets octets(60, 1);
  std::vector<WireFrame> frames(300, {octets.data(), 60});
  EXPECT_EQ(cable.end(0).leave(frames.data(), 300, 0), Cable::kFrames);
  EXPECT_EQ(cable.end(0).leave(frames.data(), 1, 0), 0U);
  EXPECT_EQ(cable.end(1).arrive(frames.data(), 10, 0), 10U);
  EXPECT_EQ(cable.end(0).leave(frames.data(), 1, 0), 0U);  // the ten are still being read
  EXPECT_EQ(cable.end(1).arrive(frames.data(), 1, 0), 1U);
  std::vector<WireFrame> more(300, {octets.data(), 60});
  EXPECT_EQ(cable.end(0).leave(more.data(), 300, 0), 10U);
}

// --- captures

class Capture : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("splitplane-pcap-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::vector<Octets>& frames, int link = DLT_EN10MB) {
    const fs::path path = folder_ / "in.pcap";
    pcap_t* const dead = pcap_open_dead(link, 65535);
    pcap_dumper_t* const file = pcap_dump_open(dead, path.c_str());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      pcap_pkthdr header{};
      header.ts.tv_sec = 100;
      header.ts.tv_usec = static_cast<suseconds_t>(i * 10);
      header.caplen = header.len = static_cast<bpf_u_int32>(frames[i].size());
      pcap_dump(reinterpret_cast<u_char*>(file), &header, frames[i].data());
    }
    pcap_dump_close(file);
    pcap_close(dead);
    return path;
  }
  static std::vector<Octets> read(const fs::path& path) {
    char why[PCAP_ERRBUF_SIZE] = {};
    pcap_t* const file = pcap_open_offline(path.c_str(), why);
    std::vector<Octets> all;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    while (pcap_next_ex(file, &header, &data) == 1) all.emplace_back(data, data + header->caplen);
    pcap_close(file);
    return all;
  }
  fs::path folder_;
};

TEST_F(Capture, is_replayed_through_the_driver_and_recorded_in_order) {
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < 40; ++i) {
    Octets octets = TrafficPeer::udp_header(1, 60 + i * 30);
    octets.resize(60 + i * 30, static_cast<std::uint8_t>(i));
    frames.push_back(octets);
  }
  auto wire = PcapWire::open({.replay = write(frames), .record = folder_ / "out.pcap", .rounds = 2});
  ASSERT_TRUE(wire) << wire.error().message;
  Nic82599Model model(**wire);
  RingDriver driver(model, 2, {});
  ASSERT_TRUE(driver.up(model));
  for (std::uint64_t now = 1000; now < 10'000'000 && (*wire)->left() < 80; now += 1000) {
    model.step(32, now);
    driver.set().step(now);
  }
  EXPECT_TRUE((*wire)->done());
  ASSERT_TRUE((*wire)->flush());
  std::vector<Octets> twice = frames;
  twice.insert(twice.end(), frames.begin(), frames.end());
  EXPECT_EQ(read(folder_ / "out.pcap"), twice);
}

TEST_F(Capture, keeps_its_times_if_asked) {
  auto wire = PcapWire::open({.replay = write({Octets(60), Octets(60), Octets(60)}), .recorded_time = true});
  ASSERT_TRUE(wire);
  std::array<WireFrame, 32> frames;
  EXPECT_EQ((*wire)->arrive(frames.data(), 32, 5000), 1U);
  EXPECT_EQ((*wire)->arrive(frames.data(), 32, 14'000), 0U);
  EXPECT_EQ((*wire)->arrive(frames.data(), 32, 15'000), 1U);
  EXPECT_EQ((*wire)->arrive(frames.data(), 32, 99'000), 1U);
  EXPECT_TRUE((*wire)->done());
}

TEST_F(Capture, pads_what_is_short_and_names_what_is_wrong) {
  auto wire = PcapWire::open({.replay = write({Octets(42, 7)})});
  ASSERT_TRUE(wire);
  std::array<WireFrame, 32> frames;
  ASSERT_EQ((*wire)->arrive(frames.data(), 32, 1), 1U);
  EXPECT_EQ(frames[0].bytes, 60U);
  EXPECT_EQ(frames[0].octets[41], 7);
  EXPECT_EQ(frames[0].octets[42], 0);
  EXPECT_THAT(PcapWire::open({.replay = folder_ / "none.pcap"}).error().message, HasSubstr("No such file"));
  EXPECT_THAT(PcapWire::open({.replay = write({})}).error().message, HasSubstr("holds no frame"));
  EXPECT_THAT(PcapWire::open({.replay = write({Octets(60)}, DLT_RAW)}).error().message, HasSubstr("allowed: Ethernet"));
  EXPECT_THAT(PcapWire::open({.replay = write({Octets(10)})}).error().message, HasSubstr("allowed: 14 to 16384"));
  std::ofstream(folder_ / "text.pcap") << "not a capture at all, but long enough to look";
  EXPECT_THAT(PcapWire::open({.replay = folder_ / "text.pcap"}).error().message, HasSubstr("text.pcap"));
  EXPECT_THAT(PcapWire::open({.record = folder_ / "none/out.pcap"}).error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace splitplane::nicmodel
