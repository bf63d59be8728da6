// Decides for each bearer whether it lives on a card or on the host. It reads no clock and does nothing itself: facts
// go in, moves come out, and the owner of the bearers carries them out (gnb/control). One thread.
#pragma once

#include <array>
#include <cstddef>

#include "placement/decision/decision.h"
#include "placement/decision/facts.h"
#include "placement/decision/loads.h"
#include "placement/decision/round.h"
#include "placement/decision/settings.h"

namespace splitplane::placement {

class Decider {
 public:
  explicit Decider(const Settings& settings) : settings_(settings) {}
  // From the next decision on. What was learned of loads stays.
  void set(const Settings& settings) { settings_ = settings; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

  // One period: takes in the counters, and says what is to move. A period of 200,000 bearers takes a few milliseconds;
  // it allocates memory only as the number of bearers grows.
  [[nodiscard]] const Decision& decide(const Facts& facts);
  [[nodiscard]] const Decision& last() const { return decision_; }

  // Why the bearer of that slot lives where it does, by the last decision and the same facts.
  [[nodiscard]] Explanation explain(const Facts& facts, std::size_t slot) const;
  [[nodiscard]] const Loads& loads() const { return loads_; }

 private:
  // How many moves may run or begin in the period that ends now.
  std::size_t most_moves(Time now);
  void move_by_rule(Round& round) const;
  // Mode ratio: fewer bearers, or less load, are on cards than it says.
  [[nodiscard]] bool is_short() const;

  Settings settings_;
  Loads loads_;
  Decision decision_;
  Time last_ = kNever;
  double allowed_ = 0;                       // moves; a fraction waits for the next period
  std::array<double, kMaxCards> coldest_{};  // of each card, in mode spill
  std::array<bool, kMaxCards> full_{};       // each card, with the moves of the last decision
};

}  // namespace splitplane::placement
