#include "cli/power/power.h"

#include "cli/power/calibrate.h"
#include "cli/power/control.h"
#include "cli/power/replay.h"

namespace splitplane::app {

void add_power(CLI::App& app, std::function<int(CliOutput&)>& action) {
  CLI::App* power = app.add_subcommand("power", "Power policies of the workers: shows, switches, tries them");
  power->require_subcommand(1);
  power->footer(
      "Example:\n  splitplane power status config/demo.yaml\n"
      "  splitplane power replay --arrivals poisson --rate 10000 --policy all");
  add_power_control(*power, action);
  add_power_calibrate(*power, action);
  add_power_replay(*power, action);
}

}  // namespace splitplane::app
