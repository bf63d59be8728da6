// The user plane of `splitplane explain`: the workers of a configuration with their bearers and the production
// pipelines, but no port and no thread. One packet goes in, and what happened to it comes out; numbers go on from
// packet to packet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "config/config.h"
#include "engine/eal.h"
#include "explain/card.h"
#include "explain/outcome.h"
#include "explain/worker.h"
#include "ran/bearer_store.h"
#include "gnb/datapath/dispatch.h"
#include "n3/path.h"
#include "runtime/resources.h"

namespace splitplane::app {

class ExplainPlane {
 public:
  // MAC addresses of next hops. A next hop that is not among them is not resolved.
  using Neighbors = std::map<IpAddress, MacAddress, datapath::IpLess>;
  // Starts DPDK in ordinary memory, without a privilege. `neighbors` absent: every next hop is resolved, with a MAC
  // address of zeros. Error: one sentence.
  static Expected<std::unique_ptr<ExplainPlane>> make(const Config& config,
                                                      const std::optional<Neighbors>& neighbors = std::nullopt);
  // The same with DPDK running. Without `eal` its owner is another object.
  static Expected<std::unique_ptr<ExplainPlane>> make_on(std::optional<datapath::Eal> eal, const Config& config,
                                                         const std::optional<Neighbors>& neighbors = std::nullopt);
  ~ExplainPlane();
  // `direction`: downlink is a frame from N3, uplink one from the air.
  Expected<Outcome> run(const Octets& frame, Direction direction);

 private:
  ExplainPlane(const Config& config, const std::optional<Neighbors>& neighbors, std::optional<datapath::Eal> eal)
      : config_(config), neighbors_(neighbors), eal_(std::move(eal)) {}
  [[nodiscard]] std::optional<MacAddress> mac_of(const N3Config& n3, const IpAddress& upf) const;
  Expected<void> make_workers();
  Expected<void> add_bearers();
  Expected<void> install(const ran::BearerConfig& bearer);
  Expected<void> make_dispatcher();
  Expected<void> make_cards();
  // True: the card sent it on, or dropped it. False: it goes to worker `w`.
  bool through_card(rte_mbuf*& m, Direction direction, ExplainWorker*& w, Outcome& outcome);
  void work_of_mate(ExplainWorker*& w, Direction direction, Outcome& outcome);
  Expected<void> back_through_card(const ExplainWorker& w, Outcome& outcome);
  [[nodiscard]] ExplainCard* card_before(const ExplainWorker& w);

  [[nodiscard]] ExplainWorker& port_of(const Octets& frame, Direction direction);
  ExplainWorker* dispatch(rte_mbuf* m, Direction direction, Outcome& outcome);
  void work(ExplainWorker& worker, rte_mbuf* m, Direction direction, Outcome& outcome);
  Expected<rte_mbuf*> packet(const Octets& frame);

  const Config& config_;
  std::optional<Neighbors> neighbors_;
  std::optional<datapath::Eal> eal_;
  Pool pool_;
  std::vector<std::unique_ptr<ExplainWorker>> workers_;
  std::vector<std::unique_ptr<ExplainCard>> cards_;
  std::unique_ptr<BearerStore> store_;
  const WorkerConfig* dispatcher_ = nullptr;
  datapath::DispatchContext dispatch_;
  std::vector<DpdkArray<std::byte>> dispatch_key_memory_;
  Ring dispatch_punt_;
};

}  // namespace splitplane::app
