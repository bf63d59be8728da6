// For tests only: a network namespace of their own, and sockets in it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <thread>

namespace splitplane::ue::test {

// Runs `body` on a thread in a network namespace that ends with the thread. Returns false if the kernel does not allow
// that.
inline bool in_own_namespace(const std::function<void()>& body) {
  bool entered = false;
  std::thread([&] {
    entered = ::unshare(CLONE_NEWNET) == 0 && ::access("/dev/net/tun", R_OK | W_OK) == 0;
    if (entered) body();
  }).join();
  return entered;
}

inline constexpr const char* kNeedsRoot =
    "NOT TESTED: a TUN device needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN) and /dev/net/tun";

struct Socket {
  explicit Socket(int family) : fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{2, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Socket() { ::close(fd); }
  int fd;
};

inline sockaddr_in v4(const char* address, std::uint16_t port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &a.sin_addr);
  return a;
}

}  // namespace splitplane::ue::test
