// Engines on separate threads beside a NIC on another one: order and octets, stopping, and a function that does not
// return.
#include "gpu/rings/launch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "gpu/rings/test_nic.h"
#include "gpu/rings/watchdog.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;
using test::numbered_frame;
using test::TestNic;

// Sends numbered frames into a ring, at most `window` under way, and checks the frames that come out. The NIC's thread
// runs it.
class Peer {
 public:
  Peer(const Ring& ring, std::size_t bytes, std::uint64_t window) : nic_(ring), bytes_(bytes), window_(window) {}
  // Returns true if a frame moved.
  bool poll(std::uint64_t until) {
    bool moved = false;
    nic_.listen();
    for (unsigned i = 0; i < 32 && in < until && in - out < window_ && nic_.free_descriptors() != 0;
         ++i, moved = true) {
      (void)nic_.receive(numbered_frame(in, bytes_));
      ++in;
    }
    for (const Bytes& frame : nic_.transmit(32)) {
      wrong += frame == numbered_frame(out, bytes_) ? 0 : 1;
      ++out;
      moved = true;
    }
    return moved;
  }
  std::uint64_t in = 0, out = 0, wrong = 0;

 private:
  TestNic nic_;
  std::size_t bytes_;
  std::uint64_t window_;
};

// Runs the peers of all rings in this thread until each has `packets` back, or until a minute is over.
bool all_come_back(std::vector<Peer>& peers, std::uint64_t packets) {
  const std::uint64_t deadline = steady_ns() + 60'000'000'000;
  for (bool all = false; !all && steady_ns() < deadline;) {
    all = true;
    bool moved = false;
    for (Peer& peer : peers) {
      moved |= peer.poll(packets);
      all &= peer.out >= packets;
    }
    if (!moved) std::this_thread::yield();
  }
  return std::all_of(peers.begin(), peers.end(), [&](const Peer& p) { return p.out == packets && p.wrong == 0; });
}

RingSettings quick() {
  return {.ring_size = 64, .slots = 256, .stall_within_ns = 50'000'000};
}

class ThreadedRings : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ThreadedRings, nothing_is_lost_changed_or_reordered) {
  test::Bench bench(quick(), GetParam());
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop);
  std::vector<Peer> peers;
  for (std::uint32_t i = 0; i < GetParam(); ++i) peers.emplace_back(bench.rings[i], std::size_t{64} + i * 200, 100);
  set.start();
  EXPECT_TRUE(all_come_back(peers, 16'000 / GetParam()));
  ASSERT_TRUE(set.stop(std::chrono::seconds(10)));
  for (std::uint32_t i = 0; i < GetParam(); ++i) {
    EXPECT_TRUE(set.census(i).is_at_rest());
    EXPECT_EQ(bench.view.rx[i].packets, 16'000 / GetParam());
    EXPECT_EQ(bench.view.tx[i].completed, 16'000 / GetParam());
  }
}
INSTANTIATE_TEST_SUITE_P(Count, ThreadedRings, testing::Values(1U, 2U, 4U, 8U));

TEST(StartStop, a_hundred_cycles_lose_no_slot) {
  for (unsigned cycle = 0; cycle < 100; ++cycle) {
    test::Bench bench(quick(), 2);
    RingSet<MacSwap> set(bench.rings, MacSwap{}, bench.view.stop);
    std::vector<TestNic> nics(bench.rings.begin(), bench.rings.end());
    set.start();
    std::uint64_t in = 0, out = 0;
    for (unsigned i = 0; i < 20; ++i) {  // frames are at every stage when the stop comes
      for (TestNic& nic : nics) {
        in += nic.receive(numbered_frame(i, 64)) ? 1 : 0;
        if (i % 4 == 0) out += nic.transmit().size();
      }
    }
    // The NIC continues to send while the senders drain.
    std::atomic<bool> done{false};
    std::thread nic([&] {
      while (!done.load()) {
        for (TestNic& n : nics) out += n.transmit().size();
        std::this_thread::yield();
      }
    });
    ASSERT_TRUE(set.stop(std::chrono::seconds(10)));
    done = true;
    nic.join();
    for (std::size_t r = 0; r < 2; ++r) ASSERT_TRUE(set.census(r).is_at_rest()) << "cycle " << cycle;
    ASSERT_EQ(out, bench.view.rx[0].packets + bench.view.rx[1].packets);
    ASSERT_LE(out, in);
  }
}

TEST(StartStop, rings_without_a_nic_stop_too) {
  test::Bench bench(quick());
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop);
  TestNic nic(bench.rings[0]);
  set.start(20'000'000);
  while (!nic.receive(numbered_frame(1, 64))) std::this_thread::yield();
  while (load_acquire(bench.rings[0].tdt) == 0) std::this_thread::yield();
  ASSERT_TRUE(set.stop(std::chrono::seconds(10))) << "the NIC never sends the frame";
  EXPECT_TRUE(set.census(0).is_sound());
  EXPECT_EQ(set.census(0).at_nic, 1U);
}

// Blocks the receiver until the test releases it.
struct Stalls {
  std::atomic<bool>* let_go;
  template <class Lane>
  Verdict process(Lane /*lane*/, Frame& /*frame*/) {
    while (!let_go->load()) std::this_thread::yield();
    return Verdict::send;
  }
};

TEST(StalledFunction, is_reported_and_the_stop_says_which_engine_hangs) {
  test::Bench bench(quick(), 2);
  std::atomic<bool> let_go{false};
  RingSet<Stalls> set(bench.rings, Stalls{&let_go}, bench.view.stop);
  Watchdog watchdog(bench.view, 2, 50'000'000);
  TestNic nic(bench.rings[1]);
  set.start();
  while (!nic.receive(numbered_frame(1, 64))) std::this_thread::yield();
  constexpr Finding kHangs{1, true, Fault::engine_stalled};
  bool reported = false;
  for (const std::uint64_t deadline = steady_ns() + 20'000'000'000; !reported && steady_ns() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::vector<Finding> found = watchdog.look(steady_ns());  // on a busy machine others may be found, too
    reported = std::find(found.begin(), found.end(), kHangs) != found.end();
  }
  EXPECT_TRUE(reported);
  const auto stopped = set.stop(std::chrono::milliseconds(1000));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "ring 1, receiver: the engine did not stop in time (1000 ms)");
  let_go = true;
  EXPECT_TRUE(set.stop(std::chrono::seconds(10))) << "the NIC does not send, the drain ends all the same";
  EXPECT_TRUE(set.census(0).is_at_rest());
  EXPECT_TRUE(set.census(1).is_sound());
}

}  // namespace
}  // namespace splitplane::gpu
