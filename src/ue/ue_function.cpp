#include "ue/ue_function.h"

namespace splitplane::ue {

using datapath::Burst;
using datapath::kBurst;

unsigned UeQueue::receive_tun(Burst& burst) {
  burst.size = 0;
  while (burst.size < kBurst) {
    if (spare_ == nullptr) spare_ = rte_pktmbuf_alloc(pool_);
    if (spare_ == nullptr) [[unlikely]] {
      stats_->no_buffer.add(1);
      break;
    }
    const std::size_t bytes = tun_->read({datapath::octets(spare_), rte_pktmbuf_tailroom(spare_)});
    if (bytes == 0) break;
    spare_->data_len = static_cast<std::uint16_t>(bytes);
    spare_->pkt_len = static_cast<std::uint32_t>(bytes);
    burst.mbuf[burst.size++] = spare_;
    spare_ = nullptr;
  }
  return burst.size;
}

void UeFunction::from_air(Burst& burst) {
  std::array<UeBearer*, kBurst> polled;
  unsigned polls = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    UeOutcome outcome = UeOutcome::mbuf_segmented;
    if (m->nb_segs == 1) [[likely]] {
      const auto received = downlink_.receive({datapath::octets(m), m->data_len});
      outcome = deliver(received);
      if (received.status_due) polled[polls++] = received.bearer;
    }
    stats_.add_downlink(outcome);
  }
  rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  if (polls != 0) answer_polls({polled.data(), polls});
}

UeOutcome UeFunction::deliver(const UeDownlink::Received& received) {
  if (received.outcome != UeOutcome::ok) return received.outcome;
  const Tun::Write taken = tun_.write(received.packet);
  if (taken == Tun::Write::kTaken) [[likely]] {
    ++received.bearer->downlink.delivered;
    return UeOutcome::ok;
  }
  ++received.bearer->downlink.dropped;
  return taken == Tun::Write::kFull ? UeOutcome::tun_full : UeOutcome::tun_refused;
}

void UeFunction::from_tun(Burst& burst) {
  uplink_.set_room(arq_.has_room());
  std::array<UeBearer*, kBurst> bearer;
  std::array<rte_mbuf*, kBurst> lost;
  unsigned kept = 0, losses = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    const auto framed = frame(m);
    if (framed.outcome == UeOutcome::ok) [[likely]] {
      bearer[kept] = framed.bearer;
      burst.mbuf[kept++] = m;
    } else {
      stats_.add_uplink(framed.outcome);
      lost[losses++] = m;
    }
  }
  if (!arq_bearers_.empty()) keep({bearer.data(), kept}, {burst.mbuf.data(), kept});
  const unsigned sent = air_.send(burst.mbuf.data(), kept);
  worker_.transmitted_air.add(sent);
  for (unsigned i = 0; i < kept; ++i) {
    stats_.add_uplink(i < sent ? UeOutcome::ok : UeOutcome::tx_full);
    ++(i < sent ? bearer[i]->uplink.sent : bearer[i]->uplink.dropped);
  }
  rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, kept - sent);
  rte_pktmbuf_free_bulk(lost.data(), losses);
}

UeUplink::Framed UeFunction::frame(rte_mbuf* m) {
  const unsigned room = rte_pktmbuf_headroom(m);
  std::uint8_t* packet = datapath::octets(m);
  const auto framed = uplink_.frame({packet - room, room}, {packet, m->data_len});
  if (framed.outcome == UeOutcome::ok) {
    (void)datapath::reframe(m, 0, static_cast<unsigned>(framed.overhead_bytes),
                            static_cast<unsigned>(framed.packet_bytes));
  }
  return framed;
}

datapath::Arq::Settings UeFunction::arq_settings(const Ends& ends) {
  datapath::Arq::Settings settings{
      .sends = Direction::kUplink,
      .pool = ends.pool,
      // The air may hold two thirds of the buffers; the port and a burst of STATUS PDUs need some.
      .max_unacked = std::max<std::size_t>(256, rte_mempool_avail_count(ends.pool) / 8),
      .longest_frame = static_cast<unsigned>(ends.link.mtu + wire::ethernet::kHeaderBytes),
      .ticks_per_ms = rte_get_tsc_hz() / 1000,
      .now = rte_rdtsc()};
  wire::ethernet::write(settings.ethernet, ends.link.peer.octets, ends.link.ours.octets, wire::airhdr::kEtherType);
  return settings;
}

std::unique_ptr<datapath::ArqBearer> UeFunction::change(const BearerChange& change,
                                                        std::unique_ptr<datapath::ArqBearer> arq) {
  const BearerId id = change.config.id;
  if (change.kind == BearerChange::Kind::kUpdate) {
    bearers_.update(change.config);
    return arq;
  }
  if (change.kind == BearerChange::Kind::kReestablish) {
    bearers_.update(change.config);
    UeBearer* const bearer = bearers_.find(id);
    if (bearer == nullptr || bearer->arq == nullptr || bearer->arq->epoch == change.numbers.rlc_epoch) return arq;
    arq_.reestablish(*bearer->arq, change.numbers.rlc_epoch, rte_rdtsc());
    bearer->rlc_tx_next = bearer->arq->retx.next();
    return arq;
  }
  std::unique_ptr<datapath::ArqBearer> old;
  if (const auto at = arq_bearers_.find(id.value); at != arq_bearers_.end()) {
    old = std::move(at->second);
    arq_bearers_.erase(at);
    arq_.detach(*old);
  }
  if (change.kind == BearerChange::Kind::kRelease) {
    bearers_.release(id);
    return old;
  }
  bearers_.establish(change.config, change.numbers);
  bearers_.find(id)->arq = arq.get();
  if (arq) arq_bearers_.emplace(id.value, std::move(arq));
  return old;
}

std::vector<BearerId> UeFunction::failed() const {
  std::vector<BearerId> ids;
  for (const auto& [id, arq] : arq_bearers_) {
    if (arq->failed) ids.push_back(BearerId{id});
  }
  return ids;
}

void UeFunction::keep(std::span<UeBearer* const> bearers, std::span<rte_mbuf* const> frames) {
  std::array<datapath::ArqBearer*, kBurst> arq;
  for (std::size_t i = 0; i < frames.size(); ++i) arq[i] = bearers[i]->arq;
  arq_.poll_last({arq.data(), frames.size()}, frames, [&](std::size_t i) { bearers[i]->pdu_without_poll = 0; });
  const std::uint64_t now = rte_rdtsc();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (arq[i] == nullptr) continue;
    rte_mbuf_refcnt_update(frames[i], 1);
    arq_.keep(*arq[i], frames[i], now);
  }
}

void UeFunction::serve_acknowledged() {
  stats_.arq_status_stale.set(arq_.counters().status_stale);
  stats_.arq_status_malformed.set(arq_.counters().status_malformed);
  if (arq_.idle()) return;
  arq_.serve(
      rte_rdtsc(), air_.port.passes_mbufs, [this](rte_mbuf** mbufs, unsigned n) { return air_.send(mbufs, n); },
      [](datapath::ArqBearer&) {});
  const datapath::Arq::Counters& c = arq_.counters();
  worker_.transmitted_air.add(c.sent - stats_.arq_sent.get());
  stats_.arq_status.set(c.status_sent);
  stats_.arq_retransmitted.set(c.retransmitted);
  stats_.arq_sent.set(c.sent);
  stats_.arq_lost.set(c.lost);
  stats_.arq_max_retx.set(c.max_retx);
  stats_.arq_unacked.set(arq_.unacked());
}

// Sends one STATUS PDU for each poll.
void UeFunction::answer_polls(std::span<UeBearer* const> polled) {
  std::array<rte_mbuf*, kBurst> answers;
  unsigned n = 0;
  for (const UeBearer* bearer : polled) {
    rte_mbuf* m = rte_pktmbuf_alloc(pool_);
    if (m == nullptr) [[unlikely]]
      break;
    const std::size_t bytes = uplink_.write_status(*bearer, {datapath::octets(m), rte_pktmbuf_tailroom(m)});
    m->data_len = static_cast<std::uint16_t>(bytes);
    m->pkt_len = static_cast<std::uint32_t>(bytes);
    answers[n++] = m;
  }
  const unsigned sent = air_.send(answers.data(), n);
  for (unsigned i = 0; i < sent; ++i) ++polled[i]->downlink.status_sent;
  rte_pktmbuf_free_bulk(answers.data() + sent, n - sent);
  worker_.transmitted_air.add(sent);
  stats_.status_sent.add(sent);
  stats_.status_lost.add(polled.size() - sent);
}

}  // namespace splitplane::ue
