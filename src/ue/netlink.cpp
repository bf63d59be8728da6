#include "ue/netlink.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace splitplane::ue {
namespace {

// A request under construction: header, the family's structure, attributes. 256 octets hold every request here.
class Request {
 public:
  template <class Body>
  Request(std::uint16_t type, std::uint16_t flags, const Body& body) {
    header_.nlmsg_type = type;
    header_.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    size_ = sizeof header_;
    append(&body, sizeof body);
  }

  void attribute(std::uint16_t type, std::span<const std::uint8_t> value) {
    const rtattr head{static_cast<std::uint16_t>(sizeof(rtattr) + value.size()), type};
    append(&head, sizeof head);
    append(value.data(), value.size());
  }
  template <class Value>
  void attribute(std::uint16_t type, Value value) {
    attribute(type, std::span(reinterpret_cast<const std::uint8_t*>(&value), sizeof value));
  }
  // Opens a nested attribute; all attributes until close() are inside it.
  [[nodiscard]] std::size_t open(std::uint16_t type) {
    const std::size_t at = size_;
    attribute(type, std::span<const std::uint8_t>{});
    return at;
  }
  void close(std::size_t at) {
    const auto bytes = static_cast<std::uint16_t>(size_ - at);
    std::memcpy(octets_.data() + at, &bytes, sizeof bytes);
  }

  [[nodiscard]] std::span<std::uint8_t> finish() {
    header_.nlmsg_len = static_cast<std::uint32_t>(size_);
    std::memcpy(octets_.data(), &header_, sizeof header_);
    return std::span(octets_).first(size_);
  }

 private:
  void append(const void* data, std::size_t bytes) {
    if (bytes != 0) std::memcpy(octets_.data() + size_, data, bytes);
    size_ += (bytes + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
  }

  nlmsghdr header_{};
  std::size_t size_ = 0;
  alignas(NLMSG_ALIGNTO) std::array<std::uint8_t, 256> octets_{};
};

std::span<const std::uint8_t> octets_of(const IpAddress& address) {
  return std::span(address.octets()).first(address.is_v6() ? 16 : 4);
}

Request address_request(std::uint16_t type, std::uint16_t flags, unsigned interface, const IpAddress& address) {
  ifaddrmsg body{};
  body.ifa_family = address.is_v6() ? AF_INET6 : AF_INET;
  body.ifa_prefixlen = address.is_v6() ? 128 : 32;
  body.ifa_flags = address.is_v6() ? IFA_F_NODAD : 0;
  body.ifa_index = interface;
  Request request(type, flags, body);
  request.attribute(IFA_LOCAL, octets_of(address));
  request.attribute(IFA_ADDRESS, octets_of(address));
  return request;
}

}  // namespace

Expected<Netlink> Netlink::open() {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return fail("netlink socket: {}", std::strerror(errno));
  Netlink netlink(fd);
  timeval limit{};
  limit.tv_sec = 2;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_nl local{};
  local.nl_family = AF_NETLINK;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&local), sizeof local) != 0) {
    return fail("netlink socket: {}", std::strerror(errno));
  }
  return netlink;
}

Netlink::Netlink(Netlink&& other) noexcept : fd_(std::exchange(other.fd_, -1)), sequence_(other.sequence_) {}

Netlink::~Netlink() {
  if (fd_ >= 0) ::close(fd_);
}

// `tolerated`: an errno that counts as success.
Expected<void> Netlink::transact(std::span<std::uint8_t> message, int tolerated) {
  const std::uint32_t sequence = ++sequence_;
  std::memcpy(message.data() + offsetof(nlmsghdr, nlmsg_seq), &sequence, sizeof sequence);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(fd_, message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return fail("{}", std::strerror(errno));
  }
  alignas(nlmsghdr) std::array<std::uint8_t, 8192> answer;
  for (;;) {
    const ssize_t n = ::recv(fd_, answer.data(), answer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("{}", errno == EAGAIN ? "the kernel did not answer" : std::strerror(errno));
    if (static_cast<std::size_t>(n) < sizeof(nlmsghdr) + sizeof(int)) continue;
    nlmsghdr header;
    std::memcpy(&header, answer.data(), sizeof header);
    if (header.nlmsg_type != NLMSG_ERROR || header.nlmsg_seq != sequence) continue;  // of an earlier request
    int error = 0;
    std::memcpy(&error, answer.data() + sizeof header, sizeof error);
    if (error == 0 || -error == tolerated) return {};
    return fail("{}", std::strerror(-error));
  }
}

Expected<void> Netlink::bring_up(unsigned interface, unsigned mtu, unsigned queue_packets) {
  ifinfomsg body{};
  body.ifi_family = AF_UNSPEC;
  body.ifi_index = static_cast<int>(interface);
  body.ifi_flags = IFF_UP;
  body.ifi_change = IFF_UP;
  Request request(RTM_NEWLINK, 0, body);
  request.attribute(IFLA_MTU, std::uint32_t{mtu});
  request.attribute(IFLA_TXQLEN, std::uint32_t{queue_packets});
  return transact(request.finish(), 0);
}

Expected<void> Netlink::no_link_local(unsigned interface) {
  ifinfomsg body{};
  body.ifi_family = AF_UNSPEC;
  body.ifi_index = static_cast<int>(interface);
  Request request(RTM_NEWLINK, 0, body);
  const std::size_t families = request.open(IFLA_AF_SPEC);
  const std::size_t v6 = request.open(AF_INET6);
  request.attribute(IFLA_INET6_ADDR_GEN_MODE, std::uint8_t{IN6_ADDR_GEN_MODE_NONE});
  request.close(v6);
  request.close(families);
  return transact(request.finish(), 0);
}

Expected<void> Netlink::add_address(unsigned interface, const IpAddress& address) {
  return transact(address_request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, interface, address).finish(), EEXIST);
}

Expected<void> Netlink::remove_address(unsigned interface, const IpAddress& address) {
  return transact(address_request(RTM_DELADDR, 0, interface, address).finish(), EADDRNOTAVAIL);
}

Expected<void> Netlink::add_default_route(unsigned interface, bool v6) {
  rtmsg body{};
  body.rtm_family = v6 ? AF_INET6 : AF_INET;
  body.rtm_table = RT_TABLE_MAIN;
  body.rtm_protocol = RTPROT_STATIC;
  body.rtm_scope = v6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  body.rtm_type = RTN_UNICAST;
  Request request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, body);
  request.attribute(RTA_OIF, std::uint32_t{interface});
  return transact(request.finish(), 0);
}

}  // namespace splitplane::ue
