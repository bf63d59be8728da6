// A worker's power policy while it runs. It is chosen at start and switched by a command between two rounds; people can
// read its state. The policy itself is pure (power/policy.h). engine/worker.h shows it the rounds and idles as it
// decides.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/guest.h"
#include "engine/wakeup.h"
#include "power/any_policy.h"

namespace splitplane::datapath {

// The P-states of a worker's core, if the machine lets us set them.
struct PStates {
  std::vector<float> speed;            // of each, relative to the fastest, which is first; empty: they cannot be set
  std::function<bool(unsigned)> take;  // called on the worker's thread; false: not in force, so it is tried again
};

class WorkerPower {
 public:
  explicit WorkerPower(const power::Settings& settings = {}) : settings_(settings) {}
  WorkerPower(const WorkerPower&) = delete;
  WorkerPower& operator=(const WorkerPower&) = delete;

  // As set(), for the P-states; set() follows it.
  void use(PStates p_states) {
    p_states_ = std::move(p_states);
    owed_ = power::Action::kKeep;
    speed_.store(1, std::memory_order_relaxed);
  }
  // Of its core now, relative to the fastest P-state; any thread may ask.
  [[nodiscard]] float speed() const { return speed_.load(std::memory_order_relaxed); }
  // Emulates a slower clock: every round with packets takes 1 / `clock` times as long, by a spin. 1 is the real clock.
  void slow_down(double clock) { extra_ = 1 / clock - 1; }

  // Wakes the worker; any thread may call it.
  [[nodiscard]] Wakeup& wakeup() { return wakeup_; }

  // Whose rounds the worker's thread makes beside its own, or who makes its rounds.
  [[nodiscard]] Hosting& hosting() { return hosting_; }

  // Call it on the worker's thread between two rounds, or before the worker starts. A policy begins anew.
  void set(const power::Settings& settings) {
    settings_ = settings;
    switched_ = true;
  }
  // The same, if the thread has other queues to look at, or none, from the next round on.
  void begin_anew() { switched_ = true; }
  [[nodiscard]] const power::Settings& settings() const { return settings_; }
  // On the worker's thread: calls show(name, value) for each of the policy's numbers.
  template <class Show>
  void show(Show&& show) const {
    if (policy_) std::visit([&](const auto& policy) { policy.show(show); }, *policy_);
  }
  // The machine as the worker found it when it started.
  [[nodiscard]] const power::Machine& machine() const { return machine_; }
  [[nodiscard]] const std::vector<std::string>& queues_without_interrupt() const { return without_; }

  // The rest is for the loop.
  void found(const power::Machine& machine, std::vector<std::string> without) {
    machine_ = machine;
    without_ = std::move(without);
    switched_ = true;
  }
  [[nodiscard]] power::AnyPolicy& begin() {
    switched_ = false;
    machine_.p_states = 1;
    for (std::size_t i = 0; i < p_states_.speed.size() && i < machine_.speed.size(); ++i) {
      machine_.speed[i] = p_states_.speed[i];
      machine_.p_states = static_cast<unsigned>(i) + 1;
    }
    take_p_state(0);  // every policy begins there
    policy_.emplace(power::make_policy(settings_, machine_));
    return *policy_;
  }
  [[nodiscard]] bool switched() const { return switched_; }
  // A policy asks once for each step. So a step that the machine refuses is tried again later.
  void take_p_state(int p_state) {
    if (!p_states_.take || p_state < 0) return;
    const bool is_taken = p_states_.take(static_cast<unsigned>(p_state));
    owed_ = is_taken ? power::Action::kKeep : p_state;
    if (is_taken && static_cast<std::size_t>(p_state) < p_states_.speed.size())
      speed_.store(p_states_.speed[static_cast<std::size_t>(p_state)], std::memory_order_relaxed);
  }
  // The slowest, while another thread makes the rounds. False: it is not in force.
  [[nodiscard]] bool take_slowest() {
    take_p_state(static_cast<int>(machine_.p_states) - 1);
    return owed_ == power::Action::kKeep;
  }
  // Once per round.
  void take_owed() {
    if (owed_ != power::Action::kKeep) [[unlikely]]
      take_p_state(owed_);
  }
  [[nodiscard]] double extra() const { return extra_; }

 private:
  power::Settings settings_;
  PStates p_states_;
  int owed_ = power::Action::kKeep;  // the P-state that the policy asked for and that is not in force
  std::atomic<float> speed_{1};
  double extra_ = 0;  // busy time to add, as a fraction of the round's time
  Wakeup wakeup_;
  Hosting hosting_;
  power::Machine machine_;
  std::vector<std::string> without_;
  std::optional<power::AnyPolicy> policy_;
  bool switched_ = false;
};

}  // namespace splitplane::datapath
