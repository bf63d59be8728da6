// Watches what is behind the ports while they run. An interface of the kernel may go down, lose its carrier, change its
// MTU or be removed. Another process at the end of memif or vhost may leave. The control thread does the looks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/config/config.h"

namespace splitplane::app {

// The state of a port's link.
struct PortLink {
  bool up = true;
  std::optional<unsigned> mtu;  // of the kernel's interface; absent: the port has none, or it does not exist now
  bool operator==(const PortLink&) const = default;
};

struct WatchedPort {
  std::string name;
  std::string interface;  // of the kernel; empty: DPDK is asked
  std::uint16_t id = 0;   // DPDK's
  unsigned wanted_mtu = 1500;
  bool comes_back = true;  // false: once down, it is not looked at again
  PortLink link{};
  // The longest IP packet that passes now.
  [[nodiscard]] unsigned mtu() const { return std::min(wanted_mtu, link.mtu.value_or(wanted_mtu)); }
};

// Nothing for a port that must not be looked at. For a virtio_user device that listens, the look itself accepts the
// next host, and only DPDK's interrupt thread may do that.
[[nodiscard]] std::optional<WatchedPort> watched_port(const PortConfig& config, std::uint16_t id);

class PortWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<PortLink(const WatchedPort&)>;
  // The present link, from the kernel or DPDK.
  static PortLink look_at(const WatchedPort& port);

  PortWatch() = default;
  explicit PortWatch(std::vector<WatchedPort> ports, Look look = look_at);
  ~PortWatch();
  PortWatch(PortWatch&& other) noexcept { *this = std::move(other); }
  PortWatch& operator=(PortWatch&& other) noexcept;

  // Returns the ports that changed since the last look, and logs each. It looks when the kernel reports news of an
  // interface, and otherwise every half second.
  std::vector<WatchedPort> look(Clock::time_point now);
  // The port as last seen; nullptr for a port that is not watched.
  [[nodiscard]] const WatchedPort* find(const std::string& name) const;

 private:
  [[nodiscard]] bool has_news() const;

  std::vector<WatchedPort> ports_;
  Look look_;
  int netlink_ = -1;
  Clock::time_point next_{};
};

}  // namespace splitplane::app
