// A worker of `splitplane explain`: the production pipeline on the context of one gNB worker, which has no port and no
// thread. It works on one packet at a time.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "explain/outcome.h"
#include "gnb/control/worker.h"
#include "gnb/datapath/feature_set.h"
#include "gnb/datapath/trace.h"

namespace splitplane::app {

// The oldest packet of a ring; nullptr if it is empty.
[[nodiscard]] rte_mbuf* take_from(rte_ring* ring);
// The octets of a packet, over all its segments.
[[nodiscard]] Octets octets_of(rte_mbuf* m);
// The numbers of drops before a packet, and the reason of a drop since then.
using DropCounts = std::array<std::uint64_t, datapath::kDropReasonCount>;
[[nodiscard]] DropCounts drops_of(const datapath::WorkerStats& stats);
[[nodiscard]] std::optional<datapath::DropReason> reason_since(const DropCounts& before,
                                                               const datapath::WorkerStats& stats);
// What a packet left for the control thread, if it did.
[[nodiscard]] std::optional<Octets> take_punted(const datapath::Punts& punts);

class ExplainWorker {
 public:
  // `worker` has function gnb and is wired without ports; `n3` is its interface. Both must outlive this.
  ExplainWorker(gnb::WorkerRuntime& worker, const N3Config& n3);
  ExplainWorker(const ExplainWorker&) = delete;
  ExplainWorker& operator=(const ExplainWorker&) = delete;

  // Works on a packet, which it takes. `outcome` gets what happened to it; its bearer's configuration is not filled in.
  void work(rte_mbuf* m, Direction direction, Outcome& outcome);
  // A packet that another worker or a dispatcher gave to this one; nullptr if there is none.
  [[nodiscard]] rte_mbuf* take(Direction direction);
  [[nodiscard]] bool has_packets() const;

  [[nodiscard]] const WorkerConfig& config() const { return worker_.config; }
  [[nodiscard]] const N3Config& n3() const { return n3_; }
  [[nodiscard]] datapath::GnbContext& context() const { return *worker_.gnb; }

 private:
  // One frame that a pipeline sent, in the place of a port.
  struct Sent {
    const rte_mbuf* packet;  // which one it was
    Octets octets;
  };
  struct Sink;
  template <datapath::FeatureSet F>
  struct Pipelines;

  template <datapath::FeatureSet F>
  void use();

  gnb::WorkerRuntime& worker_;
  const N3Config& n3_;
  std::vector<Sent> air_, to_n3_;
  std::function<void(datapath::Burst&, Direction)> process_;
  std::function<const datapath::Trace&(Direction)> trace_;
};

}  // namespace splitplane::app
