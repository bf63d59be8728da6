// Which running instance a command addresses: by -i NAME or SPLITPLANE_INSTANCE, by its configuration, or by its
// control socket. If that instance does not run, it lists the running ones for the user.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/expected.h"
#include "runtime/instance_lock.h"

namespace splitplane::app {

// The name of an instance is its file_prefix.
struct InstancePlace {
  std::string config, socket, instance;
};

// Adds -i, --instance (also --prefix) and --socket, --control. `config` is the option or positional of `command` for a
// configuration. Two of them together are refused.
void add_instance_options(CLI::App& command, InstancePlace& place, CLI::Option* config);

// The control socket. The error says that the configuration or the name is wrong.
[[nodiscard]] Expected<std::string> control_socket_of(const InstancePlace& place);

// Names of the instances that have a control socket in `directory`, in order.
[[nodiscard]] std::vector<std::string> running_instances(const std::string& directory = runtime_directory());

// `why`, with the running instances if `why` is that no instance runs there.
[[nodiscard]] Error with_who_runs(const Error& why, const std::string& directory = runtime_directory());

}  // namespace splitplane::app
