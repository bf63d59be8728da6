#include "ran/session_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace splitplane::ran {
namespace {

using Refused = std::optional<std::string>;

// Instance and shard: what a session's bearers have in common.
std::uint32_t home_of(BearerId id) {
  return id.value >> kIndexBits;
}

Refused refuse_identities(const SessionConfig& config) {
  std::set<std::uint32_t> taken;
  if (config.teid().value == 0) return "id: is 0; allowed: an identity that the gNB gave";
  for (const SessionBearer& bearer : config.bearers) {
    const BearerId id = bearer.config.id;
    if (home_of(id) != home_of(config.bearers.front().config.id)) {
      return fmt::format("id: {:#010x} is in another shard than session {:#010x}; allowed: the shard of the session",
                         id.value, config.teid().value);
    }
    if (!taken.insert(id.value).second) {
      return fmt::format("id: two bearers have {:#010x}; allowed: one identity for each bearer", id.value);
    }
  }
  if (home_of(config.spare) != home_of(config.bearers.front().config.id) || taken.contains(config.spare.value)) {
    return fmt::format("spare: {:#010x} is no free identity of the session's shard; allowed: one that no bearer has",
                       config.spare.value);
  }
  return std::nullopt;
}

// What belongs to the tunnel, and so to all bearers.
Refused refuse_tunnel(const SessionConfig& config) {
  const BearerConfig& first = config.bearers.front().config;
  for (const SessionBearer& bearer : config.bearers) {
    const BearerConfig& other = bearer.config;
    if (other.upf != first.upf || other.uplink_teid != first.uplink_teid || other.ue_ipv4 != first.ue_ipv4 ||
        other.ue_ipv6 != first.ue_ipv6 || other.dl_teid != first.dl_teid || other.require_psc != first.require_psc) {
      return fmt::format(
          "drb {}: its upf, ul_teid, dl_teid, ue_ipv4, ue_ipv6 or require_psc differs from that of drb {}; allowed: "
          "the "
          "same at each bearer of a session",
          bearer.drb.value, config.bearers.front().drb.value);
    }
    if (config.bearers.size() == 1) continue;
    if (other.n3_reorder) {
      return fmt::format(
          "drb {}: n3_reorder, but sequence numbers count the packets of a whole tunnel (TS 29.281 5.1); allowed: a "
          "session with one bearer",
          bearer.drb.value);
    }
    if (!other.card.empty() && bearer.reflective) {
      return fmt::format("drb {}: reflective, and card {} writes no RDI; allowed: one of the two", bearer.drb.value,
                         other.card);
    }
    if (!other.card.empty() && config.default_drb != config.bearers.front().drb) {
      return fmt::format(
          "drb {}: card {}, but a card takes the first bearer for flows without a rule; allowed: default_drb {}",
          bearer.drb.value, other.card, config.bearers.front().drb.value);
    }
  }
  return std::nullopt;
}

// TS 37.324 5.2.1: without an UL header nothing tells flows apart. NOTE 2: the default DRB has one.
Refused refuse_headers(const SessionConfig& config) {
  for (const SessionBearer& bearer : config.bearers) {
    const unsigned drb = bearer.drb.value;
    if (bearer.reflective && !bearer.config.sdap_header_dl) {
      return fmt::format("drb {}: reflective, but RDI needs the downlink SDAP header; allowed: with sdap dl", drb);
    }
    if (bearer.config.sdap_header_ul || config.bearers.size() == 1) continue;
    if (bearer.drb == config.default_drb) {
      return fmt::format("drb {}: is the default DRB without an uplink SDAP header; allowed: with sdap ul", drb);
    }
    if (bearer.flows.size() != 1 || bearer.flows.front() != bearer.config.qfi) {
      return fmt::format(
          "drb {}: has no uplink SDAP header, so it carries one flow; allowed: the flow {} of its key qfi alone, or "
          "sdap ul",
          drb, bearer.config.qfi.value);
    }
  }
  return std::nullopt;
}

Refused refuse_flows(const SessionConfig& config) {
  std::set<Qfi> ruled;
  for (const SessionBearer& bearer : config.bearers) {
    for (const Qfi qfi : bearer.flows) {
      if (qfi.value >= sdap::kFlows) return fmt::format("flows: QFI {}; allowed is 0 to 63", qfi.value);
      if (!ruled.insert(qfi).second) {
        return fmt::format("flows: QFI {} has two rules; allowed: one rule for each flow", qfi.value);
      }
    }
  }
  return std::nullopt;
}

Refused refuse_rules(const SessionConfig& config) {
  if (config.bearers.empty() || config.bearers.size() > kMaxSessionBearers) {
    return fmt::format("the session has {} bearers; allowed: 1 to {}", config.bearers.size(), kMaxSessionBearers);
  }
  std::set<sdap::DrbId> drbs;
  for (const SessionBearer& bearer : config.bearers) {
    if (bearer.drb.value == 0 || bearer.drb.value > sdap::kMaxDrb) {
      return fmt::format("drb: {}; allowed is 1 to {}", bearer.drb.value, sdap::kMaxDrb);
    }
    if (!drbs.insert(bearer.drb).second) {
      return fmt::format("drb: two bearers have {}; allowed: one DRB identity for each bearer", bearer.drb.value);
    }
    if (const auto refused = refuse(bearer.config)) return fmt::format("drb {}: {}", bearer.drb.value, *refused);
    if (bearer.config.security && bearer.config.security->drb != bearer.drb.value) {
      return fmt::format("drb {}: security has DRB identity {}; allowed: that of the bearer", bearer.drb.value,
                         bearer.config.security->drb);
    }
  }
  if (!drbs.contains(config.default_drb)) {
    return fmt::format("default_drb: {} is no bearer of the session; allowed: the drb of one",
                       config.default_drb.value);
  }
  for (const auto check : {refuse_tunnel, refuse_headers, refuse_flows}) {
    if (auto refused = check(config)) return refused;
  }
  return std::nullopt;
}

}  // namespace

const SessionBearer* SessionConfig::find(BearerId id) const {
  const auto at = std::ranges::find_if(bearers, [&](const SessionBearer& one) { return one.config.id == id; });
  return at == bearers.end() ? nullptr : &*at;
}

const SessionBearer* SessionConfig::bearer_of(Qfi qfi) const {
  const SessionBearer* found = nullptr;
  for (const SessionBearer& one : bearers) {
    if (std::ranges::count(one.flows, qfi) != 0) return &one;
    if (one.drb == default_drb) found = &one;
  }
  return found;
}

bool set_flow(SessionConfig& config, Qfi qfi, sdap::DrbId drb) {
  const auto to = std::ranges::find(config.bearers, drb, &SessionBearer::drb);
  if (to == config.bearers.end()) return false;
  for (SessionBearer& one : config.bearers) std::erase(one.flows, qfi);
  to->flows.push_back(qfi);
  return true;
}

Refused refuse(const SessionConfig& config) {
  if (auto refused = refuse_rules(config)) return refused;
  return refuse_identities(config);
}

Refused refuse_wanted(const SessionConfig& config) {
  if (config.bearers.size() == 1) {
    return fmt::format(
        "the session has one bearer, and so it is that bearer; allowed: 2 to {} bearers here, or a "
        "bearer without a session",
        kMaxSessionBearers);
  }
  return refuse_rules(config);
}

}  // namespace splitplane::ran
