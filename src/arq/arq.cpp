#include "arq/arq.h"

#include "wire/rlc.h"
#include "wire/rlc_status.h"

namespace splitplane::datapath {
namespace {

using ran::rlc::Received;
using ran::rlc::StatusResult;

// Enough pages for one SDU a page, up to a limit: bearers that send share pages of 64.
ran::rlc::MemorySizes memory_for(const Arq::Settings& settings) {
  const std::size_t pages = 64 + settings.max_unacked / 8;
  return {.sent_pages = settings.service.empty() ? pages + kBurst : 0,
          .received_pages = pages,
          .queue_pages = 0,
          .directories = 2 * pages + 4 * kBurst,
          .segments = 0,
          .assemblies = 0,
          .intervals = 1024};
}

std::unique_ptr<ran::ecn::Marker> make_marker(const ran::BearerConfig& bearer, std::uint64_t ticks_per_ms) {
  const ran::EcnConfig& ecn = *bearer.ecn;
  const ran::ArqConfig& arq = bearer.arq;
  const auto ticks = [ticks_per_ms](std::uint64_t us) { return us * ticks_per_ms / 1000; };
  // The longest that a peer without a queue is silent: one poll was lost, or one PDU is missing.
  const unsigned patience_ms = arq.t_status_prohibit_ms + std::max(arq.t_reassembly_ms, arq.t_poll_retransmit_ms);
  return std::make_unique<ran::ecn::Marker>(
      ran::ecn::Marker::Settings{.sojourn = {.resolution = ticks(ecn.target_us) / 8,
                                             .patience = patience_ms * ticks_per_ms,
                                             .reassembly = arq.t_reassembly_ms * ticks_per_ms,
                                             .rate_window = 200 * ticks_per_ms},
                                 .law = {.scalable = ecn.law,
                                         .target = ticks(ecn.target_us),
                                         .classic_target = ticks(ecn.classic_target_us),
                                         .ticks_per_ms = ticks_per_ms,
                                         .seed = bearer.id.value}});
}

EcnView view_of(const ran::ecn::Marker& marker) {
  const ran::ecn::Counters& c = marker.counters();
  const auto us = [&](ran::ecn::Time ticks) { return ticks * 1000 / marker.law().settings().ticks_per_ms; };
  return {.ect0 = c.ect0,
          .ect1 = c.ect1,
          .marked_ect0 = c.marked_ect0,
          .marked_ect1 = c.marked_ect1,
          .queueing_most_us = us(c.queueing_most),
          .path_us = us(marker.sojourn().path())};
}

}  // namespace

ArqBearer::ArqBearer(const ran::BearerConfig& bearer, std::uint8_t first_epoch, Direction sends,
                     const ran::rlc::AmConfig& am, std::uint32_t unacked, std::uint32_t longest,
                     ran::rlc::Memory<MbufBuffer>& memory)
    : retx(am, memory),
      receive(am, memory),
      air(wire::airhdr::encode(
          {.direction = sends,
           .rlc_mode = bearer.rlc_mode,
           .rlc_sn_bits = bearer.rlc_sn_bits,
           .pdcp_sn_bits = bearer.pdcp_sn_bits,
           .sdap_header = sends == Direction::kDownlink ? bearer.sdap_header_dl : bearer.sdap_header_ul,
           .epoch = first_epoch,
           .bearer = bearer.id})),
      id(bearer.id.value),
      max_unacked(unacked),
      max_octets(bearer.arq.max_unacked_octets == 0 ? 0 : std::max(bearer.arq.max_unacked_octets, longest)),
      longest_sdu(longest),
      sn_bits(bearer.rlc_sn_bits),
      epoch(first_epoch) {}

ArqView view_of(const ArqBearer& bearer) {
  ArqView view{.tx_next_ack = bearer.next_ack(),
               .tx_next = bearer.next(),
               .unacked = bearer.away ? bearer.away->held : bearer.retx.unacked(),
               .pending = bearer.retx.pending(),
               .octets_kept = bearer.octets(),
               .rx_next = bearer.receive.next(),
               .rx_next_highest = bearer.receive.next_highest(),
               .polls_in_vain = bearer.retx.polls_in_vain(),
               .epoch = bearer.epoch,
               .failed = bearer.failed,
               .retx = bearer.retx.counters(),
               .received = bearer.receive.counters(),
               .status = bearer.receive.status_counters()};
  if (bearer.away) {
    view.in_service = true;
    view.retx = {{.acked = bearer.away->released},
                 {.pdus = bearer.away->sent_again, .octets = bearer.away->sent_again_octets}};
  }
  if (bearer.marker) view.ecn = view_of(*bearer.marker);
  return view;
}

Arq::Arq(const Settings& settings)
    : settings_(settings),
      status_frame_(settings.longest_frame),
      service_(settings.service.empty() ? nullptr
                                        : std::make_unique<baas::WorkerEnd>(baas::WorkerEnd::Settings{
                                              settings.service, settings.max_unacked + kBurst, settings.max_bearers})),
      memory_(memory_for(settings)),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now) {}

std::unique_ptr<ArqBearer> Arq::make(const ran::BearerConfig& bearer, std::uint8_t epoch) {
  const ran::ArqConfig& arq = bearer.arq;
  const ran::rlc::AmConfig am{.sn_bits = bearer.rlc_sn_bits,
                              .max_retx = arq.max_retx,
                              .t_poll_retransmit = arq.t_poll_retransmit_ms * settings_.ticks_per_ms,
                              .t_reassembly = arq.t_reassembly_ms * settings_.ticks_per_ms,
                              .t_status_prohibit = arq.t_status_prohibit_ms * settings_.ticks_per_ms,
                              .repair_unit = std::max<std::uint64_t>(1, settings_.ticks_per_ms / 8),
                              .whole_sdus = true};
  std::uint32_t unacked = std::min(arq.max_unacked, ran::rlc::window_size(bearer.rlc_sn_bits));
  // Half of PDCP's numbers in flight would desynchronize the HFN (TS 38.323 5.2.1 NOTE).
  if (bearer.security) unacked = std::min(unacked, 1U << (bearer.pdcp_sn_bits - 1));
  auto made = std::make_unique<ArqBearer>(bearer, epoch, settings_.sends, am, unacked, longest_sdu(), memory_);
  made->of_card = !bearer.card.empty();
  if (service_) {
    made->away = std::make_unique<AwayWindow>(*made);
    made->away->sn_bits = bearer.rlc_sn_bits;
    made->away->max_retx = static_cast<std::uint8_t>(arq.max_retx);
    made->away->t_poll_retransmit_ms = static_cast<std::uint16_t>(arq.t_poll_retransmit_ms);
  }
  if (bearer.ecn && settings_.sends == Direction::kDownlink) made->marker = make_marker(bearer, settings_.ticks_per_ms);
  return made;
}

void Arq::detach(ArqBearer& bearer) {
  wheel_.disarm(bearer);
  working_.remove(bearer);
  if (bearer.away) {
    unacked_ -= bearer.away->held;
    service_->close(*bearer.away);
  }
  unacked_ -= bearer.retx.held();
  give_back(bearer, bearer.octets_here);
  bearer.retx.restart_at(0);
  bearer.receive.restart_at(0);
  if (bearer.marker) bearer.marker->restart();
  bearer.protect_again = nullptr;
}

void Arq::give_up(ArqBearer& bearer) {
  if (bearer.away) {
    unacked_ -= bearer.away->held;
    service_->give_up(*bearer.away);
    bearer.protect_again = nullptr;
    return;
  }
  if (bearer.retx.held() == 0) return;
  unacked_ -= bearer.retx.held();
  give_back(bearer, bearer.octets_here);
  bearer.retx.restart_at(bearer.retx.next());
  bearer.protect_again = nullptr;
}

bool Arq::prepare(ArqBearer& bearer, std::span<rte_mbuf* const> frames, std::span<const std::uint32_t> sns) {
  if (!bearer.protect_again) [[likely]]
    return true;
  // Those before have the present keys, and so have new PDUs. A service that begins anew is told of all of them.
  std::array<rte_mbuf*, kSentPerVisit> old;
  unsigned n = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (sns[i] < bearer.to_protect || sns[i] >= bearer.to_protect_end) continue;
    old[n++] = frames[i];
  }
  const bool protects = n == 0 || bearer.protect_again({old.data(), n});
  if (!sns.empty()) bearer.to_protect = std::max(bearer.to_protect, sns.back() + 1);
  if (bearer.to_protect >= bearer.to_protect_end) bearer.protect_again = nullptr;
  if (protects) return true;
  bearer.failed = true;
  give_up(bearer);
  return false;
}

void Arq::protect_some_away(ArqBearer& bearer) {
  std::array<rte_mbuf*, kSentPerVisit> frames;
  std::array<std::uint32_t, kSentPerVisit> sns;
  unsigned n = 0;
  service_->for_each(*bearer.away, [&](baas::Ledger::Slot& slot) {
    if (n == frames.size() || slot.sn < bearer.to_protect || slot.sn >= bearer.to_protect_end) return;
    frames[n] = slot.m;
    sns[n++] = slot.sn;
  });
  if (n == 0) {
    bearer.protect_again = nullptr;
    return;
  }
  (void)prepare(bearer, {frames.data(), n}, {sns.data(), n});
}

// As many frames as one visit sends, so that none is sent as it was.
void Arq::protect_some(ArqBearer& bearer) {
  if (bearer.away) return protect_some_away(bearer);
  std::array<rte_mbuf*, kSentPerVisit> frames;
  unsigned n = 0;
  for (; n < frames.size() && bearer.to_protect != bearer.to_protect_end; ++bearer.to_protect) {
    if (MbufBuffer* const kept = bearer.retx.kept(bearer.to_protect)) frames[n++] = kept->get();
  }
  const bool protects = n == 0 || bearer.protect_again({frames.data(), n});
  if (bearer.to_protect == bearer.to_protect_end) bearer.protect_again = nullptr;
  if (protects) return;
  bearer.failed = true;
  give_up(bearer);
}

// The frame, or a copy if the port still has it: what is written to it now must not go out.
rte_mbuf* Arq::own(rte_mbuf* frame) {
  if (rte_mbuf_refcnt_read(frame) == 1) return frame;
  rte_mbuf* const copy = rte_pktmbuf_copy(frame, settings_.pool, 0, UINT32_MAX);
  rte_pktmbuf_free(frame);
  return copy;
}

void Arq::renumber(const ArqBearer& bearer, rte_mbuf* frame, std::uint32_t sn) const {
  const unsigned header = wire::rlc::am_header_bytes(bearer.sn_bits, wire::rlc::Segment::kComplete);
  octets(frame)[kEpochOffset] = bearer.epoch;
  wire::rlc::write_am({octets(frame) + kAirRlcOffset, header}, bearer.sn_bits,
                      {.sn = sn & ran::rlc::sn_mask(bearer.sn_bits)});
}

// The ledger has every frame that the service has: so nothing is asked of the service.
void Arq::reestablish_away(ArqBearer& bearer, std::uint8_t epoch) {
  AwayWindow& window = *bearer.away;
  wheel_.disarm(bearer);
  working_.remove(bearer);
  bearer.receive.restart_at(0);
  if (bearer.marker) bearer.marker->restart();
  bearer.failed = bearer.gone = bearer.peer_is_elsewhere = false;
  bearer.set_epoch(epoch);
  const std::uint32_t held = window.held;
  std::uint32_t sn = 0;
  service_->remove_if(window, [&](baas::Ledger::Slot& slot) {
    if (ran::rlc::before(slot.sn, window.next_ack)) return true;  // acknowledged, and about to be given back
    slot.m = own(slot.m);
    if (slot.m == nullptr) {
      ++counters_.lost;
      return true;
    }
    renumber(bearer, slot.m, sn++);
    return false;
  });
  unacked_ -= held - window.held;
  service_->restart(window);
}

void Arq::protect_rest(ArqBearer& bearer) {
  while (bearer.protect_again) protect_some(bearer);
}

void Arq::reestablish(ArqBearer& bearer, std::uint8_t epoch, Time now, ProtectAgain protect_again) {
  protect_rest(bearer);
  if (bearer.away) {
    reestablish_away(bearer, epoch);
    bearer.to_protect = 0;
    bearer.to_protect_end = bearer.away->next;
    if (bearer.to_protect_end != 0) bearer.protect_again = std::move(protect_again);
    return;
  }
  std::vector<MbufBuffer> unacked;
  bearer.retx.take_unacked([&](MbufBuffer frame) { unacked.push_back(std::move(frame)); });
  detach(bearer);
  bearer.failed = bearer.gone = bearer.peer_is_elsewhere = false;
  bearer.set_epoch(epoch);
  for (MbufBuffer& one : unacked) {
    if (!one) continue;  // of which no copy came
    rte_mbuf* const frame = own(one.detach());
    if (frame == nullptr) {
      ++counters_.lost;
      continue;
    }
    renumber(bearer, frame, bearer.retx.next());
    keep(bearer, frame, now);
  }
  bearer.to_protect = 0;
  bearer.to_protect_end = bearer.retx.next();
  if (bearer.to_protect_end != 0) bearer.protect_again = std::move(protect_again);
  bearer.retx.resend_all(now);
  if (bearer.retx.has_pending()) set_working(bearer);
}

Arq::Clone Arq::keep_clone(ArqBearer& bearer, rte_mbuf* frame, Time now) {
  const std::uint8_t* const rlc = octets(frame) + kAirRlcOffset;
  const std::uint32_t sn = bearer.sn_bits == 12 ? wire::load_be16(rlc) : wire::load_be24(rlc);
  const std::uint32_t missing = (sn - bearer.next()) & ran::rlc::sn_mask(bearer.sn_bits);
  // A card never sends beyond max_unacked: a number there is an old one, or no card's.
  if (!ran::rlc::before(bearer.next() + missing, bearer.next_ack() + bearer.max_unacked)) return Clone::kKnown;
  if (!has_room()) return Clone::kNoRoom;
  if (!note_missing(bearer, missing)) {
    watch(bearer, now);
    return Clone::kNoRoom;
  }
  keep(bearer, frame, now, baas::kOfCard);
  return Clone::kKept;
}

bool Arq::note_missing(ArqBearer& bearer, std::uint32_t count) {
  if (bearer.away) {
    if (count == 0) [[likely]]
      return true;
    service_->lost(*bearer.away, count);
    counters_.no_copy += count;
    return true;
  }
  for (; count != 0 && bearer.retx.room() != 0; --count) {
    bearer.retx.lost();
    ++counters_.no_copy;
    ++unacked_;
  }
  return bearer.retx.room() != 0;
}

void Arq::keep(ArqBearer& bearer, rte_mbuf* frame, Time now) {
  keep(bearer, frame, now, 0);
}

void Arq::keep(ArqBearer& bearer, rte_mbuf* frame, Time now, std::uint8_t flags) {
  const std::uint8_t* const rlc = octets(frame) + kAirRlcOffset;
  const std::uint16_t bytes = sdu_bytes(bearer, frame);
  if (bearer.away) {
    if ((rlc[0] & kPollBit) != 0) flags |= baas::kPoll;
    service_->keep(*bearer.away, frame, bytes, flags);
    ++unacked_;
    return;
  }
  bearer.octets_here += bytes;
  octets_ += bytes;
  bearer.retx.submitted({.sdu = MbufBuffer(frame),
                         .sn = bearer.retx.next(),
                         .bytes = bytes,
                         .sent = bytes,
                         .poll = (rlc[0] & kPollBit) != 0},
                        now);
  if (flags != 0) bearer.retx.watch_last(now);
  ++unacked_;
  look_for_peer(bearer);
  rearm(bearer);
}

Received Arq::receive(ArqBearer& bearer, Octets rlc, Time now) {
  const auto header = wire::rlc::parse_am(rlc, bearer.sn_bits);
  if (!header) return Received::kRefused;
  // A peer that keeps to max_unacked sends nothing beyond it. A peer that does not must not take the window memory of
  // others.
  see_peer(bearer);
  const Received what = bearer.receive.receive_complete(*header, now, bearer.max_unacked);
  rearm(bearer);
  if (bearer.receive.status_due()) set_working(bearer);
  return what;
}

StatusResult Arq::receive_status(ArqBearer& bearer, Octets rlc, Time now) {
  see_peer(bearer);
  if (bearer.away) {  // the service says what came of it
    (void)service_->status(*bearer.away, rlc);
    return StatusResult::kTaken;
  }
  const StatusResult result = bearer.retx.receive_status(rlc, now, [&](std::uint32_t) { fail(bearer); });
  counters_.status_stale += result == StatusResult::kStale ? 1 : 0;
  counters_.status_malformed += result == StatusResult::kMalformed ? 1 : 0;
  if (result != StatusResult::kTaken) return result;
  if (bearer.of_card) {
    bearer.retx.watch_last(now);
    rearm(bearer);
  }
  set_working(bearer);
  acknowledged(bearer, bearer.retx.highest_ack(), bearer.retx.unacked() == 0, now);
  return result;
}

void Arq::acknowledged(ArqBearer& bearer, std::uint32_t up_to, bool is_everything, Time now) {
  if (!bearer.marker) return;
  bearer.marker->acknowledged({.up_to = up_to, .has_holes = bearer.next_ack() != up_to, .is_everything = is_everything},
                              now);
}

rte_mbuf* Arq::status_frame(ArqBearer& bearer, Time now) {
  rte_mbuf* const m = rte_pktmbuf_alloc(settings_.pool);
  if (m == nullptr) return nullptr;
  std::uint8_t* const frame = octets(m);
  std::copy(settings_.ethernet.begin(), settings_.ethernet.end(), frame);
  wire::store_be64(frame + wire::ethernet::kHeaderBytes, bearer.air);
  // The STATUS stays within one frame, as within a grant of MAC.
  const std::size_t room = std::min<std::size_t>(rte_pktmbuf_tailroom(m), status_frame_) - kAirRlcOffset;
  const std::size_t bytes = bearer.receive.write_status({frame + kAirRlcOffset, room}, now);
  wire::store_be16(frame + kAirRlcOffset - 2, static_cast<std::uint32_t>(bytes));
  m->data_len = static_cast<std::uint16_t>(kAirRlcOffset + bytes);
  m->pkt_len = m->data_len;
  return m;
}

rte_mbuf* Arq::retransmission(ArqBearer& bearer, bool passes_mbufs, Time now) {
  auto pdu = bearer.retx.pull(ran::rlc::kMaxSduBytes, {.unsent = false, .stalled = false}, now);
  return pdu ? again(pdu.sdu.get(), (pdu.header[0] & kPollBit) != 0, passes_mbufs) : nullptr;
}

rte_mbuf* Arq::again(rte_mbuf* kept, bool poll, bool passes_mbufs) {
  const std::uint8_t first = octets(kept)[kAirRlcOffset];
  const auto wanted = static_cast<std::uint8_t>((first & ~kPollBit) | (poll ? kPollBit : 0));
  if (first == wanted && !passes_mbufs) {
    rte_mbuf_refcnt_update(kept, 1);
    return kept;
  }
  rte_mbuf* const copy = rte_pktmbuf_copy(kept, settings_.pool, 0, UINT32_MAX);
  if (copy != nullptr) octets(copy)[kAirRlcOffset] = wanted;
  return copy;
}

unsigned Arq::collect(ArqBearer& bearer, bool passes_mbufs, Time now, rte_mbuf** frames, unsigned room) {
  unsigned n = 0;
  if (n < room && bearer.receive.status_due()) {
    if (rte_mbuf* m = status_frame(bearer, now); m != nullptr) {
      frames[n++] = m;
      ++counters_.status_sent;
    }
  }
  for (unsigned tries = 0; tries < kSentPerVisit && n < room && bearer.retx.has_pending(); ++tries) {
    if (rte_mbuf* m = retransmission(bearer, passes_mbufs, now); m != nullptr) {
      frames[n++] = m;
      ++counters_.retransmitted;
    } else {
      ++counters_.lost;
    }
  }
  return n;
}

}  // namespace splitplane::datapath
