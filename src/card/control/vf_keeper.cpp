#include "card/control/vf_keeper.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/log.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kRetry{50};  // a host that is not there
constexpr std::chrono::seconds kAfterError{1};   // a host that is there and cannot be connected to
constexpr std::chrono::seconds kSayAgain{10};

}  // namespace

VfKeeper::VfKeeper(std::vector<Vf> vfs, Ways ways) : ways_(std::move(ways)) {
  for (Vf& vf : vfs) kept_.emplace_back().vf = std::move(vf);
}

void VfKeeper::turn(Clock::time_point now) {
  for (Kept& kept : kept_) {
    if (kept.connected && !ways_.is_up(kept.vf.port)) {
      log::write(spdlog::level::warn, {{"port", kept.vf.port}},
                 fmt::format("port {}: its host is gone; it is connected again when the host is back", kept.vf.port));
      set_connected(kept, false);
      ways_.disconnect(kept.vf.port);
      kept.next_try = now;
      kept.said_waiting = true;
    }
    if (!kept.connected && now >= kept.next_try) try_to_connect(kept, now);
  }
}

void VfKeeper::try_to_connect(Kept& kept, Clock::time_point now) {
  const std::string& port = kept.vf.port;
  if (!ways_.host_answers(kept.vf.socket)) {
    kept.next_try = now + kRetry;
    if (!std::exchange(kept.said_waiting, true)) {
      log::write(spdlog::level::warn, {{"port", port}},
                 fmt::format("port {}: no host answers at {}; the port is connected when the host is there "
                             "(`splitplane run`)",
                             port, kept.vf.socket));
    }
    return;
  }
  if (const auto done = ways_.connect(port); !done) {
    kept.next_try = now + kAfterError;
    if (kept.said_error == done.error().message && now < kept.quiet_until) return;
    kept.said_error = done.error().message;
    kept.quiet_until = now + kSayAgain;
    log::write(spdlog::level::warn, {{"port", port}},
               fmt::format("{}; it is tried again every second", done.error().message));
    return;
  }
  set_connected(kept, true);
  kept.said_error.clear();
  log::write(spdlog::level::info, {{"port", port}}, fmt::format("port {}: connected to its host", port));
}

void VfKeeper::set_connected(Kept& kept, bool connected) {
  const std::lock_guard guard(mutex_);
  kept.connected = connected;
}

std::vector<std::string> VfKeeper::waiting() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> names;
  for (const Kept& kept : kept_) {
    if (!kept.connected) names.push_back(kept.vf.port);
  }
  return names;
}

bool vhost_answers(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket.data(), socket.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const timeval patience{.tv_sec = 0, .tv_usec = 500'000};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);  // of connect(), too
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // The first message of every vhost-user session: VHOST_USER_GET_FEATURES, version 1, no payload.
  constexpr std::array<std::uint32_t, 3> kGetFeatures{1, 1, 0};
  std::array<std::uint32_t, 5> answer{};
  const bool answers = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       ::send(fd, kGetFeatures.data(), sizeof kGetFeatures, MSG_NOSIGNAL) == sizeof kGetFeatures &&
                       ::recv(fd, answer.data(), sizeof answer, MSG_WAITALL) == sizeof answer &&
                       answer[0] == kGetFeatures[0];
  ::close(fd);
  return answers;
}

}  // namespace splitplane::app
