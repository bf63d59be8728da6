#include "secured/worker_pdcp.h"

#include <algorithm>

#include "arq/arq.h"
#include "wire/rlc.h"

namespace splitplane::datapath {
namespace {

// Bearers share pages of 64. Each bearer that waits needs a page and a directory at least.
ran::pdcp::MemorySizes pdcp_memory(std::size_t max_held) {
  const std::size_t pages = 64 + max_held / 16;
  return {.directories = 2 * pages, .sent_pages = 1, .reorder_pages = pages, .waiting_pages = 1};
}

// The COUNT of a frame stays with its mbuf, in a field that only received packets of a NIC use otherwise. RLC may keep
// the frame for long, and a PDCP SN alone does not tell the COUNT. Copies of an mbuf have it, too.
void note_count(rte_mbuf& frame, Count count) {
  frame.hash.usr = count.value;
}
Count count_of(const rte_mbuf& frame) {
  return Count{frame.hash.usr};
}

// RLC AM keeps what the peer has not acknowledged, and sends it again also after RLC re-establishment. So PDCP stores
// nothing, as for a UM bearer.
ran::pdcp::Config pdcp_config(const ran::BearerConfig& bearer, const WorkerPdcp::Settings& settings) {
  const bool is_gnb = settings.sends == Direction::kDownlink;
  return {.id = bearer.id,
          .drb = bearer.security->drb,
          .rlc = RlcMode::kUm,
          .sends = settings.sends,
          .tx_sn_bits = bearer.pdcp_sn_bits,
          .rx_sn_bits = bearer.pdcp_sn_bits,
          .tx_sdap_header = is_gnb ? bearer.sdap_header_dl : bearer.sdap_header_ul,
          .rx_sdap_header = is_gnb ? bearer.sdap_header_ul : bearer.sdap_header_dl,
          .t_reordering = bearer.security->t_reordering_ms * settings.ticks_per_ms,
          .max_held = static_cast<std::uint32_t>(settings.max_held)};
}

}  // namespace

SecuredBearer::SecuredBearer(const ran::BearerConfig& bearer, const ran::pdcp::Config& config, BearerKeys::Pair pair,
                             ran::pdcp::Memory<MbufBuffer>& memory)
    : id(bearer.id),
      keys(std::move(pair)),
      entity(config, keys.security(), memory),
      security(*bearer.security),
      kept_pdu_at(kAirRlcOffset) {
  if (bearer.rlc_mode == RlcMode::kAm) {
    kept_pdu_at +=
        static_cast<std::uint16_t>(wire::rlc::am_header_bytes(bearer.rlc_sn_bits, wire::rlc::Segment::kComplete));
  }
}

WorkerPdcp::WorkerPdcp(const Settings& settings, std::shared_ptr<BearerKeys> keys,
                       std::unique_ptr<crypto::Engine> engine)
    : settings_(settings),
      keys_(std::move(keys)),
      engine_(std::move(engine)),
      memory_(pdcp_memory(settings.max_held)),
      tx_(*engine_),
      rx_(*engine_),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now) {}

Expected<std::unique_ptr<WorkerPdcp>> WorkerPdcp::create(const Settings& settings, std::shared_ptr<BearerKeys> keys) {
  auto engine = crypto::Engine::create();
  if (!engine) return tl::unexpected(engine.error());
  return std::unique_ptr<WorkerPdcp>(new WorkerPdcp(settings, std::move(keys), std::move(*engine)));
}

Expected<std::unique_ptr<SecuredBearer>> WorkerPdcp::make(const ran::BearerConfig& bearer, Count tx_next,
                                                          Count rx_deliv) {
  auto pair = keys_->make(*bearer.security);
  if (!pair) return tl::unexpected(pair.error());
  const ran::pdcp::Config config = pdcp_config(bearer, settings_);
  if (const auto refused = config.refuse(); !refused.empty()) return fail("PDCP of a bearer: {}", refused);
  auto made = std::make_unique<SecuredBearer>(bearer, config, std::move(*pair), memory_);
  made->entity.tx().set_tx_next(tx_next);
  made->entity.rx().set_rx_deliv(rx_deliv);
  return made;
}

std::uint64_t WorkerPdcp::detach(SecuredBearer& bearer) {
  wheel_.disarm(bearer);
  const std::size_t left = std::erase_if(undelivered_, [&](const Undelivered& one) { return one.id == bearer.id; });
  held_ -= static_cast<std::int64_t>(left);
  const std::uint64_t held = bearer.entity.rx().held() + left;
  bearer.received_until = bearer.entity.rx().rx_next();
  const auto drop = [](BearerId, MbufBuffer) {};
  Delivery<decltype(drop)> sink{*this, drop};
  bearer.entity.release(sink);
  return held;
}

ran::pdcp::Refusal WorkerPdcp::change_keys(SecuredBearer& bearer, NewKeys& fresh, std::uint64_t now) {
  auto& entity = bearer.entity;
  Collected sink{*this};
  const ran::pdcp::Refusal refusal =
      fresh.begins_anew ? entity.reestablish(fresh.pair.security(), sink) : entity.change_keys(fresh.pair.security());
  if (refusal != ran::pdcp::Refusal::kNone) return refusal;
  std::swap(bearer.retired, bearer.keys);
  std::swap(bearer.keys, fresh.pair);
  bearer.security = fresh.security;
  bearer.epoch = fresh.epoch;
  bearer.renumbers_kept = fresh.begins_anew;
  if (fresh.begins_anew) {
    bearer.next_kept = fresh.first.tx_next;
    entity.tx().set_tx_next(Count{fresh.first.tx_next});
    entity.rx().set_rx_deliv(Count{fresh.first.rx_next});
  }
  pause_reordering(bearer, now,
                   fresh.peer_has_them ? kPeerAnswersMs + fresh.security.t_reordering_ms : Arq::kPeerPatienceMs);
  return refusal;
}

void WorkerPdcp::number_kept(SecuredBearer& bearer, std::uint32_t frames) {
  if (bearer.renumbers_kept) bearer.entity.tx().set_tx_next(Count{bearer.next_kept + frames});
}

bool WorkerPdcp::protect_again(SecuredBearer& bearer, std::span<rte_mbuf* const> frames) {
  const auto& tx = bearer.entity.tx();
  const ran::pdcp::Cover& cover = tx.cover();
  ran::pdcp::Cover before = cover;
  before.set(bearer.retired.security());
  std::array<crypto::CipherJob, kBurst> jobs;
  std::size_t n = 0;
  for (rte_mbuf* const frame : frames) {
    // With a wrong COUNT, octets without meaning would get a MAC-I that is right.
    const std::uint32_t sn = bearer.entity.rx().sn(octets(frame) + bearer.kept_pdu_at);
    if (sn != ran::pdcp::sn_of(count_of(*frame).value, tx.cover().header_bytes == 3 ? 18 : 12)) return false;
    std::uint8_t* const data = octets(frame) + bearer.kept_pdu_at + before.header_bytes + before.clear_bytes;
    const std::size_t clear = bearer.kept_pdu_at + before.overhead() + before.clear_bytes;
    if (!before.ciphers) continue;
    jobs[n++] = {.key = before.keys.cipher,
                 .count = count_of(*frame),
                 .bearer = before.bearer,
                 .direction = before.direction,
                 .in = data,
                 .out = data,
                 .length = static_cast<std::uint32_t>(frame->data_len - clear)};
  }
  const bool deciphered = n == 0 || engine_->cipher({jobs.data(), n});
  for (rte_mbuf* const frame : frames) {
    if (bearer.renumbers_kept) note_count(*frame, Count{bearer.next_kept++});
    std::uint8_t* const pdu = octets(frame) + bearer.kept_pdu_at;
    const std::uint32_t count = count_of(*frame).value;
    tx.write_header(pdu, count);
    again_.add(cover, count, pdu, frame->data_len - bearer.kept_pdu_at - cover.overhead(), false);
  }
  return again_.run(*engine_) && deciphered;
}

void WorkerPdcp::protect(SecuredOutgoing& out) {
  tx_.protect({out.item.data(), out.size}, 0, Sending{*this}, Maker{settings_.pool});
  for (unsigned i = 0; i < out.size; ++i) {
    const auto& item = out.item[i];
    if (item.outcome == ran::pdcp::TxOutcome::sent) note_count(*item.buffer.get(), item.count);
  }
}

}  // namespace splitplane::datapath
