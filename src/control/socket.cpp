#include "control/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/paths.h"
#include "base/text.h"

namespace splitplane::app {
namespace {

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// 0, or the errno of connecting.
int try_connect(int fd, const sockaddr_un& address) {
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<std::string> refuse_socket_path(const std::string& path, int type) {
  const auto address = address_of(path);
  if (!address) return fmt::format("'{}' is no socket path; allowed: 1 to 107 octets", printable(path));
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fmt::format("{}: {}; allowed: a path we may use", printable(path, 120), std::strerror(errno));
  }
  if (!S_ISSOCK(info.st_mode))
    return fmt::format("{} is there and no socket; allowed: a free path", printable(path, 120));
  const Fd fd(::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int error = try_connect(fd.get(), *address);
  if (error == ECONNREFUSED || error == ENOENT) return std::nullopt;  // its instance is dead
  if (error == 0 || error == EAGAIN) {
    return fmt::format("{} belongs to a running instance; allowed: stop that one, or another path",
                       printable(path, 120));
  }
  return fmt::format("{}: {}; allowed: a path we may use", printable(path, 120), std::strerror(error));
}

Expected<Fd> listen_at(const std::string& path) {
  if (const auto refused = refuse_socket_path(path)) return fail("control socket {}", *refused);
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory == runtime_directory()) {
    if (auto made = make_private_directory(directory); !made) return tl::unexpected(made.error());
  }
  ::unlink(path.c_str());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto address = address_of(path);
  // The mode of the socket before it is bound becomes the mode of the file: no moment at which others could connect.
  if (fd.get() < 0 || ::fchmod(fd.get(), 0600) != 0 ||
      ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::listen(fd.get(), 256) != 0) {
    return fail("control socket {} cannot be made: {}", printable(path, 120), std::strerror(errno));
  }
  return fd;
}

void limit(const Fd& fd, std::chrono::milliseconds timeout) {
  timeval time{};
  time.tv_sec = timeout.count() / 1000;
  time.tv_usec = timeout.count() % 1000 * 1000;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

Expected<Fd> connect_to(const std::string& path, std::chrono::milliseconds timeout) {
  const auto address = address_of(path);
  if (!address) return fail("'{}' is no socket path; allowed: 1 to 107 octets", printable(path));
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // For the connection, too: it waits as soon as the backlog of a server that does not accept is full.
  limit(fd, timeout);
  const int error = fd.get() < 0 ? errno : try_connect(fd.get(), *address);
  if (error == EAGAIN) return fail("what listens at control socket {} takes no connections", printable(path, 120));
  if (error == ENOENT || error == ECONNREFUSED) return fail("nothing runs at control socket {}", printable(path, 120));
  if (error != 0) return fail("control socket {}: {}", printable(path, 120), std::strerror(error));
  return fd;
}

}  // namespace splitplane::app
