#include "app/run_end.h"

#include <fmt/core.h>

#include <array>
#include <fstream>

#include "base/log.h"

namespace splitplane::app {
namespace {

void print_summary(const nlohmann::json& stats) {
  constexpr std::array kSums{"received", "transmitted", "dropped", "consumed", "held"};
  const auto& totals = stats.at("totals");
  const bool balanced = totals.at("balanced").get<bool>();
  std::array<std::uint64_t, kSums.size()> n{};
  std::string line;
  for (std::size_t i = 0; i < kSums.size(); ++i) {
    n[i] = totals.at(kSums[i]).get<std::uint64_t>();
    line += fmt::format("{}{} {}", i == 0 ? "" : ", ", kSums[i], n[i]);
  }
  line += balanced ? ": every packet is accounted for" : ": THE COUNTERS DO NOT ADD UP";
  if (log::format() == log::Format::kHuman) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  log::write(balanced ? spdlog::level::info : spdlog::level::err,
             {{kSums[0], n[0]}, {kSums[1], n[1]}, {kSums[2], n[2]}, {kSums[3], n[3]}, {kSums[4], n[4]}}, line);
}

}  // namespace

int finish_run(ControlBackend& backend, const RunOptions& options) {
  const auto stats = backend.stats();
  if (!stats) {
    log::error("{}", stats.error().message);
    return 1;
  }
  print_summary(*stats);
  if (!options.stats_json.empty()) {
    std::ofstream file(options.stats_json);
    file << stats->dump(2) << '\n';
    if (!file) {
      log::error("--stats-json: {} could not be written", options.stats_json);
      return 1;
    }
  }
  return stats->at("totals").at("balanced").get<bool>() ? 0 : 1;
}

}  // namespace splitplane::app
