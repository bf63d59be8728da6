#include "runtime/stop_flag.h"

#include <signal.h>

#include <algorithm>
#include <thread>

namespace splitplane::app {
namespace {

void set_flag(int /*signal*/) {
  StopFlag::instance().request();
}

}  // namespace

StopFlag& StopFlag::instance() {
  static StopFlag flag;
  return flag;
}

void StopFlag::catch_signals() {
  (void)instance();  // made before a handler can use it
  struct sigaction action{};
  action.sa_handler = set_flag;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // nohup
  // virtio_user and vhost write to the socket of a peer that may have closed it; the driver sees the error.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

void StopFlag::leave_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action{};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler == set_flag) ::signal(signal, SIG_DFL);
  }
}

bool StopFlag::wait_for(std::chrono::duration<double> duration) const {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (!requested()) {
    const std::chrono::duration<double> left = duration - (Clock::now() - begin);
    if (left.count() <= 0) return false;
    std::this_thread::sleep_for(std::min(left, std::chrono::duration<double>(0.02)));
  }
  return true;
}

}  // namespace splitplane::app
