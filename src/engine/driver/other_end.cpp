#include "engine/driver/other_end.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace splitplane::datapath {
namespace {

// The value of `key` among the arguments of a device, nothing if it is not there.
std::optional<std::string> argument(std::string_view device, std::string_view key) {
  while (!device.empty()) {
    const auto comma = device.find(',');
    const std::string_view part = device.substr(0, comma);
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
      return std::string(part.substr(key.size() + 1));
    device.remove_prefix(comma == std::string_view::npos ? device.size() : comma + 1);
  }
  return std::nullopt;
}

// True if no process accepts connections there. `abstract`: the path is a name outside the file system.
bool nobody_listens(const std::string& path, bool abstract) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t first = abstract ? 1 : 0;
  if (path.empty() || first + path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path + first, path.data(), path.size());
  // DPDK's memif binds an abstract name with the whole length of the field.
  const auto bytes = static_cast<socklen_t>(sizeof address);
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const int fd = ::socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const int error = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 ? 0 : errno;
    ::close(fd);
    if (error == EPROTOTYPE) continue;  // a socket of another type is there
    return error == ENOENT || error == ECONNREFUSED;
  }
  return false;
}

std::string sentence(const std::string& path, const char* other) {
  return fmt::format("its other end is not there: nobody listens at {}; start the program whose port has {} first",
                     path, other);
}

}  // namespace

std::optional<std::string> missing_other_end(std::string_view device) {
  if (device.starts_with("net_memif")) {
    const std::string role = argument(device, "role").value_or("client");
    const std::string path = argument(device, "socket").value_or("/run/memif.sock");
    const bool abstract = argument(device, "socket-abstract").value_or("yes") == "yes";
    if (role == "server" || role == "master" || !nobody_listens(path, abstract)) return std::nullopt;
    return sentence(path, "role=server with this socket");
  }
  const bool virtio = device.starts_with("net_virtio_user") || device.starts_with("virtio_user");
  if (virtio && argument(device, "server").value_or("0") == "0") {
    const auto path = argument(device, "path");
    struct stat info{};
    if (!path || (::stat(path->c_str(), &info) == 0 && !S_ISSOCK(info.st_mode))) return std::nullopt;  // /dev/vhost-net
    if (!nobody_listens(*path, false)) return std::nullopt;
    return sentence(*path, "eth_vhost with this socket");
  }
  return std::nullopt;
}

}  // namespace splitplane::datapath
