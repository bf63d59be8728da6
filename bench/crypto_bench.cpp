// The cost of ciphering and integrity: bursts of 32 packets with keys of 64 K bearers, beside intel-ipsec-mb alone in
// the same run. Repeats are interleaved on one core, and the result is medians in nanoseconds per packet. Prints one
// JSON object.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crypto_ways.h"

namespace splitplane::bench {
namespace {

// Ways to do the same, timed in turns. A repeat of each is a batch of bursts.
class Duel {
 public:
  void add(const std::string& name, std::function<void()> burst) { ways_.push_back({name, std::move(burst), {}}); }

  nlohmann::json run(unsigned repeats, unsigned bursts) {
    using Clock = std::chrono::steady_clock;
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      for (Way& way : ways_) {
        const auto before = Clock::now();
        for (unsigned i = 0; i < bursts; ++i) way.burst();
        const double ns = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
        if (repeat != 0) way.ns.push_back(ns / (bursts * kBurst));  // the first one warms up
      }
    }
    nlohmann::json out;
    for (Way& way : ways_) {
      const auto middle = way.ns.begin() + static_cast<std::ptrdiff_t>(way.ns.size() / 2);
      std::nth_element(way.ns.begin(), middle, way.ns.end());
      out[way.name] = *middle;
    }
    return out;
  }

 private:
  struct Way {
    std::string name;
    std::function<void()> burst;
    std::vector<double> ns;
  };
  std::vector<Way> ways_;
};

nlohmann::json measure(unsigned number, unsigned repeats, const std::vector<std::uint32_t>& sizes) {
  const auto cipher = static_cast<CipherAlgorithm>(number);
  const auto integrity = static_cast<IntegrityAlgorithm>(number);
  const auto store = value_of(KeyStore::create());
  const auto engine = value_of(Engine::create());
  Bearers bearers(*store, cipher, integrity);
  Ours ours(*engine, bearers);
  Alone alone_hot(kBurst), alone(kBearers);
  Packets packets;
  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint32_t bytes : sizes) {
    const unsigned bursts = bytes > 1000 ? 60 : 200;
    // "alone": keys of 64 K bearers; "alone_hot": 32 keys that stay in the cache.
    const auto row = [&](std::string_view name, auto with_ours, auto with_library, auto other) {
      Duel duel;
      duel.add("ours", with_ours);
      duel.add("alone", [&] { with_library(alone); });
      duel.add("alone_hot", [&] { with_library(alone_hot); });
      other(duel);
      nlohmann::json figures = duel.run(repeats, bursts);
      figures["ratio"] = figures["ours"].get<double>() / figures["alone"].get<double>();
      figures["ratio_hot"] = figures["ours"].get<double>() / figures["alone_hot"].get<double>();
      figures["algorithm"] = name;
      figures["bytes"] = bytes;
      rows.push_back(figures);
    };
    const auto nothing = [](Duel&) {};
    row(
        name_of(cipher), [&] { ours.cipher(packets, bytes); },
        [&](Alone& library) { library.cipher(cipher, packets, bytes); }, nothing);
    row(
        name_of(integrity), [&] { ours.integrity(packets, bytes, true); },
        [&](Alone& library) { library.integrity(integrity, packets, bytes); },
        [&](Duel& duel) {
          if (integrity == IntegrityAlgorithm::nia2) duel.add("copied", [&] { ours.integrity(packets, bytes, false); });
        });
    row(
        fmt::format("{}+{}", name_of(integrity), name_of(cipher)),
        [&] {
          ours.integrity(packets, bytes, true);
          ours.cipher(packets, bytes);
        },
        [&](Alone& library) {
          library.integrity(integrity, packets, bytes);
          library.cipher(cipher, packets, bytes);
        },
        nothing);
  }
  return rows;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  using namespace splitplane;
  unsigned repeats = 41;
  unsigned core = 0;
  std::vector<std::uint32_t> sizes{64, 512, 1500};
  CLI::App app{"ns per packet of NEA and NIA, beside intel-ipsec-mb alone"};
  app.add_option("--repeats", repeats, "batches of each way, in turns; the result is their median")
      ->check(CLI::Range(1, 1001));
  app.add_option("--core", core, "core to measure on");
  app.add_option("--bytes", sizes, "sizes of a packet")->delimiter(',')->check(CLI::Range(1, 2000));
  CLI11_PARSE(app, argc, argv);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) bench::stop(fmt::format("core {} is not there", core));

  nlohmann::json out;
  const auto engine = bench::value_of(crypto::Engine::create());
  out["implementation"] = engine->implementation();
  out["library"] = crypto::Manager::runs_with();
  out["rows"] = nlohmann::json::array();
  for (unsigned number = 1; number <= 3; ++number) {
    for (const auto& row : bench::measure(number, repeats, sizes)) out["rows"].push_back(row);
  }
  std::printf("%s\n", out.dump(2).c_str());
}
