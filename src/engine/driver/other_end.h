// Checks that the other end of a port is there. A port that connects to a socket fails with only an error number when
// the program that makes the socket does not run. The user needs to know which program to start.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace splitplane::datapath {

// For a device that connects to a unix socket without a listener (net_memif as client, net_virtio_user without
// server=1): a sentence that says so and names what to start. Nothing for every other device.
[[nodiscard]] std::optional<std::string> missing_other_end(std::string_view device);

}  // namespace splitplane::datapath
