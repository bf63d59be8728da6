#include "engine/driver/driver_gate.h"

#include <gtest/gtest.h>

#include <thread>

namespace splitplane::datapath {
namespace {

TEST(DriverGate, a_worker_does_not_enter_while_a_handler_runs) {
  DriverGate gate;
  DriverGate::Slot& slot = gate.add_slot();
  ASSERT_TRUE(slot.enter());
  slot.leave();
  {
    const std::lock_guard handler(gate);
    EXPECT_FALSE(slot.enter());
  }
  EXPECT_TRUE(slot.enter());
  slot.leave();
}

TEST(DriverGate, a_handler_waits_for_the_worker_and_gets_in_beside_one_that_polls_without_rest) {
  DriverGate gate;
  DriverGate::Slot& slot = gate.add_slot();
  std::atomic<bool> stop{false};
  std::uint64_t memory = 0, read = 0, refused = 0;  // `memory` is plain, so that TSan sees a race
  std::thread worker([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (!slot.enter()) {
        ++refused;
        continue;
      }
      read += memory;
      slot.leave();
    }
  });
  for (int i = 0; i < 1000; ++i) {
    const std::lock_guard handler(gate);
    ++memory;
  }
  stop = true;
  worker.join();
  EXPECT_EQ(memory, 1000U);
}

TEST(DriverGate, handlers_are_passed_over_while_no_port_is_there_or_one_closes) {
  DriverGate gate;
  EXPECT_FALSE(gate.listens());
  gate.begin_to_listen();
  gate.begin_to_listen();
  EXPECT_TRUE(gate.listens());
  gate.begin_to_close();
  EXPECT_FALSE(gate.listens());
  gate.end_to_close();
  EXPECT_TRUE(gate.listens());
  gate.begin_to_close();
  gate.end_to_close();
  EXPECT_FALSE(gate.listens());
}

}  // namespace
}  // namespace splitplane::datapath
