// One direction of the air. It takes frames, loses, doubles and delays them as an Impairment says, and returns them in
// the order in which they are due. A frame is what the owner says: an mbuf (phy/air_link.h) or a transport block. It
// holds a bounded number of them and allocates nothing after the start. It belongs to one thread.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "phy/channel/impairment.h"

namespace splitplane::phy {

// Member and meaning. received + duplicated = passed + lost + air_full + held.
// clang-format off
#define SPLITPLANE_AIR_COUNTERS(X)                                     \
  X(received, "frames that came")                                      \
  X(duplicated, "copies made; each counts as a frame of its own")      \
  X(passed, "given on, copies included")                               \
  X(lost, "lost by the impairment")                                    \
  X(burst_lost, "of these, directly behind another loss")              \
  X(air_full, "lost because as many as fit were held")                 \
  X(held, "held now")                                                  \
  X(delayed, "taken with a delay")                                     \
  X(overtook, "taken to be given on before one that came earlier")     \
  X(no_buffer, "copies that were not made for lack of a buffer")       \
  X(tx_full, "of the passed ones, refused by the port behind the air")
// clang-format on
#define SPLITPLANE_AIR_MEMBER(field, text) std::uint64_t field = 0;

struct AirCounters {
  SPLITPLANE_AIR_COUNTERS(SPLITPLANE_AIR_MEMBER)
  [[nodiscard]] bool balanced() const { return received + duplicated == passed + lost + air_full + held; }
};

template <std::movable Frame>
class Air {
 public:
  struct Settings {
    std::uint64_t seed = 1;
    std::size_t capacity = 4096;    // the most frames that are held
    std::uint64_t ticks_per_s = 0;  // of the clock that `now` is read from
    Impairments impairments;
  };

  explicit Air(const Settings& settings)
      : impairment_(settings.seed, static_cast<double>(settings.ticks_per_s) / 1e6, settings.impairments),
        capacity_(settings.capacity) {
    heap_.reserve(capacity_);
  }

  // Takes a frame. It calls drop(Frame) if the air loses the frame, and copy(frame) for a duplicate, which returns a
  // frame that is false if there is none.
  template <class Copy, class Drop>
  void take(Frame frame, Ticks now, Copy&& copy, Drop&& drop) {
    ++counters_.received;
    const Fate fate = impairment_.next(now);
    if (fate.lost) {
      ++counters_.lost;
      counters_.burst_lost += fate.in_burst ? 1 : 0;
      drop(std::move(frame));
      return;
    }
    if (!fate.doubled) [[likely]]
      return hold(std::move(frame), now, fate.due, drop);
    Frame second = copy(std::as_const(frame));  // while this thread still owns the frame
    hold(std::move(frame), now, fate.due, drop);
    if (!second) {
      ++counters_.no_buffer;
      return;
    }
    ++counters_.duplicated;
    hold(std::move(second), now, fate.copy_due, drop);
  }

  // Calls given(Frame) for at most `room` frames that are due. Returns their number.
  template <class Given>
  unsigned give(unsigned room, Ticks now, Given&& given) {
    unsigned n = 0;
    for (; n < room && !heap_.empty() && heap_.front().due <= now; ++n) {
      std::pop_heap(heap_.begin(), heap_.end());
      Frame frame = std::move(heap_.back().frame);
      heap_.pop_back();
      given(std::move(frame));
    }
    counters_.passed += n;
    return n;
  }

  // When the next frame is due; the end of time if none is held.
  [[nodiscard]] Ticks next_due() const { return heap_.empty() ? ~Ticks{0} : heap_.front().due; }
  // What is behind the air refused `n` of the frames that give() returned.
  void count_refused(unsigned n) { counters_.tx_full += n; }

  void set(const Impairments& wanted) { impairment_.set(wanted); }
  [[nodiscard]] const Impairments& impairments() const { return impairment_.settings(); }
  [[nodiscard]] AirCounters counters() const {
    AirCounters now = counters_;
    now.held = heap_.size();
    return now;
  }

 private:
  struct Held {
    Ticks due;
    std::uint64_t number;  // in order of arrival, which decides if two are due at once
    Frame frame;
    // For the heap, which has the greatest element in front.
    bool operator<(const Held& other) const { return due != other.due ? due > other.due : number > other.number; }
  };

  template <class Drop>
  void hold(Frame frame, Ticks now, Ticks due, Drop&& drop) {
    if (heap_.size() == capacity_) [[unlikely]] {
      ++counters_.air_full;
      drop(std::move(frame));
      return;
    }
    counters_.delayed += due > now ? 1 : 0;
    counters_.overtook += due < latest_due_ ? 1 : 0;
    latest_due_ = std::max(latest_due_, due);
    heap_.push_back({due, arrivals_++, std::move(frame)});
    std::push_heap(heap_.begin(), heap_.end());
  }

  Impairment impairment_;
  std::size_t capacity_;
  std::vector<Held> heap_;
  std::uint64_t arrivals_ = 0;
  Ticks latest_due_ = 0;  // of all frames that were taken
  AirCounters counters_;
};

}  // namespace splitplane::phy
