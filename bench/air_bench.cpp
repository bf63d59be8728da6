// The cost of the air between gNB and UE side per frame. An AirLink takes and returns real mbufs in bursts, in virtual
// time, one frame a microsecond. Repeats are interleaved on one core, and the result is medians. Prints one JSON
// object.
#include <rte_cycles.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "engine/burst.h"
#include "on_core.h"
#include "phy/air_link.h"

namespace splitplane::bench {
namespace {

using datapath::kBurst;

constexpr unsigned kBursts = 20000, kWarmup = 500;

struct Case {
  const char* name;
  phy::Impairments impairments;
};
const std::array<Case, 6> kCases{{{"nothing", {}},
                                  {"loss_10_percent", {.loss_percent = 10}},
                                  {"duplicates_10_percent", {.duplicate_percent = 10}},
                                  {"delay_holds_100", {.delay_us = 100}},
                                  {"delay_holds_2000", {.delay_us = 2000}},
                                  {"jitter_holds_2000", {.delay_us = 1000, .jitter_us = 2000}}}};

// TSC cycles per frame for take and give. Allocating and freeing count only for frames that are lost or doubled.
double cycles(const Case& which, rte_mempool* pool) {
  phy::AirLink link({.capacity = 4096, .copies = pool, .ticks_per_s = 1'000'000, .impairments = which.impairments});
  std::array<rte_mbuf*, kBurst> in, out;
  std::uint64_t spent = 0;
  for (unsigned i = 0; i < kWarmup + kBursts; ++i) {
    if (rte_pktmbuf_alloc_bulk(pool, in.data(), kBurst) != 0) return -1;
    for (rte_mbuf* m : in) (void)rte_pktmbuf_append(m, 128);
    const phy::Ticks now = static_cast<phy::Ticks>(i) * kBurst;
    const std::uint64_t begin = rte_rdtsc_precise();
    link.take(in.data(), kBurst, now);
    const unsigned n = link.give(out.data(), kBurst, now);
    if (i >= kWarmup) spent += rte_rdtsc_precise() - begin;
    rte_pktmbuf_free_bulk(out.data(), n);
    for (unsigned more = n; more == kBurst;) {  // what duplicates add
      more = link.give(out.data(), kBurst, now);
      rte_pktmbuf_free_bulk(out.data(), more);
    }
  }
  return static_cast<double>(spent) / (kBursts * kBurst);
}

void run(unsigned repeats) {
  rte_mempool* pool = rte_pktmbuf_pool_create("air", 8191, 256, 0, 2048 + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
  if (pool == nullptr) throw std::runtime_error("no memory for packet buffers");
  std::array<std::vector<double>, kCases.size()> found;
  for (unsigned repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t i = 0; i < kCases.size(); ++i) found[i].push_back(cycles(kCases[i], pool));
  nlohmann::json result{{"tsc_hz", rte_get_tsc_hz()}, {"repeats", repeats}};
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    std::sort(found[i].begin(), found[i].end());
    result["cycles_per_frame"][kCases[i].name] = found[i][found[i].size() / 2];
  }
  std::puts(result.dump(2).c_str());
  rte_mempool_free(pool);
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app("Cycles per frame of the air between gNB and UE side");
  unsigned core = 0, repeats = 15;
  app.add_option("--core", core, "Core")->capture_default_str();
  app.add_option("--repeats", repeats, "Repeats")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core(
      "air_bench", core,
      {.file_prefix = "splitplane-air-bench-" + std::to_string(getpid()), .megabytes = 128, .hugepages = false},
      [&](bool) { run(repeats); });
}
