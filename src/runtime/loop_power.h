// The power policy of a running packet loop: shown and switched by the loop itself between two rounds. The frequency of
// its core is taken while the policy sets frequencies, and given back when it no longer does.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/expected.h"
#include "engine/stats.h"
#include "engine/worker_power.h"
#include "power/governor/governor.h"

namespace splitplane::app {

// A loop as its owner lends it; everything outlives the calls.
struct LoopPower {
  const std::string& name;
  unsigned core;
  const std::string& sysfs_root;
  power::Settings& settings;  // in force
  std::unique_ptr<governor::Governor>& governor;
  datapath::WorkerPower& power;
  const datapath::WorkerStats& stats;
  std::function<bool(std::function<void()>)> execute;  // on the loop's own thread; false: it does not answer

  // Before the loop runs.
  void start() const;
  // Once it runs: what cannot end its sleeps, into the log.
  void say_what_cannot_wake() const;
  [[nodiscard]] Expected<nlohmann::json> show() const;
  [[nodiscard]] Expected<nlohmann::json> set(const power::Settings& wanted) const;

 private:
  void prepare(const power::Settings& wanted) const;
  void settle() const;
};

}  // namespace splitplane::app
