#include "phy/link/datagram_socket.h"

#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace splitplane::phy {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
};

SocketAddress socket_address(const UdpEnd& end) {
  SocketAddress out;
  if (end.address.is_v6()) {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(end.port);
    std::memcpy(&in.sin6_addr, end.address.octets().data(), 16);
    std::memcpy(&out.storage, &in, out.bytes = sizeof in);
  } else {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(end.port);
    std::memcpy(&in.sin_addr, end.address.octets().data(), 4);
    std::memcpy(&out.storage, &in, out.bytes = sizeof in);
  }
  return out;
}

std::string text_of(const UdpEnd& end) {
  const std::string address = end.address.to_string();
  return end.address.is_v6() ? fmt::format("[{}]:{}", address, end.port) : fmt::format("{}:{}", address, end.port);
}

// Beyond the kernel's limit with CAP_NET_ADMIN, up to it without.
void ask_for_room(int descriptor, int forced, int usual, std::size_t bytes) {
  const int value = static_cast<int>(bytes);
  if (::setsockopt(descriptor, SOL_SOCKET, forced, &value, sizeof value) == 0) return;
  (void)::setsockopt(descriptor, SOL_SOCKET, usual, &value, sizeof value);
}

}  // namespace

Expected<DatagramSocket> DatagramSocket::open(const UdpEnd& local, const UdpEnd& peer, std::size_t buffer_bytes) {
  if (local.address.is_v6() != peer.address.is_v6()) {
    return fail("{} and {} are not both IPv4 or both IPv6 addresses", text_of(local), text_of(peer));
  }
  const int descriptor =
      ::socket(local.address.is_v6() ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
  if (descriptor < 0) return fail("a UDP socket cannot be opened: {}", std::strerror(errno));
  DatagramSocket out(descriptor);
  ask_for_room(descriptor, SO_RCVBUFFORCE, SO_RCVBUF, buffer_bytes);
  ask_for_room(descriptor, SO_SNDBUFFORCE, SO_SNDBUF, buffer_bytes);
  const SocketAddress from = socket_address(local), to = socket_address(peer);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&from.storage), from.bytes) != 0) {
    return fail("UDP {} cannot be bound: {}", text_of(local), std::strerror(errno));
  }
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&to.storage), to.bytes) != 0) {
    return fail("UDP {} cannot be reached from {}: {}", text_of(peer), text_of(local), std::strerror(errno));
  }
  // Between bind() and connect() a datagram may have come from anywhere.
  std::uint8_t octet = 0;
  while (::recv(descriptor, &octet, 1, MSG_DONTWAIT) >= 0) {
  }
  return out;
}

DatagramSocket::DatagramSocket(int descriptor) : descriptor_(descriptor) {
  const int on = 1;
  (void)::setsockopt(descriptor, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  for (Fetched& f : fetched_) f.octets = std::make_unique<std::uint8_t[]>(kLongest);
}

DatagramSocket::DatagramSocket(DatagramSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      counters_(std::move(other.counters_)),
      fetched_(std::move(other.fetched_)) {}

DatagramSocket::~DatagramSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool DatagramSocket::send(std::span<const Datagram> datagrams) {
  pieces_.clear();
  for (const Datagram datagram : datagrams) {
    for (const Octets piece : datagram) {
      pieces_.push_back({const_cast<std::uint8_t*>(piece.data()), piece.size()});  // sendmmsg() only reads
    }
  }
  headers_.assign(datagrams.size(), mmsghdr{});
  iovec* next = pieces_.data();
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    headers_[i].msg_hdr.msg_iov = next;
    headers_[i].msg_hdr.msg_iovlen = datagrams[i].size();
    next += datagrams[i].size();
  }
  std::size_t done = 0;
  std::size_t reports_left = headers_.size() + 1;
  while (done < headers_.size()) {
    const int n = ::sendmmsg(descriptor_, headers_.data() + done, static_cast<unsigned>(headers_.size() - done),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      counters_->sent.add(static_cast<std::uint64_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    // The kernel tells of an earlier datagram, and this one has not been tried.
    if (errno == ECONNREFUSED) {
      counters_->unreachable.add(1);
      if (reports_left-- != 0) continue;
    }
    const bool full = errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM;
    (full ? counters_->no_room : counters_->send_errors).add(1);
    counters_->given_up.add(headers_.size() - done - 1);
    return false;
  }
  return true;
}

unsigned DatagramSocket::fetch(unsigned most) {
  for (unsigned i = 0; i < most; ++i) {
    Fetched& f = fetched_[i];
    f.piece = {f.octets.get(), kLongest};
    msghdr& header = fetched_headers_[i].msg_hdr;
    header = {};
    header.msg_iov = &f.piece;
    header.msg_iovlen = 1;
    header.msg_control = f.control.data();
    header.msg_controllen = f.control.size();
  }
  for (unsigned reports_left = kAtOnce;;) {
    const int n = ::recvmmsg(descriptor_, fetched_headers_.data(), most, MSG_DONTWAIT, nullptr);
    if (n >= 0) return static_cast<unsigned>(n);
    if (errno == EINTR) continue;
    if (errno == ECONNREFUSED) {  // of a datagram that was sent
      counters_->unreachable.add(1);
      if (reports_left-- != 0) continue;
    } else if (errno != EAGAIN) {
      counters_->receive_errors.add(1);
    }
    return 0;
  }
}

wire::Octets DatagramSocket::whole(unsigned i) {
  msghdr& header = fetched_headers_[i].msg_hdr;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL) continue;
    std::uint32_t since_start = 0;
    std::memcpy(&since_start, CMSG_DATA(c), sizeof since_start);
    counters_->kernel_dropped.set(since_start);
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    counters_->truncated.add(1);
    return {};
  }
  counters_->received.add(1);
  return {fetched_[i].octets.get(), fetched_headers_[i].msg_len};
}

}  // namespace splitplane::phy
