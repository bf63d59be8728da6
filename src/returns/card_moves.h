// Bearers of this worker on their way between it and a card (docs/design/placement.md). The control side moves them by
// commands. In between, fences tell this worker where in its queues the card's change is:
//
//   to the card   the packets behind the fence are those that the card has counted. At the fence the bearer's line
//                 becomes a card's: what comes behind it waits in CardReturns, which has no credit yet
//   to the host   CardReturns holds the packets already. At the fence it is noted how many, so that the control side
//                 sees how many that this worker returned have not been numbered yet
//
// A worker owns this. Nothing here is allocated while packets pass, but by commands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/burst.h"
#include "ran/bearer_table.h"
#include "returns/card_returns.h"
#include "returns/fence_frame.h"

namespace splitplane::datapath {

class CardMoves {
 public:
  enum class To : std::uint8_t { kCard, kHost };
  struct Bearer {
    BearerId id;
    ran::BearerDownlink on_card{};  // to the card: the line from the fence on
    ran::BearerDownlink at_host{};  // to the card: the line as it was at the fence
    bool fenced = false;
    std::uint64_t held = 0;  // to the host: packets that were here at the fence
  };

  // In a command: fences with this token are about bearers that move so. `bearers` is in the order of their identities.
  void begin(std::uint64_t token, To to, std::vector<Bearer> bearers) {
    token_ = token;
    to_ = to;
    bearers_ = std::move(bearers);
    n3_ = copies_ = 0;
  }
  // In a command: the fences before are void, and others with this token are awaited.
  void expect(std::uint64_t token) {
    token_ = token;
    n3_ = copies_ = 0;
  }
  // In a command: no move is going on.
  void end() {
    token_ = 0;
    bearers_.clear();
  }
  [[nodiscard]] std::vector<Bearer>& bearers() { return bearers_; }
  // How many fences of the present token came by the side of N3, and by that of the air.
  [[nodiscard]] unsigned n3_fences() const { return n3_; }
  [[nodiscard]] unsigned copies_fences() const { return copies_; }

  // parse_gpdus and parse_airhdr: true if the frame is a fence that is awaited.
  [[nodiscard]] bool is_fence(wire::Octets frame) const {
    if (token_ == 0) [[likely]]
      return false;
    const auto fence = parse_fence(frame);
    return fence && fence->token == token_;
  }
  void pass_copies_fence() { ++copies_; }
  // parse_gpdus: the burst ends before this fence; what came behind it goes on afterwards.
  void split_at(rte_mbuf* fence, rte_mbuf* const* behind, unsigned n) {
    fence_ = fence;
    behind_.size = n;
    std::copy_n(behind, n, behind_.mbuf.begin());
  }
  [[nodiscard]] bool is_split() const { return fence_ != nullptr; }
  // After the packets before the fence were served: carries it out, and gives the packets behind it.
  Burst pass_fence(ran::BearerTable& lines, const CardReturns& returns);

  // In a command: returned frames of bearers that the host numbers from now on. They go out before any later packet.
  void deliver(const std::vector<rte_mbuf*>& frames) { taken_.insert(taken_.end(), frames.begin(), frames.end()); }
  [[nodiscard]] bool has_taken() const { return first_taken_ != taken_.size(); }
  unsigned next_taken(Burst& burst);

  CardMoves() = default;
  CardMoves(const CardMoves&) = delete;
  CardMoves& operator=(const CardMoves&) = delete;
  ~CardMoves();

 private:
  [[nodiscard]] Bearer* find(std::uint32_t id) {
    const auto at = std::ranges::lower_bound(bearers_, id, {}, [](const Bearer& b) { return b.id.value; });
    return at != bearers_.end() && at->id.value == id ? &*at : nullptr;
  }

  std::uint64_t token_ = 0;  // 0: no fence is awaited
  To to_ = To::kCard;
  std::vector<Bearer> bearers_;
  unsigned n3_ = 0, copies_ = 0;
  rte_mbuf* fence_ = nullptr;
  Burst behind_;
  std::vector<rte_mbuf*> taken_;
  std::size_t first_taken_ = 0;
};

}  // namespace splitplane::datapath
