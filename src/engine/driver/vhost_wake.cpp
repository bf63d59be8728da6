#include "engine/driver/vhost_wake.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace splitplane::datapath {
namespace {

constexpr int kSignal = SIGURG;  // ignored by a process that does not handle it
// The signal has no effect if it comes just before the thread waits, so it is sent several times.
constexpr int kTimes = 3;
constexpr std::chrono::milliseconds kPause{2};

// Its name is "vhost-events" in DPDK 22.11, "dpdk-vhost-evt" in 23.11.
std::optional<pid_t> vhost_thread() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(entry.path() / "comm");
    std::string name;
    if (!std::getline(file, name) || name.find("vhost-ev") == std::string::npos) continue;
    const std::string id = entry.path().filename();
    pid_t thread = 0;
    if (std::from_chars(id.data(), id.data() + id.size(), thread).ec == std::errc{}) return thread;
  }
  return std::nullopt;
}

void handle_signal() {
  struct sigaction now{};
  ::sigaction(kSignal, nullptr, &now);
  if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = [](int) {};  // a handler must exist so that the signal ends poll()
  action.sa_flags = SA_RESTART;    // no other call is interrupted
  ::sigaction(kSignal, &action, nullptr);
}

}  // namespace

void wake_vhost_thread() {
  const auto thread = vhost_thread();
  if (!thread) return;
  handle_signal();
  for (int i = 0; i < kTimes; ++i) {
    std::this_thread::sleep_for(kPause);
    ::syscall(SYS_tgkill, ::getpid(), *thread, kSignal);
  }
}

}  // namespace splitplane::datapath
