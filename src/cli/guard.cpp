#include "cli/guard.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/patient_write.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "guard/control/instance.h"
#include "guard/control/methods.h"
#include "guard/control/report.h"
#include "observe/metrics_server.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kGuardTurn{20};

void print_guard_summary(const Json& stats) {
  write_last_words(STDOUT_FILENO, guard_summary(stats));
}

// The line that says ready; of a guard whose port is down it says for which one it waits.
std::string ready_line(GuardInstance& guard, const GuardConfig& config) {
  const std::size_t servers = config.servers.size();
  const std::string head = fmt::format("guard: {} server{} behind {}, clients at {}", servers, servers == 1 ? "" : "s",
                                       config.server, config.client);
  const auto down = guard.ports_down();
  return down.empty() ? head + ": up\n" : fmt::format("{}: waiting for {}\n", head, fmt::join(down, " and "));
}

// Until stopped, or for `duration_s`.
void serve(GuardInstance& guard, const GuardConfig& config, const RunOptions& options) {
  using Steady = std::chrono::steady_clock;
  const StopFlag& stop = StopFlag::instance();
  const auto begin = Steady::now();
  guard.watch(begin);
  bool is_up = guard.ports_down().empty();
  write_last_words(STDOUT_FILENO, ready_line(guard, config));
  while (!stop.wait_for(kGuardTurn)) {
    const auto now = Steady::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    guard.watch(now);
    if (const bool up = guard.ports_down().empty(); up != std::exchange(is_up, up) && up)
      write_last_words(STDOUT_FILENO, ready_line(guard, config));
  }
}

}  // namespace

int guard_command(const GuardConfig& config, const RunOptions& options) {
  StopFlag::instance().catch_signals();
  auto guard = GuardInstance::start(config);
  if (!guard) {
    log::error("{}: {}", config.file, guard.error().message);
    return 1;
  }
  MethodRegistry methods([] { StopFlag::instance().request(); });
  add_methods(methods, **guard);
  name_other_programs(methods, "guard");
  auto server = ControlServer::start({.path = config.control}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}: {}", config.file, server.error().message);
    return 1;
  }
  auto metrics = serve_metrics(config.metrics, [&guard] { return (*guard)->observe(); });
  if (!metrics) {
    log::error("{}", metrics.error().message);
    return 1;
  }
  serve(**guard, config, options);
  metrics->reset();
  server->reset();
  (*guard)->stop();
  return finish_run((*guard)->stats(), options, print_guard_summary);
}

}  // namespace splitplane::app
