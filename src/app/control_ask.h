// A command that asks a running instance: where it is, and what every failure to reach it looks like.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/cli.h"
#include "app/control_client.h"

namespace splitplane::app {

// As the options say: a configuration names the socket, else the socket itself, else a file prefix.
struct ControlPlace {
  std::string config, socket, prefix = "splitplane";
};

// Connects there and hands the client to `ask`, which returns the text to print; the exit code. `command` stands before
// what went wrong.
[[nodiscard]] int ask_control(const ControlPlace& place, std::string_view command, CliOutput& output,
                              const std::function<Expected<std::string>(ControlClient&)>& ask);

}  // namespace splitplane::app
