#include "ue/tun.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"

namespace splitplane::ue {
namespace {

// The kernel's default of 500 overflows when TCP sends faster than a worker that shares its core.
constexpr unsigned kQueuePackets = 4000;

}  // namespace

Expected<Tun> Tun::create(const TunSettings& settings) {
  if (settings.name.empty() || settings.name.size() >= IFNAMSIZ) {
    return fail("TUN device '{}': the name has {} octets; allowed: 1 to {}", settings.name, settings.name.size(),
                IFNAMSIZ - 1);
  }
  const auto broken = [&](const char* what, const std::string& why) {
    return fail("TUN device {}: {}: {}", settings.name, what, why);
  };
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return broken("/dev/net/tun", std::strerror(errno));
  ifreq request{};
  request.ifr_flags = static_cast<short>(IFF_TUN | IFF_NO_PI);
  std::memcpy(request.ifr_name, settings.name.data(), settings.name.size());
  // Without IFF_TUN_EXCL an existing persistent device of this name is used as the administrator made it.
  if (::ioctl(fd, TUNSETIFF, &request) != 0) {
    const int error = errno;
    ::close(fd);
    return broken("could not be made", error == EBUSY ? "another process uses it" : std::strerror(error));
  }
  auto netlink = Netlink::open();
  if (!netlink) {
    ::close(fd);
    return tl::unexpected(netlink.error());
  }
  Tun tun(fd, settings.name, ::if_nametoindex(settings.name.c_str()), *std::move(netlink));
  if (const auto done = tun.netlink_.no_link_local(tun.interface_); !done) {
    log::debug("TUN device {}: link-local address stays on: {}", settings.name, done.error().message);
  }
  if (const auto done = tun.netlink_.bring_up(tun.interface_, settings.mtu, kQueuePackets); !done) {
    return broken("could not be brought up", done.error().message);
  }
  return tun;
}

Tun::Tun(Tun&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      interface_(other.interface_),
      netlink_(std::move(other.netlink_)),
      addresses_(std::move(other.addresses_)) {}

Tun::~Tun() {
  if (fd_ >= 0) ::close(fd_);  // the kernel removes the device
}

std::size_t Tun::read(wire::MutableOctets into) {
  const ssize_t n = ::read(fd_, into.data(), into.size());
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

Tun::Write Tun::write(wire::Octets packet) {
  const ssize_t n = ::write(fd_, packet.data(), packet.size());
  if (n == static_cast<ssize_t>(packet.size())) [[likely]]
    return Write::kTaken;
  return n < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) ? Write::kFull : Write::kRefused;
}

Expected<bool> Tun::add_address(const IpAddress& address) {
  const std::string text = address.to_string();
  if (const auto at = addresses_.find(text); at != addresses_.end()) {
    ++at->second;
    return true;
  }
  if (addresses_.size() >= kMaxAddresses) return false;
  if (const auto done = netlink_.add_address(interface_, address); !done) {
    return fail("TUN device {}: address {} could not be added: {}", name_, text, done.error().message);
  }
  addresses_.emplace(text, 1U);
  return true;
}

Expected<void> Tun::remove_address(const IpAddress& address) {
  const std::string text = address.to_string();
  const auto at = addresses_.find(text);
  if (at == addresses_.end() || --at->second != 0) return {};
  addresses_.erase(at);
  if (const auto done = netlink_.remove_address(interface_, address); !done) {
    return fail("TUN device {}: address {} could not be removed: {}", name_, text, done.error().message);
  }
  return {};
}

Expected<void> Tun::add_default_route(bool v6) {
  if (const auto done = netlink_.add_default_route(interface_, v6); !done) {
    return fail("TUN device {}: {} default route could not be added: {}", name_, v6 ? "IPv6" : "IPv4",
                done.error().message);
  }
  return {};
}

}  // namespace splitplane::ue
