// The parts of rtnetlink(7) that the TUN device needs: link settings, addresses and default routes. The kernel confirms
// each request.
#pragma once

#include <cstdint>
#include <span>

#include "base/expected.h"
#include "base/ip_address.h"

namespace splitplane::ue {

class Netlink {
 public:
  [[nodiscard]] static Expected<Netlink> open();
  Netlink(Netlink&& other) noexcept;
  Netlink& operator=(Netlink&&) = delete;
  ~Netlink();

  // The error is the kernel's reason; it does not say what was tried.
  [[nodiscard]] Expected<void> bring_up(unsigned interface, unsigned mtu, unsigned queue_packets);
  // The kernel makes no link-local IPv6 address, so only UE addresses send packets.
  [[nodiscard]] Expected<void> no_link_local(unsigned interface);
  // As /32 or /128. It is no error to add an existing address or to remove an absent one.
  [[nodiscard]] Expected<void> add_address(unsigned interface, const IpAddress& address);
  [[nodiscard]] Expected<void> remove_address(unsigned interface, const IpAddress& address);
  [[nodiscard]] Expected<void> add_default_route(unsigned interface, bool v6);

 private:
  explicit Netlink(int fd) : fd_(fd) {}
  [[nodiscard]] Expected<void> transact(std::span<std::uint8_t> message, int tolerated);
  int fd_;
  std::uint32_t sequence_ = 0;
};

}  // namespace splitplane::ue
