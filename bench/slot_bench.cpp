// What a loop over slots costs before it does any work, and what the schedulers cost.
// - An empty loop over slots of 0.5 ms and 0.125 ms on one core: missed slots, and how late each look was. What it
// shows
//   is the machine's, not ours: a loop with work is judged against it in the same run.
// - Each scheduler with 1 to 1,000 UEs that all have data: nanoseconds a slot, and a UE.
// Prints one JSON object.
#include <pthread.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/histogram.h"
#include "base/random.h"
#include "phy/scheduler/average_rates.h"
#include "phy/scheduler/proportional_fair.h"
#include "phy/scheduler/round_robin.h"
#include "phy/slots/monotonic_time.h"
#include "phy/slots/slot_source.h"

namespace splitplane::bench {
namespace {

using nlohmann::json;
using namespace phy;

constexpr std::array<std::size_t, 5> kUes{1, 10, 100, 300, 1000};
constexpr std::uint16_t kPrbs = 273;
constexpr std::size_t kMost = 16;
constexpr unsigned kSlots = 2000;

json empty_loop(Numerology numerology, double seconds, Ns spin) {
  MonotonicTime time(spin);
  RealSlots slots(time, Slot{numerology, 0, 0}, time.now() + 1'000'000);
  Histogram late;
  const auto wanted = static_cast<std::uint64_t>(seconds * 1e9) / numerology.slot_ns();
  for (std::uint64_t number = 0; number < wanted;) {
    const Tick tick = slots.wait();
    late.record(tick.late);
    number = tick.number + 1;
  }
  return {{"slots", slots.clock().seen() + slots.clock().missed()},
          {"missed", slots.clock().missed()},
          {"late_ns",
           {{"p50", late.percentile(50)},
            {"p99", late.percentile(99)},
            {"p99.99", late.percentile(99.99)},
            {"max", late.max()}}}};
}

// Median time of schedule() in nanoseconds, in batches of 100 slots. Each slot some UEs' facts change, as they do when
// data comes and goes; that is not timed.
template <Scheduler S>
double nanoseconds_a_slot(std::size_t ues, unsigned repeats) {
  const MonotonicTime time(0);
  S scheduler(ues, kMost);
  AverageRates averages(ues, 200);
  Random random(1);
  std::vector<UeFacts> facts(ues);
  for (std::size_t ue = 0; ue < ues; ++ue)
    facts[ue] = {static_cast<Rnti>(ue + 1), static_cast<std::uint8_t>(random.below(28)), 0, 0,
                 1 + random.below(60'000)};
  std::array<Grant, 64> grants;
  std::vector<double> batches;
  constexpr unsigned kBatch = 100;
  for (unsigned batch = 0; batch < repeats * kSlots / kBatch; ++batch) {
    Ns spent = 0;
    for (unsigned i = 0; i < kBatch; ++i) {
      UeFacts& changed = facts[random.below(static_cast<std::uint32_t>(ues))];
      changed.mcs = static_cast<std::uint8_t>(random.below(28));
      changed.backlog_bytes = 1 + random.below(60'000);
      const SlotFacts what{.slot = slot_at({1}, batch * kBatch + i),
                           .prbs = kPrbs,
                           .shape = {.layers = 2},
                           .ues = facts,
                           .average_rates = averages.rates()};
      const Ns begin = time.now();
      const std::size_t n = scheduler.schedule(what, grants);
      averages.update(std::span(grants).first(n));
      spent += time.now() - begin;
    }
    batches.push_back(static_cast<double>(spent) / kBatch);
  }
  const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
  std::nth_element(batches.begin(), middle, batches.end());
  return *middle;
}

template <Scheduler S>
json costs(unsigned repeats) {
  json out;
  for (const std::size_t ues : kUes) {
    const double ns = nanoseconds_a_slot<S>(ues, repeats);
    out[std::to_string(ues)] = {{"ns_slot", ns}, {"ns_ue", ns / static_cast<double>(ues)}};
  }
  return out;
}

// 0 or an error number.
int stay_on(unsigned core) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(core, &cpus);
  return pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  CLI::App app("An empty loop over slots, and the cost of scheduling");
  unsigned core = 0, repeats = 3;
  double seconds = 10;
  std::uint64_t spin_us = 0;
  app.add_option("--core", core, "Core")->capture_default_str();
  app.add_option("--seconds", seconds, "Of each empty loop")->capture_default_str();
  app.add_option("--spin-us", spin_us, "Sleep until so long before a slot, then look; 0: do not sleep at all")
      ->capture_default_str();
  app.add_option("--repeats", repeats, "Of the schedulers, 2000 slots each")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  using splitplane::phy::MonotonicTime;
  if (const int error = stay_on(core); error != 0) {
    std::fprintf(stderr, "slot_bench: --core %u: %s\n", core, std::strerror(error));
    return 1;
  }
  const splitplane::phy::Ns spin = spin_us == 0 ? MonotonicTime::kNever : spin_us * 1000;
  nlohmann::json result{{"scheduler",
                         {{"round_robin", costs<splitplane::phy::RoundRobin>(repeats)},
                          {"proportional_fair", costs<splitplane::phy::ProportionalFair>(repeats)}}}};
  for (const auto& [name, mu] : {std::pair{"0.5ms", 1}, std::pair{"0.125ms", 3}})
    result["empty_loop"][name] = empty_loop({static_cast<std::uint8_t>(mu)}, seconds, spin);
  std::puts(result.dump(2).c_str());
  return 0;
}
