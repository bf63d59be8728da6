#include "ue/pdcp_counts.h"

#include <algorithm>

#include "ran/count_lease.h"

namespace splitplane::ue {

FirstCounts first_counts(const ran::BearerConfig& config, const Numbers& gnb, const datapath::BearerKeys::Used* used) {
  std::uint32_t tx_next = gnb.pdcp_uplink;
  // Of SDUs that the gNB's RLC still has, COUNTs go back.
  std::uint32_t rx_deliv = gnb.pdcp_downlink - std::min(gnb.pdcp_downlink, gnb.rlc_unacked);
  if (used != nullptr) {
    tx_next = std::max(tx_next, used->tx_next);
    rx_deliv = std::max(rx_deliv, used->rx_next);
  } else if (gnb.pdcp_uplink != 0 || gnb.pdcp_downlink != 0) {
    // An earlier run of the UE side may have used COUNTs that the gNB never saw. A quarter of the number space ahead,
    // the gNB still knows the HFN.
    const std::uint32_t ahead = 1U << (config.pdcp_sn_bits - 2);
    tx_next += std::min(ahead, ran::kCountEnd - tx_next);
  }
  return {Count{tx_next}, Count{rx_deliv}};
}

void go_on(datapath::SecuredBearer& fresh, const datapath::SecuredBearer& old) {
  if (fresh.security.key != old.security.key || fresh.security.drb != old.security.drb) return;
  auto& tx = fresh.entity.tx();
  auto& rx = fresh.entity.rx();
  tx.set_tx_next(Count{std::max(tx.tx_next(), old.entity.tx().tx_next())});
  rx.set_rx_deliv(Count{std::max(rx.rx_deliv(), old.entity.rx().rx_deliv())});
}

}  // namespace splitplane::ue
