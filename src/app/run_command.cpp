// `splitplane run`: starts the user plane and stays on the control thread until it is told to stop.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "app/commands.h"
#include "app/control_server.h"
#include "app/control_stop.h"
#include "app/instance_lock.h"
#include "app/metrics_server.h"
#include "app/telemetry.h"
#include "app/user_plane.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kTurn{2};  // of the control thread: how long an ARP request may wait

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

// What a scrape of the metrics endpoint sees.
Scrape look(UserPlane& plane, std::size_t bearers) {
  constexpr std::size_t kPage = 500;
  Scrape scrape{.all = plane.observe(), .with_bearers = bearers > 0};
  while (scrape.bearers.size() < bearers) {
    const std::uint32_t after = scrape.bearers.empty() ? 0 : scrape.bearers.back().config.id.value;
    const auto page = plane.list_bearers(after, std::min(kPage, bearers - scrape.bearers.size()));
    if (!page || page->empty()) break;
    scrape.bearers.insert(scrape.bearers.end(), page->begin(), page->end());
  }
  return scrape;
}

int finish(UserPlane& plane, const RunOptions& options) {
  plane.stop_workers();
  const auto stats = plane.stats();
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

}  // namespace

int run_command(const Config& config, const RunOptions& options) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();  // before anything is made that must be taken down again
  auto plane = UserPlane::start(config);
  if (!plane) {
    log::error("{}: {}", config.file, plane.error().message);
    return 1;
  }
  const std::string path = config.control.empty() ? control_path(config.file_prefix) : config.control;
  auto server = ControlServer::start({.path = path}, **plane, [&stop] { stop.request(); });
  if (!server) {
    log::error("{}", server.error().message);
    return 1;
  }
  const auto telemetry = TelemetryTree::publish(**plane);
  if (!telemetry) log::warn("{}", telemetry.error().message);
  std::unique_ptr<MetricsServer> metrics;
  if (config.metrics) {
    auto started = MetricsServer::start(*config.metrics, [&] { return look(**plane, config.metrics->bearers); });
    if (!started) {
      log::error("{}", started.error().message);
      return 1;
    }
    metrics = std::move(*started);
    log::info("metrics at http://{}/metrics", to_string(*config.metrics));
  }
  log::write(spdlog::level::info, {{"instance", config.file_prefix}, {"control", path}},
             fmt::format("serving {} bearers with {} worker{}; control socket {}", (*plane)->bearer_count(),
                         config.workers.size(), config.workers.size() == 1 ? "" : "s", path));

  const auto begin = std::chrono::steady_clock::now();
  while (!stop.requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    (*plane)->serve_n3(now);
    std::this_thread::sleep_for(kTurn);
  }
  metrics.reset();
  server->reset();
  return finish(**plane, options);
}

}  // namespace splitplane::app
