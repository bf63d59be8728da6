#include "gnb/config/host_only.h"

#include "card/protocol/servable.h"
#include "gnb/config/lookup.h"

namespace splitplane::app {

using placement::HostOnly;

HostOnly host_only(const GnbConfig& config, const WorkerConfig& worker, const ran::BearerConfig& bearer,
                   bool one_of_several) {
  if (const HostOnly why = host_only(bearer); why != HostOnly::none) return why;
  const CardLinkConfig* const card = card_before(config, worker.n3);
  if (card == nullptr) return HostOnly::no_card;
  if (worker.features < datapath::FeatureSet::mat) return HostOnly::no_lookup;
  const bool by_ue_address = config.lookup == GnbConfig::Lookup::kUeAddress;
  if (by_ue_address && !bearer.ue_ipv4 && !bearer.ue_ipv6) return HostOnly::no_ue_address;
  if (one_of_several) return HostOnly::of_session;
  if (is_fed(config, worker)) return HostOnly::dispatched;
  if (by_ue_address) return HostOnly::by_ue_address;
  // There the clones go to another worker, and so would the fence behind them.
  if (!card->copies.empty()) return HostOnly::copies;
  return HostOnly::none;
}

bool forbids_moves_only(HostOnly why) {
  return why == HostOnly::of_session || why == HostOnly::dispatched || why == HostOnly::by_ue_address ||
         why == HostOnly::copies;
}

}  // namespace splitplane::app
