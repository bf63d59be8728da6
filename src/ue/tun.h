// A TUN device as an object: the kernel's IP stack as the upper layers of the UEs. The object makes the device and
// brings it up; its destructor removes it. The worker uses its packets; the control thread sets its addresses and
// routes.
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
  // UEs beyond this number of addresses exist on the air, but the kernel does not answer for them.
  static constexpr std::size_t kMaxAddresses = 1024;
  enum class Write : std::uint8_t { kTaken, kFull, kRefused };

  // The error is one sentence that names the device.
  [[nodiscard]] static Expected<Tun> create(const TunSettings& settings);
  Tun(Tun&& other) noexcept;
  Tun& operator=(Tun&&) = delete;
  ~Tun();

  // Reads the next packet that the kernel sends; 0 if there is none now. A packet that does not fit in `into` is cut.
  [[nodiscard]] std::size_t read(wire::MutableOctets into);
  [[nodiscard]] Write write(wire::Octets packet);

  // Adds one use of the address. Returns true if the kernel answers for the address now, false beyond kMaxAddresses.
  [[nodiscard]] Expected<bool> add_address(const IpAddress& address);
  // Removes one use of the address. The last one removes the address.
  [[nodiscard]] Expected<void> remove_address(const IpAddress& address);
  [[nodiscard]] Expected<void> add_default_route(bool v6);
  [[nodiscard]] std::size_t address_count() const { return addresses_.size(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int descriptor() const { return fd_; }  // readable while read() has a packet

 private:
  Tun(int fd, std::string name, unsigned interface, Netlink netlink)
      : fd_(fd), name_(std::move(name)), interface_(interface), netlink_(std::move(netlink)) {}
  int fd_;
  std::string name_;
  unsigned interface_;
  Netlink netlink_;
  std::map<std::string, unsigned> addresses_;  // with the number of bearers that have each
};

}  // namespace splitplane::ue
