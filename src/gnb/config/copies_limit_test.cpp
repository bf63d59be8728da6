#include "gnb/config/copies_limit.h"

#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

TEST(CopiesLimit, all_that_workers_of_a_port_may_keep_leaves_an_eighth_of_its_buffers_to_the_traffic) {
  GnbConfig config;
  config.memory.mbufs = 65535;
  for (const char* port : {"n3", "n3", "other", "n3"}) {
    WorkerConfig& worker = config.workers.emplace_back();
    worker.function = WorkerConfig::Function::kGnb;
    worker.n3 = port;
    worker.max_copies = 1'000'000;
  }
  std::size_t kept = 0;
  for (const WorkerConfig& worker : config.workers) {
    if (worker.n3 != "n3") continue;
    kept += copies_of(config, worker) + most_for_order(config, worker) + most_segments(config, worker);
  }
  EXPECT_LE(kept, std::size_t{65536} * 7 / 8);
  EXPECT_GT(kept, std::size_t{65536} * 7 / 8 - 9);
  EXPECT_EQ(most_segments(config, config.workers[2]), 8192U) << "it has the other port for itself";
}

}  // namespace
}  // namespace splitplane::app
