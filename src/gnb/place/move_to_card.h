// Moves bearers from their worker to the card. The card cannot hold packets, so the worker does, and gives them to the
// card for their numbers:
//
//   1. the card gets the bearers as its own, but with a lease that lets no packet through: it gives each to the worker,
//      and counts it
//   2. a fence behind that: what the worker receives before it is the host's still, and what comes behind it waits
//   3. the card learns the numbers at which the worker stopped
//   4. the worker has credit: what waits goes to the card. The first packet that finds none at the host is numbered by
//      the card directly (docs/design/p4.md)
#pragma once

#include "gnb/place/move_batch.h"

namespace splitplane::gnb {

class MoveToCard {
 public:
  explicit MoveToCard(MoveBatch& batch) : batch_(batch), card_(batch.link->settings().control, kCardAnswers) {}

  // Without the mutex of the control side. Those bearers of the batch whose `failed` is empty have moved; the others
  // are the host's, as before.
  void run();

 private:
  [[nodiscard]] bool arm();           // 1 and 2
  [[nodiscard]] bool read_numbers();  // where the worker stopped
  [[nodiscard]] bool commit();
  void begin();  // 3 and 4
  void go_back(const std::string& why);

  MoveBatch& batch_;
  CardMover card_;
  std::chrono::steady_clock::time_point fenced_{};
  std::vector<CardNumbersRow> rows_;
  std::vector<CardLink::Arrival> arrivals_;
};

}  // namespace splitplane::gnb
