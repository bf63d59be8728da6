#include "cli/card.h"

#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "card/control/instance.h"
#include "card/control/methods.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "observe/metrics_server.h"
#include "runtime/port_watch.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kCardTurn{20};
constexpr std::size_t kMaxLineBytes = std::size_t{256} * 1024;  // card.install with many bearers

Scrape look(CardPlane& card) {
  auto all = card.observe();
  if (!all) log::warn("metrics: {}", all.error().message);
  return {.all = all ? *std::move(all) : Observation{}, .bearers = {}, .with_bearers = false};
}

// The kernel's interfaces among the ports; VFs are looked at by VfKeeper.
PortWatch watch_interfaces(const CardConfig& config) {
  std::vector<WatchedPort> ports;
  for (const auto& port : config.ports) {
    auto watched = watched_port(port, 0);
    if (watched && !watched->interface.empty()) ports.push_back(*std::move(watched));
  }
  return PortWatch(std::move(ports));
}

}  // namespace

int card_command(const CardConfig& config, const RunOptions& options) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();  // before anything is made that must be taken down again
  auto card = CardPlane::start(config);
  if (!card) {
    log::error("{}: {}", config.file, card.error().message);
    return 1;
  }
  MethodRegistry methods([&stop] { stop.request(); });
  add_methods(methods, **card);
  name_other_programs(methods, "card");
  auto server =
      ControlServer::start({.path = config.control, .max_line_bytes = kMaxLineBytes}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}", server.error().message);
    return 1;
  }
  auto metrics = serve_metrics(config.metrics, [&] { return look(**card); });
  if (!metrics) {
    log::error("{}", metrics.error().message);
    return 1;
  }
  log::write(spdlog::level::info, {{"instance", config.file_prefix}, {"control", config.control}},
             fmt::format("serving: card {}, {} on core {}; control socket {}", config.name, (*card)->program(),
                         fmt::join(config.cores, ", "), config.control));

  PortWatch interfaces = watch_interfaces(config);
  const auto begin = std::chrono::steady_clock::now();
  while (!stop.wait_for(kCardTurn)) {
    const auto now = std::chrono::steady_clock::now();
    (void)interfaces.look(now);
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
  }
  metrics->reset();
  server->reset();
  (*card)->stop();
  const int code = finish_run((*card)->stats(), options);
  if ((*card)->stuck()) std::_Exit(code);
  return code;
}

}  // namespace splitplane::app
