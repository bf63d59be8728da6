#include "card/protocol/servable.h"

#include <fmt/core.h>

namespace splitplane::app {

using placement::HostOnly;

HostOnly host_only(const ran::BearerConfig& bearer) {
  if (bearer.rlc_mode != RlcMode::kAm) return HostOnly::rlc_mode;
  if (bearer.require_psc) return HostOnly::require_psc;
  if (bearer.n3_reorder) return HostOnly::n3_reorder;
  if (bearer.dl_teid) return HostOnly::dl_teid;
  if (bearer.security) return HostOnly::security;
  if (bearer.ecn) return HostOnly::ecn;
  return HostOnly::none;
}

std::optional<std::string> refuse_on_card(const ran::BearerConfig& bearer) {
  switch (host_only(bearer)) {
    case HostOnly::rlc_mode:
      return fmt::format("rlc is {}, which a card does not serve; allowed: am12, am18",
                         ran::rlc_name(bearer.rlc_mode, bearer.rlc_sn_bits));
    case HostOnly::require_psc:
      return "with require_psc, which a card does not have; allowed: without it";
    case HostOnly::n3_reorder:
      return "with n3_reorder, which a card does not have; allowed: without it";
    case HostOnly::dl_teid:
      return "with dl_teid, which a card does not have; allowed: TEIDs that the gNB chose";
    case HostOnly::none:
      return std::nullopt;
    default:
      return fmt::format("{}; allowed: without card", text_of(host_only(bearer)));
  }
}

}  // namespace splitplane::app
