// The links of a card's VFs, looked at from its control thread: whether the host behind them is still there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/config.h"

namespace splitplane::app {

// A VF's port, whose link may be looked at beside the data path.
struct VfLink {
  std::string port;
  std::uint16_t id = 0;
  bool comes_back = false;  // the other end may connect again
  bool up = true;
};

// Nothing for a port whose link must not be looked at. A virtio_user device that listens takes the next host in by the
// very look (DPDK's virtio_user_dev_server_reconnect), which is for its interrupt thread alone.
[[nodiscard]] std::optional<VfLink> vf_link(const PortConfig& port, std::uint16_t id);

// What the log says of one that has changed.
[[nodiscard]] std::string to_string(const VfLink& link);

class VfLinks {
 public:
  using Clock = std::chrono::steady_clock;
  // Whether the link of a port is up, by DPDK.
  static bool is_up(std::uint16_t id);

  explicit VfLinks(std::vector<VfLink> links, std::function<bool(std::uint16_t)> look = is_up)
      : links_(std::move(links)), look_(std::move(look)) {}
  // Once a second: those that have changed since.
  std::vector<VfLink> look(Clock::time_point now);

 private:
  std::vector<VfLink> links_;
  std::function<bool(std::uint16_t)> look_;
  Clock::time_point next_{};
};

}  // namespace splitplane::app
