// How a worker spends the time between two rounds: pauses on the core, sleeps for a time, sleeps until a packet's
// interrupt. Everything that can end a sleep is in one epoll set. Used by the worker's own thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/wakeup.h"
#include "power/policy.h"

namespace splitplane::datapath {

inline constexpr unsigned kUnknownEntries = 256;  // of a queue whose driver does not tell: what virtio has at least

// What announces packets of one of a worker's queues.
struct WakeSource {
  enum class Kind : std::uint8_t {
    none,  // nothing: it has to be polled
    port,  // the interrupt of a port's receive queue, if the driver has one
    ring,  // its producer, which wakes the worker
  };
  Kind kind = Kind::none;
  std::uint16_t port = 0, queue = 0;
};

class Rester {
 public:
  enum class Armed : std::uint8_t { nothing, kicks, interrupts };

  // Call on the worker's thread: also sets its timer slack to 1 ns (prctl PR_SET_TIMERSLACK), without which the kernel
  // adds 50 us to each sleep.
  Rester(Wakeup& wakeup, const std::vector<WakeSource>& sources);
  ~Rester();
  Rester(const Rester&) = delete;
  Rester& operator=(const Rester&) = delete;

  // From here on kicks, and interrupts of all queues, end the next sleep: the caller looks at every queue once more
  // before it sleeps. A port that was stopped and started again is registered anew.
  void arm(Armed what);
  void disarm();
  [[nodiscard]] Armed armed() const { return armed_; }

  // Sleeps `ticks` at most; true: something ended it. To be armed before.
  bool sleep(power::Ticks ticks);
  // Stays on the core without touching anything, with as little power as the CPU lets it.
  void pause(power::Ticks ticks) const;
  // The same, at full power.
  static void spin(power::Ticks ticks);

  // Every queue announces its packets.
  [[nodiscard]] bool has_interrupts() const { return without_.empty(); }
  // Queues that do not, "p0 queue 1" each: for the log.
  [[nodiscard]] const std::vector<std::string>& without() const { return without_; }
  // The CPU waits for a time at less power than polling costs (tpause).
  [[nodiscard]] bool has_timed_pause() const { return tpause_; }
  // How much longer than asked a short sleep takes: the median of 50, measured now, in about 3 ms.
  [[nodiscard]] power::Ticks measure_overshoot();

 private:
  [[nodiscard]] bool add(int fd, bool level = false) const;

  Wakeup& wakeup_;
  struct Announced {
    WakeSource source;
    bool level;  // by its level, not by an edge
  };
  std::vector<Announced> ports_;  // those with an interrupt
  std::vector<std::string> without_;
  int epoll_ = -1;
  Armed armed_ = Armed::nothing;
  bool tpause_;
  std::uint64_t tsc_hz_;
};

}  // namespace splitplane::datapath
