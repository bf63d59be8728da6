// The running card of one instance, behind `splitplane nic`: DPDK, ports, a P4 program on one core or several, and the
// control socket's way to its tables. Everything that touches a core's program is done on that core's thread.
#pragma once

#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "card/control/loop.h"
#include "card/control/sums.h"
#include "card/control/vf_keeper.h"
#include "card/cores.h"
#include "card/protocol/bearer.h"
#include "config/config.h"
#include "engine/eal.h"
#include "engine/port.h"
#include "observe/observation.h"
#include "placement/numa_plan.h"
#include "power/settings.h"
#include "runtime/loop_power.h"
#include "runtime/resources.h"

namespace splitplane::app {

// Between two cores of a card: what goes to a port.
struct FreeOutputRing {
  void operator()(rte_ring* ring) const;
};
using OutputRing = std::unique_ptr<rte_ring, FreeOutputRing>;

// Of a port that had several devices, one after the other.
void add(datapath::PortCounters& sum, const datapath::PortCounters& more);

class CardPlane {
 public:
  // Builds everything and starts the card's loop, with empty tables. Error: one sentence; whatever was begun is undone.
  [[nodiscard]] static Expected<std::unique_ptr<CardPlane>> start(const Config& config);
  ~CardPlane() { stop(); }
  CardPlane(const CardPlane&) = delete;
  CardPlane& operator=(const CardPlane&) = delete;

  // Ends the loops; counters stay readable and are exact from then on.
  void stop();
  [[nodiscard]] const std::string& program() const { return program_; }
  // After stop(): a thread still waits for a host that hangs, so that the process must end without taking it down.
  [[nodiscard]] bool stuck() const { return stuck_; }
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
  Expected<void> set_leases(std::span<const nic::CardLease> leases);
  Expected<std::vector<nic::BearerNumbers>> card_numbers(std::span<const BearerId> ids);
  Expected<std::vector<nic::BearerNumbers>> card_numbers_after(std::uint32_t after, std::size_t limit);

 private:
  CardPlane(const Config& config, datapath::Eal eal);

  // instance.cpp
  [[nodiscard]] Expected<void> open_ports(const PlacementPlan& plan);
  [[nodiscard]] Expected<std::unique_ptr<datapath::Port>> open_port(const PortConfig& config);
  [[nodiscard]] Expected<void> make_cards(const PlacementPlan& plan);
  [[nodiscard]] Expected<void> set_wires(nic::Card& card);
  [[nodiscard]] unsigned first_vf(const std::string& port) const;
  // loops.cpp
  [[nodiscard]] Expected<void> make_endpoints();
  [[nodiscard]] Expected<void> make_functions();
  [[nodiscard]] Expected<void> launch();
  [[nodiscard]] bool execute(unsigned core, const std::function<void()>& command);
  [[nodiscard]] LoopPower power_of(unsigned core);

  // requests.cpp
  struct Seen {
    std::vector<CoreCounts> cores;
    std::vector<WorkerObservation> workers;  // their loops
    nic::CardCounters card;                  // over all cores
    CardSums totals;
    std::size_t bearers = 0, serves = 0;
  };
  [[nodiscard]] Expected<Seen> look();
  [[nodiscard]] std::vector<PortObservation> observe_ports(const nic::CardCounters& counters);

  // vfs.cpp
  [[nodiscard]] std::vector<VfKeeper::Vf> kept_vfs() const;
  void keep_vfs();
  void start_vf_thread();
  void stop_vf_thread();
  void on_all_loops(const std::function<void(CardLoop&)>& change);
  void use_device(const std::string& port, std::uint16_t id);
  [[nodiscard]] Expected<void> connect_vf(const std::string& port);
  [[nodiscard]] bool is_vf_up(const std::string& port) const;
  void disconnect_vf(const std::string& port);

  std::mutex mutex_;  // control side only: the control server's thread, the metrics endpoint's, the VFs'
  Config config_;
  CardConfig& settings_;  // of config_
  datapath::Eal eal_;
  std::string boot_;     // of this run of the process, so that a host notices another
  std::string program_;  // "gnb-clone"
  std::string source_hash_;
  Pool pool_;
  std::map<std::string, std::unique_ptr<datapath::Port>> ports_;  // those of VFs whose host is there among them
  std::map<std::string, datapath::PortCounters> earlier_;         // of devices that VFs had before
  std::vector<Ring> rings_;  // both ends of a side that is not connected; frames between cores
  std::vector<OutputRing> output_rings_;
  std::vector<nic::CardEndpoint> endpoints_;
  std::vector<std::string> endpoint_ports_;  // of each, the port's name; empty: not connected
  std::vector<std::string> port_names_;      // N3, air, VF 0..., as people read them; empty: not connected
  std::deque<CardLoop> loops_;               // by core
  std::optional<nic::CardCores> cards_;
  std::atomic<bool> stop_{false};
  std::optional<VfKeeper> vf_keeper_;
  std::thread vf_thread_;
  std::future<void> vf_end_;
  std::atomic<bool> vf_stop_{false};
  bool stuck_ = false;
};

}  // namespace splitplane::app
