// When slots begin. A SlotClock is pure: the caller passes the time. Slot n begins at start + n * duration, counted
// from the start and not from the slot before. So a late wake-up delays no later slot, and nothing drifts.
#pragma once

#include <cstdint>
#include <optional>

#include "phy/slots/slot.h"

namespace splitplane::phy {

using Ns = std::uint64_t;  // nanoseconds of a clock that the owner chooses; it never goes back

struct Tick {
  Slot slot;
  std::uint64_t number = 0;  // slots since the start; it does not wrap
  Ns begin = 0;              // when the slot begins
  Ns late = 0;               // how long after that the owner looked
  std::uint64_t missed = 0;  // slots before this one that began and ended without a look
};

class SlotClock {
 public:
  // `first` begins at `start`.
  SlotClock(Slot first, Ns start) : first_(first), duration_(first.numerology.slot_ns()), start_(start) {}

  [[nodiscard]] Ns begin_of(std::uint64_t number) const { return start_ + number * duration_; }
  // When the next slot begins that poll() has not returned.
  [[nodiscard]] Ns next_begin() const { return begin_of(next_); }
  [[nodiscard]] Ns duration() const { return duration_; }

  // Returns the slot that runs at `now`, once. Slots that are over are skipped and counted as missed.
  [[nodiscard]] std::optional<Tick> poll(Ns now) {
    if (now < next_begin()) return std::nullopt;
    const std::uint64_t running = (now - start_) / duration_;
    const Tick tick{.slot = slot_at(first_.numerology, first_.index() + running),
                    .number = running,
                    .begin = begin_of(running),
                    .late = now - begin_of(running),
                    .missed = running - next_};
    next_ = running + 1;
    missed_ += tick.missed;
    ++seen_;
    return tick;
  }

  [[nodiscard]] std::uint64_t seen() const { return seen_; }      // slots that poll() returned
  [[nodiscard]] std::uint64_t missed() const { return missed_; }  // slots that it skipped

 private:
  Slot first_;
  Ns duration_, start_;
  std::uint64_t next_ = 0, seen_ = 0, missed_ = 0;
};

}  // namespace splitplane::phy
