// The methods of the control protocol: one request line in, one reply line out. The socket server calls this; it knows
// nothing of sockets.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "control/methods/backend.h"
#include "control/server.h"

namespace splitplane::app {

inline constexpr std::size_t kMaxBearersPerRequest = 65536;
inline constexpr std::size_t kMaxListLimit = 1000;

// The reply to a line, without its newline: {"id":..., "result":...} or {"id":..., "error":"one sentence"}. Whatever
// the line holds, there is a reply. `stop` is called for the method stop.
[[nodiscard]] std::string answer(std::string_view line, ControlBackend& backend, const std::function<void()>& stop);
// As the server takes it. `backend` must outlive the server.
[[nodiscard]] ControlServer::Answer answers_of(ControlBackend& backend, std::function<void()> stop);

}  // namespace splitplane::app
