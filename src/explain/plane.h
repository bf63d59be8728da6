// The user plane of `splitplane explain`: the workers of a configuration with their bearers and the production
// pipelines, but no port and no thread. One packet goes in, and what happened to it comes out; numbers go on from
// packet to packet.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "engine/eal.h"
#include "explain/card.h"
#include "gnb/control/bearer_store.h"
#include "gnb/datapath/context.h"
#include "gnb/datapath/dispatch.h"
#include "gnb/datapath/trace.h"
#include "n3/path.h"
#include "runtime/resources.h"

namespace splitplane::app {

using Octets = std::vector<std::uint8_t>;

// What the pipeline did with one packet.
struct Outcome {
  std::string worker, dispatcher;  // who worked on it; dispatcher: empty without one
  datapath::Trace trace;
  std::optional<datapath::DropReason> dropped;
  std::optional<Octets> punted;               // the frame that went to the control thread
  bool rlc_control = false;                   // went to the consumer of copies
  std::optional<CardPassage> card;            // what a card did with the packet as it came
  std::optional<Octets> by_card;              // the frame as the card itself sent it, if it did
  bool returned = false;                      // an SDU that a card numbers: back to it, in to_n3
  std::size_t copies = 0;                     // references to it that the consumer of copies got
  std::vector<Octets> to_air, to_n3;          // frames, as they left: with what had waited for its order
  std::optional<std::size_t> own_in_air;      // the packet's own among to_air
  const ran::BearerConfig* bearer = nullptr;  // nullptr: none was found
  const N3Config* n3 = nullptr;               // of that worker
};

struct SentFrame {
  const rte_mbuf* packet;  // which one it was
  Octets octets;
};

class ExplainPlane {
 public:
  // MAC addresses of next hops. A next hop that is not among them is not resolved.
  using Neighbors = std::map<IpAddress, MacAddress, datapath::IpLess>;
  // Starts DPDK in ordinary memory, without a privilege. `neighbors` absent: every next hop is resolved, with a MAC
  // address of zeros. Error: one sentence.
  static Expected<std::unique_ptr<ExplainPlane>> make(const Config& config,
                                                      const std::optional<Neighbors>& neighbors = std::nullopt);
  ~ExplainPlane();
  // `direction`: downlink is a frame from N3, uplink one from the air.
  Expected<Outcome> run(const Octets& frame, Direction direction);

 private:
  using Frames = std::vector<SentFrame>;
  struct Worker {
    const WorkerConfig* config = nullptr;
    const N3Config* n3 = nullptr;
    datapath::GnbContext context;
    Ring copies, punt, downlink, uplink;
    std::vector<ran::BearerDownlink> downlink_lines;
    std::vector<ran::BearerUplink> uplink_lines;
    std::vector<ran::BearerLosses> losses;
    std::vector<DpdkArray<std::byte>> key_memory;
    std::vector<IpAddress> upfs;
    Frames air, to_n3;
    std::function<void(datapath::Burst&, Direction)> process;
    std::function<const datapath::Trace&(Direction)> trace;
  };
  ExplainPlane(const Config& config, const std::optional<Neighbors>& neighbors, datapath::Eal eal)
      : config_(config), neighbors_(neighbors), eal_(std::move(eal)) {}
  [[nodiscard]] std::optional<MacAddress> mac_of(const N3Config& n3, const IpAddress& upf) const;
  Expected<void> make_workers();
  Expected<void> add_bearers();
  Expected<void> install(const ran::BearerConfig& bearer);
  Expected<void> make_dispatcher();
  // plane_card.cpp
  Expected<void> make_cards();
  // True: the card sent it on, or dropped it. False: it goes to worker `w`.
  bool through_card(rte_mbuf*& m, Direction direction, Worker*& w, Outcome& outcome);
  void work_of_mate(Worker*& w, Direction direction, Outcome& outcome);
  Expected<void> back_through_card(const Worker& w, Outcome& outcome);
  [[nodiscard]] ExplainCard* card_before(const Worker& w);

  [[nodiscard]] Worker& port_of(const Octets& frame, Direction direction);
  Worker* dispatch(rte_mbuf* m, Direction direction, Outcome& outcome);
  void work(Worker& worker, rte_mbuf* m, Direction direction, Outcome& outcome);
  Expected<rte_mbuf*> packet(const Octets& frame);

  const Config& config_;
  std::optional<Neighbors> neighbors_;
  datapath::Eal eal_;
  Pool pool_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<ExplainCard>> cards_;
  std::unique_ptr<BearerStore> store_;
  const WorkerConfig* dispatcher_ = nullptr;
  datapath::DispatchContext dispatch_;
  std::vector<DpdkArray<std::byte>> dispatch_key_memory_;
  Ring dispatch_punt_;
};

}  // namespace splitplane::app
