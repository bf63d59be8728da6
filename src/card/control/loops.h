// The loops of a running card, one for each core, with the rings between them and their threads. Everything that
// touches a core's program is executed on that core's thread. The owner has its lock held in all calls, except where
// noted.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "card/config/config.h"
#include "card/control/loop.h"
#include "card/cores.h"
#include "runtime/loop_power.h"
#include "runtime/resources.h"

namespace splitplane::app {

class CardLoops {
 public:
  // `config`, which has a card, must outlive this.
  explicit CardLoops(const CardConfig& config) : config_(config) {}
  ~CardLoops() { stop(); }
  CardLoops(const CardLoops&) = delete;
  CardLoops& operator=(const CardLoops&) = delete;

  // Adds the loop of the next core of the configuration, before connect().
  void add(std::unique_ptr<nic::Card> card);
  // Makes what the loops run, and between several of them a pair of rings each way.
  [[nodiscard]] Expected<void> connect(const std::vector<nic::CardEndpoint>& endpoints);
  [[nodiscard]] Expected<void> launch();
  // Ends the loops; counters stay readable and are exact from then on.
  void stop();

  // Executes a command on the core's thread between two rounds, or here if its loop does not run. Returns false if the
  // loop does not answer; the command is then taken back.
  [[nodiscard]] bool execute(unsigned core, const std::function<void()>& command);
  // Every loop makes `change` between two rounds. This waits for a loop that hangs, because a device must not be
  // removed before. The caller has `mutex` not held: it is taken for each attempt.
  void on_all(std::mutex& mutex, const std::function<void(CardLoop&)>& change);

  // All cores as one card; after connect().
  [[nodiscard]] nic::CardCores& cards() { return *cards_; }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(loops_.size()); }
  [[nodiscard]] const CardLoop& operator[](unsigned core) const { return loops_[core]; }
  [[nodiscard]] LoopPower power_of(unsigned core);

 private:
  const CardConfig& config_;
  std::vector<Ring> rings_;                    // frames between cores
  std::vector<nic::OutputRing> output_rings_;  // and what goes to their ports
  std::deque<CardLoop> loops_;                 // by core
  std::optional<nic::CardCores> cards_;
  std::atomic<bool> stop_{false};
};

}  // namespace splitplane::app
