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

// Receives from an endpoint.
struct CardSource {
  CardEndpoint at;

  unsigned receive(datapath::Burst& burst) {
    if (at.in != nullptr) return datapath::RingSource{at.in}.receive(burst);
    if (at.port != kNoDevice) [[likely]]
      return datapath::EthSource{at.port, at.queue}.receive(burst);
    return burst.size = 0;
  }
  [[nodiscard]] int waiting() const {
    if (at.in != nullptr) return datapath::RingSource{at.in}.waiting();
    return at.port != kNoDevice ? datapath::EthSource{at.port, at.queue}.waiting() : 0;
  }
  [[nodiscard]] unsigned entries() const {
    if (at.in != nullptr) return datapath::RingSource{at.in}.entries();
    return at.port != kNoDevice ? datapath::EthSource{at.port, at.queue}.entries() : datapath::kUnknownEntries;
  }
  // A VF without a host wakes no worker and need not be polled. Connecting a host wakes the loop.
  [[nodiscard]] datapath::WakeSource wake_source() const {
    if (at.in != nullptr || at.port == kNoDevice) return {datapath::WakeSource::Kind::ring};
    return {datapath::WakeSource::Kind::port, at.port, at.queue};
  }
};

// Returns how many frames the endpoint took.
[[nodiscard]] inline unsigned send_by(const CardEndpoint& at, rte_mbuf** mbufs, unsigned n) {
  if (at.in != nullptr) return rte_ring_sp_enqueue_burst(at.out, reinterpret_cast<void* const*>(mbufs), n, nullptr);
  return at.port != kNoDevice ? datapath::EthSink{at.port, at.queue}.send(mbufs, n) : 0;
}

inline void count_sent(datapath::WorkerStats& stats, unsigned port, unsigned frames) {
  if (port == kN3Port) {
    stats.transmitted_n3.add(frames);
  } else if (port == kAirPort) {
    stats.transmitted_air.add(frames);
  } else {
    stats.transmitted_vf.add(frames);
  }
}

class CardFunction {
 public:
  struct Queue {
    CardSource source;
    unsigned number = 0;  // number of the card's port

    unsigned receive(datapath::Burst& burst) { return source.receive(burst); }
    unsigned take_left(datapath::Burst& burst) {
      burst.size = 0;
      return source.at.in != nullptr ? source.receive(burst) : 0;
    }
    [[nodiscard]] int waiting() const { return source.waiting(); }
    [[nodiscard]] unsigned entries() const { return source.entries(); }
    [[nodiscard]] datapath::WakeSource wake_source() const { return source.wake_source(); }
  };

  // `endpoints`: of N3, air, VF 0 and so on, as many as the card has ports.
  CardFunction(Card& card, const std::vector<CardEndpoint>& endpoints, datapath::WorkerStats& stats);

  std::vector<Queue>& queues() { return queues_; }
  void process(Queue& queue, datapath::Burst& burst);
  // Once per round: sends the frames that the pipeline gave to the ports.
  void flush();
  // On the loop's thread, between two rounds: the card's port `number` is `at` from now on.
  void set_endpoint(unsigned number, const CardEndpoint& at) { queues_.at(number).source.at = at; }

 private:
  void send(unsigned number);

  Card& card_;
  std::vector<Queue> queues_;
  datapath::WorkerStats& stats_;
};

}  // namespace splitplane::nic
