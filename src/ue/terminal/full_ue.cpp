#include "ue/terminal/full_ue.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ue/pdcp_counts.h"
#include "ue/pdcp_outcome.h"
#include "ue/ue_view.h"
#include "wire/sdap.h"

namespace splitplane::ue {
namespace {

constexpr std::size_t kNoMtu = 0xffff;  // RLC segments; what PDCP refuses is shorter

std::uint64_t sum_of(const std::array<Counter, kUeOutcomeCount>& outcomes) {
  return std::accumulate(outcomes.begin(), outcomes.end(), std::uint64_t{0},
                         [](std::uint64_t n, const Counter& one) { return n + one.get(); });
}

}  // namespace

FullUe::FullUe(const Settings& settings)
    : settings_(settings),
      sessions_(kRuleLifetimeMs * settings.radio.rlc.ticks_per_ms),
      downlink_(bearers_, sessions_.due),
      uplink_(bearers_, {.ours = {}, .peer = {}, .mtu = kNoMtu}),
      now_(settings.radio.rlc.now),
      cell_(settings.radio, *this) {
  if (settings.tun != nullptr) tun_queue_.emplace(*settings.tun, settings.radio.rlc.pool, stats_);
}

TerminalCell::Parts FullUe::make_radio(const BearerChange& change) {
  return cell_.make(change.config, change.radio->lcid);
}

void FullUe::take(std::span<RlcSdu> sdus) {
  for (RlcSdu& one : sdus) {
    UeBearer& bearer = *one.from->bearer;
    ++bearer.downlink.received;
    if (bearer.secured != nullptr) [[likely]] {
      pdcp_->incoming.add(*bearer.secured, one.sdu.detach());
      continue;
    }
    ++bearer.downlink.dropped;
    stats_.add_downlink(UeOutcome::pdcp_no_keys);
    one.sdu.release();
  }
  if (pdcp_ != nullptr && pdcp_->incoming.size != 0) receive_secured();
}

void FullUe::receive_secured() {
  datapath::SecuredIncoming& incoming = pdcp_->incoming;
  pdcp_->receive(incoming, now_, [this](BearerId id, const MbufBuffer& sdu) { deliver(id, sdu); });
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

void FullUe::serve_reordering() {
  if (pdcp_ == nullptr || pdcp_->idle()) return;
  pdcp_->serve(now_, [this](BearerId id, const MbufBuffer& sdu) { deliver(id, sdu); });
  stats_.pdcp_held.set(pdcp_->held());
}

// What PDCP delivers, in order.
void FullUe::deliver(BearerId id, const MbufBuffer& sdu) {
  stats_.add_downlink(hand_up(downlink_.receive_sdu(*bearers_.find(id), buf::octets(sdu))));
}

UeOutcome FullUe::hand_up(const UeDownlink::Received& received) {
  if (received.outcome != UeOutcome::ok) return received.outcome;
  UeBearer& bearer = *received.bearer;
  if (!bearer.channel->terminal->uses_tun) {
    ++bearer.downlink.delivered;
    return UeOutcome::sunk;
  }
  const Tun::Write taken = settings_.tun->write(received.packet);
  if (taken == Tun::Write::kTaken) [[likely]] {
    ++bearer.downlink.delivered;
    return UeOutcome::ok;
  }
  ++bearer.downlink.dropped;
  return taken == Tun::Write::kFull ? UeOutcome::tun_full : UeOutcome::tun_refused;
}

void FullUe::send(datapath::Burst& burst) {
  if (!sessions_.due.empty()) send_end_markers();  // before SDUs of their flows take another bearer
  from_tun_.add(burst.size);
  const bool has_room = cell_.has_room();
  uplink_.begin_burst(has_room, now_);
  for (unsigned i = 0; i < burst.size; ++i) {
    rte_mbuf* const m = burst.mbuf[i];
    const unsigned room = rte_pktmbuf_headroom(m);
    const auto framed = uplink_.frame({datapath::octets(m) - room, room}, {datapath::octets(m), m->data_len});
    UeOutcome outcome = framed.outcome;
    if (framed.is_protected) {
      outcome = has_room ? collect(*framed.bearer, m, framed.sdap, framed.packet_bytes) : UeOutcome::rlc_window_full;
      if (outcome == UeOutcome::ok) continue;
      ++framed.bearer->uplink.dropped;
    }
    stats_.add_uplink(outcome);
    rte_pktmbuf_free(m);
  }
  burst.size = 0;
  if (pdcp_ != nullptr && pdcp_->outgoing.size != 0) send_collected(Sent::kPackets);
}

// SDUs of this burst that are collected already count when they get their COUNTs.
UeOutcome FullUe::collect(UeBearer& bearer, rte_mbuf* m, std::uint8_t sdap, std::size_t packet_bytes) {
  if (bearer.channel->room() == 0) return UeOutcome::rlc_window_full;
  const unsigned sdap_bytes = bearer.config.sdap_header_ul ? wire::sdap::kHeaderBytes : 0;
  std::uint8_t* const sdu = datapath::reframe(m, 0, sdap_bytes, static_cast<unsigned>(packet_bytes));
  if (sdu == nullptr) return UeOutcome::no_headroom;
  if (sdap_bytes != 0) *sdu = sdap;
  bearer.secured->entity.tx().set_credit(
      {.sdus = bearer.channel->room(), .octets = std::numeric_limits<std::uint64_t>::max()});
  pdcp_->outgoing.add(*bearer.secured, m);
  return UeOutcome::ok;
}

void FullUe::send_collected(Sent what) {
  datapath::SecuredOutgoing& outgoing = pdcp_->outgoing;
  pdcp_->protect(outgoing);
  for (unsigned i = 0; i < outgoing.size; ++i) {
    auto& item = outgoing.item[i];
    UeBearer& bearer = *bearers_.find(outgoing.bearer[i]->id);
    bearer.pdcp_tx_next = item.from->tx_next();
    UeOutcome outcome = item.outcome == ran::pdcp::TxOutcome::sent ? UeOutcome::ok : not_sent_as(item.outcome);
    if (outcome == UeOutcome::ok && !cell_.send(*bearer.channel, item.buffer)) outcome = UeOutcome::rlc_no_memory;
    item.buffer.release();
    if (what == Sent::kEndMarkers) {
      stats_.end_markers.add(outcome == UeOutcome::ok ? 1 : 0);
      continue;
    }
    ++(outcome == UeOutcome::ok ? bearer.uplink.sent : bearer.uplink.dropped);
    stats_.add_uplink(outcome);
  }
  outgoing.size = 0;
}

// Returns false if it has to wait: no buffer is free, or RLC of the bearer has no room. A bearer that can send nothing
// more needs no end marker.
bool FullUe::collect_end_marker(const UeEndMarker& marker) {
  UeBearer* const bearer = bearers_.find(marker.bearer);
  if (bearer == nullptr || bearer->secured == nullptr) return true;
  rte_mbuf* const m = rte_pktmbuf_alloc(settings_.radio.rlc.pool);
  if (m == nullptr) return false;
  const UeOutcome outcome = collect(*bearer, m, marker.octet, 0);
  if (outcome == UeOutcome::ok) return true;
  rte_pktmbuf_free(m);
  return outcome != UeOutcome::rlc_window_full;
}

void FullUe::send_end_markers() {
  if (!cell_.has_room()) return;
  std::size_t room = datapath::kBurst;
  std::erase_if(sessions_.due, [&](const UeEndMarker& one) {  // one that has to wait holds up no other
    if (room == 0 || !collect_end_marker(one)) return false;
    --room;
    return true;
  });
  if (pdcp_ != nullptr && pdcp_->outgoing.size != 0) send_collected(Sent::kEndMarkers);
}

unsigned FullUe::serve(Time now) {
  now_ = now;
  cell_.serve(now);
  serve_reordering();
  if (!sessions_.due.empty()) send_end_markers();
  unsigned packets = 0;
  datapath::Burst burst;
  for (unsigned bursts = 0; tun_queue_ && bursts < kTunBursts && cell_.has_room(); ++bursts) {
    const unsigned size = tun_queue_->receive(burst);
    if (size != 0) send(burst);
    packets += size;
    if (size < datapath::kBurst) break;
  }
  return packets;
}

Time FullUe::next_work(Time now) const {
  const Time next = cell_.next_work(now);
  return pdcp_ == nullptr ? next : std::min(next, pdcp_->next_work());
}

FullUe::Entities FullUe::change(const BearerChange& change, Entities fresh) {
  cell_.flush();  // SDUs that came before
  switch (change.kind) {
    case BearerChange::Kind::kEstablish:
      return establish(change, std::move(fresh));
    case BearerChange::Kind::kRelease:
      return release(change);
    case BearerChange::Kind::kUpdate:
    case BearerChange::Kind::kReestablish:
      update(change, fresh);
      break;
    case BearerChange::Kind::kRekey:
      break;
  }
  return fresh;
}

FullUe::Entities FullUe::take_out(BearerId id) {
  Entities old;
  if (TerminalChannel* const channel = cell_.find(id); channel != nullptr) {
    old.uses_tun = channel->terminal->uses_tun;
    channel->bearer->channel = nullptr;
    cell_.detach(id, old.radio);
    if (old.radio.terminal && old.uses_tun) --tun_users_;
  }
  if (const auto at = secured_.find(id); at != secured_.end()) {
    old.secured = std::move(at->second);
    secured_.erase(at);
  }
  return old;
}

void FullUe::end_pdcp(BearerId id, datapath::SecuredBearer& secured) {
  const std::uint64_t held = pdcp_->detach(secured);
  if (UeBearer* const bearer = bearers_.find(id); bearer != nullptr) bearer->downlink.dropped += held;
  stats_.downlink[static_cast<std::size_t>(UeOutcome::pdcp_released)].add(held);
  stats_.pdcp_held.set(pdcp_->held());
}

FullUe::Entities FullUe::establish(const BearerChange& change, Entities fresh) {
  const BearerId id = change.config.id;
  Entities old = take_out(id);
  if (old.secured) {
    if (fresh.secured) go_on(*fresh.secured, *old.secured);
    end_pdcp(id, *old.secured);
  }
  bearers_.establish(change.config, change.numbers);
  UeBearer& bearer = *bearers_.find(id);
  bearer.secured = nullptr;
  const std::uint32_t ue = change.session ? change.session->teid.value : id.value;
  if (!cell_.attach(ue, change.radio->rnti, bearer, fresh.radio)) {
    sessions_.leave(bearer);
    bearers_.release(id);
    old.refused = true;
    return old;
  }
  bearer.channel = cell_.find(id);
  bearer.channel->epoch = change.numbers.rlc_epoch;
  Terminal& terminal = *bearer.channel->terminal;
  // A UE that comes again stays what it was, because its address is or is not that of the TUN device.
  if (terminal.channels().size() == 1) {
    const bool has_place = settings_.tun != nullptr && tun_users_ < settings_.tun_ues;
    terminal.uses_tun = old.radio.terminal ? old.uses_tun : has_place;
    tun_users_ += terminal.uses_tun ? 1 : 0;
  }
  old.uses_tun |= terminal.uses_tun;
  sessions_.join(bearer, change.session);
  if (!fresh.secured) return old;
  bearer.secured = fresh.secured.get();
  bearer.secured->epoch = change.numbers.rlc_epoch;
  bearer.pdcp_tx_next = bearer.secured->entity.tx().tx_next();
  secured_[id] = std::move(fresh.secured);
  return old;
}

FullUe::Entities FullUe::release(const BearerChange& change) {
  const BearerId id = change.config.id;
  Entities old = take_out(id);
  if (old.secured) end_pdcp(id, *old.secured);
  if (UeBearer* const bearer = bearers_.find(id); bearer != nullptr) sessions_.leave(*bearer);
  bearers_.release(id);
  return old;
}

// A bearer that goes on. Another C-RNTI is for the whole UE: its MAC begins anew, and so does RLC of the bearer whose
// epoch is another one. PDCP goes on in any case.
void FullUe::update(const BearerChange& change, Entities& told) {
  if (!bearers_.update(change.config)) return;
  UeBearer& bearer = *bearers_.find(change.config.id);
  sessions_.follow(bearer, change.session);
  TerminalChannel& channel = *bearer.channel;
  Terminal& terminal = *channel.terminal;
  told.uses_tun = terminal.uses_tun;
  channel.set_poll_pdu(change.config.poll_pdu);
  const bool begins_anew = change.kind == BearerChange::Kind::kReestablish && channel.epoch != change.numbers.rlc_epoch;
  if (begins_anew) {
    cell_.reestablish(channel, change.numbers.rlc_epoch);
    if (bearer.secured != nullptr) bearer.secured->epoch = change.numbers.rlc_epoch;
  }
  if (change.radio && change.radio->rnti != terminal.rnti()) {
    cell_.move(terminal, change.radio->rnti);
  } else if (begins_anew) {
    terminal.reset(now_);
  }
}

std::vector<BearerId> FullUe::failed() const {
  std::vector<BearerId> ids;
  bearers_.for_each([&](const UeBearer& bearer) {
    if (bearer.channel != nullptr && bearer.channel->has_failed()) ids.push_back(bearer.config.id);
  });
  return ids;
}

app::BearerView FullUe::view(const UeBearer& bearer) const {
  app::BearerView view = view_of(bearer);
  if (bearer.channel == nullptr) return view;
  const Terminal& terminal = *bearer.channel->terminal;
  view.rlc = bearer.channel->view();
  view.rlc->rnti = terminal.rnti();
  const ran::mac::MuxCounters sent = terminal.sent();
  view.rlc->mac.blocks_sent = sent.blocks;
  view.rlc->mac.octets_sent = sent.octets;
  view.rlc->mac.padding_octets_sent = sent.padding_octets;
  view.rlc->mac.blocks_received = terminal.received().blocks;
  view.rlc->mac.octets_received = terminal.received().octets;
  view.rlc_tx_next = view.rlc->tx_next;
  view.rlc_rx_next = view.rlc->rx_next;
  return view;
}

std::optional<app::BearerView> FullUe::show(BearerId id) {
  const UeBearer* const bearer = bearers_.find(id);
  if (bearer == nullptr) return std::nullopt;
  app::BearerView shown = view(*bearer);
  if (bearer->session != nullptr) shown.session_flows = bearer->session->flows();
  return shown;
}

std::vector<app::BearerView> FullUe::list(BearerId after, std::size_t limit) const {
  std::vector<app::BearerView> page;
  for (const UeBearer& bearer : bearers_.after(after, limit)) page.push_back(view(bearer));
  return page;
}

bool FullUe::balanced() const {
  return cell_.stats().balanced() && sum_of(stats_.uplink) == from_tun_.get() &&
         sum_of(stats_.downlink) + stats_.pdcp_held.get() == cell_.stats().sdus.get();
}

}  // namespace splitplane::ue
