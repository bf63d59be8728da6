// Which octets of one sent SDU wait for retransmission, if in several runs: a list of intervals, ascending and apart.
// When memory for another one is used up, the one beside it grows over the gap: more is sent again than was asked for,
// nothing is forgotten.
#pragma once

#include "ran/rlc/memory.h"

namespace splitplane::ran::rlc {

class PendingIntervals {
 public:
  explicit PendingIntervals(Pool<Interval>& pool) : pool_(pool) {}

  // Adds [start, stop) to the list that begins at `first`. False: no memory even for the first one.
  bool add(std::uint32_t& first, std::uint16_t start, std::uint16_t stop) {
    std::uint32_t* link = &first;
    std::uint32_t behind = 0;
    while (*link != 0 && pool_.named(*link).stop < start) {
      behind = *link;
      link = &pool_.named(*link).next;
    }
    if (*link == 0 || pool_.named(*link).start > stop) {  // touches none
      if (Interval* const one = pool_.take(); one != nullptr) {
        *one = {start, stop, *link};
        *link = pool_.name_of(one);
        return true;
      }
      if (*link != 0) {
        pool_.named(*link).start = start;
        return true;
      }
      if (behind == 0) return false;
      pool_.named(behind).stop = stop;
      return true;
    }
    Interval& grown = pool_.named(*link);
    grown.start = std::min(grown.start, start);
    grown.stop = std::max(grown.stop, stop);
    while (grown.next != 0 && pool_.named(grown.next).start <= grown.stop) {
      Interval& next = pool_.named(grown.next);
      grown.stop = std::max(grown.stop, next.stop);
      grown.next = next.next;
      pool_.give(&next);
    }
    return true;
  }

  [[nodiscard]] const Interval& front(std::uint32_t first) const { return pool_.named(first); }
  template <class Visit>
  void for_each(std::uint32_t first, Visit&& visit) const {
    for (; first != 0; first = pool_.named(first).next) visit(pool_.named(first));
  }
  // Takes `octets` from the first interval's beginning.
  void take(std::uint32_t& first, std::uint16_t octets) {
    Interval& front = pool_.named(first);
    front.start = static_cast<std::uint16_t>(front.start + octets);
    if (front.start != front.stop) return;
    first = front.next;
    pool_.give(&front);
  }
  void clear(std::uint32_t& first) {
    while (first != 0) {
      Interval& front = pool_.named(first);
      first = front.next;
      pool_.give(&front);
    }
  }

 private:
  Pool<Interval>& pool_;
};

}  // namespace splitplane::ran::rlc
