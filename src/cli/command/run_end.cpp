#include "cli/command/run_end.h"

#include <fmt/core.h>

#include <array>
#include <fstream>

#include "base/log.h"

namespace splitplane::app {

void print_totals(const nlohmann::json& stats) {
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
    log::line(line);
    return;
  }
  log::write(balanced ? spdlog::level::info : spdlog::level::err,
             {{kSums[0], n[0]}, {kSums[1], n[1]}, {kSums[2], n[2]}, {kSums[3], n[3]}, {kSums[4], n[4]}}, line);
}

int finish_run(const Expected<nlohmann::json>& stats, const RunOptions& options,
               void (*print)(const nlohmann::json& stats)) {
  if (!stats) {
    log::error("{}", stats.error().message);
    return 1;
  }
  print(*stats);
  if (!options.stats_json.empty() && !write_result("--stats-json", options.stats_json, stats->dump(2) + '\n')) return 1;
  return stats->at("totals").at("balanced").get<bool>() ? 0 : 1;
}

bool write_result(const char* what, const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();  // a full disk may refuse no sooner
  if (file) return true;
  log::error("{}: {} could not be written", what, path);
  return false;
}

}  // namespace splitplane::app
