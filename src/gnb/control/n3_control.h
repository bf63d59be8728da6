// The control thread's share of N3. Workers hand frames over (punts): ARP and neighbor discovery are answered, and tell
// where UPFs and gateways are; of GTP-U it does path and tunnel management (TS 29.281 7.2 and 7.3), Echo in both
// directions, Error Indication, End Marker and Supported Extension Headers Notification.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "gnb/control/cards.h"
#include "gnb/control/control_lock.h"
#include "gnb/control/peer_table.h"
#include "gnb/control/uplinks.h"
#include "gnb/control/workers.h"
#include "n3/message.h"
#include "observe/observation.h"
#include "ran/bearer_store.h"

namespace splitplane::gnb {

class N3Control {
 public:
  N3Control(const BearerStore& store, Workers& workers, PeerTable& peers, Cards& cards, Uplinks& uplinks)
      : store_(store), workers_(workers), peers_(peers), cards_(cards), uplinks_(uplinks) {}

  // One turn of the control thread.
  void serve(const Locked& locked, Time now);
  // A bearer goes to a UPF whose MAC address is not known: it is asked for in the next turn.
  void ask_soon(const Locked& /*locked*/) { next_question_ = next_hops_ = {}; }
  // A TEID that was released stays without an answer for a while: packets for it are still on their way.
  void remember_released(const Locked& locked, const WorkerRuntime& worker, BearerId id);

  [[nodiscard]] std::vector<N3Observation> observe(const Locked& locked) const;
  [[nodiscard]] nlohmann::json peer_rows(const Locked& locked) const;
  [[nodiscard]] nlohmann::json gtpu_rows(const Locked& locked) const;

 private:
  static constexpr unsigned kPuntsPerTurn = 32;  // of each class

  void drain_punts(const Locked& locked, WorkerRuntime& worker, rte_ring* punts);
  bool inject(N3Interface& n3, std::span<const std::uint8_t> frame);  // false: no room, the frame is dropped
  // Neighbors.
  void take_event(const Locked& locked, N3Interface& n3, const datapath::NeighborTable::Event& event, Time now);
  bool tell(const Locked& locked, N3Interface& n3, const IpAddress& hop, const std::optional<MacAddress>& mac);
  void serve_neighbors(const Locked& locked, N3Interface& n3, Time now);
  // GTP-U.
  void handle_gtpu(const Locked& locked, N3Interface& n3, std::span<const std::uint8_t> frame);
  void answer_extension(N3Interface& n3, const datapath::N3Message& message, Time now);
  void answer_unknown_teid(N3Interface& n3, const datapath::N3Message& gpdu, Time now);
  void serve_paths(const Locked& locked, Time now);
  void forget_released(N3Interface& n3, Time now);
  [[nodiscard]] static std::vector<PathObservation> observe_paths(const N3Interface& n3);

  const BearerStore& store_;
  Workers& workers_;
  PeerTable& peers_;
  Cards& cards_;
  Uplinks& uplinks_;
  Time next_question_{}, next_hops_{};  // to next hops; for those that have traffic
  Time next_look_{};                    // for UPFs to supervise
};

}  // namespace splitplane::gnb
