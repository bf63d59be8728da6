// The meter, the window, and a sender that restores the order of several rings.
#include "gpu/rings/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "gpu/rings/test_nic.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;

TEST(ReorderMeterTest, counts_packets_below_the_highest_before_them) {
  ReorderMeter meter;
  std::vector<std::uint64_t> reordered;
  for (const std::uint64_t n : {0U, 1U, 2U, 5U, 3U, 4U, 5U, 6U, 9U, 8U}) {
    if (meter.see(n)) reordered.push_back(n);
  }
  EXPECT_EQ(reordered, (std::vector<std::uint64_t>{3, 4, 5, 8}));
}

struct Window {
  explicit Window(RestoreSettings settings) : places(settings.window), window(places.data(), settings) {}
  ReorderWindow::Answer offer(std::uint64_t number) {
    return window.offer(number, {static_cast<std::uint32_t>(number), 0, 64});
  }
  // The packets that leave at `now`, by slot, which is the number.
  std::vector<std::uint32_t> out(std::uint64_t now) {
    std::vector<std::uint32_t> numbers;
    for (PacketRef p{}; window.next(now, p);) numbers.push_back(p.slot);
    return numbers;
  }
  std::vector<ReorderWindow::Place> places;
  ReorderWindow window;
};
using Answer = ReorderWindow::Answer;
using Numbers = std::vector<std::uint32_t>;

TEST(ReorderWindowTest, holds_packets_until_the_missing_one_comes) {
  Window w({.window = 8, .timer_ns = 100});
  EXPECT_EQ(w.offer(1), Answer::kHeld);
  EXPECT_EQ(w.offer(2), Answer::kHeld);
  EXPECT_EQ(w.out(10), Numbers{});
  EXPECT_EQ(w.offer(0), Answer::kHeld);
  EXPECT_EQ(w.out(20), (Numbers{0, 1, 2}));
  EXPECT_EQ(w.window.given_up(), 0U);
}

TEST(ReorderWindowTest, gives_up_a_number_after_its_time_and_lets_it_out_when_it_comes) {
  Window w({.window = 8, .timer_ns = 100});
  (void)w.offer(2);
  (void)w.offer(4);
  EXPECT_EQ(w.out(10), Numbers{});
  EXPECT_EQ(w.out(109), Numbers{});
  EXPECT_EQ(w.out(110), Numbers{2}) << "0 and 1 are given up together";
  EXPECT_EQ(w.out(209), Numbers{});
  EXPECT_EQ(w.out(210), Numbers{4}) << "3 had its own time";
  EXPECT_EQ(w.window.given_up(), 3U);
  EXPECT_EQ(w.offer(1), Answer::kNow);
  EXPECT_EQ(w.window.late(), 1U);
}

TEST(ReorderWindowTest, a_number_too_far_ahead_pushes_the_window_on) {
  Window w({.window = 8, .timer_ns = 1'000'000});
  (void)w.offer(3);
  EXPECT_EQ(w.offer(7), Answer::kHeld);
  EXPECT_EQ(w.offer(9), Answer::kAhead);
  EXPECT_EQ(w.out(1), Numbers{}) << "9 needs 2 to be the first";
  EXPECT_EQ(w.offer(9), Answer::kHeld);
  EXPECT_EQ(w.offer(1000), Answer::kAhead);
  EXPECT_EQ(w.out(2), (Numbers{3, 7, 9}));
  EXPECT_EQ(w.offer(1000), Answer::kHeld);
  EXPECT_EQ(w.window.held(), 1U);
}

TEST(ReorderWindowTest, a_number_beyond_all_reason_goes_out_at_once_and_moves_nothing) {
  Window w({.window = 8, .timer_ns = 100});
  EXPECT_EQ(w.offer(1), Answer::kHeld);
  const std::uint64_t limit = kMaxRestoreJump * 8;
  for (const std::uint64_t number : {limit, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    EXPECT_EQ(w.offer(number), Answer::kNow) << number;
    EXPECT_EQ(w.out(1), Numbers{});
  }
  EXPECT_EQ(w.window.strayed(), 3U);
  EXPECT_EQ(w.offer(0), Answer::kHeld);
  EXPECT_EQ(w.out(2), (Numbers{0, 1})) << "order is kept as if they had not come";
  EXPECT_EQ(w.window.given_up() + w.window.late(), 0U);
  EXPECT_EQ(w.offer(limit + 1), Answer::kAhead) << "the farthest that moves it: so many may be lost at once";
}

TEST(ReorderWindowTest, a_number_that_is_held_already_goes_out_at_once) {
  Window w({.window = 8, .timer_ns = 100});
  EXPECT_EQ(w.offer(5), Answer::kHeld);
  EXPECT_EQ(w.offer(5), Answer::kNow);
}

TEST(ReorderWindowTest, orders_whatever_stays_within_the_window) {
  Random random(3);
  for (unsigned round = 0; round < 50; ++round) {
    Window w({.window = 64, .timer_ns = 1'000'000'000});
    std::vector<std::uint32_t> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0U);
    for (std::size_t i = 0; i < numbers.size(); i += 32) {  // shuffled within blocks of 32
      for (std::size_t j = 31; j > 0; --j) {
        if (i + j < numbers.size())
          std::swap(numbers[i + j], numbers[i + random.below(static_cast<std::uint32_t>(j + 1))]);
      }
    }
    Numbers got;
    for (const std::uint32_t n : numbers) {
      ASSERT_EQ(w.offer(n), Answer::kHeld);
      for (const std::uint32_t o : w.out(1)) got.push_back(o);
    }
    ASSERT_TRUE(std::is_sorted(got.begin(), got.end()));
    ASSERT_EQ(got.size(), numbers.size());
  }
}

// A wire of numbered frames, spread over rings by their flow. A meter measures what comes back over all rings.
class Wire {
 public:
  Wire(const std::vector<Ring>& rings, std::uint64_t seed) : nics_(rings.begin(), rings.end()), random_(seed) {}
  void feed(unsigned frames) {
    for (unsigned i = 0; i < frames; ++i) {
      Bytes frame(64);
      std::memcpy(frame.data() + 42, &in, 8);
      if (nics_[random_.below(static_cast<std::uint32_t>(nics_.size()))].receive(frame)) ++in;
    }
  }
  void take() {
    for (test::TestNic& nic : nics_) {
      for (const Bytes& frame : nic.transmit(1 + random_.below(20))) {
        std::uint64_t number = 0;
        std::memcpy(&number, frame.data() + 42, 8);
        reordered += meter_.see(number) ? 1 : 0;
        ++out;
      }
    }
  }
  std::uint64_t in = 0, out = 0, reordered = 0;

 private:
  ReorderMeter meter_;
  std::vector<test::TestNic> nics_;
  Random random_;
};

Wire bounce(std::uint32_t rings, const std::optional<RestoreSettings>& restore) {
  test::Bench bench({.ring_size = 64, .slots = 512, .doorbell_within_ns = 0}, rings);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop, restore);
  Wire wire(bench.rings, 9);
  std::uint64_t now = 1;
  (void)set.step(now);
  for (unsigned i = 0; i < 2000; ++i) {
    wire.feed(i % 17);
    (void)set.step(now += 100);
    wire.take();
  }
  for (unsigned i = 0; i < 200; ++i) {
    (void)set.step(now += 10'000);
    wire.take();
  }
  for (std::size_t r = 0; r < rings; ++r) EXPECT_TRUE(set.census(r).is_at_rest());
  EXPECT_EQ(wire.out, wire.in);
  return wire;
}

TEST(OrderedSenderTest, restores_the_order_that_several_rings_lose) {
  for (const std::uint32_t rings : {2U, 4U, 8U}) {
    const Wire as_it_comes = bounce(rings, {});
    EXPECT_GT(as_it_comes.reordered, as_it_comes.out / 20) << "rings send at their own pace";
    const Wire restored = bounce(rings, RestoreSettings{.window = 256});
    EXPECT_EQ(restored.out, as_it_comes.out);
    EXPECT_EQ(restored.reordered, 0U);
  }
}

TEST(OrderedSenderTest, one_ring_needs_no_help) {
  EXPECT_EQ(bounce(1, {}).reordered, 0U);
}

TEST(OrderedSenderTest, a_frame_that_never_comes_back_holds_up_the_wire_for_the_timer_only) {
  test::Bench bench({.ring_size = 64, .slots = 256, .doorbell_within_ns = 0}, 2);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop, RestoreSettings{.window = 64, .timer_ns = 1000});
  std::vector<test::TestNic> nics(bench.rings.begin(), bench.rings.end());
  (void)set.step(1);
  Bytes frame(64);
  for (const std::uint64_t number : {0U, 1U, 3U, 4U}) {  // for example, the function dropped 2
    std::memcpy(frame.data() + 42, &number, 8);
    ASSERT_TRUE(nics[number % 2].receive(frame));
  }
  ASSERT_TRUE(nics[1].receive(Bytes(20))) << "too short for a number: out at once";
  (void)set.step(10);
  EXPECT_EQ(nics[0].transmit().size(), 3U);
  EXPECT_EQ(set.census(0).at_nic + set.census(1).at_nic, 5U) << "three back soon, two held";
  (void)set.step(900);
  EXPECT_EQ(nics[0].transmit().size(), 0U);
  (void)set.step(1010);
  EXPECT_EQ(nics[0].transmit().size(), 2U);
  EXPECT_EQ(set.window().given_up(), 1U);
  (void)set.step(1020);
  EXPECT_TRUE(set.census(0).is_at_rest());
  EXPECT_TRUE(set.census(1).is_at_rest());
}

TEST(OrderedSenderTest, stops_with_its_threads) {
  test::Bench bench({.ring_size = 64, .slots = 512}, 4);
  RingSet<Echo> set(bench.rings, Echo{}, bench.view.stop, RestoreSettings{.window = 256, .timer_ns = 50'000'000});
  Wire wire(bench.rings, 5);
  set.start();
  for (const std::uint64_t deadline = steady_ns() + 30'000'000'000; wire.out < 5000 && steady_ns() < deadline;) {
    if (wire.in < 5000 && wire.in - wire.out < 200) wire.feed(1);
    wire.take();
    if (wire.in - wire.out >= 200 || wire.in == 5000) std::this_thread::yield();
  }
  ASSERT_TRUE(set.stop(std::chrono::seconds(10)));
  EXPECT_EQ(wire.out, 5000U);
  EXPECT_EQ(wire.reordered, 0U);
  for (std::size_t r = 0; r < 4; ++r) EXPECT_TRUE(set.census(r).is_at_rest());
}

}  // namespace
}  // namespace splitplane::gpu
