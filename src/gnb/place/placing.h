// Placement of a running instance: once a period it looks at the facts, decides where each bearer shall live
// (placement/decision), and moves those that live elsewhere. `ctl place` changes how it decides, and moves bearers at
// once. It has a thread. A move takes the turn of a change, so it never comes between the steps of another one.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gnb/place/consolidating.h"
#include "gnb/place/facts_book.h"
#include "gnb/place/moves.h"
#include "placement/decision/decider.h"
#include "placement/decision/view.h"

namespace splitplane::gnb {

class Placing {
 public:
  // The parts show from now on what this does. They outlive it.
  Placing(Parts& parts, const placement::Settings& settings);
  ~Placing() { stop(); }
  Placing(const Placing&) = delete;
  Placing& operator=(const Placing&) = delete;

  void start();
  // Waits for a move that is going on.
  void stop();

  // Moves bearers to a card, or to "host". Where the mode is not static they are pinned there: otherwise the next
  // decision would undo it. Does not wait for the disk, which has the pins soon.
  [[nodiscard]] Expected<std::vector<MoveResult>> move(std::span<const BearerId> ids, const std::string& to);
  // In every mode, also after a restart, if the gNB has a journal. An error may say that the disk does not know it yet.
  Expected<void> pin(std::span<const BearerId> ids, const std::string& to);
  // Returns how many of them were pinned. What the file says of them does not count any more, either. Error: as pin().
  Expected<std::size_t> unpin(std::span<const BearerId> ids);
  // From the next period on, which begins at once.
  Expected<void> set(const placement::Settings& settings);
  [[nodiscard]] placement::Settings settings() const;
  [[nodiscard]] placement::View view() const;  // without the mutex of the control side
  [[nodiscard]] placement::View view(const Locked& locked) const;
  // On which cores the workers run.
  [[nodiscard]] Consolidating& consolidating() { return consolidating_; }
  // Where a bearer lives, and why.
  struct Why {
    BearerId id;
    std::string place;      // a card's name, or "host"
    std::string reason;     // one sentence; it begins with the card or the worker by name
    double load = 0;        // packets or octets a second
    std::string pinned_by;  // "ctl" or "file"; empty: it is not pinned
  };
  [[nodiscard]] std::vector<Why> explain(std::span<const BearerId> ids);

 private:
  void run();
  void note_mode();
  [[nodiscard]] bool has_work() const;
  void pin(const Locked& locked, BearerId id, const std::string& to);
  void one_period();
  // With `mutex_`. The mutex of the control side is let go again and again, so that others need not wait for long.
  void look_at_all(placement::Time at);
  void carry_out(const std::vector<placement::Move>& moves, placement::Time now);

  Parts& parts_;
  Moves moves_;
  Consolidating consolidating_;
  mutable std::mutex mutex_;  // of all below but the view; before the mutex of the control side
  std::condition_variable changed_;
  bool stop_ = false, soon_ = false;
  placement::Settings settings_;
  placement::Decider decider_;
  FactsBook book_;
  mutable std::mutex view_mutex_;  // of view_; the last of all
  placement::View view_;
  std::thread thread_;
};

}  // namespace splitplane::gnb
