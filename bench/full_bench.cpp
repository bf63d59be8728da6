// What the downlink of full mode costs on one core: G-PDUs from N3 are ciphered, queued at RLC AM, gathered into the
// transport blocks of a slot, and given back when the UE has acknowledged them. In each slot each UE has a grant for as
// many SDUs as came for it. Each block has other memory than the 15 before it, as HARQ keeps 16 of a UE. A buffer comes
// from the pool as a driver would take it, so it was in use not long ago. Only the frames are written outside the
// measured time. Results are medians in nanoseconds per packet. `queue`, `build` and `acknowledge` are timed whole, and
// `all` is their sum. The stages `dl_...` are parts of `queue`, of bursts that the path samples, one in 16. Prints one
// JSON object.
// Rows with `scheduled` have the scheduler and HARQ in `build`: a slot of 273 PRBs with 256QAM and four layers, which
// carries some 95 such SDUs. `slot_us` is the time of one call, the median and the worst of all runs; the worst has
// what else the machine did.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "full_real_slots.h"
#include "full_slots.h"
#include "on_core.h"
#include "quiet.h"

namespace splitplane::bench {
namespace {

const Kind kKinds[] = {{"nea0", {.cipher = ran::Cipher::kNea0, .integrity = ran::Integrity::kNone}},
                       {"nea2", {.cipher = ran::Cipher::kNea2, .integrity = ran::Integrity::kNone}},
                       {"nia2+nea2", {.cipher = ran::Cipher::kNea2, .integrity = ran::Integrity::kNia2}}};

constexpr Load kLoads[] = {{1, 4}, {1, 20}, {16, 4}, {16, 20}, {256, 4}, {1, 80, true}, {8, 10, true}, {40, 2, true}};

double median(std::vector<double>& of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

nlohmann::json run(unsigned repeats, const std::vector<std::uint32_t>& sizes, rte_mempool* pool,
                   const std::shared_ptr<datapath::BearerKeys>& keys) {
  nlohmann::json rows = nlohmann::json::array();
  for (const std::uint32_t bytes : sizes) {
    for (const Load& load : kLoads) {
      for (const Kind& kind : kKinds) {
        Slots slots(kind, load, bytes, pool, keys);
        std::map<std::string, std::vector<double>> all;
        for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
          const unsigned count = std::max(16U, 16384 / (load.ues * load.sdus));
          for (const auto& [name, value] : slots.run(count)) {
            if (repeat != 0) all[name].push_back(value);  // the first one warms up
          }
          if (repeat == 0) slots.slot_times().clear();
        }
        nlohmann::json row{
            {"security", kind.name}, {"bytes", bytes}, {"ues", load.ues}, {"sdus_in_a_grant", load.sdus}};
        for (auto& [name, values] : all) row[name] = median(values);
        if (load.scheduled) {
          auto& times = slots.slot_times();
          row["scheduled"] = true;
          row["slot_us"] = {median(times), *std::ranges::max_element(times)};
        }
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

}  // namespace
}  // namespace splitplane::bench

int main(int argc, char** argv) {
  unsigned repeats = 21, core = 0, stepped = 20'000;
  double seconds = 0;
  std::vector<std::uint32_t> sizes{1500};
  CLI::App app{"ns per packet of the downlink in full mode, from GTP-U to transport blocks; prints JSON."};
  app.add_option("--repeats", repeats, "runs of each row; the result is their median")->check(CLI::Range(1, 1001));
  app.add_option("--core", core, "core to measure on");
  app.add_option("--seconds", seconds, "of slots with work in real time, and as many without; 0: the rows instead")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--stepped", stepped, "with --seconds: slots of each load in stepped time")->capture_default_str();
  app.add_option("--bytes", sizes, "sizes of the inner packet")->delimiter(',')->check(CLI::Range(20, 1900));
  CLI11_PARSE(app, argc, argv);

  using namespace splitplane::bench;
  return on_core("full_bench", core, {.file_prefix = "splitfullbench", .megabytes = 256}, [&](bool hugepages) {
    const auto before = measure_jitter(100);
    rte_mempool* const pool = rte_pktmbuf_pool_create("bench", 16383, 256, 0, 2304, SOCKET_ID_ANY);
    if (pool == nullptr) throw std::runtime_error("no memory for the bench's pool");
    const BenchKeys file(256 / kPerKey);
    const auto keys = file.open();
    nlohmann::json report;
    if (seconds == 0) {
      report["rows"] = run(repeats, sizes, pool, keys);
    } else {
      report["real_slots"] = real_slots(seconds, pool, keys);
      report["stepped_slots"] = stepped_slots(stepped, pool, keys);
    }
    const auto after = measure_jitter(100);
    report["hugepages"] = hugepages;
    report["jitter_percent"] = std::max(before.lost_percent, after.lost_percent);
    std::printf("%s\n", report.dump(1).c_str());
  });
}
