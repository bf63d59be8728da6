// One direction of the air between two radios, for frames in mbufs: it owns those that it holds, and frees what the air
// loses. phy/channel/air.h says what becomes of a frame.
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>

#include "phy/channel/air.h"

namespace splitplane::phy {

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
  [[nodiscard]] Ticks next_due() const { return air_.next_due(); }
  // At the end: returns held frames, due or not.
  [[nodiscard]] unsigned give_all(rte_mbuf** frames, unsigned room) { return give(frames, room, ~Ticks{0}); }
  // The port refused `n` of the frames that give() returned.
  void count_refused(unsigned n) { air_.count_refused(n); }

  void set(const Impairments& wanted) { air_.set(wanted); }
  [[nodiscard]] const Impairments& impairments() const { return air_.impairments(); }
  [[nodiscard]] AirCounters counters() const { return air_.counters(); }

 private:
  Air<rte_mbuf*> air_;
  rte_mempool* copies_;
};

}  // namespace splitplane::phy
