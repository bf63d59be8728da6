// One of several cores of a card. It alone receives from and sends to its ports, and it alone serves its bearers. A
// frame for a bearer of another core goes to that core before the program sees it. A frame that the program sends to
// another core's port goes there afterwards. Each way is a single-producer, single-consumer ring.
#pragma once

#include <array>
#include <vector>

#include "card/affinity.h"
#include "card/function.h"
#include "card/output_ring.h"
#include "engine/wakeup.h"

namespace splitplane::nic {

// The rings from one core to another.
struct CoreLink {
  rte_ring* frames = nullptr;   // prepared for the program: the intrinsic header stands in front
  rte_ring* outputs = nullptr;  // the objects are CoreOutput
  datapath::Wakeup* reader = nullptr;
};

// The core that has a port of a card. VFs are dealt out in turn; N3 and the air are as far apart as possible.
[[nodiscard]] constexpr unsigned owner_of(unsigned port, unsigned cores) {
  if (port < kFirstVf) return port == kN3Port ? 0 : cores - 1;
  return (port - kFirstVf) % cores;
}

struct CardCoreSettings {
  unsigned self = 0, cores = 2;
  std::vector<CardEndpoint> endpoints;  // of all ports; this core does not touch those of other cores
  std::vector<CoreLink> to, from;       // by core; the place of this core is empty
};

// At the end of each round: received + clones = sent + handed off + dropped + clones sunk.
struct CardCoreCounters {
  std::uint64_t frames_taken = 0, outputs_taken = 0;    // from other cores
  std::uint64_t frames_handed = 0, outputs_handed = 0;  // to other cores
  std::uint64_t sent = 0;                               // by its own ports
};

// The ring from another core for frames that its program sent to a port of this core.
struct OutputSource : datapath::RingSource {
  std::array<std::uint16_t, datapath::kBurst> ports{};  // of each frame of the burst

  unsigned receive(datapath::Burst& burst);
  unsigned take_left(datapath::Burst& burst) { return receive(burst); }
};

class CardCore {
 public:
  // A port of this core, or a ring from another core: for the program, or for ports.
  struct Queue : datapath::AnySource<CardSource, datapath::RingSource, OutputSource> {
    unsigned number = 0;  // of the card's port
  };

  CardCore(Card& card, CardCoreSettings settings, datapath::WorkerStats& stats);

  std::vector<Queue>& queues() { return queues_; }
  void process(Queue& queue, datapath::Burst& burst);
  // Once per round: sends the frames that the program gave to the ports, or passes them to the cores that have the
  // ports.
  void flush();
  // On the loop's thread, between two rounds: the card's port `number` is `at` from now on, whichever core has it.
  void set_endpoint(unsigned number, const CardEndpoint& at);
  // When no core runs any more: takes what is on the rings. Returns false if they were empty.
  bool take_rest();
  [[nodiscard]] const CardCoreCounters& counters() const { return counters_; }

 private:
  void deal_out(datapath::Burst& burst, unsigned port);
  void hand_frames(unsigned core, datapath::Burst& frames, unsigned port);
  void hand_outputs(unsigned port);
  void send(unsigned port);

  Card& card_;
  CardCoreSettings settings_;
  std::vector<Queue> queues_;
  std::vector<datapath::Burst> for_core_;
  std::vector<CoreOutput> handed_;
  datapath::WorkerStats& stats_;
  CardCoreCounters counters_;
  std::vector<unsigned> owners_;  // by port: the core that has it
  bool by_bearer_;                // the program has bearers, so frames go to the cores of their bearers
};

}  // namespace splitplane::nic
