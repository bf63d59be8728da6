// Downlink QoS flows on their way from one bearer of a session to another one. Packets of such a flow wait until the
// old bearer has delivered what it has of the flow, so that they do not overtake it. A worker owns it, and makes no
// more than a few moves at a time.
//
//   old bearer                     the packets wait until
//   RLC AM with retransmission     the UE has acknowledged all SDUs that the bearer had
//   RLC UM with security           t-Reordering is over: the UE's PDCP may wait for a lost PDU that long
//   others                         the next round: all SDUs are sent
//
// A time and a number of packets bound the wait.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/burst.h"
#include "ran/bearer_config.h"

namespace splitplane::datapath {

class FlowMoves {
 public:
  static constexpr std::uint64_t kMostMs = 500;
  static constexpr std::uint64_t kMostInAllMs = 10 * kMostMs;  // with the waits that begin anew
  static constexpr std::size_t kMostHeld = 2048;               // packets of all flows, unless limit() says less

  // What the old bearer still has to deliver.
  struct Rest {
    bool is_acknowledged = false;
    std::uint32_t until = 0;  // is_acknowledged: the RLC number after the last one, without modulus
    std::uint8_t epoch = 0;   // and its epoch
    std::uint64_t not_before = 0;
  };
  struct Move {
    Teid session;
    Qfi qfi;
    BearerId old;
    unsigned number = 0;  // of the new bearer in the session line
    Rest rest;
    std::uint64_t deadline = 0, last_deadline = 0;
    std::vector<rte_mbuf*> held;
  };

  FlowMoves() = default;
  FlowMoves(const FlowMoves&) = delete;
  FlowMoves& operator=(const FlowMoves&) = delete;
  ~FlowMoves();

  void limit(std::size_t most) { most_ = std::min(most, kMostHeld); }
  [[nodiscard]] bool empty() const { return moves_.empty() && ready_.empty(); }
  // In a command: packets of the flow wait from now on. A flow that is moving already gets another new bearer.
  void begin(Move move);
  [[nodiscard]] Move* find(std::uint32_t session, std::uint8_t qfi);
  void hold(Move& move, rte_mbuf* m) {
    move.held.push_back(m);
    ++held_;
  }
  // In a command: the session is gone. Returns how many packets waited, which are dropped.
  std::uint64_t close(Teid session);

  // Ends the moves for which is_over(Move&) says so, or whose time or room is over: their packets become ready, and
  // done(const Move&) leads the flow's next packets to the new bearer.
  template <class IsOver, class Done>
  void serve(std::uint64_t now, IsOver is_over, Done done) {
    std::erase_if(moves_, [&](Move& move) {
      if (!is_over(move) && now < move.deadline && held_ < most_) return false;
      done(move);
      ready_.insert(ready_.end(), move.held.begin(), move.held.end());
      return true;
    });
  }
  // The next packets that are ready, up to a burst.
  unsigned take_ready(Burst& burst);

  [[nodiscard]] std::uint64_t held() const { return held_; }
  // When serve() has work that no packet announces.
  [[nodiscard]] std::uint64_t next_work() const;

 private:
  std::vector<Move> moves_;
  std::vector<rte_mbuf*> ready_;
  std::uint64_t held_ = 0;  // with the ready ones
  std::size_t most_ = kMostHeld;
};

}  // namespace splitplane::datapath
