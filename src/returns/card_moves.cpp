#include "returns/card_moves.h"

#include <rte_mbuf.h>

#include <utility>

namespace splitplane::datapath {

CardMoves::~CardMoves() {
  for (; first_taken_ != taken_.size(); ++first_taken_) rte_pktmbuf_free(taken_[first_taken_]);
}

Burst CardMoves::pass_fence(ran::BearerTable& lines, const CardReturns& returns) {
  rte_mbuf* const m = std::exchange(fence_, nullptr);
  const auto fence = parse_fence({rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
  for (std::uint32_t i = 0; fence && i < fence->bearers; ++i) {
    Bearer* const bearer = find(fence->id(i));
    if (bearer == nullptr) continue;
    if (to_ == To::kHost) {
      bearer->held = returns.held(bearer->id);
    } else if (!bearer->fenced) {
      ran::BearerDownlink& line = *lines.downlink_line(bearer->id.value);
      bearer->at_host = line;
      // It counts what comes up from the card. What was dropped before is counted elsewhere, and subtracted from this.
      bearer->on_card.received = lines.drops(bearer->id.value).downlink;
      line = bearer->on_card;
    }
    bearer->fenced = true;
  }
  ++n3_;
  rte_pktmbuf_free(m);
  Burst behind = behind_;
  behind_.size = 0;
  return behind;
}

unsigned CardMoves::next_taken(Burst& burst) {
  burst.size = static_cast<unsigned>(std::min<std::size_t>(taken_.size() - first_taken_, kBurst));
  std::copy_n(taken_.begin() + static_cast<std::ptrdiff_t>(first_taken_), burst.size, burst.mbuf.begin());
  first_taken_ += burst.size;
  if (first_taken_ == taken_.size()) {
    taken_.clear();
    first_taken_ = 0;
  }
  return burst.size;
}

}  // namespace splitplane::datapath
