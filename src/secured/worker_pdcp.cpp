#include "secured/worker_pdcp.h"

#include <algorithm>

namespace splitplane::datapath {
namespace {

// Bearers share pages of 64. Each bearer that waits needs a page and a directory at least.
ran::pdcp::MemorySizes pdcp_memory(std::size_t max_held) {
  const std::size_t pages = 64 + max_held / 16;
  return {.directories = 2 * pages, .sent_pages = 1, .reorder_pages = pages, .waiting_pages = 1};
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
  const std::uint64_t held = bearer.entity.rx().held();
  bearer.received_until = bearer.entity.rx().rx_next();
  const auto drop = [](BearerId, MbufBuffer) {};
  Delivery<decltype(drop)> sink{*this, drop};
  bearer.entity.release(sink);
  return held;
}

void WorkerPdcp::protect(SecuredOutgoing& out) {
  tx_.protect({out.item.data(), out.size}, 0, Sending{*this}, Maker{settings_.pool});
}

}  // namespace splitplane::datapath
