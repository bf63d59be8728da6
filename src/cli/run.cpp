#include "cli/run.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "gnb/control/instance.h"
#include "gnb/control/methods.h"
#include "gnb/place/place_methods.h"
#include "observe/metrics_server.h"
#include "observe/telemetry.h"
#include "runtime/instance_lock.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kTurn{2};  // of the control thread: how long an ARP request may wait

// What a scrape of the metrics endpoint sees.
Scrape look(gnb::Instance& plane, std::size_t bearers) {
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

}  // namespace

int run_command(const GnbConfig& config, const RunOptions& options) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();  // before anything is made that must be taken down again
  auto plane = gnb::Instance::start(config, options.fresh);
  if (!plane) {
    log::error("{}: {}", config.file, plane.error().message);
    return 1;
  }
  const std::string path = config.control.empty() ? control_path(config.file_prefix) : config.control;
  MethodRegistry methods([&stop] { stop.request(); });
  add_methods(methods, **plane);
  gnb::Placing placing((*plane)->parts(), config.placement);
  gnb::add_place_methods(methods, placing);
  name_other_programs(methods, "run");
  auto server = ControlServer::start({.path = path}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}", server.error().message);
    return 1;
  }
  const auto telemetry =
      TelemetryTree::publish({.observe = [&plane] { return (*plane)->observe(); },
                              .bearer = [&plane](BearerId id) { return (*plane)->show_bearer(id); }});
  if (!telemetry) log::warn("{}", telemetry.error().message);
  auto metrics = serve_metrics(config.metrics, [&] { return look(**plane, config.metrics->bearers); });
  if (!metrics) {
    log::error("{}", metrics.error().message);
    return 1;
  }
  const std::size_t bearers = (*plane)->bearer_count();
  log::write(spdlog::level::info, {{"instance", config.file_prefix}, {"control", path}},
             fmt::format("serving {} bearer{} with {} worker{}; control socket {}", bearers, bearers == 1 ? "" : "s",
                         config.workers.size(), config.workers.size() == 1 ? "" : "s", path));
  for (const WorkerConfig& worker : config.workers) {
    if (worker.features == datapath::FeatureSet::full && !worker.phy)
      log::warn("worker {}: it has no key phy: packets wait in RLC, and none reaches a UE", worker.name);
  }

  placing.start();
  const auto begin = std::chrono::steady_clock::now();
  while (!stop.requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    (*plane)->serve_n3(now);
    (*plane)->watch_ports(now);
    std::this_thread::sleep_for(kTurn);
  }
  metrics->reset();
  server->reset();
  placing.stop();
  (*plane)->stop_workers();
  return finish_run((*plane)->stats(), options);
}

}  // namespace splitplane::app
