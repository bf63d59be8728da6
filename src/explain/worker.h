// A worker of `splitplane explain`: the production pipeline of one worker of the configuration, with its rings and
// lines of bearers, but no port and no thread. It works on one packet at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "explain/outcome.h"
#include "gnb/control/contexts.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/dispatch.h"
#include "gnb/datapath/trace.h"
#include "runtime/resources.h"

namespace splitplane::app {

// A ring for few packets; of one thread.
[[nodiscard]] Expected<Ring> make_explain_ring(const std::string& name);
// The oldest packet of a ring; nullptr if it is empty.
[[nodiscard]] rte_mbuf* take_from(const Ring& ring);
// The octets of a packet, over all its segments.
[[nodiscard]] Octets octets_of(rte_mbuf* m);
// The numbers of drops before a packet, and the reason of a drop since then.
using DropCounts = std::array<std::uint64_t, datapath::kDropReasonCount>;
[[nodiscard]] DropCounts drops_of(const datapath::WorkerStats& stats);
[[nodiscard]] std::optional<datapath::DropReason> reason_since(const DropCounts& before,
                                                               const datapath::WorkerStats& stats);
// What the configuration says of a port. No card sets flags here: checksums that it would verify are verified.
[[nodiscard]] PortFacts facts_of(const Config& config, const std::string& name);

class ExplainWorker {
 public:
  // `all`, of which `config` is a worker with function gnb, and `pool` must outlive this. Error: one sentence.
  static Expected<std::unique_ptr<ExplainWorker>> make(const Config& all, const WorkerConfig& config,
                                                       rte_mempool* pool);
  ExplainWorker(const ExplainWorker&) = delete;
  ExplainWorker& operator=(const ExplainWorker&) = delete;

  // Makes the lines of the bearers of its shards, before any install().
  void make_lines(std::uint32_t per_shard);
  [[nodiscard]] Expected<void> make_keys(std::size_t teids, std::size_t bearers);
  // The worker's number of a UPF. A new UPF has the MAC address that `mac_of` returns for it.
  [[nodiscard]] Expected<PeerId> peer_of(const IpAddress& upf,
                                         const std::function<std::optional<MacAddress>(const IpAddress&)>& mac_of);

  // Works on a packet, which it takes. `outcome` gets what happened to it; its bearer's configuration is not filled in.
  void work(rte_mbuf* m, Direction direction, Outcome& outcome);
  // A packet that another worker or a dispatcher gave to this one; nullptr if there is none.
  [[nodiscard]] rte_mbuf* take(Direction direction);
  [[nodiscard]] bool has_packets() const;

  [[nodiscard]] const WorkerConfig& config() const { return config_; }
  [[nodiscard]] const N3Config& n3() const { return n3_; }
  [[nodiscard]] datapath::GnbContext& context() { return context_; }
  [[nodiscard]] const datapath::GnbContext& context() const { return context_; }
  [[nodiscard]] datapath::WorkerRings rings() const { return {downlink_.get(), uplink_.get()}; }

 private:
  // One frame that a pipeline sent, in the place of a port.
  struct Sent {
    const rte_mbuf* packet;  // which one it was
    Octets octets;
  };
  struct Sink;
  template <datapath::FeatureSet F>
  struct Pipelines;

  ExplainWorker(const Config& all, const WorkerConfig& config);
  template <datapath::FeatureSet F>
  void use();

  const Config& all_;
  const WorkerConfig& config_;
  const N3Config& n3_;
  datapath::GnbContext context_;
  Ring copies_, punt_, downlink_, uplink_;
  std::vector<ran::BearerDownlink> downlink_lines_;
  std::vector<ran::BearerUplink> uplink_lines_;
  std::vector<ran::BearerLosses> losses_;
  std::vector<DpdkArray<std::byte>> key_memory_;
  std::vector<IpAddress> upfs_;
  std::vector<Sent> air_, to_n3_;
  std::function<void(datapath::Burst&, Direction)> process_;
  std::function<const datapath::Trace&(Direction)> trace_;
};

}  // namespace splitplane::app
