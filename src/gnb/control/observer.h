// Everything counted in an instance: ports, workers with stages and drops, keys, and whether the sums add up. The names
// are those of the lists of stages, drop reasons and counters.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "gnb/control/cards.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/n3_control.h"
#include "gnb/control/numbers.h"
#include "gnb/control/service_link.h"
#include "gnb/control/wiring.h"
#include "gnb/control/workers.h"
#include "gnb/phy/phys.h"
#include "gnb/power/power_meter.h"
#include "observe/observation.h"
#include "ran/bearer_store.h"
#include "runtime/port_watch.h"

namespace splitplane::gnb {

class Observer {
 public:
  // What is looked at.
  struct Parts {
    const GnbConfig& config;
    const Ports& ports;
    const PortWatch& watch;
    const BearerStore& store;
    const Workers& workers;
    const N3Control& n3;
    const Cards& cards;
    const Numbers& numbers;
    const ServiceLink& service;
    const Phys& phys;
    const PowerMeter& power;
  };

  explicit Observer(const Parts& parts) : parts_(parts) {}
  // What placement shows of itself; before anybody looks. Without it there is no placement.
  void show_placement(std::function<placement::View(const Locked&)> view) { placement_ = std::move(view); }

  // Each worker's counters are read on its own thread between two rounds, so they add up exactly.
  [[nodiscard]] nlohmann::json stats(const Locked& locked) const;
  // For those that look often and must not disturb: no worker is asked, so sums of one look may be off by what was
  // moving.
  [[nodiscard]] Observation observe(const Locked& locked) const;

 private:
  [[nodiscard]] PortObservation observe_port(const PortConfig& config) const;
  [[nodiscard]] static WorkerObservation observe_worker(WorkerRuntime& worker);

  Parts parts_;
  std::function<placement::View(const Locked&)> placement_;
};

}  // namespace splitplane::gnb
