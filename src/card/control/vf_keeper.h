// Keeps a card's VFs connected to its host: connects each when the host is there, gives it up when the host is gone,
// and connects it again when the host is back. So either side may be restarted, in any order.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/expected.h"

namespace splitplane::app {

class VfKeeper {
 public:
  using Clock = std::chrono::steady_clock;

  struct Vf {
    std::string port;    // its name in the configuration
    std::string socket;  // of the host's vhost device
  };
  // What is done with a VF; turn() calls them.
  struct Ways {
    std::function<bool(const std::string& socket)> host_answers;
    std::function<Expected<void>(const std::string& port)> connect;
    std::function<bool(const std::string& port)> is_up;  // of one that is connected
    std::function<void(const std::string& port)> disconnect;
  };

  VfKeeper(std::vector<Vf> vfs, Ways ways);

  // One look at every VF. All calls come from one thread, and one after the other.
  void turn(Clock::time_point now);
  // The ports that have no host now; for any thread.
  [[nodiscard]] std::vector<std::string> waiting() const;

 private:
  struct Kept {
    Vf vf;
    bool connected = false;
    bool said_waiting = false;
    std::string said_error;  // the last one, and until when it is not said again
    Clock::time_point next_try{}, quiet_until{};
  };
  void try_to_connect(Kept& kept, Clock::time_point now);
  void set_connected(Kept& kept, bool connected);

  Ways ways_;
  mutable std::mutex mutex_;  // of Kept::connected
  std::vector<Kept> kept_;
};

// Whether a vhost device listens at `socket` and its process answers: a process that hangs would keep a virtio_user
// device waiting without an end. Takes half a second for each step at most.
[[nodiscard]] bool vhost_answers(const std::string& socket);

}  // namespace splitplane::app
