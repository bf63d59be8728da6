// What an instance is made of before a packet flows: pools, ports, rings and the memory of bearers, and the workers'
// contexts and loops that are wired to them. It owns what DPDK lends; workers and peers are the instance's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baas/shared.h"
#include "engine/port.h"
#include "gnb/control/contexts.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/workers.h"
#include "runtime/port_watch.h"
#include "runtime/resources.h"

namespace splitplane::gnb {

// Shards that some gnb worker serves, and how many bearers fit each.
[[nodiscard]] std::vector<ShardId> owned_shards(const GnbConfig& config);
[[nodiscard]] std::uint32_t bearers_per_shard(const GnbConfig& config);

using Ports = std::map<std::string, std::unique_ptr<datapath::Port>>;  // by name

class Wiring {
 public:
  explicit Wiring(const GnbConfig& config) : config_(config) {}

  // Opens the ports and wires the workers to them, all but their loops. Error: one sentence.
  Expected<void> make(Workers& workers, PeerTable& peers);
  // The same without ports: workers see those of the configuration, and take buffers from `pool`. make_loops() is not
  // for such workers.
  Expected<void> make_without_ports(Workers& workers, PeerTable& peers, rte_mempool* pool);
  // After workers have all that a loop is made from, their ways to the journal among it.
  void make_loops(const Workers& workers);

  [[nodiscard]] const Ports& ports() const { return ports_; }
  // What is shared with the buffering service; nullptr: no worker uses it.
  [[nodiscard]] baas::Shared* service_memory() const { return service_memory_; }
  // A service polls the rings until it sees that this process has ended: they stay until then.
  void keep_message_rings() {
    for (baas::MessageRing& ring : message_rings_) (void)ring.release();
    message_rings_.clear();
  }
  // Those whose link may be looked at.
  [[nodiscard]] std::vector<WatchedPort> watched_ports() const;

 private:
  // What workers need of a port: one of a device, or only of the configuration.
  struct PortEnd {
    PortFacts facts;
    rte_mempool* pool = nullptr;
  };

  Expected<void> open_ports();
  Expected<void> wire(Workers& workers, PeerTable& peers);
  Expected<void> make_pdcp(const Workers& workers);
  Expected<void> share_with_service(const Workers& workers);
  Expected<void> make_arq(WorkerRuntime& worker, datapath::GnbContext& gnb);
  void make_cell(const WorkerRuntime& worker, datapath::GnbContext& gnb) const;
  Expected<void> make_gnb(WorkerRuntime& worker, PeerTable& peers);
  void share_reorder_buffers(const Workers& workers);
  void connect_copies(const Workers& workers);
  Expected<void> make_bearer_memory(const Workers& workers);
  Expected<void> connect_dispatchers(const Workers& workers);
  Expected<void> connect_punt_handoff(const Workers& workers);
  Expected<void> make_key_tables(const Workers& workers);

  Expected<rte_ring*> make_ring(const std::string& name, unsigned entries);
  Expected<datapath::WorkerRings> make_worker_rings(WorkerRuntime& worker, const std::string& name, unsigned entries);
  Expected<void> make_punts(datapath::Punts& punts, const std::string& worker);
  [[nodiscard]] datapath::EthSink sink(WorkerRuntime& worker, const std::string& port, std::uint16_t queue) const;
  [[nodiscard]] datapath::EthSource source(WorkerRuntime& worker, const std::string& port, std::uint16_t queue) const;
  [[nodiscard]] datapath::WorkerLoop make_loop(WorkerRuntime& worker, const Workers& workers) const;

  const GnbConfig& config_;
  std::map<std::string, Pool> pools_;  // by port
  Ports ports_;
  std::map<std::string, PortEnd> port_ends_;  // by port
  std::vector<Ring> rings_;
  std::vector<baas::MessageRing> message_rings_;
  std::vector<const WorkerRuntime*> service_workers_;  // in the order of their numbers at the service
  baas::Shared* service_memory_ = nullptr;
  DpdkArray<ran::BearerDownlink> downlink_;
  DpdkArray<ran::BearerUplink> uplink_;
  DpdkArray<ran::BearerDrops> drops_;
  DpdkArray<ran::CountLease> lease_lines_;
};

}  // namespace splitplane::gnb
