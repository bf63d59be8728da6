#include "gnb/power/power_meter.h"

#include <rte_cycles.h>

#include <set>
#include <utility>

#include "base/log.h"
#include "power/sensor/topology.h"
#include "runtime/instance_lock.h"

namespace splitplane::gnb {

using app::Meter;
using app::MeterSettings;
using app::MeterView;
using app::PowerConfig;

namespace {

void say(const MeterView& view) {
  for (const auto& refused : view.refused) log::info("power: not {}: {}", refused.source, refused.why);
  if (view.source.empty()) {
    log::info("power: no sensor measures it");
  } else {
    log::info("power: measured by {}", view.source);
  }
  if (!view.profile.empty()) log::info("power: modelled by profile {} ({})", view.profile, view.citation);
}

}  // namespace

Expected<void> PowerMeter::start(Meter::Look look) {
  if (!config_.power) return {};
  const PowerConfig& power = *config_.power;
  if (power.uncore_mhz) {
    if (auto held = hold_uncore(*power.uncore_mhz); !held) return held;
  }
  if (power.sensor == "none" && power.profile.empty()) return {};
  MeterSettings settings{.sensor = power.sensor,
                         .profile = power.profile,
                         .machine = {.root = config_.sysfs_root},
                         .tsc_mhz = static_cast<double>(rte_get_tsc_hz()) * 1e-6};
  if (power.supply_watts)
    settings.supply = sensor::PowerSupply{.rated_watts = static_cast<double>(*power.supply_watts),
                                          .unmetered_watts = power.unmetered_watts};
  auto meter = Meter::open(settings, std::move(look));
  if (!meter) return fail("power: {}", meter.error().message);
  meter_ = *std::move(meter);
  say(meter_->view());
  meter_->start();
  return {};
}

Expected<void> PowerMeter::hold_uncore(unsigned mhz) {
  std::set<unsigned> packages;
  for (const auto& worker : config_.workers) {
    const auto place = sensor::place_of(config_.sysfs_root, worker.core);
    if (!place) return fail("power.uncore_mhz: {}", place.error().message);
    packages.insert(place->package);
  }
  for (const unsigned package : packages) {
    auto held = governor::Uncore::hold({.root = config_.sysfs_root, .loans = app::runtime_directory()}, package, mhz);
    if (!held) return fail("power.uncore_mhz: {}", held.error().message);
    uncore_.push_back(*std::move(held));
  }
  return {};
}

void PowerMeter::stop() {
  if (meter_) meter_->stop();
  uncore_.clear();
}

std::optional<MeterView> PowerMeter::view() const {
  if (!meter_) return std::nullopt;
  return meter_->view();
}

}  // namespace splitplane::gnb
