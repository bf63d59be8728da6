// In-order delivery of downlink G-PDUs by their GTP-U sequence numbers (TS 29.281 5.1), for bearers that require it. A
// hole delays packets until the window or the timer ends; then it is given up. This is part of the slow path; a worker
// owns it.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/burst.h"
#include "ran/bearer_config.h"

namespace splitplane::datapath {

// Times are TSC values, which the caller passes.
class N3Reorder {
 public:
  // open() and close() are control commands between two rounds of the worker. They allocate; the functions below do
  // not.
  void open(BearerId id, const ran::N3ReorderConfig& config, std::uint64_t tsc_hz);
  // Sets how many packets may wait. Beyond that, the oldest hole is given up.
  void limit(std::size_t most) { most_ = most; }
  // The packets that the bearer holds become ready. Its later packets pass at once.
  void close(BearerId id);

  enum class Verdict : std::uint8_t {
    kPass,   // in order, and no earlier packet is held: the caller keeps it and sends it on
    kTaken,  // held for earlier packets, or ready behind others
    kOld,    // a duplicate, later than its place was given up, or far off until a second one confirms it: the caller's
  };
  [[nodiscard]] Verdict take(rte_mbuf* m, BearerId id, std::uint16_t sequence_number, std::uint64_t now);
  // Gives up the holes whose time is over, oldest first, until a burst is ready. So a round stays short.
  void expire(std::uint64_t now);
  void release_all();
  // The next packets in order, up to a burst.
  unsigned take_ready(Burst& burst);

  [[nodiscard]] bool any() const { return !flows_.empty(); }  // true if a bearer requires the order
  // When expire() or take_ready() next has something to do: 0 at once, or a deadline.
  [[nodiscard]] std::uint64_t next_work() const {
    if (ready_first_ != ready_.size()) return 0;
    return timers_.empty() ? UINT64_MAX : timers_.begin()->first;
  }
  // Number of packets that are held, with the ready ones; the overload counts those of one bearer.
  [[nodiscard]] std::size_t held() const { return waiting_ + ready_.size() - ready_first_; }
  [[nodiscard]] std::size_t held(BearerId id) const;
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }  // sequence numbers that were given up

 private:
  struct Flow;
  using Timers = std::multimap<std::uint64_t, Flow*>;  // by deadline; nodes are kept, so nothing is allocated
  struct Flow {
    std::vector<rte_mbuf*> slots;  // by sequence number modulo their count, a power of two
    std::uint16_t window = 0;
    std::uint64_t patience = 0;  // TSC cycles
    bool begun = false;
    std::uint16_t next = 0;     // the number to deliver next
    std::uint16_t end = 0;      // one more than the highest number held
    std::uint16_t give_up = 0;  // `end` when the timer was started; holes below it end with it (as RX_REORD)
    std::uint16_t held = 0;
    // After a number far off: the number that would follow it. If that comes next, the sender began anew (RFC 3550
    // A.1).
    std::optional<std::uint16_t> anew;
    Timers::iterator timer;           // while something is held
    Timers::node_type stopped_timer;  // while nothing is

    rte_mbuf*& slot(std::uint16_t sn) { return slots[sn & (slots.size() - 1)]; }
  };
  Verdict deliver(rte_mbuf* m);                // delivers a packet that is in order
  void skip_to(Flow& flow, std::uint16_t sn);  // delivers the held packets below `sn`
  void run(Flow& flow);                        // delivers the packets that follow without a hole
  void set_timer(Flow& flow, std::uint64_t now);
  void stop_timer(Flow& flow);
  void settle(Flow& flow, std::uint64_t now);  // the timer runs while something is held
  void give_up_oldest(std::uint64_t now);
  void make_ready(Flow& flow, rte_mbuf*& slot);

  std::unordered_map<std::uint32_t, std::unique_ptr<Flow>> flows_;
  std::vector<rte_mbuf*> ready_;  // begins at ready_first_; has room for all that can be held, and a burst
  std::size_t ready_first_ = 0, waiting_ = 0, room_ = kBurst, most_ = SIZE_MAX;
  Timers timers_;
  std::uint64_t given_up_ = 0;
};

}  // namespace splitplane::datapath
