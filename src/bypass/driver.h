// What drives the rings in a run, behind one small interface: CPU threads of this process, or kernels on a GPU.
#pragma once

#include "bypass/bed.h"
#include "bypass/bench_wire.h"

namespace splitplane::bypass {

class Driver {
 public:
  virtual ~Driver() = default;
  // Gives the NIC its descriptors and begins to poll.
  virtual void start() = 0;
  // Ends the polling once everything is sent; a sentence if it does not end.
  virtual Expected<void> stop() = 0;
  // A thread of its own ended early; why, after stop().
  [[nodiscard]] virtual bool has_failed() { return false; }
  [[nodiscard]] virtual std::string failure() { return {}; }
  // What all threads of this process but the NIC's used so far. Called on the NIC's thread.
  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] virtual std::uint64_t dropped() = 0;
  [[nodiscard]] virtual std::uint64_t doorbells() = 0;
  [[nodiscard]] virtual std::uint64_t packets() = 0;  // in both directions
  // Where the order is restored: what came too late for its place, and numbers that were not waited for any longer.
  struct Restored {
    std::uint64_t late = 0, given_up = 0;
  };
  [[nodiscard]] virtual Restored restored() { return {}; }
  // After a stop() that went well: every slot is where it belongs.
  [[nodiscard]] virtual bool slots_are_sound() = 0;
};

inline constexpr std::uint64_t kStagedWithinNs = 20'000;  // a batch to be copied that is not full goes after this time

// One run with this driver, from opening the NIC to its figures.
[[nodiscard]] Expected<Result> run_with(const Scenario& scenario, BenchWire& wire, Bed& bed, Driver& driver,
                                        const Observer& observer);

}  // namespace splitplane::bypass
