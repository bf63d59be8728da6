// The power policy of a running packet loop. The loop itself shows and switches it between two rounds. The frequency of
// the loop's core is taken while the policy sets frequencies, and given back afterwards.
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

// The parts of a loop, which its owner lends; all of them outlive the calls.
struct LoopPower {
  const std::string& name;
  unsigned core;
  const std::string& sysfs_root;
  power::Settings& settings;  // in force
  std::unique_ptr<governor::Governor>& governor;
  governor::Kind governor_kind = governor::Kind::cpufreq;
  datapath::WorkerPower& power;
  const datapath::WorkerStats& stats;
  std::function<bool(std::function<void()>)> execute;  // on the loop's thread; false: the loop does not answer

  // Call it before the loop runs.
  void start() const;
  // Call it when the loop runs: logs what cannot end its sleeps.
  void say_what_cannot_wake() const;
  // Another thread makes the loop's rounds: its core may sleep as deeply as it can. Then: as its policy says again.
  void park_core() const;
  void wake_core() const { settle(); }
  [[nodiscard]] Expected<nlohmann::json> show() const;
  [[nodiscard]] Expected<nlohmann::json> set(const power::Settings& wanted) const;

 private:
  void prepare(const power::Settings& wanted) const;
  void settle() const;
};

}  // namespace splitplane::app
