#include "card/function.h"

namespace splitplane::nic {
namespace {

unsigned send_by(const CardEndpoint& at, rte_mbuf** mbufs, unsigned n) {
  if (at.in != nullptr) return datapath::RingSink{at.out}.send(mbufs, n);
  return at.port != kNoDevice ? datapath::EthSink{at.port, at.queue}.send(mbufs, n) : 0;
}

void count_sent(datapath::WorkerStats& stats, unsigned port, unsigned frames) {
  if (port == kN3Port) {
    stats.transmitted_n3.add(frames);
  } else if (port == kAirPort) {
    stats.transmitted_air.add(frames);
  } else {
    stats.transmitted_vf.add(frames);
  }
}

}  // namespace

void drop_unsent(Card& card, unsigned number, unsigned sent, datapath::WorkerStats& stats) {
  std::vector<rte_mbuf*>& mbufs = card.out(number).mbufs;
  if (const auto n = static_cast<unsigned>(mbufs.size()) - sent; n != 0) [[unlikely]] {
    stats.drop(datapath::DropReason::tx_full, n);
    card.count_tx_full(number, n);
    rte_pktmbuf_free_bulk(mbufs.data() + sent, n);
  }
  mbufs.clear();
}

unsigned send_pending(Card& card, unsigned number, const CardEndpoint& at, datapath::WorkerStats& stats) {
  std::vector<rte_mbuf*>& mbufs = card.out(number).mbufs;
  if (mbufs.empty()) return 0;  // sent before
  const unsigned sent = send_by(at, mbufs.data(), static_cast<unsigned>(mbufs.size()));
  count_sent(stats, number, sent);
  drop_unsent(card, number, sent, stats);
  return sent;
}

CardFunction::CardFunction(Card& card, const std::vector<CardEndpoint>& endpoints, datapath::WorkerStats& stats)
    : card_(card), endpoints_(endpoints), stats_(stats) {
  unsigned number = 0;
  for (const CardEndpoint& at : endpoints) queues_.push_back({source_of(at), number++});
}

void CardFunction::set_endpoint(unsigned number, const CardEndpoint& at) {
  endpoints_.at(number) = at;
  queues_[number].kind = source_of(at).kind;
}

void CardFunction::process(Queue& queue, datapath::Burst& burst) {
  card_.process(burst.mbuf.data(), burst.size, queue.number, {burst.ahead, burst.ahead_size});
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
  send_pending(card_, number, endpoints_[number], stats_);
}

}  // namespace splitplane::nic
