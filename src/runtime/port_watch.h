// Watches what is behind the ports while they run: an interface of the kernel that goes down, loses its carrier,
// changes its MTU or is removed; another process at the end of memif or vhost that leaves. Looked at on the control
// thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace splitplane::app {

// What a port's link is like.
struct PortLink {
  bool up = true;
  std::optional<unsigned> mtu;  // of the kernel's interface; absent: it has none, or is not there
  bool operator==(const PortLink&) const = default;
};

struct WatchedPort {
  std::string name;
  std::string interface;  // of the kernel; empty: DPDK is asked
  std::uint16_t id = 0;   // DPDK's
  unsigned wanted_mtu = 1500;
  bool comes_back = true;  // false: once down, it is not looked at again
  PortLink link{};
  // The longest IP packet that goes through now.
  [[nodiscard]] unsigned mtu() const { return std::min(wanted_mtu, link.mtu.value_or(wanted_mtu)); }
};

// Nothing for a port that must not be looked at: a virtio_user device that listens takes the next host in by the very
// look, which is for DPDK's interrupt thread alone.
[[nodiscard]] std::optional<WatchedPort> watched_port(const PortConfig& config, std::uint16_t id);

class PortWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Look = std::function<PortLink(const WatchedPort&)>;
  // The link as the kernel or DPDK says it is now.
  static PortLink look_at(const WatchedPort& port);

  PortWatch() = default;
  explicit PortWatch(std::vector<WatchedPort> ports, Look look = look_at);
  ~PortWatch();
  PortWatch(PortWatch&& other) noexcept { *this = std::move(other); }
  PortWatch& operator=(PortWatch&& other) noexcept;

  // Those that changed since the last look, each said in the log. Looks when the kernel has news of an interface, and
  // otherwise every half second.
  std::vector<WatchedPort> look(Clock::time_point now);
  // As last seen; nothing for a port that is not watched.
  [[nodiscard]] const WatchedPort* find(const std::string& name) const;

 private:
  [[nodiscard]] bool has_news() const;

  std::vector<WatchedPort> ports_;
  Look look_;
  int netlink_ = -1;
  Clock::time_point next_{};
};

}  // namespace splitplane::app
