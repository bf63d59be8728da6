// What the TUN device needs of rtnetlink(7): link settings, addresses and default routes, each confirmed by the kernel.
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

  // Error: the kernel's reason, without saying what was tried.
  [[nodiscard]] Expected<void> bring_up(unsigned interface, unsigned mtu, unsigned queue_packets);
  // The kernel makes no link-local IPv6 address of its own, so nothing but UE addresses speaks.
  [[nodiscard]] Expected<void> no_link_local(unsigned interface);
  // As /32 or /128. Adding what is there, and removing what is not, is no error.
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
