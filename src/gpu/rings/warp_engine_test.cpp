// The engines with 32 lanes, as a device runs them: the same frames, counters and slots as with one.
#include <gtest/gtest.h>

#include "gpu/rings/test_nic.h"
#include "gpu/rings/test_warp.h"

namespace splitplane::gpu {
namespace {

using test::Bytes;
using test::numbered_frame;
using test::TestLane;
using test::TestNic;

// Drops each frame whose number can be divided by five, and makes the others two octets shorter.
struct Picky {
  template <class Lane>
  Verdict process(Lane /*lane*/, Frame& frame) {
    if (wire::load_be64(frame.data) % 5 == 0) return Verdict::refused;
    frame.length -= 2;
    return Verdict::send;
  }
};

struct Outcome {
  std::vector<Bytes> sent;
  EngineCounters rx{}, tx{};
  VerdictCounters verdicts{};
  SlotCensus census;
  std::uint32_t rdt = 0, tdt = 0;
};

// What the NIC does before each step, the same for both widths: bursts of any size, some broken descriptors.
class Script {
 public:
  explicit Script(const Ring& ring) : nic_(ring) {}
  void before(unsigned step) {
    nic_.listen();
    for (unsigned i = 0; i < step * 7 % 45; ++i, ++number_) {
      RxWriteBack w{.length = static_cast<std::uint16_t>(64 + number_ % 100)};
      if (number_ % 11 == 3) w.end_of_packet = false;
      if (number_ % 17 == 5) w.length = 5000;
      if (nic_.free_descriptors() != 0)
        (void)nic_.receive(numbered_frame(number_, 64 + number_ % 100), make_rx_write_back(w));
    }
    if (step % 3 != 0) return;
    for (Bytes& frame : nic_.transmit()) sent.push_back(std::move(frame));
  }
  std::vector<Bytes> sent;

 private:
  TestNic nic_;
  std::uint64_t number_ = 0;
};

constexpr unsigned kSteps = 24;

// Each lane has a separate engine, as each lane of a warp has registers.
template <class Lane, class Engine, class Sender>
void drive(Lane lane, const Ring& ring, Script& script, Outcome& out) {
  prepare_ring(lane, ring);
  lane.sync();
  Engine receiver(ring, Picky{});
  Sender sender(ring);
  for (unsigned step = 0; step < kSteps; ++step) {
    lane.sync();
    if (lane.id == 0) script.before(step < kSteps - 6 ? step : 3 * step - step % 3);
    lane.sync();
    (void)receiver.step(lane, step * 1000 + 1);
    (void)sender.step(lane, step * 1000 + 1);
  }
  receiver.finish(lane);
  sender.finish(lane);
  if (lane.id != 0) return;
  out.census =
      count_slots(ring, {receiver.free_taken(), sender.received_taken(), sender.first_at_nic(), sender.next_to_nic()});
}

RingSettings settings(std::uint32_t every) {
  return {.ring_size = 64, .slots = 200, .doorbell_every = every, .report_every = every / 2, .credit = 90};
}

Outcome with_one_lane(std::uint32_t every) {
  test::Bench bench(settings(every));
  Outcome out;
  Script script(bench.rings[0]);
  drive<CpuLane, RxEngine<CpuLane, Picky>, TxEngine<CpuLane>>(CpuLane{}, bench.rings[0], script, out);
  out.sent = std::move(script.sent);
  out.rx = bench.view.rx[0];
  out.tx = bench.view.tx[0];
  out.verdicts = bench.view.verdicts[0];
  return out;
}

Outcome with_a_warp(std::uint32_t every) {
  test::Bench bench(settings(every));
  Outcome out;
  Script script(bench.rings[0]);
  test::run_warp([&](TestLane lane) {
    drive<TestLane, RxEngine<TestLane, Picky>, TxEngine<TestLane>>(lane, bench.rings[0], script, out);
  });
  out.sent = std::move(script.sent);
  out.rx = bench.view.rx[0];
  out.tx = bench.view.tx[0];
  out.verdicts = bench.view.verdicts[0];
  return out;
}

class Width : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Width, a_warp_does_what_one_lane_does) {
  const Outcome one = with_one_lane(GetParam());
  const Outcome warp = with_a_warp(GetParam());
  ASSERT_GT(one.sent.size(), 150U);
  EXPECT_EQ(warp.sent, one.sent);
  EXPECT_TRUE(warp.census.is_sound());
  EXPECT_EQ(std::memcmp(&warp.rx, &one.rx, sizeof one.rx), 0);
  EXPECT_EQ(std::memcmp(&warp.tx, &one.tx, sizeof one.tx), 0);
  EXPECT_EQ(std::memcmp(&warp.verdicts, &one.verdicts, sizeof one.verdicts), 0);
  EXPECT_GT(one.verdicts.count[static_cast<std::size_t>(Verdict::refused)], 10U);
  EXPECT_GT(one.verdicts.count[static_cast<std::size_t>(Verdict::bad_length)], 5U);
  EXPECT_GT(one.verdicts.count[static_cast<std::size_t>(Verdict::broken_frame)], 10U);
}
INSTANTIATE_TEST_SUITE_P(DoorbellEvery, Width, testing::Values(32U, 8U));

}  // namespace
}  // namespace splitplane::gpu
