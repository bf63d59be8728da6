// `splitplane run`: starts the user plane and stays on the control thread until it is told to stop.
#include <fmt/core.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "app/commands.h"
#include "app/control_server.h"
#include "app/control_stop.h"
#include "app/instance_lock.h"
#include "app/user_plane.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kTurn{2};  // of the control thread: how long an ARP request may wait

void print_summary(const nlohmann::json& stats) {
  const auto& totals = stats.at("totals");
  fmt::print(stderr, "received {}, transmitted {}, dropped {}, consumed {}, held {}: {}\n",
             totals.at("received").get<std::uint64_t>(), totals.at("transmitted").get<std::uint64_t>(),
             totals.at("dropped").get<std::uint64_t>(), totals.at("consumed").get<std::uint64_t>(),
             totals.at("held").get<std::uint64_t>(),
             totals.at("balanced").get<bool>() ? "every packet is accounted for" : "THE COUNTERS DO NOT ADD UP");
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
  log::info("serving {} bearers with {} workers; control socket {}", (*plane)->bearer_count(), config.workers.size(),
            path);

  const auto begin = std::chrono::steady_clock::now();
  while (!stop.requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    (*plane)->serve_n3(now);
    std::this_thread::sleep_for(kTurn);
  }
  server->reset();
  return finish(**plane, options);
}

}  // namespace splitplane::app
