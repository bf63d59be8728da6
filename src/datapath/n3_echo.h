// Answers GTP-U Echo Requests (TS 29.281 7.2): how a UPF sees that this end of the path lives. Octets in, octets out,
// on the control thread; workers punt the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace splitplane::datapath {

// The Echo Response to the request in `frame`, back to its sender's address and source port with its sequence number;
// nothing if the frame holds no valid Echo Request.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> answer_echo(std::span<const std::uint8_t> frame);

}  // namespace splitplane::datapath
