// A command that asks a running instance: what every failure to reach it looks like, and the exit codes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/command/output.h"
#include "control/client.h"
#include "runtime/instance_place.h"

namespace splitplane::app {

// Connects to `place` and hands the client to `ask`, which returns the text to print; the exit code: 2 where the
// instance refused what was asked for, or `place` is wrong; 1 where it is not there or failed. `command` stands before
// what went wrong.
[[nodiscard]] int ask_control(const InstancePlace& place, std::string_view command, CliOutput& output,
                              const std::function<Expected<std::string>(ControlClient&)>& ask);

}  // namespace splitplane::app
