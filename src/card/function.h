// A card as a worker's function. Frames that its ports receive go through the card's pipeline; frames that the pipeline
// gives to a port are sent there. A port is a queue of a device or, within one process, a pair of rings.
#pragma once

#include <rte_ring.h>

#include <vector>

#include "card/card.h"
#include "engine/endpoints.h"

namespace splitplane::nic {

// A VF whose host is absent: it receives no frames and takes none.
inline constexpr std::uint16_t kNoDevice = UINT16_MAX;

// Both ends of one port of a card.
struct CardEndpoint {
  // A port's queue pair, or kNoDevice...
  std::uint16_t port = 0, queue = 0;
  // ...or rings, single producer, single consumer: from the port to the card and back.
  rte_ring* in = nullptr;
  rte_ring* out = nullptr;
};

// A VF whose host is absent: it receives nothing. It wakes no worker, because connecting a host wakes the loop.
struct NoSource {
  static unsigned receive(datapath::Burst& burst) { return burst.size = 0; }
  static unsigned take_left(datapath::Burst& burst) { return burst.size = 0; }
  [[nodiscard]] static int waiting() { return 0; }
  [[nodiscard]] static unsigned entries() { return datapath::kUnknownEntries; }
  [[nodiscard]] static datapath::WakeSource wake_source() { return {datapath::WakeSource::Kind::ring}; }
};

using CardSource = datapath::AnySource<datapath::EthSource, datapath::RingSource, NoSource>;
[[nodiscard]] inline CardSource source_of(const CardEndpoint& at) {
  if (at.in != nullptr) return {datapath::RingSource{at.in}};
  if (at.port == kNoDevice) return {NoSource{}};
  return {datapath::EthSource{at.port, at.queue}};
}

// Drops what a full endpoint, or a full ring to one, left of the frames for a port.
void drop_unsent(Card& card, unsigned number, unsigned sent, datapath::WorkerStats& stats);
// Sends the frames that the pipeline gave to a port; returns how many the endpoint took.
unsigned send_pending(Card& card, unsigned number, const CardEndpoint& at, datapath::WorkerStats& stats);

class CardFunction {
 public:
  struct Queue : CardSource {
    unsigned number = 0;  // number of the card's port
  };

  // `endpoints`: of N3, air, VF 0 and so on, as many as the card has ports.
  CardFunction(Card& card, const std::vector<CardEndpoint>& endpoints, datapath::WorkerStats& stats);

  std::vector<Queue>& queues() { return queues_; }
  void process(Queue& queue, datapath::Burst& burst);
  // Once per round: sends the frames that the pipeline gave to the ports.
  void flush();
  // On the loop's thread, between two rounds: the card's port `number` is `at` from now on.
  void set_endpoint(unsigned number, const CardEndpoint& at);

 private:
  void send(unsigned number);

  Card& card_;
  std::vector<CardEndpoint> endpoints_;
  std::vector<Queue> queues_;
  datapath::WorkerStats& stats_;
};

}  // namespace splitplane::nic
