// The PHYs of workers in full mode: a thread for each talks to it, and what they count.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gnb/config/config.h"
#include "gnb/phy/phy_thread.h"

namespace splitplane::gnb {

// A worker with a PHY. All that it refers to outlives the Phys.
struct PhyWorker {
  std::string name;
  app::PhyConfig config;
  datapath::PhyExchange& exchange;
  datapath::Wakeup& wakeup;
  const datapath::CellSlots& slots;
  // Does something between two rounds of the worker. False: the worker does not answer.
  std::function<bool(const std::function<void()>&)> execute;
};

class Phys {
 public:
  // Begins to ask for the PHY of each of these workers, which run. Error: one sentence.
  Expected<void> start(std::vector<PhyWorker> workers);
  // Stops the PHYs, before the workers stop. Counters stay.
  void stop() {
    for (const One& one : all_) one.thread->stop();
  }

  // By worker: the state of the link, what both sides count, and what HARQ came to.
  [[nodiscard]] nlohmann::json rows() const;
  // Calls f(worker's name, thread) for each.
  template <class F>
  void for_each(F f) const {
    for (const auto& one : all_) f(one.worker.name, *one.thread);
  }

 private:
  struct One {
    PhyWorker worker;
    std::unique_ptr<PhyThread> thread;
  };
  std::vector<One> all_;
};

// What a worker with this PHY plans slots with.
[[nodiscard]] datapath::CellSlots::Settings slots_settings(const app::PhyConfig& phy);
[[nodiscard]] datapath::PhyExchange::Settings exchange_settings(const app::PhyConfig& phy);

}  // namespace splitplane::gnb
