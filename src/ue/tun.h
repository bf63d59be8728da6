// A TUN device as an object: the kernel's IP stack as the UEs' upper layers. Made and brought up here, gone with the
// object. Packets are the worker's; addresses and routes the control thread's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/expected.h"
#include "base/ip_address.h"
#include "ue/netlink.h"
#include "wire/bytes.h"

namespace splitplane::ue {

struct TunSettings {
  std::string name = "splitue0";
  unsigned mtu = 1400;
};

class Tun {
 public:
  // UEs beyond that many addresses of a device exist on the air, but the kernel does not answer for them.
  static constexpr std::size_t kMaxAddresses = 1024;
  enum class Write : std::uint8_t { kTaken, kFull, kRefused };

  // Error: one sentence that names the device.
  [[nodiscard]] static Expected<Tun> create(const TunSettings& settings);
  Tun(Tun&& other) noexcept;
  Tun& operator=(Tun&&) = delete;
  ~Tun();

  // The next packet that the kernel sends; 0: there is none now. What does not fit in `into` is cut off.
  [[nodiscard]] std::size_t read(wire::MutableOctets into);
  [[nodiscard]] Write write(wire::Octets packet);

  // For one bearer more. True if the kernel answers for the address now; false beyond kMaxAddresses.
  [[nodiscard]] Expected<bool> add_address(const IpAddress& address);
  // For one bearer less: the last one takes it away.
  [[nodiscard]] Expected<void> remove_address(const IpAddress& address);
  [[nodiscard]] Expected<void> add_default_route(bool v6);
  [[nodiscard]] std::size_t address_count() const { return addresses_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  Tun(int fd, std::string name, unsigned interface, Netlink netlink)
      : fd_(fd), name_(std::move(name)), interface_(interface), netlink_(std::move(netlink)) {}
  int fd_;
  std::string name_;
  unsigned interface_;
  Netlink netlink_;
  std::map<std::string, unsigned> addresses_;  // with how many bearers have each
};

}  // namespace splitplane::ue
