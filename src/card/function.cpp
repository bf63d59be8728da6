#include "card/function.h"

namespace splitplane::nic {

CardFunction::CardFunction(Card& card, const std::vector<CardEndpoint>& endpoints, datapath::WorkerStats& stats)
    : card_(card), stats_(stats) {
  unsigned number = 0;
  for (const CardEndpoint& at : endpoints) queues_.push_back({{at}, number++});
}

void CardFunction::process(Queue& queue, datapath::Burst& burst) {
  card_.process(burst.mbuf.data(), burst.size, queue.number);
  // Frames of many queues for one port are sent in one burst by flush(). Full bursts are sent now.
  for (const std::uint16_t number : card_.pending()) {
    if (card_.out(number).mbufs.size() >= datapath::kBurst) send(number);
  }
}

void CardFunction::flush() {
  for (const std::uint16_t number : card_.pending()) send(number);
  card_.pending().clear();
}

void CardFunction::send(unsigned number) {
  std::vector<rte_mbuf*>& mbufs = card_.out(number).mbufs;
  const auto n = static_cast<unsigned>(mbufs.size());
  if (n == 0) return;  // sent before
  const unsigned sent = send_by(queues_[number].source.at, mbufs.data(), n);
  count_sent(stats_, number, sent);
  if (sent < n) [[unlikely]] {
    stats_.drop(datapath::DropReason::tx_full, n - sent);
    card_.count_tx_full(number, n - sent);
    rte_pktmbuf_free_bulk(mbufs.data() + sent, n - sent);
  }
  mbufs.clear();
}

}  // namespace splitplane::nic
