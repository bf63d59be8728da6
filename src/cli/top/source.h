// Where `splitplane top` gets its numbers: asks an instance over its control socket again and again, and goes on asking
// when the instance is away.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/top/view.h"
#include "control/client.h"

namespace splitplane::app {

class TopSource {
 public:
  TopSource(std::string socket, std::size_t bearer_limit) : socket_(std::move(socket)), limit_(bearer_limit) {}

  // One look; bearers only if asked for. Error: why there is no answer. `state` changes with the second look.
  Expected<void> look(TopState& state, bool with_bearers);
  [[nodiscard]] const std::string& socket() const { return socket_; }
  [[nodiscard]] bool has_rates() const { return has_rates_; }

 private:
  Expected<void> ask(Json& stats, std::vector<Json>& bearers, bool with_bearers);
  std::string socket_;
  std::size_t limit_;
  std::optional<ControlClient> client_;
  Json before_;
  std::vector<Json> bearers_before_;
  std::chrono::steady_clock::time_point when_{};
  bool has_rates_ = false;
};

}  // namespace splitplane::app
