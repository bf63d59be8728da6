// The running PHY of one instance, behind `splitplane phy`: DPDK's buffers, sockets of nFAPI, TUN device, capture and
// thread, and the bearers as the gNB's control socket tells them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/eal.h"
#include "phy/capture/mac_capture.h"
#include "phy/config/config.h"
#include "phy/control/loss.h"
#include "phy/worker/phy_worker.h"
#include "ran/bearer_view.h"
#include "runtime/resources.h"
#include "ue/control/bearer_follower.h"
#include "ue/terminal/full_changes.h"
#include "ue/tun.h"
#include "ue/ue_addresses.h"

namespace splitplane::app {

class PhyInstance {
 public:
  // Builds everything and starts the thread, without bearers. The PHY waits for a gNB, and for the next one. Error: one
  // sentence; whatever was begun is undone.
  [[nodiscard]] static Expected<std::unique_ptr<PhyInstance>> start(const PhyProgramConfig& config);
  // The same with DPDK running and one lcore for the thread. Without `eal` its owner is another object.
  [[nodiscard]] static Expected<std::unique_ptr<PhyInstance>> start_on(std::optional<datapath::Eal> eal,
                                                                       const PhyProgramConfig& config);
  ~PhyInstance();
  PhyInstance(const PhyInstance&) = delete;
  PhyInstance& operator=(const PhyInstance&) = delete;

  // Control thread only: as BearerFollower::follow().
  bool follow_bearers(std::chrono::steady_clock::time_point now) { return follower_->follow(now); }
  // Stops the thread, and completes the capture; counters stay readable and are exact from then on.
  void stop();

  [[nodiscard]] std::size_t bearer_count() const { return follower_->size(); }
  Expected<BearerView> show_bearer(BearerId id);
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit);
  Expected<Json> stats();
  Expected<Json> set_loss(const LossPatch& patch);

 private:
  PhyInstance(const PhyProgramConfig& config, std::optional<datapath::Eal> eal)
      : config_(config), eal_(std::move(eal)) {}
  [[nodiscard]] Expected<void> open();
  [[nodiscard]] Expected<void> open_tun();
  [[nodiscard]] Expected<void> open_worker();
  [[nodiscard]] Expected<void> open_pdcp();
  [[nodiscard]] std::vector<BearerId> failed_bearers();

  const PhyProgramConfig config_;
  std::optional<datapath::Eal> eal_;
  Pool pool_;
  std::unique_ptr<ue::Tun> tun_;
  std::unique_ptr<ue::UeAddresses> addresses_;
  std::unique_ptr<phy::MacCapture> capture_;
  std::unique_ptr<phy::PhyWorker> worker_;
  std::optional<ue::FullChanges> changes_;
  std::optional<BearerFollower> follower_;
};

}  // namespace splitplane::app
