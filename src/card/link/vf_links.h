// The VFs of a card, as the host behind it sees them: whether each has another end. A card may answer on its control
// socket while its VFs have no other end; it then carries no packet.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace splitplane::app {

// A port of VFs.
struct VfLink {
  std::string port;
  std::uint16_t id = 0;  // DPDK's
};

class VfLinks {
 public:
  using Clock = std::chrono::steady_clock;
  // True if the link of a port is up by DPDK. For a vhost device: if a virtio_user device is connected.
  static bool is_up(std::uint16_t id);

  explicit VfLinks(std::vector<VfLink> links, std::function<bool(std::uint16_t)> look = is_up)
      : links_(std::move(links)), look_(std::move(look)) {}
  // Call it ten times a second. Returns why no packet passes, as a sentence without a full stop; empty if all VFs are
  // connected; nothing if it did not look this time.
  std::optional<std::string> look(Clock::time_point now);

 private:
  std::vector<VfLink> links_;
  std::function<bool(std::uint16_t)> look_;
  Clock::time_point next_{};
};

}  // namespace splitplane::app
