// Packets that go back to the card that numbers their bearer, as returned frames. The card numbers them up to the end
// of its lease and drops those beyond it. So each bearer has a credit: that many packets may go back before the worker
// must know the card's numbers again. A worker owns this.
//
//   sent       with credit, if none of the bearer waits
//   held       without credit, in the order of arrival, until a grant comes
//   ready      with credit, while the port does not take it
//   dropped    count_lease_ended: no grant came in time, or too many packets wait; count_exhausted: no COUNT is left;
//              tx_full: the port took none in time. The card hears of the first two, so that its count of packets that
//              are here stays right
//
//   worker --(bearer, ring)--> link: reads the card's numbers, journal, card.lease --(grant, command)--> worker
//
// Why no returned frame is beyond the lease. `outstanding` is what was sent and not numbered yet, `room` is what the
// lease has left. The card numbers no packet directly while one of the bearer is outstanding. When it does, it leaves
// room for kLeaseReserve (1023). So two things must hold: outstanding + credit is at most the room, and the credit is
// at most kMostCredit when nothing is outstanding. See grant().
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/burst.h"
#include "engine/stats.h"
#include "ran/bearer_table.h"
#include "returns/card_requests.h"
#include "returns/ready_frames.h"

namespace splitplane::datapath {

// What the card said of a bearer after a request, and the end of its lease after that.
struct CardGrant {
  CardRequest answers;
  std::uint32_t next = 0, lease_end = 0;  // COUNTs
  std::uint32_t in_flight = 0;            // packets of the bearer that the card believes to be here
};

class CardReturns {
 public:
  static constexpr std::uint32_t kMostCredit = 1000;
  static constexpr std::uint64_t kMostMs = 2000;   // that a packet waits
  static constexpr std::size_t kMostHeld = 32768;  // packets of all bearers, unless limit() says less
  static constexpr unsigned kBurstsPerRound = 16;  // so that what waited does not make one round long

  CardReturns(ran::BearerTable& bearers, WorkerStats& stats);
  CardReturns(const CardReturns&) = delete;
  CardReturns& operator=(const CardReturns&) = delete;
  ~CardReturns();

  void limit(std::size_t most) { most_ = std::min(most, kMostHeld); }
  // Without requests no packet needs credit.
  void connect(CardRequests requests) { requests_.emplace(requests); }
  [[nodiscard]] std::optional<CardRequests>& requests() { return requests_; }

  // For a returned frame whose line gave no credit at once. True: send it. Otherwise it is kept here, or dropped.
  [[nodiscard]] bool admit(ran::BearerDownlink& line, std::uint32_t id, rte_mbuf* frame, std::uint64_t now);
  // Sends returned frames behind those that are ready already.
  template <class Sink>
  void send(Sink& back, rte_mbuf** frames, unsigned n, std::uint64_t now) {
    const unsigned sent = ready_.empty() ? back.send(frames, n) : 0;
    stats_.returned.add(sent);
    for (unsigned i = sent; i < n; ++i) keep_ready(frames[i], now);
  }
  // The same for frames that say that the host dropped a packet.
  template <class Sink>
  void send_settled(Sink& back, rte_mbuf** frames, unsigned n, std::uint64_t now) {
    const unsigned sent = ready_.empty() ? back.send(frames, n) : 0;
    stats_.settled.add(sent);
    for (unsigned i = sent; i < n; ++i) keep_settled(frames[i], now);
  }
  // Once per round: sends what is ready, drops what has waited too long, and repeats requests without an answer. Frames
  // that come before all that is ready has left go behind it.
  template <class Sink>
  void flush(Sink& back, std::uint64_t now, unsigned most_bursts = kBurstsPerRound) {
    if (!holding_.empty() && now >= next_look_) [[unlikely]]
      look(now);
    if (ready_.empty() || now < retry_at_) [[likely]]
      return;
    expire_ready(now);
    Burst burst;
    for (; most_bursts != 0 && ready_.peek(burst) != 0; --most_bursts) {
      const unsigned sent = back.send(burst.mbuf.data(), burst.size);
      pop_ready(sent);
      if (sent == burst.size) continue;
      retry_at_ = now + retry_ticks_;
      break;
    }
  }
  // At the end of the worker's life, before the last flush(): drops what waits for a lease. After it drop_ready().
  void drop_waiting(std::uint64_t now);
  void drop_ready();

  // In commands. A grant answers a request, or it is one more.
  void grant(const CardGrant& grant, std::uint64_t now);
  // Before a new run of the card gets the bearer: its first lease may be shorter than the credit.
  void revoke(BearerId id, std::uint64_t now);
  // The card counts packets of the bearer that are here, for a long time already. If none came since the last such call
  // and none waits, one was lost on its way: returns true, and the card must be told (keep_all_settled).
  [[nodiscard]] bool is_quiet(BearerId id);
  void keep_all_settled(rte_mbuf* frame, std::uint64_t now);
  // In commands, for a bearer that is about to move to the host. From freeze() on its packets wait here, without credit
  // and without requests; grants change nothing. thaw() ends that.
  void freeze(BearerId id);
  void thaw(BearerId id, std::uint64_t now);
  // The host numbers the bearer from now on: takes out the returned frames that are here, in their order, and forgets
  // the bearer.
  [[nodiscard]] std::vector<rte_mbuf*> take(BearerId id);
  // The bearer is gone. Returns how many packets waited, which are dropped.
  std::uint64_t close(BearerId id);

  [[nodiscard]] std::uint64_t held() const { return held_; }
  [[nodiscard]] std::uint64_t held(BearerId id) const;
  [[nodiscard]] bool has_work() const { return !holding_.empty() || !ready_.empty(); }
  // When flush() has work that no packet announces.
  [[nodiscard]] std::uint64_t next_work() const {
    const std::uint64_t look = holding_.empty() ? std::numeric_limits<std::uint64_t>::max() : next_look_;
    return ready_.empty() ? look : std::min(look, retry_at_);
  }

 private:
  struct Waiting {
    rte_mbuf* m = nullptr;
    std::uint64_t deadline = 0;
  };
  using Kind = ReadyFrames::Kind;
  struct Account {  // of one bearer; counts of packets that went back
    std::vector<Waiting> waiting;
    std::size_t first = 0;  // of `waiting`, in its vector
    bool asked = false, exhausted = false, frozen = false;
    std::uint32_t tag = 0;           // of the present or the next request
    std::uint32_t credit_asked = 0;  // the credit when the worker asked
    std::uint32_t waited_asked = 0;  // and the packets that waited then, and wait now
    std::uint32_t waited_given = 0;  // those that waited right after the last grant, and wait now
    std::uint32_t still = 0;         // grants in a row between which nothing went back and nothing was numbered
    std::uint64_t changed = 0;       // when it was otherwise for the last time
    std::uint32_t given = 0;         // the credit right after the last grant
    std::uint32_t next = 0;          // the card's next COUNT, by the last grant
    std::uint32_t since_read = 0;    // the most that went back from that reading to that grant
    std::uint32_t owed = 0;          // these, and what was outstanding at that reading, at most
    std::uint64_t ask_again = 0, not_before = 0;
    std::uint64_t received = 0;  // packets of the bearer at the last is_quiet()

    [[nodiscard]] std::size_t size() const { return waiting.size() - first; }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] Waiting pop();
  };

  void ask(ran::BearerDownlink& line, std::uint32_t id, Account& account, std::uint64_t now);
  void hold(ran::BearerDownlink& line, std::uint32_t id, Account& account, rte_mbuf* frame, std::uint64_t now);
  // Counts the packet and makes the frame one that tells the card.
  void drop_unnumbered(rte_mbuf* frame, DropReason reason, std::uint64_t now);
  void count_drop(const rte_mbuf* frame, DropReason reason);
  void set_credit(ran::BearerDownlink& line, std::uint32_t id, Account& account, std::uint32_t credit,
                  std::uint64_t now);
  void look(std::uint64_t now);
  void keep_ready(rte_mbuf* frame, std::uint64_t now);
  void keep_settled(rte_mbuf* frame, std::uint64_t now);
  void expire_ready(std::uint64_t now);
  void pop_ready(unsigned sent);
  void note_held() { stats_.card_held.set(held_); }

  ran::BearerTable& bearers_;
  WorkerStats& stats_;
  std::optional<CardRequests> requests_;
  std::unordered_map<std::uint32_t, Account> accounts_;
  std::set<std::uint32_t> holding_;  // bearers with packets that wait for credit
  ReadyFrames ready_;
  std::uint64_t held_ = 0;  // packets that wait for credit or for the port
  std::size_t most_ = kMostHeld;
  std::uint64_t ticks_per_ms_, retry_ticks_;
  std::uint64_t next_look_ = 0, retry_at_ = 0;
};

}  // namespace splitplane::datapath
