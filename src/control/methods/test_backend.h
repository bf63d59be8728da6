// A small backend in memory for the tests of the control protocol; the real one is tested end to end.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "control/methods/backend.h"
#include "power/settings_json.h"

namespace splitplane::app {

class MemoryBackend : public ControlBackend {
 public:
  explicit MemoryBackend(std::size_t capacity = 100000) : capacity_(capacity) {}

  Expected<AddedBearers> add_bearers(std::span<const ran::BearerConfig> wanted,
                                     std::optional<unsigned> shard) override {
    if (bearers_.size() + wanted.size() > capacity_) return fail("no room; allowed: {} bearers", capacity_);
    AddedBearers added{{wanted.begin(), wanted.end()}, 0};
    for (ran::BearerConfig& bearer : added.bearers) {
      const auto twin = std::ranges::find_if(bearers_, [&](const auto& b) {
        return b.second.config.upf == bearer.upf && b.second.config.uplink_teid == bearer.uplink_teid;
      });
      if (twin != bearers_.end()) {
        bearer = twin->second.config;
        ++added.existed;
        continue;
      }
      if (bearer.id.value == 0)
        bearer.id.value = ran::make_teid(1, ShardId{static_cast<std::uint8_t>(shard.value_or(0))}, ++last_);
      bearers_[bearer.id.value].config = bearer;
    }
    return added;
  }
  Expected<ran::BearerConfig> modify_bearer(BearerId id, const BearerPatch& patch) override {
    const auto at = bearers_.find(id.value);
    if (at == bearers_.end()) return fail("there is no bearer {:#x}", id.value);
    ran::BearerConfig& bearer = at->second.config;
    bearer.uplink_teid = patch.uplink_teid.value_or(bearer.uplink_teid);
    bearer.upf = patch.upf.value_or(bearer.upf);
    bearer.qfi = patch.qfi.value_or(bearer.qfi);
    bearer.poll_pdu = patch.poll_pdu.value_or(bearer.poll_pdu);
    return bearer;
  }
  Expected<bool> release_bearer(BearerId id) override { return bearers_.erase(id.value) == 1; }
  Expected<BearerView> show_bearer(BearerId id) override {
    const auto at = bearers_.find(id.value);
    if (at == bearers_.end()) return fail("there is no bearer {:#x}", id.value);
    return at->second;
  }
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit) override {
    std::vector<BearerView> page;
    for (auto at = bearers_.upper_bound(after); at != bearers_.end() && page.size() < limit; ++at)
      page.push_back(at->second);
    return page;
  }
  Expected<nlohmann::json> stats() override {
    std::this_thread::sleep_for(stats_take);
    nlohmann::json padding = std::string(padding_bytes, 'x');
    return nlohmann::json{{"totals", {{"bearers", bearers_.size()}, {"balanced", true}}},
                          {"padding", std::move(padding)}};
  }
  Expected<nlohmann::json> set_air(const AirPatch& patch) override {
    air = patch;
    return nlohmann::json::object();
  }

  Expected<nlohmann::json> show_power() override {
    asleep_cycles += 60;  // since the last look, beside 20 busy and 20 idle ones
    const std::uint64_t others = asleep_cycles / 3;
    return nlohmann::json::array(
        {{{"name", "w0"},
          {"core", 3},
          {"policy", to_json(power)},
          {"state", {{"rate", 1234.5}}},
          {"queues_without_interrupt", nlohmann::json::array()},
          {"governor", nullptr},
          {"sleeps", 1000},
          {"wakeups", 7},
          {"cpu_cycles", others},
          {"cycles", {{"busy", others}, {"idle", others}, {"paused", 0}, {"asleep", asleep_cycles}}}}});
  }
  Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings) override {
    if (worker != "w0") return fail("worker: there is no '{}'; allowed: w0", worker);
    power_of = worker;
    power = settings;
    return nlohmann::json{{"name", worker}, {"policy", to_json(settings)}};
  }

  std::uint64_t asleep_cycles = 0;
  std::string power_of;  // the worker of the last power.set, and what was set
  power::Settings power;
  AirPatch air;
  std::chrono::milliseconds stats_take{0};
  std::size_t padding_bytes = 0;  // makes the answer to stats as long as a test wants it

 private:
  std::size_t capacity_;
  std::uint32_t last_ = 0;
  std::map<std::uint32_t, BearerView> bearers_;
};

}  // namespace splitplane::app
