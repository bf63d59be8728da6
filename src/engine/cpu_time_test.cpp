#include "engine/cpu_time.h"

#include <gtest/gtest.h>
#include <rte_cycles.h>

#include <chrono>
#include <thread>

#include "engine/test_environment.h"

namespace splitplane::datapath {
namespace {

TEST(CpuTime, grows_while_the_thread_works_and_not_while_it_sleeps) {
  const power::Ticks ms = rte_get_tsc_hz() / 1000;
  const power::Ticks begin = thread_cpu_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const power::Ticks slept = thread_cpu_time();
  EXPECT_LT(slept - begin, 20 * ms);
  while (thread_cpu_time() - slept < 20 * ms) {
  }
  EXPECT_GE(thread_cpu_time(), slept + 20 * ms);
}

}  // namespace
}  // namespace splitplane::datapath
