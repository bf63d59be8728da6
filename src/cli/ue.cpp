#include "cli/ue.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/patient_write.h"
#include "cli/command/run_end.h"
#include "cli/other_programs.h"
#include "control/server.h"
#include "runtime/stop_flag.h"
#include "ue/control/instance.h"
#include "ue/control/methods.h"

namespace splitplane::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatienceAtStart{5};
constexpr std::chrono::milliseconds kUeTurn{20};

std::string drops_text(const Json& direction) {
  std::string text;
  for (const auto& [name, n] : direction.at("drops").items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, n.dump());
  return text.empty() ? "" : " (" + text + ")";
}

void print_summary(const Json& stats) {
  const auto number_at = [&](const char* part, const char* key) { return stats.at(part).at(key).get<std::uint64_t>(); };
  std::string text;
  const auto line = [&](const char* direction, const char* good) {
    text += fmt::format("ue: {} {} received, {} {}, {} dropped{}\n", direction, number_at(direction, "received"),
                        number_at(direction, "transmitted"), good, number_at(direction, "dropped"),
                        drops_text(stats.at(direction)));
  };
  line("downlink", "delivered");
  line("uplink", "sent");
  text += fmt::format(
      "ue: {} polls, {} STATUS PDUs sent; RLC {} missing, {} late, {} twice; PDCP {} missing, {} late, {} twice\n",
      number_at("checks", "polls"), number_at("checks", "status_sent") + number_at("rlc_am", "status_sent"),
      number_at("checks", "rlc_missing"), number_at("checks", "rlc_late"), number_at("checks", "rlc_duplicates"),
      number_at("checks", "pdcp_missing"), number_at("checks", "pdcp_late"), number_at("checks", "pdcp_duplicates"));
  for (const auto& [direction, report] : stats.at("air").items()) text += air_text(direction.c_str(), report);
  if (!stats.at("totals").at("balanced").get<bool>()) text += "ue: THE COUNTERS DO NOT ADD UP\n";
  write_last_words(STDOUT_FILENO, text);
}

// Until stopped, or for `duration_s`; the bearers are known, as far as the gNB answers, before the line that says
// ready.
void serve(UeSide& side, const std::string& tun, const RunOptions& options) {
  const StopFlag& stop = StopFlag::instance();
  const auto begin = Clock::now();
  while (!side.follow_bearers(Clock::now()) && Clock::now() - begin < kPatienceAtStart) {
    if (stop.wait_for(kUeTurn)) return;
  }
  const std::size_t bearers = side.bearer_count();
  write_last_words(STDOUT_FILENO, fmt::format("ue: {} bearer{}, tun {} up\n", bearers, bearers == 1 ? "" : "s", tun));
  while (!stop.wait_for(kUeTurn)) {
    const auto now = Clock::now();
    if (options.duration_s && now - begin >= std::chrono::duration<double>(*options.duration_s)) break;
    side.follow_bearers(now);
    side.watch_port(now);
  }
}

}  // namespace

int ue_command(const UeConfig& config, const RunOptions& options) {
  StopFlag::instance().catch_signals();
  auto side = UeSide::start(config);
  if (!side) {
    log::error("{}: {}", config.file, side.error().message);
    return 1;
  }
  MethodRegistry methods([] { StopFlag::instance().request(); });
  add_methods(methods, **side);
  name_other_programs(methods, "ue");
  auto server = ControlServer::start({.path = config.control}, answers_of(std::move(methods)));
  if (!server) {
    log::error("{}: {}", config.file, server.error().message);
    return 1;
  }
  serve(**side, config.tun, options);
  server->reset();
  (*side)->stop();
  return finish_run((*side)->stats(), options, print_summary);
}

}  // namespace splitplane::app
