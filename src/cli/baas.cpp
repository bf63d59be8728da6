#include "cli/baas.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "baas/control/methods.h"
#include "base/log.h"
#include "base/paths.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "observe/metrics_server.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTryAgain{20}, kSayAgain{10'000}, kTurn{2};

// While no gNB is there, `ctl` asks whether this process answers, and ends it.
Expected<std::unique_ptr<ControlServer>> answer_without_gnb(const std::string& path) {
  MethodRegistry methods([] { StopFlag::instance().request(); });
  name_other_programs(methods, "baas");
  for (const char* family : {"stats", "power"}) methods.serve_elsewhere(family, "when the gNB runs");
  return ControlServer::start({.path = path}, answers_of(std::move(methods)));
}

// Until a gNB takes this process as its service; nothing: the user stops it first.
Expected<std::unique_ptr<BufferingService>> wait_for_gnb(const GnbConfig& config, Clock::time_point end) {
  StopFlag& stop = StopFlag::instance();
  Clock::time_point say{};
  while (!stop.requested() && Clock::now() < end) {
    std::string why;
    auto service = BufferingService::join(config, why);
    if (!service || *service) return service;
    if (const auto now = Clock::now(); now >= say) {
      log::info("waiting for the gNB of {}: {}", config.file, why);
      say = now + kSayAgain;
    }
    if (stop.wait_for(kTryAgain)) break;
  }
  return nullptr;
}

}  // namespace

int baas_command(const GnbConfig& config, const RunOptions& options) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  const auto end = options.duration_s ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                           std::chrono::duration<double>(*options.duration_s))
                                      : Clock::time_point::max();
  const std::string path = control_path(baas_instance(config));
  auto server = answer_without_gnb(path);
  if (!server) {
    log::error("{}", server.error().message);
    return 1;
  }
  auto joined = wait_for_gnb(config, end);
  server->reset();
  if (!joined) {
    log::error("{}: {}", config.file, joined.error().message);
    return 1;
  }
  if (*joined == nullptr) return 0;
  BufferingService& service = **joined;
  MethodRegistry methods([&stop] { stop.request(); });
  add_methods(methods, service);
  name_other_programs(methods, "baas");
  server = ControlServer::start({.path = path}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}", server.error().message);
    return 1;
  }
  auto metrics = serve_metrics(config.baas->metrics, [&service] { return Scrape{.all = service.observe()}; });
  if (!metrics) {
    log::error("{}", metrics.error().message);
    return 1;
  }
  log::write(spdlog::level::info, {{"instance", baas_instance(config)}, {"control", path}},
             fmt::format("buffering for {} on {} core(s); control socket {}", config.file_prefix,
                         config.baas->cores.size(), path));
  while (!stop.requested() && Clock::now() < end) {
    if (!service.gnb_lives()) {
      log::warn("the gNB has ended; this process begins anew and waits for the next one");
      service.abandon();
    }
    if (stop.wait_for(kTurn)) break;
  }
  metrics->reset();
  server->reset();
  if (!service.gnb_lives()) std::_Exit(0);  // its memory is not ours any more: nothing may be taken down
  service.stop();
  return finish_run(service.stats(), options);
}

}  // namespace splitplane::app
