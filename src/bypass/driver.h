// A small interface to what drives the rings in a run: CPU threads of this process, or kernels on a GPU.
#pragma once

#include "bypass/bed.h"
#include "bypass/bench_wire.h"

namespace splitplane::bypass {

class Driver {
 public:
  virtual ~Driver() = default;
  // Gives the NIC its descriptors and begins to poll.
  virtual void start() = 0;
  // Ends the polling once everything is sent. The error is a sentence if it does not end.
  virtual Expected<void> stop() = 0;
  // True if a thread of the driver ended early; stop() then returns the reason.
  [[nodiscard]] virtual bool has_failed() { return false; }
  [[nodiscard]] virtual std::string failure() { return {}; }
  // CPU time so far of all threads of this process except the NIC's. Called on the NIC's thread.
  [[nodiscard]] double cpu_seconds() const;
  [[nodiscard]] virtual std::uint64_t dropped() = 0;
  [[nodiscard]] virtual std::uint64_t doorbells() = 0;
  [[nodiscard]] virtual std::uint64_t packets() = 0;  // in both directions
  // With a restored order: packets that came too late for their place, and numbers that were given up.
  struct Restored {
    std::uint64_t late = 0, given_up = 0;
  };
  [[nodiscard]] virtual Restored restored() { return {}; }
  // After a successful stop(): true if every slot is in its place.
  [[nodiscard]] virtual bool slots_are_sound() = 0;
};

inline constexpr std::uint64_t kStagedWithinNs = 20'000;  // a partial batch is copied after this time

}  // namespace splitplane::bypass
