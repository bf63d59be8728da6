// Moves bearers from the card to their worker:
//
//   1. the worker keeps their packets, and gives none back to the card
//   2. the card's lease becomes so short that no packet passes it: the card gives each to the worker
//   3. fences, until the card has numbered all that the worker had given back before, and the worker has the clones of
//      what the card sent. Then the card's numbers are final
//   4. the worker goes on at these numbers, beginning with what it kept
#pragma once

#include <unordered_map>

#include "gnb/place/move_batch.h"

namespace splitplane::gnb {

class MoveToHost {
 public:
  explicit MoveToHost(MoveBatch& batch) : batch_(batch), card_(batch.link->settings().control, kCardAnswers) {}

  // 1 to 3, without the mutex of the control side. The card numbers nothing any more of those bearers of the batch
  // whose `failed` is empty. The others are the card's, as before.
  void drain();
  // 4, the same. `leases`: of each bearer of the batch that moves, in their order. If the worker does not answer, the
  // bearers are `is_lost`.
  void arrive(const std::vector<ran::CountLease>& leases);

 private:
  [[nodiscard]] bool freeze();
  [[nodiscard]] bool shorten_leases();
  void await_drained();
  // False: no fence came.
  [[nodiscard]] bool pass_fences();
  void commit();
  void let_go(const std::vector<BearerId>& ids);
  void give_up(const std::string& why);

  MoveBatch& batch_;
  CardMover card_;
  std::chrono::steady_clock::time_point frozen_{};
  CardLink::Asked asked_;
  std::vector<CardNumbersRow> rows_;                       // of the last fences
  std::vector<std::uint64_t> held_;                        // at these fences
  std::unordered_map<std::uint32_t, std::uint32_t> seen_;  // by bearer: the card's next COUNT at the fences before
};

}  // namespace splitplane::gnb
