#include "card/protocol/servable.h"

#include <fmt/core.h>

namespace splitplane::app {

std::optional<std::string> refuse_on_card(const ran::BearerConfig& bearer) {
  if (bearer.rlc_mode != RlcMode::kAm) {
    return fmt::format("rlc is {}, which a card does not serve; allowed: am12, am18",
                       ran::rlc_name(bearer.rlc_mode, bearer.rlc_sn_bits));
  }
  if (bearer.require_psc) return "with require_psc, which a card does not have; allowed: without it";
  if (bearer.n3_reorder) return "with n3_reorder, which a card does not have; allowed: without it";
  if (bearer.dl_teid) return "with dl_teid, which a card does not have; allowed: TEIDs that the gNB chose";
  return std::nullopt;
}

}  // namespace splitplane::app
