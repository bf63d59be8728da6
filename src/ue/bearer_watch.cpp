#include "ue/bearer_watch.h"

#include <utility>

namespace splitplane::ue {
namespace {

// The modes that a DRB cannot change while it lives.
[[nodiscard]] bool same_modes(const ran::BearerConfig& a, const ran::BearerConfig& b) {
  return a.rlc_mode == b.rlc_mode && a.rlc_sn_bits == b.rlc_sn_bits && a.pdcp_sn_bits == b.pdcp_sn_bits &&
         a.sdap_header_dl == b.sdap_header_dl && a.sdap_header_ul == b.sdap_header_ul &&
         a.acknowledged == b.acknowledged && a.arq == b.arq && a.security == b.security;
}

// Full mode at both times, with the same logical channel, or at neither.
[[nodiscard]] bool same_channel(const std::optional<RadioPlace>& a, const std::optional<RadioPlace>& b) {
  return a.has_value() == b.has_value() && (!a || a->lcid == b->lcid);
}

// The same tunnel and modes, and other keys.
[[nodiscard]] bool is_rekeyed(const ran::BearerConfig& before, const ran::BearerConfig& now) {
  if (!before.security || !now.security || before.security->key == now.security->key) return false;
  ran::BearerConfig same = before;
  same.security->key = now.security->key;
  return same_modes(same, now) && same.upf == now.upf && same.uplink_teid == now.uplink_teid;
}

// Any COUNTs of the next list are below these, so the bearer is established anew.
constexpr std::uint32_t kAboveAll = 0xffffffff;

// COUNTs only rise while a bearer has the same keys.
[[nodiscard]] bool went_back(const Numbers& before, const Numbers& now) {
  return now.pdcp_downlink < before.pdcp_downlink || now.pdcp_uplink < before.pdcp_uplink;
}

}  // namespace

void BearerWatch::see(const ran::BearerConfig& config, const Numbers& numbers,
                      const std::optional<app::InSession>& session, const std::optional<RadioPlace>& radio) {
  const auto entered = known_.try_emplace(config.id, Known{config, numbers, session, radio, round_});
  const bool is_new = entered.second;
  Known& known = entered.first->second;
  const auto note = [&](BearerChange::Kind kind) {
    BearerChange& change = changes_.emplace_back();
    change.kind = kind;
    change.config = config;
    if (!is_new) change.before = known.config;
    if (kind != BearerChange::Kind::kUpdate) change.numbers = numbers;
    change.session = session;
    change.radio = radio;
  };
  if (is_new) return note(BearerChange::Kind::kEstablish);
  const bool header_mode = !known.radio && !radio;
  if (header_mode && known.numbers.rlc_epoch != numbers.rlc_epoch && is_rekeyed(known.config, config)) {
    note(BearerChange::Kind::kRekey);
  } else if (!same_modes(known.config, config) || !same_channel(known.radio, radio) ||
             went_back(known.numbers, numbers)) {
    note(BearerChange::Kind::kEstablish);
  } else if (known.numbers.rlc_epoch != numbers.rlc_epoch) {
    note(BearerChange::Kind::kReestablish);
  } else if (known.config != config || known.session != session || known.radio != radio || known.is_stale) {
    note(BearerChange::Kind::kUpdate);
  }
  known = {config, numbers, session, radio, round_};
}

void BearerWatch::undo(const BearerChange& change) {
  using Kind = BearerChange::Kind;
  if (change.kind == Kind::kRelease) {
    // If the identity comes back, it is that of another bearer.
    known_.try_emplace(change.config.id, Known{.config = change.config,
                                               .numbers = {.pdcp_downlink = kAboveAll, .pdcp_uplink = kAboveAll},
                                               .session = {},
                                               .radio = {}});
    return;
  }
  const auto at = known_.find(change.config.id);
  if (at == known_.end()) return;
  if (change.before.id.value == 0) {
    known_.erase(at);
    return;
  }
  Known& known = at->second;
  known.config = change.before;
  if (change.kind == Kind::kUpdate) {
    known.is_stale = true;
  } else if (change.kind == Kind::kEstablish) {
    known.numbers.pdcp_downlink = known.numbers.pdcp_uplink = kAboveAll;
  } else {
    known.numbers.rlc_epoch = static_cast<std::uint8_t>(change.numbers.rlc_epoch - 1);  // any other one
  }
}

std::vector<BearerChange> BearerWatch::finish() {
  std::vector<BearerChange> changes;
  for (auto at = known_.begin(); at != known_.end();) {
    if (at->second.round == round_) {
      ++at;
      continue;
    }
    changes.push_back({BearerChange::Kind::kRelease, at->second.config, {}, {}});
    at = known_.erase(at);
  }
  const std::vector<BearerChange> seen = break_off();
  changes.insert(changes.end(), seen.begin(), seen.end());
  return changes;
}

std::vector<BearerChange> BearerWatch::break_off() {
  ++round_;
  return std::exchange(changes_, {});
}

}  // namespace splitplane::ue
