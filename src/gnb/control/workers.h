// The workers of an instance: who serves a bearer, how their threads start and end, whether they still make rounds, and
// by which power policy they sleep.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/counter.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/worker.h"
#include "gnb/phy/phys.h"
#include "power/meter/core_residency.h"
#include "runtime/failure_watch.h"
#include "runtime/loop_power.h"

namespace splitplane::gnb {

class Workers {
 public:
  // As the configuration names them; Wiring gives them what they work on. None runs yet.
  explicit Workers(const GnbConfig& config);

  [[nodiscard]] const std::vector<std::unique_ptr<WorkerRuntime>>& all() const { return workers_; }
  // The gnb worker that serves the shard of this bearer; nullptr: none does.
  [[nodiscard]] WorkerRuntime* owner_of(std::uint32_t id) const;
  // Who has the keys of a worker's bearers: the worker itself first, then the dispatching workers in front of it, and
  // the one that hands off to it what a card punted.
  [[nodiscard]] std::vector<WorkerRuntime*> key_holders(WorkerRuntime& owner) const;

  Expected<void> launch();
  [[nodiscard]] std::vector<PhyWorker> with_phy() const;
  // The worker of that name; nullptr: there is none.
  [[nodiscard]] WorkerRuntime* find(const std::string& name) const;
  // The same for a request; the error names `key`, and which workers there are.
  [[nodiscard]] Expected<WorkerRuntime*> named(std::string_view key, const std::string& name) const;

  // From now on the thread of `host` makes the rounds of `guest`, too, and the core of the guest sleeps. Both are gnb
  // workers that run, are on their own cores, and the guest has no guests.
  Expected<void> park(const Locked& locked, WorkerRuntime& guest, WorkerRuntime& host);
  // From now on a parked worker makes its rounds itself again. Error: its host does not answer, and keeps it. If the
  // host has heard of it and hangs, the worker goes home when the host goes on; see notice_homecomings().
  Expected<void> wake(const Locked& locked, WorkerRuntime& guest);
  // Parked workers that went home after wake() had given up make their rounds themselves. Call it now and then.
  void notice_homecomings(const Locked& locked);
  [[nodiscard]] std::uint64_t late_homecomings() const { return late_homecomings_.get(); }

  // In the order of the packets' way, and each worker empties its rings before it ends: nothing is left in between.
  void stop(const Locked& locked);

  // Workers that make no rounds, by their counters: the log names them, and they are asked nothing until they are back.
  // Without the mutex: its holder may be waiting for just such a worker. On the control thread.
  void watch(Time now);
  // Bearers that cannot go on by themselves, by the workers' counters. On the control thread.
  void warn_of_failures(Time now);

  // From now on the workers drop what is longer towards the air, and their STATUS PDUs fit. False: a worker did not
  // listen.
  [[nodiscard]] bool take_air_mtu(const Locked& locked, const std::string& port, unsigned mtu);

  // Where the time of each went, by their counters; any thread may ask while they are there.
  [[nodiscard]] std::vector<LoopTime> loop_times() const;
  [[nodiscard]] LoopPower power_of(WorkerRuntime& worker) const;
  [[nodiscard]] Expected<nlohmann::json> show_power(const Locked& locked) const;
  Expected<nlohmann::json> set_power(const Locked& locked, const std::string& name, const power::Settings& settings);

 private:
  void look_at(WorkerRuntime& worker, Time now);
  [[nodiscard]] Expected<void> refuse_park(const WorkerRuntime& guest, const WorkerRuntime& host) const;

  const GnbConfig& config_;
  std::vector<std::unique_ptr<WorkerRuntime>> workers_;
  Time next_watch_{};
  FailureWatch failures_;
  Counter late_homecomings_;  // under the mutex
};

}  // namespace splitplane::gnb
