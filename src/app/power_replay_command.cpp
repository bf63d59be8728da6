#include "app/power_replay_command.h"

namespace splitplane::app {

void add_power_replay(CLI::App& /*power*/, std::function<int(CliOutput&)>& /*action*/) {}

}  // namespace splitplane::app
