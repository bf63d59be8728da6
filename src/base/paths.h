// Where the files of running instances are: locks and sockets that go with the process, and what outlives it.
#pragma once

#include <string>

#include "base/expected.h"

namespace splitplane::app {

// Where lock files and control sockets live: /run/splitplane for root, else $XDG_RUNTIME_DIR/splitplane, else
// /tmp/splitplane-<uid>.
[[nodiscard]] std::string runtime_directory();
[[nodiscard]] std::string control_path(const std::string& file_prefix);

// What outlives a run: $STATE_DIRECTORY, as systemd says it, else /var/lib/splitplane for root, else
// $XDG_STATE_HOME/splitplane or $HOME/.local/state/splitplane.
[[nodiscard]] std::string state_directory();
[[nodiscard]] std::string journal_path(const std::string& file_prefix);

// Makes `directory` with mode 0700. Error if it cannot be made or belongs to somebody else.
[[nodiscard]] Expected<void> make_private_directory(const std::string& directory);

}  // namespace splitplane::app
