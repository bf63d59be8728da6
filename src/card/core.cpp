#include "card/core.h"

#include <rte_ring_elem.h>

#include <algorithm>

namespace splitplane::nic {

using datapath::Burst;
using datapath::kBurst;

unsigned OutputSource::receive(Burst& burst) {
  std::array<CoreOutput, kBurst> got;
  burst.size = rte_ring_sc_dequeue_burst_elem(ring, got.data(), kCoreOutputBytes, kBurst, nullptr);
  for (unsigned i = 0; i < burst.size; ++i) {
    burst.mbuf[i] = got[i].mbuf;
    ports[i] = static_cast<std::uint16_t>(got[i].port);
  }
  return burst.size;
}

CardCore::CardCore(Card& card, CardCoreSettings settings, datapath::WorkerStats& stats)
    : card_(card),
      settings_(std::move(settings)),
      for_core_(settings_.cores),
      stats_(stats),
      by_bearer_(card.program() == "gnb") {
  for (unsigned port = 0; port < settings_.endpoints.size(); ++port) {
    owners_.push_back(owner_of(port, settings_.cores));
    if (owners_.back() != settings_.self) continue;
    queues_.push_back({{source_of(settings_.endpoints[port])}, port});
  }
  for (const CoreLink& link : settings_.from) {
    if (link.frames == nullptr) continue;
    queues_.push_back({{datapath::RingSource{link.frames}}});
    queues_.push_back({{OutputSource{{link.outputs}}}});
  }
  handed_.reserve(8 * std::size_t{kBurst});
}

void CardCore::set_endpoint(unsigned number, const CardEndpoint& at) {
  settings_.endpoints.at(number) = at;
  for (Queue& queue : queues_) {
    if (auto* const port = std::get_if<CardSource>(&queue.kind); port != nullptr && queue.number == number)
      *port = source_of(at);
  }
}

void CardCore::process(Queue& queue, Burst& burst) {
  if (std::holds_alternative<CardSource>(queue.kind)) {
    deal_out(burst, queue.number);
  } else if (const auto* const outputs = std::get_if<OutputSource>(&queue.kind)) {
    counters_.outputs_taken += burst.size;
    for (unsigned i = 0; i < burst.size; ++i) card_.take_over(burst.mbuf[i], outputs->ports[i]);
  } else {
    counters_.frames_taken += burst.size;
    card_.run(burst.mbuf.data(), burst.size);
  }
  for (const std::uint16_t port : card_.pending()) {
    if (card_.out(port).mbufs.size() >= kBurst) send(port);
  }
}

// Frames of one bearer that have a key take one way from this port and stay in order. Frames without a key are for the
// host; they may overtake others or be overtaken.
void CardCore::deal_out(Burst& burst, unsigned port) {
  if (!by_bearer_) return card_.process(burst.mbuf.data(), burst.size, port, {burst.ahead, burst.ahead_size});
  const CardSide side = side_of(port);
  for (unsigned i = 0; i < burst.size; ++i) datapath::prefetch_octets(burst.mbuf[i]);
  unsigned own = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* const m = burst.mbuf[i];
    const std::uint32_t key = affinity_key(datapath::octets(m), m->data_len, side);
    const unsigned core = key == 0 ? settings_.self : core_of(key, settings_.cores);
    if (core == settings_.self) {
      burst.mbuf[own++] = m;
    } else {
      Burst& out = for_core_[core];
      out.mbuf[out.size++] = m;
    }
  }
  for (unsigned core = 0; core < settings_.cores; ++core) {
    if (for_core_[core].size != 0) hand_frames(core, for_core_[core], port);
  }
  if (own != 0) card_.process(burst.mbuf.data(), own, port);
}

void CardCore::hand_frames(unsigned core, Burst& frames, unsigned port) {
  const unsigned n = card_.prepare(frames.mbuf.data(), std::exchange(frames.size, 0), port);
  if (n == 0) return;
  const CoreLink& link = settings_.to[core];
  const unsigned taken = datapath::RingSink{link.frames}.send(frames.mbuf.data(), n);
  counters_.frames_handed += taken;
  stats_.dispatched.add(taken);
  if (link.reader != nullptr) link.reader->wake();
  if (taken == n) [[likely]]
    return;
  card_.count_core_full(n - taken);
  rte_pktmbuf_free_bulk(frames.mbuf.data() + taken, n - taken);
}

void CardCore::flush() {
  for (const std::uint16_t port : card_.pending()) send(port);
  card_.pending().clear();
}

void CardCore::send(unsigned port) {
  if (owners_[port] != settings_.self) return hand_outputs(port);
  counters_.sent += send_pending(card_, port, settings_.endpoints[port], stats_);
}

// A full ring counts as a full transmit queue.
void CardCore::hand_outputs(unsigned port) {
  if (card_.out(port).mbufs.empty()) return;  // sent before
  const CoreLink& link = settings_.to[owners_[port]];
  handed_.clear();
  for (rte_mbuf* m : card_.out(port).mbufs) handed_.push_back({m, port});
  const auto n = static_cast<unsigned>(handed_.size());
  const unsigned taken = rte_ring_sp_enqueue_burst_elem(link.outputs, handed_.data(), kCoreOutputBytes, n, nullptr);
  counters_.outputs_handed += taken;
  stats_.dispatched.add(taken);
  if (link.reader != nullptr) link.reader->wake();
  drop_unsent(card_, port, taken, stats_);
}

bool CardCore::take_rest() {
  Burst burst;
  bool any = false;
  for (Queue& queue : queues_) {
    if (std::holds_alternative<CardSource>(queue.kind)) continue;
    while (queue.receive(burst) != 0) {
      any = true;
      process(queue, burst);
    }
  }
  flush();
  return any;
}

}  // namespace splitplane::nic
