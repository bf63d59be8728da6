// In-order delivery of downlink G-PDUs by their GTP-U sequence numbers (TS 29.281 5.1), for the bearers that ask for
// it: a hole is waited for until the window or the timer ends, then given up. Off the usual packet path; owned by a
// worker.
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

// Time is the TSC, given by the caller.
class N3Reorder {
 public:
  // Control commands, between two rounds of the worker: they allocate, what follows does not.
  void open(BearerId id, const ran::N3ReorderConfig& config, std::uint64_t tsc_hz);
  // No more than so many packets wait; beyond them the oldest hole is given up.
  void limit(std::size_t most) { most_ = most; }
  // What the bearer holds becomes ready; later packets of it pass as they come.
  void close(BearerId id);

  enum class Verdict : std::uint8_t {
    kPass,   // in order, and nothing before it is here: it stays the caller's and goes on
    kTaken,  // held for those before it, or ready behind others
    kOld,    // a duplicate, comes after its place was given up, or far off until a second one does; the caller's
  };
  [[nodiscard]] Verdict take(rte_mbuf* m, BearerId id, std::uint16_t sequence_number, std::uint64_t now);
  // Gives up the holes whose time is over, the oldest first, until a burst is ready: a round stays short.
  void expire(std::uint64_t now);
  void release_all();
  // The next packets in order, up to a burst.
  unsigned take_ready(Burst& burst);

  [[nodiscard]] bool any() const { return !flows_.empty(); }  // bearers that are put in order
  // When expire() or take_ready() next has something to do: 0 at once, or a deadline.
  [[nodiscard]] std::uint64_t next_work() const {
    if (ready_first_ != ready_.size()) return 0;
    return timers_.empty() ? UINT64_MAX : timers_.begin()->first;
  }
  // All packets that are here, ready ones too; those of one bearer.
  [[nodiscard]] std::size_t held() const { return waiting_ + ready_.size() - ready_first_; }
  [[nodiscard]] std::size_t held(BearerId id) const;
  [[nodiscard]] std::uint64_t given_up() const { return given_up_; }  // sequence numbers nobody waits for any more

 private:
  struct Flow;
  using Timers = std::multimap<std::uint64_t, Flow*>;  // by deadline; nodes are kept, so nothing is allocated
  struct Flow {
    std::vector<rte_mbuf*> slots;  // by sequence number modulo their count, a power of two
    std::uint16_t window = 0;
    std::uint64_t patience = 0;  // TSC cycles
    bool begun = false;
    std::uint16_t next = 0;     // the number to deliver next
    std::uint16_t end = 0;      // behind the highest one held
    std::uint16_t give_up = 0;  // where the timer was started: the holes before it end with it (as RX_REORD)
    std::uint16_t held = 0;
    // After a number far off: the one that would follow it. If that comes next, the sender began anew (RFC 3550 A.1).
    std::optional<std::uint16_t> anew;
    Timers::iterator timer;           // while something is held
    Timers::node_type stopped_timer;  // while nothing is

    rte_mbuf*& slot(std::uint16_t sn) { return slots[sn & (slots.size() - 1)]; }
  };
  Verdict deliver(rte_mbuf* m);                // in order
  void skip_to(Flow& flow, std::uint16_t sn);  // delivers what is held before it
  void run(Flow& flow);                        // delivers what follows without a hole
  void set_timer(Flow& flow, std::uint64_t now);
  void stop_timer(Flow& flow);
  void settle(Flow& flow, std::uint64_t now);  // the timer runs while something is held
  void give_up_oldest(std::uint64_t now);
  void make_ready(Flow& flow, rte_mbuf*& slot);

  std::unordered_map<std::uint32_t, std::unique_ptr<Flow>> flows_;
  std::vector<rte_mbuf*> ready_;  // from ready_first_ on; room for all that can be held, and a burst
  std::size_t ready_first_ = 0, waiting_ = 0, room_ = kBurst, most_ = SIZE_MAX;
  Timers timers_;
  std::uint64_t given_up_ = 0;
};

}  // namespace splitplane::datapath
