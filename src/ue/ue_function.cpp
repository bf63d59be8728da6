#include "ue/ue_function.h"

#include <rte_cycles.h>

#include "ue/pdcp_counts.h"
#include "ue/pdcp_outcome.h"
#include "wire/sdap.h"

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
  std::array<rte_mbuf*, kBurst> done;
  unsigned polls = 0, free = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    UeOutcome outcome = UeOutcome::mbuf_segmented;
    if (m->nb_segs == 1) [[likely]] {
      const auto received = downlink_.receive({datapath::octets(m), m->data_len});
      if (received.status_due) polled[polls++] = received.bearer;
      if (received.is_protected) {
        (void)datapath::reframe(m, static_cast<unsigned>(received.packet.data() - datapath::octets(m)), 0,
                                static_cast<unsigned>(received.packet.size()));
        pdcp_->incoming.add(*received.bearer->secured, m);
        continue;
      }
      outcome = deliver(received);
    }
    stats_.add_downlink(outcome);
    done[free++] = m;
  }
  rte_pktmbuf_free_bulk(done.data(), free);
  if (pdcp_ && pdcp_->incoming.size != 0) receive_secured();
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

// What PDCP of a secured bearer delivers, in order.
void UeFunction::deliver_sdu(BearerId id, datapath::MbufBuffer sdu) {
  UeBearer& bearer = *bearers_.find(id);
  stats_.add_downlink(deliver(downlink_.receive_sdu(bearer, buf::octets(sdu))));
}

void UeFunction::receive_secured() {
  datapath::SecuredIncoming& incoming = pdcp_->incoming;
  pdcp_->receive(incoming, rte_rdtsc(),
                 [this](BearerId id, datapath::MbufBuffer sdu) { deliver_sdu(id, std::move(sdu)); });
  for (unsigned i = 0; i < incoming.size; ++i) {
    auto& item = incoming.item[i];
    if (item.outcome == ran::pdcp::RxOutcome::accepted) continue;
    ++bearers_.find(item.to->id())->downlink.dropped;
    stats_.add_downlink(refused_as(item.outcome));
    item.pdu.release();
  }
  incoming.size = 0;
  stats_.pdcp_held.set(pdcp_->held());
}

void UeFunction::serve_reordering() {
  if (pdcp_ == nullptr || pdcp_->idle()) return;
  pdcp_->serve(rte_rdtsc(), [this](BearerId id, datapath::MbufBuffer sdu) { deliver_sdu(id, std::move(sdu)); });
  stats_.pdcp_held.set(pdcp_->held());
}

// Protects what is collected, and puts the frames behind the first `kept` ones. Returns how many there are then.
unsigned UeFunction::send_secured(Burst& burst, std::array<UeBearer*, kBurst>& bearers, unsigned kept, Sent what) {
  datapath::SecuredOutgoing& outgoing = pdcp_->outgoing;
  pdcp_->protect(outgoing);
  for (unsigned i = 0; i < outgoing.size; ++i) {
    auto& item = outgoing.item[i];
    UeBearer& bearer = *bearers_.find(outgoing.bearer[i]->id);
    bearer.pdcp_tx_next = item.from->tx_next();
    UeOutcome outcome = item.outcome == ran::pdcp::TxOutcome::sent ? UeOutcome::ok : not_sent_as(item.outcome);
    rte_mbuf* const m = item.buffer.detach();
    if (outcome == UeOutcome::ok) {
      const unsigned room = rte_pktmbuf_headroom(m);
      const std::size_t lower = uplink_.write_lower(bearer, {datapath::octets(m) - room, room}, m->data_len);
      if (lower != 0) {
        (void)datapath::reframe(m, 0, static_cast<unsigned>(lower), m->data_len);
        bearers[kept] = &bearer;
        burst.mbuf[kept++] = m;
        continue;
      }
      outcome = UeOutcome::no_headroom;
    }
    if (what == Sent::kPackets) {
      ++bearer.uplink.dropped;
      stats_.add_uplink(outcome);
    }
    rte_pktmbuf_free(m);
  }
  outgoing.size = 0;
  return kept;
}

void UeFunction::from_tun(Burst& burst) {
  if (!sessions_.due.empty()) send_end_markers();  // before SDUs of their flows take another bearer
  uplink_.begin_burst(arq_.has_room(), rte_rdtsc());
  std::array<UeBearer*, kBurst> bearer;
  std::array<rte_mbuf*, kBurst> lost;
  unsigned kept = 0, losses = 0;
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* m = burst.mbuf[i];
    const auto framed = frame(m);
    if (framed.is_protected) {
      pdcp_->outgoing.add(*framed.bearer->secured, m);
    } else if (framed.outcome == UeOutcome::ok) [[likely]] {
      bearer[kept] = framed.bearer;
      burst.mbuf[kept++] = m;
    } else {
      stats_.add_uplink(framed.outcome);
      lost[losses++] = m;
    }
  }
  if (pdcp_ && pdcp_->outgoing.size != 0) kept = send_secured(burst, bearer, kept, Sent::kPackets);
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

// Makes the frame of an end marker. Returns false if it has to wait: no buffer is free, or the bearer's window is full.
// A bearer that can send nothing more needs no end marker.
bool UeFunction::collect_end_marker(const UeEndMarker& marker, Burst& burst, std::array<UeBearer*, kBurst>& bearers,
                                    unsigned& kept) {
  UeBearer* const bearer = bearers_.find(marker.bearer);
  if (bearer == nullptr) return true;
  rte_mbuf* const m = rte_pktmbuf_alloc(pool_);
  if (m == nullptr) return false;
  const unsigned room = rte_pktmbuf_headroom(m);
  const auto framed = uplink_.frame_end_marker(*bearer, {datapath::octets(m) - room, room}, marker.octet);
  if (framed.is_protected) {
    *datapath::reframe(m, 0, wire::sdap::kHeaderBytes, 0) = marker.octet;
    pdcp_->outgoing.add(*bearer->secured, m);
    return true;
  }
  if (framed.outcome != UeOutcome::ok) {
    rte_pktmbuf_free(m);
    return framed.outcome != UeOutcome::rlc_window_full;
  }
  (void)datapath::reframe(m, 0, static_cast<unsigned>(framed.overhead_bytes), 0);
  bearers[kept] = bearer;
  burst.mbuf[kept++] = m;
  return true;
}

void UeFunction::send_end_markers() {
  uplink_.begin_burst(arq_.has_room(), rte_rdtsc());
  Burst burst;
  std::array<UeBearer*, kBurst> bearer;
  unsigned kept = 0;
  UeEndMarkers& due = sessions_.due;
  std::size_t room = kBurst;
  std::erase_if(due, [&](const UeEndMarker& one) {  // one that has to wait holds up no other
    if (room == 0 || !collect_end_marker(one, burst, bearer, kept)) return false;
    --room;
    return true;
  });
  if (pdcp_ && pdcp_->outgoing.size != 0) kept = send_secured(burst, bearer, kept, Sent::kEndMarkers);
  if (kept == 0) return;
  if (!arq_bearers_.empty()) keep({bearer.data(), kept}, {burst.mbuf.data(), kept});
  const unsigned sent = air_.send(burst.mbuf.data(), kept);
  worker_.transmitted_air.add(sent);
  stats_.end_markers.add(sent);
  rte_pktmbuf_free_bulk(burst.mbuf.data() + sent, kept - sent);
}

UeUplink::Framed UeFunction::frame(rte_mbuf* m) {
  const unsigned room = rte_pktmbuf_headroom(m);
  std::uint8_t* packet = datapath::octets(m);
  const auto framed = uplink_.frame({packet - room, room}, {packet, m->data_len});
  if (framed.is_protected) {
    const unsigned sdap_bytes = framed.bearer->config.sdap_header_ul ? wire::sdap::kHeaderBytes : 0;
    std::uint8_t* const sdu = datapath::reframe(m, 0, sdap_bytes, static_cast<unsigned>(framed.packet_bytes));
    if (sdap_bytes != 0) *sdu = framed.sdap;
    return framed;
  }
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

UeEntities UeFunction::take_out(BearerId id) {
  UeEntities old;
  if (const auto at = arq_bearers_.find(id.value); at != arq_bearers_.end()) {
    old.arq = std::move(at->second);
    arq_bearers_.erase(at);
    arq_.detach(*old.arq);
  }
  if (const auto at = secured_bearers_.find(id.value); at != secured_bearers_.end()) {
    old.secured = std::move(at->second);
    secured_bearers_.erase(at);
  }
  return old;
}

// Both entities go on with other keys. Where the gNB has begun COUNTs anew, this side does, too.
UeEntities UeFunction::rekey(const BearerChange& change, UeEntities fresh) {
  UeBearer* const bearer = bearers_.find(change.config.id);
  if (bearer == nullptr || bearer->secured == nullptr || !fresh.keys) return fresh;
  datapath::SecuredBearer& secured = *bearer->secured;
  const Numbers& gnb = change.numbers;
  fresh.used_before = {secured.entity.tx().tx_next(), secured.entity.rx().rx_next()};
  fresh.keys->epoch = gnb.rlc_epoch;
  fresh.keys->peer_has_them = true;  // its epoch says so
  // Keys that this side had before, which the gNB should not have chosen: their COUNTs are never used again.
  const bool had_them = fresh.keys->first.tx_next != 0 || fresh.keys->first.rx_next != 0;
  fresh.keys->begins_anew =
      had_them || bearer->arq == nullptr || !datapath::goes_on(secured, gnb.pdcp_downlink, gnb.pdcp_uplink);
  const datapath::RekeyEnd end{*pdcp_, secured, &arq_, bearer->arq};
  fresh.keys_refused = datapath::rekey(end, *fresh.keys, rte_rdtsc()) != ran::pdcp::Refusal::kNone;
  if (fresh.keys_refused) return fresh;
  bearers_.update(change.config);
  bearer->pdcp_tx_next = secured.entity.tx().tx_next();
  bearer->rlc_tx_next = bearer->arq == nullptr ? 0 : bearer->arq->next();
  bearer->pdu_without_poll = 0;
  fresh.was_rekeyed = true;
  return fresh;
}

UeEntities UeFunction::change(const BearerChange& change, UeEntities fresh) {
  const BearerId id = change.config.id;
  if (change.kind == BearerChange::Kind::kUpdate || change.kind == BearerChange::Kind::kReestablish) {
    bearers_.update(change.config);
    UeBearer* const bearer = bearers_.find(id);
    if (bearer != nullptr) sessions_.follow(*bearer, change.session);
    if (change.kind == BearerChange::Kind::kUpdate) return fresh;
    if (bearer != nullptr && bearer->secured != nullptr) bearer->secured->epoch = change.numbers.rlc_epoch;
    if (bearer == nullptr || bearer->arq == nullptr || bearer->arq->epoch == change.numbers.rlc_epoch) return fresh;
    arq_.reestablish(*bearer->arq, change.numbers.rlc_epoch, rte_rdtsc());
    bearer->rlc_tx_next = bearer->arq->next();
    return fresh;
  }
  if (change.kind == BearerChange::Kind::kRekey) {
    fresh = rekey(change, std::move(fresh));
    // The same list may bring other rules. An end marker that they ask for has the new keys.
    if (fresh.was_rekeyed) sessions_.follow(*bearers_.find(id), change.session);
    return fresh;
  }
  UeEntities old = take_out(id);
  UeBearer* const before = bearers_.find(id);
  if (old.secured) {
    if (fresh.secured) go_on(*fresh.secured, *old.secured);
    const std::uint64_t held = pdcp_->detach(*old.secured);
    if (before != nullptr) before->downlink.dropped += held;
    stats_.downlink[static_cast<std::size_t>(UeOutcome::pdcp_released)].add(held);
    stats_.pdcp_held.set(pdcp_->held());
  }
  if (change.kind == BearerChange::Kind::kRelease) {
    if (before != nullptr) sessions_.leave(*before);
    bearers_.release(id);
    return old;
  }
  bearers_.establish(change.config, change.numbers);
  UeBearer& bearer = *bearers_.find(id);
  bearer.arq = fresh.arq.get();
  bearer.secured = fresh.secured.get();
  sessions_.join(bearer, change.session);
  if (fresh.secured) fresh.secured->epoch = fresh.arq ? fresh.arq->epoch : change.numbers.rlc_epoch;
  if (fresh.secured) bearer.pdcp_tx_next = fresh.secured->entity.tx().tx_next();
  if (fresh.arq) arq_bearers_.emplace(id.value, std::move(fresh.arq));
  if (fresh.secured) secured_bearers_.emplace(id.value, std::move(fresh.secured));
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
