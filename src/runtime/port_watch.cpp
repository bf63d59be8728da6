#include "runtime/port_watch.h"

#include <fmt/core.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "runtime/config/device.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kPeriod{500};

// A socket for news of interfaces in this network namespace; -1 without.
int open_netlink() {
  const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket < 0) return -1;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

PortLink look_at_interface(const std::string& name) {
  PortLink link{.up = false, .mtu = {}};
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return {};  // being out of descriptors is no news of an interface
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  constexpr short kUp = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket, SIOCGIFFLAGS, &request) == 0) link.up = (request.ifr_flags & kUp) == kUp;
  if (::ioctl(socket, SIOCGIFMTU, &request) == 0) link.mtu = static_cast<unsigned>(request.ifr_mtu);
  ::close(socket);
  return link;
}

void say(const WatchedPort& before, const WatchedPort& now) {
  const auto write = [&](spdlog::level::level_enum level, const std::string& text) {
    log::write(level, {{"port", now.name}}, fmt::format("port {}: {}", now.name, text));
  };
  const std::string what = now.interface.empty() ? "its link" : "interface " + now.interface;
  if (before.link.up != now.link.up) {
    if (now.link.up) {
      write(spdlog::level::info, what + " is up");
    } else if (!now.interface.empty()) {
      write(spdlog::level::warn, what + (now.link.mtu ? " is down: no packet comes or goes" : " is gone"));
    } else {
      write(spdlog::level::warn, what + " is down: the other end is not there");
    }
  }
  if (before.mtu() == now.mtu() || !now.link.mtu) return;
  if (now.mtu() < now.wanted_mtu) {
    write(spdlog::level::warn, fmt::format("{} has an MTU of {} now, below the port's {}: longer packets are dropped",
                                           what, now.mtu(), now.wanted_mtu));
  } else {
    write(spdlog::level::info, fmt::format("{} has an MTU of {} again", what, *now.link.mtu));
  }
}

}  // namespace

std::optional<WatchedPort> watched_port(const PortConfig& config, std::uint16_t id) {
  const auto device = parse_device(config.device);
  if (!device) return std::nullopt;
  WatchedPort port{.name = config.name, .interface = {}, .id = id, .wanted_mtu = config.mtu};
  if (device->driver == Driver::kAfPacket || device->driver == Driver::kAfXdp || device->driver == Driver::kTap)
    port.interface = device->arg("iface").value_or("");
  if (device->driver == Driver::kVirtioUser) {
    if (device->arg("server").value_or("0") == "1") return std::nullopt;
    port.comes_back = false;  // it connects only once, and DPDK would log an error at every later look
  }
  return port;
}

PortLink PortWatch::look_at(const WatchedPort& port) {
  if (!port.interface.empty()) return look_at_interface(port.interface);
  rte_eth_link link{};
  return {.up = rte_eth_link_get_nowait(port.id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP, .mtu = {}};
}

PortWatch::PortWatch(std::vector<WatchedPort> ports, Look look)
    : ports_(std::move(ports)), look_(std::move(look)), netlink_(open_netlink()) {}

PortWatch::~PortWatch() {
  if (netlink_ >= 0) ::close(netlink_);
}

PortWatch& PortWatch::operator=(PortWatch&& other) noexcept {
  std::swap(ports_, other.ports_);
  std::swap(look_, other.look_);
  std::swap(netlink_, other.netlink_);
  std::swap(next_, other.next_);
  return *this;
}

bool PortWatch::has_news() const {
  std::array<char, 8192> news{};
  bool any = false;
  // The content is not read, because the state is asked for anew. Any message is enough, even that there were too many
  // (ENOBUFS).
  for (int i = 0; i < 64; ++i) {
    const ssize_t bytes = ::recv(netlink_, news.data(), news.size(), 0);
    if (bytes < 0 && errno != ENOBUFS) break;
    any = true;
  }
  return any;
}

std::vector<WatchedPort> PortWatch::look(Clock::time_point now) {
  std::vector<WatchedPort> changed;
  const bool news = netlink_ >= 0 && has_news();
  if (!news && now < next_) return changed;
  next_ = now + kPeriod;
  for (WatchedPort& port : ports_) {
    if (!port.link.up && !port.comes_back) continue;
    WatchedPort seen = port;
    seen.link = look_(port);
    if (seen.link == port.link) continue;
    const WatchedPort before = std::exchange(port, seen);
    say(before, seen);  // before the log line, so that a reader of the log finds the new state at once
    changed.push_back(seen);
  }
  return changed;
}

const WatchedPort* PortWatch::find(const std::string& name) const {
  const auto at = std::ranges::find(ports_, name, &WatchedPort::name);
  return at == ports_.end() ? nullptr : &*at;
}

}  // namespace splitplane::app
