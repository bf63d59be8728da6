// Runs between frames from elsewhere and the soft NIC: each frame is accounted for, and a NIC that loses its core for a
// while does not count as one that hangs.
#include "bypass/wire_run.h"

#include <gtest/gtest.h>

#include <thread>

#include "nicmodel/traffic_peer.h"

namespace splitplane::bypass {
namespace {

// The peer's traffic. The NIC's thread sleeps after every 2000 packets, while others are under way.
class SleepyWire final : public nicmodel::Wire {
 public:
  explicit SleepyWire(std::uint64_t packets)
      : peer_({.flows = 8, .sizes = {64}, .packets = packets, .window = 64}), packets_(packets) {}
  [[nodiscard]] std::uint32_t arrive(nicmodel::WireFrame* frames, std::uint32_t max, std::uint64_t now_ns) override {
    const std::uint64_t sent = peer_.counters().sent.get();
    const std::uint32_t n = peer_.arrive(frames, max, now_ns);
    if ((sent + n) / 2000 != sent / 2000) std::this_thread::sleep_for(std::chrono::milliseconds(80));
    return n;
  }
  [[nodiscard]] std::uint32_t leave(const nicmodel::WireFrame* frames, std::uint32_t n, std::uint64_t now_ns) override {
    return peer_.leave(frames, n, now_ns);
  }
  [[nodiscard]] bool all_back() const { return peer_.counters().returned.get() == packets_; }

 private:
  nicmodel::TrafficPeer peer_;
  std::uint64_t packets_;
};

TEST(WireRun, a_nic_that_waits_for_its_core_is_no_finding) {
  SleepyWire wire(10'000);
  Scenario s{.rings = 2};
  const auto result = run_on_wire(s, wire, [&](const Live& now) { return !wire.all_back() && now.seconds < 20; });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->sent, 10'000U);
  EXPECT_TRUE(result->findings.empty()) << result->findings.front();
  EXPECT_TRUE(result->is_sound());

  SleepyWire again(10'000);
  s.ring.stall_within_ns = 5'000'000;  // an engine with a separate core would call this a stall
  const auto impatient = run_on_wire(s, again, [&](const Live& now) { return !again.all_back() && now.seconds < 20; });
  ASSERT_TRUE(impatient) << impatient.error().message;
  EXPECT_FALSE(impatient->findings.empty());
}

TEST(WireRun, frames_that_are_dropped_leave_the_window) {
  constexpr std::uint64_t kFrames = 3000;
  nicmodel::TrafficPeer peer({.packets = kFrames, .window = 0});  // UDP, but no GTP-U: the function drops it
  const Scenario s{.function = FunctionKind::gnb_headers};
  const auto done = [&](const Live& now) { return now.dropped < kFrames && now.seconds < 20; };
  const auto result = run_on_wire(s, peer, done, 16);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->arrived, kFrames);
  EXPECT_EQ(result->dropped, kFrames);
  EXPECT_TRUE(result->lost_at_nic.empty()) << "never more under way than descriptors";
  EXPECT_TRUE(result->is_sound());
}

TEST(WireRun, a_finding_or_a_frame_too_few_is_not_sound) {
  WireRunResult r;
  r.arrived = r.delivered = r.sent = 5;
  EXPECT_TRUE(r.is_sound());
  r.findings = {"ring 0, sender: no descriptor came back"};
  EXPECT_FALSE(r.is_sound());
  r.findings.clear();
  r.sent = 4;
  EXPECT_FALSE(r.is_sound());
  r.held = 1;
  EXPECT_TRUE(r.is_balanced());
  EXPECT_FALSE(r.is_sound());
  r.held = 0;
  r.dropped = 1;
  EXPECT_TRUE(r.is_sound());
}

}  // namespace
}  // namespace splitplane::bypass
