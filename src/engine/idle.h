// How a worker spends the time between two rounds. It pauses on the core, sleeps for a time, or sleeps until a packet's
// interrupt. All that can end a sleep is in one epoll set. Only the worker's own thread uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/wakeup.h"
#include "power/policy.h"

namespace splitplane::datapath {

inline constexpr unsigned kUnknownEntries = 256;  // assumed if a driver does not tell: the least that virtio has

// What wakes a worker for packets of one of its queues.
struct WakeSource {
  enum class Kind : std::uint8_t {
    none,  // nothing: the worker has to poll it
    port,  // the interrupt of a port's receive queue, if the driver has one
    ring,  // its producer, which wakes the worker
  };
  Kind kind = Kind::none;
  std::uint16_t port = 0, queue = 0;
};

class Rester {
 public:
  enum class Armed : std::uint8_t { nothing, kicks, interrupts };

  // Construct it on the worker's thread. It also sets the thread's timer slack to 1 ns (prctl PR_SET_TIMERSLACK);
  // otherwise the kernel adds 50 us to each sleep.
  // `wakeups`: the thread's own, and those of guests whose rounds it makes.
  Rester(std::vector<Wakeup*> wakeups, const std::vector<WakeSource>& sources);
  ~Rester();
  Rester(const Rester&) = delete;
  Rester& operator=(const Rester&) = delete;

  // From now on wake-ups, and interrupts of all queues, end the next sleep. The caller looks at every queue once more
  // before it sleeps. A port that was stopped and started again is registered anew.
  void arm(Armed what);
  void disarm();
  [[nodiscard]] Armed armed() const { return armed_; }

  // Sleeps at most `ticks`, after arm(). Returns true if an event ended the sleep.
  bool sleep(power::Ticks ticks);
  // Stays on the core without touching memory, with as little power as the CPU allows.
  void pause(power::Ticks ticks) const;
  // Stays on the core at full power.
  static void spin(power::Ticks ticks);

  // True if every queue can wake the worker.
  [[nodiscard]] bool has_interrupts() const { return without_.empty(); }
  // Queues that cannot, each as "p0 queue 1", for the log.
  [[nodiscard]] const std::vector<std::string>& without() const { return without_; }
  // True if the CPU can wait for a time at less power than polling costs (tpause).
  [[nodiscard]] bool has_timed_pause() const { return tpause_; }
  // How much longer than requested a short sleep takes: the median of 50, measured by this call in about 3 ms.
  [[nodiscard]] power::Ticks measure_overshoot();

 private:
  [[nodiscard]] bool add(int fd, bool level = false) const;

  std::vector<Wakeup*> wakeups_;
  struct Announced {
    WakeSource source;
    bool level;  // triggered by its level and not by an edge
  };
  std::vector<Announced> ports_;  // ports with an interrupt
  std::vector<std::string> without_;
  int epoll_ = -1;
  Armed armed_ = Armed::nothing;
  bool tpause_;
  std::uint64_t tsc_hz_;
};

}  // namespace splitplane::datapath
