// Unix sockets of the control channel: listening (owner only, a dead instance's socket replaced) and connecting.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/expected.h"

namespace splitplane::app {

// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Why a server cannot listen at `path` ("what; allowed: what"), nothing if it can. Changes nothing. `type`: of the
// socket, as only an equal one finds out whether somebody listens there.
[[nodiscard]] std::optional<std::string> refuse_socket_path(const std::string& path, int type = SOCK_STREAM);
// A non-blocking listening socket of mode 0600.
[[nodiscard]] Expected<Fd> listen_at(const std::string& path);
// A blocking connection; it, a read and a write wait no longer than `timeout`, 0 for ever. Error: says if nothing runs
// there.
[[nodiscard]] Expected<Fd> connect_to(const std::string& path, std::chrono::milliseconds timeout = {});
void limit(const Fd& fd, std::chrono::milliseconds timeout);  // of a connection's reads and writes from here on

}  // namespace splitplane::app
