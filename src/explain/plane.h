// The user plane of `splitplane explain`: the parts of a gNB as `splitplane run` wires them, with the production
// pipelines, but no port and no thread. One packet goes in, and what happened to it comes out; numbers go on from
// packet to packet.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/eal.h"
#include "explain/card.h"
#include "explain/outcome.h"
#include "explain/worker.h"
#include "gnb/control/parts.h"
#include "runtime/resources.h"

namespace splitplane::app {

class ExplainPlane {
 public:
  // MAC addresses of next hops. A next hop that is not among them is not resolved.
  using Neighbors = std::map<IpAddress, MacAddress, datapath::IpLess>;
  // Starts DPDK in ordinary memory, without a privilege. `neighbors` absent: every next hop is resolved, with a MAC
  // address of zeros. Error: one sentence.
  static Expected<std::unique_ptr<ExplainPlane>> make(const GnbConfig& config,
                                                      const std::optional<Neighbors>& neighbors = std::nullopt);
  // The same with DPDK running. Without `eal` its owner is another object.
  static Expected<std::unique_ptr<ExplainPlane>> make_on(std::optional<datapath::Eal> eal, const GnbConfig& config,
                                                         const std::optional<Neighbors>& neighbors = std::nullopt);
  ~ExplainPlane();
  // `direction`: downlink is a frame from N3, uplink one from the air.
  Expected<Outcome> run(const Octets& frame, Direction direction);

 private:
  ExplainPlane(const GnbConfig& config, std::optional<datapath::Eal> eal);
  Expected<void> build(const std::optional<Neighbors>& neighbors);
  void resolve_next_hops(const std::optional<Neighbors>& neighbors);
  Expected<void> make_cards();
  // True: the card sent it on, or dropped it. False: it goes to worker `w`.
  bool through_card(rte_mbuf*& m, Direction direction, ExplainWorker*& w, Outcome& outcome);
  void work_of_handed_off(ExplainWorker*& w, Direction direction, Outcome& outcome);
  Expected<void> back_through_card(const ExplainWorker& w, Outcome& outcome);
  [[nodiscard]] ExplainCard* card_before(const ExplainWorker& w);
  // Fills in what is known of the bearer with the packet's identity.
  void find_bearer(const ExplainWorker& w, Outcome& outcome) const;

  [[nodiscard]] ExplainWorker& port_of(const Octets& frame, Direction direction);
  ExplainWorker* dispatch(rte_mbuf* m, Direction direction, Outcome& outcome);
  void work(ExplainWorker& worker, rte_mbuf* m, Direction direction, Outcome& outcome);
  Expected<rte_mbuf*> packet(const Octets& frame);

  std::optional<datapath::Eal> eal_;
  Pool pool_;
  gnb::Parts parts_;
  std::vector<std::unique_ptr<ExplainWorker>> workers_;
  std::vector<std::unique_ptr<ExplainCard>> cards_;
  gnb::WorkerRuntime* dispatcher_ = nullptr;
};

}  // namespace splitplane::app
