// The running user plane of one instance: DPDK, ports, workers and bearers, built from a configuration and taken down
// in order. Control requests are carried out on the workers' own threads.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/bearer_store.h"
#include "app/config.h"
#include "app/control_backend.h"
#include "app/observation.h"
#include "app/resources.h"
#include "app/worker_runtime.h"
#include "datapath/eal.h"
#include "datapath/neighbor.h"
#include "datapath/port.h"

namespace splitplane::app {

class UserPlane : public ControlBackend {
 public:
  // Builds everything and starts the workers. Error: one sentence; whatever was begun is undone.
  static Expected<std::unique_ptr<UserPlane>> start(const Config& config);
  ~UserPlane() override;  // stops the workers if they still run
  UserPlane(const UserPlane&) = delete;
  UserPlane& operator=(const UserPlane&) = delete;

  // One turn of the control thread: answers ARP and neighbour discovery, and asks for UPFs that are not resolved.
  void serve_neighbors(std::chrono::steady_clock::time_point now);
  // Stops the workers; counters stay readable and are exact from then on.
  void stop_workers();

  Expected<ran::BearerConfig> add_bearer(const ran::BearerConfig& config, std::optional<unsigned> shard) override;
  Expected<ran::BearerConfig> modify_bearer(BearerId id, const BearerPatch& patch) override;
  Expected<bool> release_bearer(BearerId id) override;
  Expected<BearerView> show_bearer(BearerId id) override;
  Expected<std::vector<BearerView>> list_bearers(std::uint32_t after, std::size_t limit) override;
  Expected<nlohmann::json> stats() override;
  [[nodiscard]] Observation observe();
  [[nodiscard]] std::size_t bearer_count();

 private:
  UserPlane(Config config, datapath::Eal eal) : config_(std::move(config)), eal_(std::move(eal)) {}

  // user_plane.cpp: construction
  Expected<void> open_ports();
  Expected<void> make_workers();
  Expected<void> make_gnb(WorkerRuntime& worker);
  Expected<void> connect_dispatchers();
  void connect_copies();
  Expected<void> make_bearer_memory();
  Expected<void> make_loops();
  Expected<void> add_configured_bearers();
  Expected<void> launch();
  Expected<rte_ring*> make_ring(const std::string& name, unsigned entries);
  [[nodiscard]] datapath::EthSink sink(const std::string& port, std::uint16_t queue) const;
  [[nodiscard]] std::vector<datapath::Dispatch::Queue> dispatch_queues(const WorkerConfig& worker) const;

  // user_plane_bearers.cpp: bearers on their workers
  [[nodiscard]] WorkerRuntime* owner_of(std::uint32_t id);
  Expected<PeerId> peer_on(WorkerRuntime& worker, const IpAddress& upf);
  void leave_peer(WorkerRuntime& worker, const IpAddress& upf);
  // `modified`: the bearer is there already, and its numbers go on.
  Expected<void> install(const ran::BearerConfig& config, bool modified);
  Expected<std::vector<BearerView>> read_views(const std::vector<ran::BearerConfig>& bearers);

  // user_plane_neighbors.cpp
  struct N3Runtime {
    N3Config config;
    datapath::OwnAddresses own;
    std::vector<WorkerRuntime*> workers;                       // gnb workers that send on this port
    std::map<std::array<std::uint8_t, 17>, MacAddress> known;  // next hops that answered
  };
  [[nodiscard]] N3Runtime* n3_of(const WorkerRuntime& worker);
  [[nodiscard]] static IpAddress next_hop(const N3Runtime& n3, const IpAddress& upf);
  [[nodiscard]] std::optional<MacAddress> mac_of(const N3Runtime& n3, const IpAddress& upf) const;
  void take_news(N3Runtime& n3, const datapath::NeighborNews& news);
  void ask_for_unresolved(N3Runtime& n3);
  void inject(N3Runtime& n3, std::span<const std::uint8_t> frame);
  static constexpr unsigned kPuntsPerTurn = 64;
  void drain_punts(WorkerRuntime& worker, rte_ring* punts);

  // user_plane_stats.cpp
  [[nodiscard]] PortObservation observe_port(const PortConfig& port);
  [[nodiscard]] Expected<WorkerObservation> observe_worker(WorkerRuntime& worker);

  std::mutex mutex_;  // control side only: the control server's thread and the control thread
  Config config_;
  datapath::Eal eal_;
  std::map<std::string, Pool> pools_;  // by port
  std::map<std::string, std::unique_ptr<datapath::Port>> ports_;
  std::vector<Ring> rings_;
  DpdkArray<ran::BearerDownlink> downlink_;
  DpdkArray<ran::BearerUplink> uplink_;
  DpdkArray<ran::BearerLosses> losses_;
  std::uint32_t bearers_per_shard_ = 0;
  std::unique_ptr<BearerStore> store_;
  std::vector<std::unique_ptr<WorkerRuntime>> workers_;
  std::vector<N3Runtime> n3_;
  std::chrono::steady_clock::time_point next_question_{};
};

}  // namespace splitplane::app
