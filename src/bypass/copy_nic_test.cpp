// The NIC made of copies, with a memcpy that lags behind: every frame comes back, on the ring that an 82599 would
// choose.
#include "bypass/copy_nic.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "bypass/bed.h"
#include "bypass/bench_wire.h"
#include "bypass/nic_steering.h"
#include "gpu/nic/host_memory.h"
#include "gpu/rings/launch.h"
#include "gpu/rings/test_nic.h"
#include "nicmodel/traffic_peer.h"
#include "wire/bytes.h"

namespace splitplane::bypass {
namespace {

using nicmodel::TrafficPeer;

// Makes one copy at each call of is_done(), in the order in which they were begun.
class LateCopier {
 public:
  LateCopier(std::uint32_t batch, std::uint32_t slot_bytes)
      : mirror(batch), frames_(std::size_t{batch} * slot_bytes), stride_(slot_bytes) {}
  [[nodiscard]] std::uint8_t* frame(std::uint32_t i) { return &frames_[std::size_t{i} * stride_]; }
  void fetch(const gpu::Descriptor* from, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      begun_.push_back([this, from, i] { mirror[i] = {from[i].lo, gpu::load_acquire(&from[i].hi)}; });
    }
  }
  void payload(void** to, const void** from, const std::size_t* bytes, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      begun_.push_back([to = to[i], from = from[i], bytes = bytes[i]] { std::memcpy(to, from, bytes); });
    }
  }
  void write_back(gpu::Descriptor* to, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      begun_.push_back([this, to, i] {
        to[i].lo = mirror[i].lo;
        gpu::store_release(&to[i].hi, mirror[i].hi);
      });
    }
  }
  [[nodiscard]] bool is_done() {
    if (begun_.empty()) return true;
    begun_.front()();
    begun_.pop_front();
    return false;
  }

  std::vector<gpu::Descriptor> mirror;

 private:
  std::vector<std::uint8_t> frames_;
  std::uint32_t stride_;
  std::deque<std::function<void()>> begun_;
};

std::vector<gpu::Doorbells> doorbells_of(const std::vector<gpu::Ring>& rings) {
  std::vector<gpu::Doorbells> all;
  for (const gpu::Ring& ring : rings) all.push_back({ring.rdt, ring.tdt});
  return all;
}

TEST(CopyNic, every_frame_comes_back_unchanged_and_in_its_flows_order) {
  Scenario s{.rings = 4};
  TrafficPeer peer({.flows = 32, .sizes = {64, 300, 1500}, .packets = 3000, .window = 100});
  gpu::test::Bench bench(s.ring, s.rings);
  gpu::RingSet<gpu::Echo> set(bench.rings, gpu::Echo{}, bench.view.stop);
  auto steering = steering_of(s, {});
  ASSERT_TRUE(steering) << steering.error().message;
  CopyNic<LateCopier> nic(bench.rings, doorbells_of(bench.rings), *steering, peer);
  std::uint64_t now = 1;
  for (unsigned rounds = 0; !peer.done() && rounds < 2'000'000; ++rounds) {
    set.step(now += 100);
    nic.step(now);
  }
  for (unsigned rounds = 0; rounds < 1000; ++rounds) set.step(now += 100), nic.step(now);
  const nicmodel::PeerCounters& c = peer.counters();
  EXPECT_EQ(c.returned.get(), 3000U);
  EXPECT_EQ(c.changed.get() + c.foreign.get() + c.duplicated.get() + c.reordered_in_flow.get(), 0U);
  EXPECT_EQ(nic.lost(), 0U);
  for (std::size_t ring = 0; ring < s.rings; ++ring) {
    EXPECT_TRUE(set.census(ring).is_at_rest());
    EXPECT_GT(bench.view.rx[ring].packets, 100U) << "ring " << ring;
  }
}

TEST(CopyNic, loses_what_its_buffer_has_no_room_for_and_counts_it) {
  Scenario s;
  TrafficPeer peer({.flows = 1, .sizes = {64}, .packets = 5000});
  gpu::test::Bench bench(s.ring, 1);
  auto steering = steering_of(s, {});
  ASSERT_TRUE(steering);
  CopyNic<LateCopier> nic(bench.rings, doorbells_of(bench.rings), *steering, peer);  // no driver gives it descriptors
  for (std::uint64_t now = 1; now < 1000; ++now) nic.step(now);
  EXPECT_EQ(nic.lost(), 5000U - CopyNic<LateCopier>::kWaiting);
}

TEST(NicSteering, is_the_models_own) {
  Scenario s{.rings = 8, .flows = 200};
  BenchWire wire(s);
  gpu::HostMemory provider({.hugepages = false});
  const auto memory = allocate(provider, s);
  ASSERT_TRUE(memory);
  const auto bed = Bed::make(s, *memory, wire);
  ASSERT_TRUE(bed);
  const auto steering = steering_of(s, {});
  ASSERT_TRUE(steering);
  std::vector<unsigned> frames(s.rings);
  for (std::uint32_t flow = 0; flow < s.flows; ++flow) {
    auto frame = TrafficPeer::udp_header(flow, 60);
    frame.resize(60);
    const std::uint32_t ring = steering->steer(frame.data(), 60).ring;
    EXPECT_EQ(ring, (*bed)->model().steering().steer(frame.data(), 60).ring);
    ++frames.at(ring);
  }
  for (const unsigned n : frames) EXPECT_GT(n, 8U);
}

TEST(NicSteering, follows_filters_and_the_hash_without_ports) {
  Scenario s{.rings = 20, .flows = 20};
  const auto filtered = steering_of(s, TrafficPeer::filters(s.flows, s.rings));
  ASSERT_TRUE(filtered);
  Scenario by_address{.rings = 8, .rss_ports = false};
  const auto addresses = steering_of(by_address, {});
  ASSERT_TRUE(addresses);
  for (std::uint32_t flow = 0; flow < s.flows; ++flow) {
    auto frame = TrafficPeer::udp_header(flow, 60);
    frame.resize(60);
    EXPECT_EQ(filtered->steer(frame.data(), 60).ring, flow);
    const std::uint32_t ring = addresses->steer(frame.data(), 60).ring;
    wire::store_be16(&frame[34], 55'555);
    EXPECT_EQ(addresses->steer(frame.data(), 60).ring, ring);
  }
}

// How the emulated NICs (gpu-e1, gpu-e3) treat a bench's tunnels, whose source port changes with each packet.
TEST(NicSteering, has_a_tunnel_on_one_ring_exactly_where_bearers_are_not_spread) {
  for (const std::uint32_t rings : {8U, 32U}) {
    const Scenario s{.function = FunctionKind::gnb_headers, .rings = rings, .frame_bytes = 200, .window = 0};
    const auto steering = steering_of(s, BenchWire::filters(s));
    ASSERT_TRUE(steering) << steering.error().message;
    BenchWire wire(s);
    std::map<std::uint32_t, std::set<std::uint32_t>> rings_of;  // by the tunnel's outer source address
    for (std::uint64_t now = 1; now < 500; ++now) {
      nicmodel::WireFrame frames[32];
      for (std::uint32_t left = wire.arrive(frames, 32, now); left > 0; --left) {
        const nicmodel::WireFrame& frame = frames[left - 1];
        rings_of[wire::load_be32(frame.octets + 26)].insert(steering->steer(frame.octets, frame.bytes).ring);
      }
    }
    ASSERT_EQ(rings_of.size(), flows_of(s));
    for (const auto& [tunnel, all] : rings_of) EXPECT_EQ(all.size() > 1, spreads_bearers(s)) << tunnel;
  }
}

}  // namespace
}  // namespace splitplane::bypass
