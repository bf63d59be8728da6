// The running card of one instance, behind `splitplane card`: DPDK, ports, a P4 program on one core or several, and the
// control socket's way to its tables. Everything that touches a core's program is done on that core's thread.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "card/config/config.h"
#include "card/control/loops.h"
#include "card/control/ports.h"
#include "card/control/report.h"
#include "card/control/vf_connections.h"
#include "card/protocol/bearer.h"
#include "card/protocol/methods.h"
#include "engine/eal.h"
#include "observe/observation.h"
#include "placement/numa_plan.h"
#include "power/settings.h"

namespace splitplane::app {

class CardPlane {
 public:
  // Builds everything and starts the card's loop, with empty tables. Error: one sentence; whatever was begun is undone.
  [[nodiscard]] static Expected<std::unique_ptr<CardPlane>> start(const CardConfig& config);
  // The same with DPDK running: an lcore for each core of the card. Without `eal` its owner is another object.
  [[nodiscard]] static Expected<std::unique_ptr<CardPlane>> start_on(std::optional<datapath::Eal> eal,
                                                                     const CardConfig& config);
  ~CardPlane() { stop(); }
  CardPlane(const CardPlane&) = delete;
  CardPlane& operator=(const CardPlane&) = delete;

  // Ends the loops; counters stay readable and are exact from then on.
  void stop();
  [[nodiscard]] const std::string& program() const { return program_; }
  // After stop(): a thread still waits for a host that hangs, so that the process must end without taking it down.
  [[nodiscard]] bool stuck() const { return vfs_.stuck(); }
  // What the metrics endpoint shows.
  [[nodiscard]] Expected<Observation> observe();

  Expected<nlohmann::json> stats();
  Expected<nlohmann::json> show_power();
  Expected<nlohmann::json> set_power(const std::string& worker, const power::Settings& settings);
  Expected<nlohmann::json> show_card();
  Expected<void> install_on_card(std::span<const nic::CardBearer> bearers, bool restart);
  Expected<void> remove_from_card(std::span<const BearerId> ids);
  Expected<void> set_card_peer(const nic::CardPeer& peer);
  Expected<void> unset_card_peer(unsigned number);
  Expected<void> set_card_marks(const nic::CardMarks& tos);
  Expected<void> set_leases(std::span<const nic::CardLease> leases);
  Expected<void> begin_on_card(std::span<const nic::CardBeginning> bearers);
  Expected<FencedByCard> fence_card(std::span<const BearerId> ids, std::uint64_t token);
  Expected<std::vector<nic::BearerNumbers>> card_numbers(std::span<const BearerId> ids);
  Expected<std::vector<nic::BearerNumbers>> card_numbers_after(std::uint32_t after, std::size_t limit);

 private:
  CardPlane(const CardConfig& config, std::optional<datapath::Eal> eal);

  [[nodiscard]] Expected<void> make_cards(const PlacementPlan& plan);
  [[nodiscard]] Expected<void> set_wires(nic::Card& card);
  [[nodiscard]] Expected<CardSeen> look();
  [[nodiscard]] std::vector<PortObservation> observe_ports(const nic::CardCounters& counters);

  std::mutex mutex_;  // control side only: the control server's thread, the metrics endpoint's, the VFs'
  CardConfig config_;
  std::optional<datapath::Eal> eal_;
  std::string boot_;     // of this run of the process, so that a host notices another
  std::string program_;  // "gnb-clone"
  std::string source_hash_;
  CardPorts ports_;
  CardLoops loops_;
  VfConnections vfs_;
};

}  // namespace splitplane::app
