#include "cli/phy.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/patient_write.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "phy/control/instance.h"
#include "phy/control/methods.h"
#include "phy/control/report.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kPhyTurn{20};

void print_phy_summary(const Json& stats) {
  write_last_words(STDOUT_FILENO, summary_of(stats));
}

// Until stopped, or for `duration_s`. The gNB may come later, go, and come again.
void serve(PhyInstance& instance, const PhyProgramConfig& config, const RunOptions& options) {
  using Clock = std::chrono::steady_clock;
  const StopFlag& stop = StopFlag::instance();
  const auto begin = Clock::now();
  (void)instance.follow_bearers(begin);
  const EmulatedPhyConfig& ends = config.phy;
  write_last_words(STDOUT_FILENO,
                   fmt::format("phy: P5 at port {}, P7 at port {} of {}, tun {} up\n", ends.local_p5_port,
                               ends.local_p7_port, ends.local.to_string(), config.ue.tun));
  while (!stop.wait_for(kPhyTurn)) {
    const auto now = Clock::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    (void)instance.follow_bearers(now);
  }
}

}  // namespace

int phy_command(const PhyProgramConfig& config, const RunOptions& options) {
  StopFlag::instance().catch_signals();
  auto instance = PhyInstance::start(config);
  if (!instance) {
    log::error("{}: {}", config.file, instance.error().message);
    return 1;
  }
  MethodRegistry methods([] { StopFlag::instance().request(); });
  add_methods(methods, **instance);
  name_other_programs(methods, "phy");
  auto server = ControlServer::start({.path = config.control}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}: {}", config.file, server.error().message);
    return 1;
  }
  serve(**instance, config, options);
  server->reset();
  (*instance)->stop();
  return finish_run((*instance)->stats(), options, print_phy_summary);
}

}  // namespace splitplane::app
