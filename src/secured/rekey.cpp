#include "secured/rekey.h"

namespace splitplane::datapath {

bool goes_on(const SecuredBearer& bearer, std::uint32_t peer_tx_next, std::uint32_t peer_rx_next) {
  constexpr std::uint32_t kHalf = 1U << 31;  // COUNTs of one bearer at two ends are closer
  const std::uint32_t tx_next = bearer.entity.tx().tx_next(), rx_next = bearer.entity.rx().rx_next();
  return peer_rx_next <= tx_next && tx_next - peer_rx_next < kHalf && rx_next <= peer_tx_next &&
         peer_tx_next - rx_next < kHalf;
}

ran::pdcp::Refusal rekey(const RekeyEnd& end, NewKeys& fresh, Time now) {
  if (end.rlc != nullptr) end.arq->protect_rest(*end.rlc);  // what still needs the keys before the present ones
  const ran::pdcp::Refusal refusal = end.pdcp.change_keys(end.bearer, fresh, now);
  if (refusal != ran::pdcp::Refusal::kNone || end.rlc == nullptr) return refusal;
  end.arq->reestablish(*end.rlc, fresh.epoch, now,
                       [pdcp = &end.pdcp, bearer = &end.bearer](std::span<rte_mbuf* const> frames) {
                         return pdcp->protect_again(*bearer, frames);
                       });
  end.pdcp.number_kept(end.bearer, end.rlc->next());
  return refusal;
}

}  // namespace splitplane::datapath
