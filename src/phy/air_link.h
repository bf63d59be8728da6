// One direction of the air between two radios. It takes frames and loses, doubles and delays them as an Impairment
// says. It returns frames in the order in which they are due. It holds a bounded number of them and allocates nothing
// after the start. It belongs to one thread.
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/impairment.h"

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

class AirLink {
 public:
  struct Settings {
    std::uint64_t seed = 1;
    std::size_t capacity = 4096;    // the most frames that are held
    rte_mempool* copies = nullptr;  // the pool for duplicates
    std::uint64_t ticks_per_s = 0;  // of the clock that `now` is read from
    Impairments impairments;
  };

  explicit AirLink(const Settings& settings);
  ~AirLink();
  AirLink(const AirLink&) = delete;
  AirLink& operator=(const AirLink&) = delete;

  // Takes all frames and frees those that are lost.
  void take(rte_mbuf* const* frames, unsigned n, Ticks now);
  // Returns at most `room` frames that are due.
  [[nodiscard]] unsigned give(rte_mbuf** frames, unsigned room, Ticks now);
  // When the next frame is due; the end of time if none is held.
  [[nodiscard]] Ticks next_due() const { return heap_.empty() ? ~Ticks{0} : heap_.front().due; }
  // At the end: returns held frames, due or not.
  [[nodiscard]] unsigned give_all(rte_mbuf** frames, unsigned room) { return give(frames, room, ~Ticks{0}); }
  // The port refused `n` of the frames that give() returned.
  void count_refused(unsigned n) { counters_.tx_full += n; }

  void set(const Impairments& wanted) { impairment_.set(wanted); }
  [[nodiscard]] const Impairments& impairments() const { return impairment_.settings(); }
  [[nodiscard]] AirCounters counters() const;

 private:
  struct Held {
    Ticks due;
    std::uint64_t number;  // in order of arrival, which decides if two are due at once
    rte_mbuf* frame;
    // For the heap, which has the greatest element in front.
    bool operator<(const Held& other) const { return due != other.due ? due > other.due : number > other.number; }
  };
  void hold(rte_mbuf* frame, Ticks now, Ticks due);

  Impairment impairment_;
  std::size_t capacity_;
  rte_mempool* copies_;
  std::vector<Held> heap_;
  std::uint64_t arrivals_ = 0;
  Ticks latest_due_ = 0;  // of all frames that were taken
  AirCounters counters_;
};

}  // namespace splitplane::phy
