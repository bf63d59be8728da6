#include "baas/worker_end.h"

#include <gtest/gtest.h>

#include <deque>

#include "baas/test_service.h"
#include "engine/test_environment.h"
#include "wire/rlc_status.h"

namespace splitplane::baas {
namespace {

constexpr std::uint64_t kTicksPerMs = 1'000'000'000;  // no timer runs out

// A worker's end whose frames are told as they are.
struct Rig {
  void worker_round() {
    (void)end.serve([](Ledger::Slot&, bool) {}, [](Window&, const Message&) {}, [](Window&, const Message&) {},
                    [](Window&, auto, auto) { return true; });
  }
  void rounds() {
    for (unsigned n = 0; n < 10; ++n) {
      worker_round();
      service.round();
    }
  }
  void keep(Window& window) {
    rte_mbuf* const m = pool.make(datapath::test::Bytes(64));
    ASSERT_NE(m, nullptr);
    end.keep(window, m, 64, 0);
  }

  datapath::test::Pool pool{1023, 256};
  test::TestService service{{.max_copies = 2048, .entries = 4096, .ticks_per_ms = kTicksPerMs}};
  WorkerEnd end{{.channels = {service.channel()}, .slots = 1024, .bearers = 512}};
};

// A STATUS PDU of 18 bits that acknowledges SNs below `ack` but `missing`.
datapath::test::Bytes status(std::uint32_t ack, std::uint32_t missing) {
  datapath::test::Bytes pdu(64);
  wire::rlc::StatusWriter writer(wire::MutableOctets(pdu), 18);
  EXPECT_TRUE(writer.add({.sn = missing}));
  pdu.resize(writer.finish(ack));
  return pdu;
}

TEST(WorkerEnd, sdus_without_a_copy_that_found_no_memory_are_told_again_though_no_frame_is_behind_them) {
  Rig rig;
  std::deque<Window> windows(200);
  rig.end.connect();
  rig.service.start();
  // Of SDU 0 no copy came; the peer has SDU 1, so that its frame comes back.
  for (Window& window : windows) {
    rig.end.lost(window, 1);
    rig.keep(window);
  }
  rig.rounds();
  for (Window& window : windows) ASSERT_TRUE(rig.end.status(window, status(2, 0)));
  rig.rounds();
  ASSERT_EQ(rig.end.held(), 0U);

  // The next service has memory for some of the bearers only.
  rig.service.kill();
  rig.end.disconnect();
  rig.end.connect();
  rig.service.buffering = std::make_unique<Buffering>(
      Buffering::Settings{
          .channels = {rig.service.channel()}, .max_copies = 8, .ticks_per_ms = kTicksPerMs, .now = rte_rdtsc()},
      rig.service.stats);
  rig.rounds();
  ASSERT_GT(rig.service.buffering->counters().no_room.get(), 0U);
  const std::uint64_t most = rig.service.buffering->held();
  ASSERT_LT(most, windows.size() / 2);

  // Those that it was told of first go, and others take their place.
  for (std::size_t i = 0; i < most; ++i) rig.end.close(windows[i]);
  rig.rounds();
  EXPECT_EQ(rig.service.buffering->held(), most);
  EXPECT_EQ(rig.end.counters().no_room, windows.size() - most);
  EXPECT_EQ(rig.service.buffering->counters().without_copy.get(), 2 * most);
  EXPECT_EQ(rig.service.buffering->counters().withdrawn.get(), most);
  EXPECT_EQ(rig.service.buffering->held_in_windows(), most);
  EXPECT_TRUE(rig.service.buffering->balanced());
}

// Of three SDUs one is given back, then the bearer closes. Each counter alone makes the account wrong.
TEST(Buffering, its_account_of_sdus_is_wrong_if_any_counter_is) {
  Rig rig;
  Window window;
  rig.end.connect();
  rig.service.start();
  Buffering& service = *rig.service.buffering;
  // A counter is broken for the time of a look.
  const auto expect_each_counts = [&] {
    EXPECT_TRUE(service.balanced());
    EXPECT_EQ(service.held_in_windows(), service.held());
    auto& counters = const_cast<BufferingCounters&>(service.counters());
    for (Counter* const one : {&counters.copies, &counters.without_copy, &counters.released, &counters.withdrawn}) {
      const std::uint64_t right = one->get();
      one->set(right + 1);
      EXPECT_FALSE(service.balanced());
      one->set(right);
    }
    EXPECT_FALSE(balanced(counters, service.held() + 1)) << "a window that has one more";
  };
  expect_each_counts();
  rig.end.lost(window, 1);
  for (unsigned n = 0; n < 2; ++n) rig.keep(window);
  rig.rounds();
  ASSERT_EQ(service.held(), 3U);
  expect_each_counts();
  ASSERT_TRUE(rig.end.status(window, status(2, 1)));
  rig.rounds();
  ASSERT_EQ(service.held(), 2U);
  ASSERT_EQ(service.counters().released.get(), 1U);
  expect_each_counts();
  rig.end.close(window);
  rig.rounds();
  ASSERT_EQ(service.held(), 0U);
  ASSERT_EQ(service.counters().withdrawn.get(), 2U);
  expect_each_counts();
}

}  // namespace
}  // namespace splitplane::baas
