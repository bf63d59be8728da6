// Which octets of one sent SDU wait for retransmission, if they form several runs: a list of intervals in ascending
// order, with gaps between. An SDU has at most kMostRuns runs, so that adding one stays cheap, whatever a peer reports.
// Beyond that, or without memory for another run, the nearest run grows over the gap. Then more is sent again than
// necessary, but nothing is forgotten.
#pragma once

#include "ran/rlc/memory.h"

namespace splitplane::ran::rlc {

// Octets of the PDUs that would carry what waits, with a header for each run (TS 38.322 5.5).
class PendingVolume {
 public:
  explicit PendingVolume(unsigned sn_bits) : sn_bits_(sn_bits) {}
  void add(const Interval& run) { octets_ += of(run); }
  void take(const Interval& run) { octets_ -= of(run); }
  void clear() { octets_ = 0; }
  [[nodiscard]] std::uint64_t octets() const { return octets_; }

 private:
  [[nodiscard]] std::uint64_t of(const Interval& run) const {
    const auto si = run.start == 0 ? wire::rlc::Segment::kFirst : wire::rlc::Segment::kMiddle;
    return wire::rlc::am_header_bytes(sn_bits_, si) + run.stop - run.start;
  }
  unsigned sn_bits_;
  std::uint64_t octets_ = 0;
};

// The runs of one SDU.
struct PendingRuns {
  std::uint32_t first = 0;
  std::uint8_t count = 0;
};

class PendingIntervals {
 public:
  static constexpr unsigned kMostRuns = 255;

  PendingIntervals(Pool<Interval>& pool, PendingVolume& volume) : pool_(pool), volume_(volume) {}

  // Adds [start, stop). On entry `near` is an interval of this list to start the search from, or 0. On return it is the
  // interval that has the octets, so that runs in ascending order cost the same each. Returns false if there is no
  // memory even for a first interval.
  bool add(PendingRuns& runs, std::uint16_t start, std::uint16_t stop, std::uint32_t& near) {
    std::uint32_t behind = 0;
    std::uint32_t at = near != 0 && pool_.named(near).start <= start ? near : runs.first;
    while (at != 0 && pool_.named(at).stop < start) {
      behind = at;
      at = pool_.named(at).next;
    }
    if (at != 0 && pool_.named(at).start <= stop) {
      near = at;
      grow(runs, pool_.named(at), start, stop);
      return true;
    }
    Interval* const one = runs.count < kMostRuns ? pool_.take() : nullptr;
    if (one != nullptr) {
      *one = {start, stop, at};
      volume_.add(*one);
      near = (behind == 0 ? runs.first : pool_.named(behind).next) = pool_.name_of(one);
      ++runs.count;
      return true;
    }
    near = at != 0 ? at : behind;
    if (near == 0) return false;
    Interval& beside = pool_.named(near);
    grow(runs, beside, std::min(start, beside.start), std::max(stop, beside.stop));
    return true;
  }

  [[nodiscard]] static const Interval& front(const Pool<Interval>& pool, const PendingRuns& runs) {
    return pool.named(runs.first);
  }
  // Removes `octets` octets from the beginning of the first interval.
  void take(PendingRuns& runs, std::uint16_t octets) {
    Interval& front = pool_.named(runs.first);
    volume_.take(front);
    front.start = static_cast<std::uint16_t>(front.start + octets);
    if (front.start != front.stop) return volume_.add(front);
    forget(runs, runs.first);
  }
  void clear(PendingRuns& runs) {
    while (runs.first != 0) {
      volume_.take(pool_.named(runs.first));
      forget(runs, runs.first);
    }
  }

 private:
  // Grows `one`, which [start, stop) touches. It may then touch the intervals after it.
  void grow(PendingRuns& runs, Interval& one, std::uint16_t start, std::uint16_t stop) {
    volume_.take(one);
    one.start = std::min(one.start, start);
    one.stop = std::max(one.stop, stop);
    while (one.next != 0 && pool_.named(one.next).start <= one.stop) {
      const Interval& next = pool_.named(one.next);
      one.stop = std::max(one.stop, next.stop);
      volume_.take(next);
      forget(runs, one.next);
    }
    volume_.add(one);
  }
  void forget(PendingRuns& runs, std::uint32_t& link) {
    Interval& one = pool_.named(link);
    link = one.next;
    pool_.give(&one);
    --runs.count;
  }

  Pool<Interval>& pool_;
  PendingVolume& volume_;
};

}  // namespace splitplane::ran::rlc
