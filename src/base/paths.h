// Where the files of running instances are: locks and sockets that end with the process, and files that outlive it.
#pragma once

#include <string>

#include "base/expected.h"

namespace splitplane::app {

// Where lock files and control sockets live: /run/splitplane for root, else $XDG_RUNTIME_DIR/splitplane, else
// /tmp/splitplane-<uid>.
[[nodiscard]] std::string runtime_directory();
[[nodiscard]] std::string control_path(const std::string& file_prefix);

// The directory for files that outlive a run: $STATE_DIRECTORY, as systemd sets it, else /var/lib/splitplane for root,
// else $XDG_STATE_HOME/splitplane or $HOME/.local/state/splitplane.
[[nodiscard]] std::string state_directory();
[[nodiscard]] std::string journal_path(const std::string& file_prefix);

// Makes `directory` with mode 0700. Returns an error if it cannot be made or belongs to another user.
[[nodiscard]] Expected<void> make_private_directory(const std::string& directory);

}  // namespace splitplane::app
