#include "sessions/flow_moves.h"

#include <limits>

namespace splitplane::datapath {

FlowMoves::~FlowMoves() {
  for (const Move& move : moves_) {
    for (rte_mbuf* m : move.held) rte_pktmbuf_free(m);
  }
  for (rte_mbuf* m : ready_) rte_pktmbuf_free(m);
}

void FlowMoves::begin(Move move) {
  if (Move* const there = find(move.session.value, move.qfi.value); there != nullptr) {
    there->number = move.number;  // the first bearer still has what came before
    return;
  }
  moves_.push_back(std::move(move));
}

FlowMoves::Move* FlowMoves::find(std::uint32_t session, std::uint8_t qfi) {
  const auto at = std::ranges::find_if(
      moves_, [&](const Move& move) { return move.session.value == session && move.qfi.value == qfi; });
  return at == moves_.end() ? nullptr : &*at;
}

std::uint64_t FlowMoves::close(Teid session) {
  std::uint64_t dropped = 0;
  std::erase_if(moves_, [&](const Move& move) {
    if (move.session != session) return false;
    dropped += move.held.size();
    for (rte_mbuf* m : move.held) rte_pktmbuf_free(m);
    return true;
  });
  held_ -= dropped;
  return dropped;
}

unsigned FlowMoves::take_ready(Burst& burst) {
  burst.size = static_cast<unsigned>(std::min<std::size_t>(ready_.size(), kBurst));
  std::copy_n(ready_.begin(), burst.size, burst.mbuf.begin());
  ready_.erase(ready_.begin(), ready_.begin() + burst.size);
  held_ -= burst.size;
  return burst.size;
}

std::uint64_t FlowMoves::next_work() const {
  if (!ready_.empty()) return 0;
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const Move& move : moves_) {
    // Before an acknowledgement, a frame comes from the air.
    next = std::min(next, move.rest.is_acknowledged ? move.deadline : std::min(move.rest.not_before, move.deadline));
  }
  return next;
}

}  // namespace splitplane::datapath
