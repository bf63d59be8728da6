#include "nic/card_function.h"

namespace splitplane::nic {

CardFunction::CardFunction(Card& card, const std::vector<CardEndpoint>& endpoints, datapath::WorkerStats& stats)
    : card_(card), stats_(stats) {
  unsigned number = 0;
  for (const CardEndpoint& at : endpoints) queues_.push_back({{at}, number++});
}

void CardFunction::process(Queue& queue, datapath::Burst& burst) {
  card_.process(burst.mbuf.data(), burst.size, queue.number);
  // What many queues gave to one port goes out in flush(), in one burst; full ones go now.
  for (const std::uint16_t number : card_.pending()) {
    if (card_.out(number).mbufs.size() >= datapath::kBurst) send(number);
  }
}

void CardFunction::flush() {
  for (const std::uint16_t number : card_.pending()) send(number);
  card_.pending().clear();
}

void CardFunction::send(unsigned number) {
  const CardEndpoint& at = queues_[number].source.at;
  std::vector<rte_mbuf*>& mbufs = card_.out(number).mbufs;
  const auto n = static_cast<unsigned>(mbufs.size());
  if (n == 0) return;  // sent before
  unsigned sent;
  if (at.in == nullptr) {
    sent = datapath::EthSink{at.port, at.queue}.send(mbufs.data(), n);
  } else {
    sent = rte_ring_sp_enqueue_burst(at.out, reinterpret_cast<void* const*>(mbufs.data()), n, nullptr);
  }
  if (number == kN3Port) {
    stats_.transmitted_n3.add(sent);
  } else if (number == kAirPort) {
    stats_.transmitted_air.add(sent);
  } else {
    stats_.dispatched.add(sent);
  }
  if (sent < n) [[unlikely]] {
    stats_.drop(datapath::DropReason::tx_full, n - sent);
    card_.count_tx_full(number, n - sent);
    rte_pktmbuf_free_bulk(mbufs.data() + sent, n - sent);
  }
  mbufs.clear();
}

}  // namespace splitplane::nic
