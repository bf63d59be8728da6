// The running UE side of one instance, behind `splitplane ue`: DPDK, air port, TUN device and worker, and the bearers
// as the gNB's control socket tells them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/eal.h"
#include "engine/port.h"
#include "power/settings.h"
#include "ran/bearer_view.h"
#include "runtime/port_watch.h"
#include "runtime/resources.h"
#include "ue/config/config.h"
#include "ue/control/air.h"
#include "ue/control/bearer_follower.h"
#include "ue/tun.h"
#include "ue/ue_addresses.h"
#include "ue/ue_worker.h"

namespace splitplane::app {

// Bearers are the gNB's to add and release: the control socket of the UE side shows them, and counters.
class UeSide {
 public:
  // Builds everything and starts the worker, without bearers. Error: one sentence; whatever was begun is undone.
  [[nodiscard]] static Expected<std::unique_ptr<UeSide>> start(const UeConfig& config);
  // The same with DPDK running and one lcore for the worker. Without `eal` its owner is another object.
  [[nodiscard]] static Expected<std::unique_ptr<UeSide>> start_on(std::optional<datapath::Eal> eal,
                                                                  const UeConfig& config);
  ~UeSide();
  UeSide(const UeSide&) = delete;
  UeSide& operator=(const UeSide&) = delete;

  // Control thread only: as BearerFollower::follow().
  bool follow_bearers(std::chrono::steady_clock::time_point now) { return follower_->follow(now); }
  // What is behind the air port: says what changed, and drops what an interface's MTU does not take any more.
  void watch_port(std::chrono::steady_clock::time_point now);
  // Stops the worker; counters stay readable and are exact from then on.
  void stop() {
    if (worker_) worker_->stop();
  }

  [[nodiscard]] std::size_t bearer_count() const { return follower_->size(); }
  Expected<BearerView> show_bearer(BearerId id);
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit);
  Expected<Json> stats();
  Expected<Json> show_power();
  Expected<Json> set_power(const std::string& worker, const power::Settings& settings);
  Expected<Json> set_air(const AirPatch& patch) { return app::set_air(patch, *worker_); }

 private:
  UeSide(const UeConfig& config, std::optional<datapath::Eal> eal) : config_(config), eal_(std::move(eal)) {}
  [[nodiscard]] Expected<void> open();
  [[nodiscard]] std::unique_ptr<datapath::SecuredBearer> make_secured(const ue::BearerChange& change);
  void say_refused(const ue::BearerChange& change, const std::string& why);
  [[nodiscard]] std::optional<datapath::NewKeys> make_keys(const ue::BearerChange& change);
  [[nodiscard]] bool make_entities(const ue::BearerChange& change, ue::UeEntities& entities);
  // Returns the changes of keys that could not be made.
  std::vector<ue::BearerChange> change(const std::vector<ue::BearerChange>& wanted);
  [[nodiscard]] std::vector<BearerId> failed_bearers();
  [[nodiscard]] std::uint64_t unknown_bearers() const;

  const UeConfig config_;
  std::optional<datapath::Eal> eal_;
  Pool pool_;
  std::unique_ptr<datapath::Port> port_;
  PortWatch port_watch_;
  UeAir air_;
  std::unique_ptr<ue::Tun> tun_;
  std::unique_ptr<ue::UeAddresses> addresses_;
  std::unique_ptr<ue::UeWorker> worker_;
  std::optional<BearerFollower> follower_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> refused_keys_;  // bearers and numbers that the log has
};

}  // namespace splitplane::app
