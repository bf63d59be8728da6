#include "radio/logical_channel.h"

#include <algorithm>

namespace splitplane::datapath {
namespace {

constexpr std::uint32_t kMostUmSdus = 4096;  // that wait: UM has no key for it

// Half of PDCP's numbers in flight would desynchronize the HFN (TS 38.323 5.2.1 NOTE).
std::uint32_t most_sdus(const ran::BearerConfig& bearer) {
  const std::uint32_t wanted = bearer.rlc_mode == RlcMode::kAm ? bearer.arq.max_unacked : kMostUmSdus;
  return std::min(wanted, 1U << (bearer.pdcp_sn_bits - 1));
}

ran::rlc::AmConfig am_config(const ran::BearerConfig& bearer, std::uint64_t ticks_per_ms) {
  const ran::ArqConfig& arq = bearer.arq;
  return {.sn_bits = bearer.rlc_sn_bits,
          .max_retx = arq.max_retx,
          .poll_pdu = bearer.poll_pdu,
          .t_poll_retransmit = arq.t_poll_retransmit_ms * ticks_per_ms,
          .t_reassembly = arq.t_reassembly_ms * ticks_per_ms,
          .t_status_prohibit = arq.t_status_prohibit_ms * ticks_per_ms,
          .max_queued = most_sdus(bearer),
          .repair_unit = std::max<std::uint64_t>(1, ticks_per_ms / 8)};
}

ran::rlc::UmConfig um_config(const ran::BearerConfig& bearer, std::uint64_t ticks_per_ms) {
  return {.sn_bits = bearer.rlc_sn_bits,
          .t_reassembly = bearer.arq.t_reassembly_ms * ticks_per_ms,
          .max_queued = most_sdus(bearer)};
}

std::variant<LogicalChannel::Am, LogicalChannel::Um> make_entity(const ran::BearerConfig& bearer,
                                                                 std::uint64_t ticks_per_ms,
                                                                 ran::rlc::Memory<MbufBuffer>& memory) {
  using Entity = std::variant<LogicalChannel::Am, LogicalChannel::Um>;
  if (bearer.rlc_mode == RlcMode::kAm)
    return Entity(std::in_place_type<LogicalChannel::Am>, am_config(bearer, ticks_per_ms), memory);
  return Entity(std::in_place_type<LogicalChannel::Um>, um_config(bearer, ticks_per_ms), memory);
}

}  // namespace

LogicalChannel::LogicalChannel(const ran::BearerConfig& bearer, std::uint32_t lcid, std::uint64_t ticks_per_ms,
                               ran::rlc::Memory<MbufBuffer>& memory)
    : max_sdus_(most_sdus(bearer)), entity_(make_entity(bearer, ticks_per_ms, memory)), id_(bearer.id), lcid_(lcid) {}

std::uint32_t LogicalChannel::held() const {
  const Am* const am = std::get_if<Am>(&entity_);
  if (am == nullptr) return std::get<Um>(entity_).tx.waiting();
  const auto taken = static_cast<std::uint32_t>(am->sender().counters().sdus - taken_before_);
  return taken - am->sender().next() + am->retx().held();  // without a number, and with one
}

std::size_t LogicalChannel::pull(ran::rlc::MutableOctets out, Time now) {
  if (failed_) return 0;
  if (Am* const am = std::get_if<Am>(&entity_)) return am->pull(out, now);
  const auto pdu = std::get<Um>(entity_).tx.pull(out.size());
  return pdu ? pdu.write(out) : 0;
}

std::uint64_t LogicalChannel::volume() const {
  if (failed_) return 0;
  if (const Am* const am = std::get_if<Am>(&entity_)) return am->volume();
  return std::get<Um>(entity_).tx.volume();
}

void LogicalChannel::tick(Time now) {
  Am* const am = std::get_if<Am>(&entity_);
  if (am == nullptr) return std::get<Um>(entity_).rx.tick(now);
  am->tick(now, [this](std::uint32_t) { fail(Failure::kMaxRetx); });
}

Time LogicalChannel::next_expiry() const {
  if (const Am* const am = std::get_if<Am>(&entity_)) return am->next_expiry();
  return std::get<Um>(entity_).rx.next_expiry();
}

void LogicalChannel::release(unsigned budget) {
  Am* const am = std::get_if<Am>(&entity_);
  if (am == nullptr) return;
  constexpr unsigned kAtOnce = 64;
  std::array<rte_mbuf*, kAtOnce> gone;
  unsigned n = 0;
  (void)am->release(std::min(budget, kAtOnce), [&](std::uint32_t, MbufBuffer sdu) { gone[n++] = sdu.detach(); });
  rte_pktmbuf_free_bulk(gone.data(), n);
}

LogicalChannel::Failure LogicalChannel::take_failure() {
  const Am* const am = std::get_if<Am>(&entity_);
  if (am != nullptr && am->retx().peer_lost()) fail(Failure::kPeerLost);
  return std::exchange(failure_, Failure::kNone);
}

void LogicalChannel::give_up() {
  counters_.given_up += held();
  if (Am* const am = std::get_if<Am>(&entity_)) {
    am->restart_at(0);
    taken_before_ = am->sender().counters().sdus;
    return;
  }
  Um& um = std::get<Um>(entity_);
  um.tx.restart_at(0);
  um.rx.restart_at(0);
}

RlcView LogicalChannel::view() const {
  RlcView view{.lcid = lcid_,
               .held = held(),
               .volume = volume(),
               .failed = failed_,
               .given_up = counters_.given_up,
               .copied = counters_.copied,
               .no_buffer = counters_.no_buffer,
               .failures = counters_.failures};
  if (const Am* const am = std::get_if<Am>(&entity_)) {
    view.tx_next = am->sender().next();
    view.rx_next = am->receiver().next();
    view.sent = am->sender().counters();
    view.received = am->receiver().counters();
    view.am = RlcView::Am{.tx_next_ack = am->retx().next_ack(),
                          .unacked = am->retx().unacked(),
                          .pending = am->retx().pending(),
                          .retx = am->retx().counters(),
                          .status = am->receiver().status_counters()};
    return view;
  }
  const Um& um = std::get<Um>(entity_);
  view.tx_next = um.tx.next();
  view.rx_next = um.rx.next_reassembly();
  view.sent = um.tx.counters();
  view.received = um.rx.counters();
  return view;
}

}  // namespace splitplane::datapath
