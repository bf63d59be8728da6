#include "ue/terminal/full_changes.h"

#include "base/log.h"
#include "ue/pdcp_counts.h"

namespace splitplane::ue {

using Kind = BearerChange::Kind;

// What is done of a change: nothing, or the release of a bearer that full mode does not serve any more. The log has a
// line of what is not possible.
std::optional<BearerChange> FullChanges::possible(const BearerChange& change) const {
  const std::uint32_t id = change.config.id.value;
  if (change.kind == Kind::kRelease || change.radio) return change;
  if (change.kind != Kind::kEstablish) return std::nullopt;
  log::warn("bearer {:#010x} is not served here: its worker has no `features: full`", id);
  if (change.before.id.value == 0) return std::nullopt;
  return BearerChange{.kind = Kind::kRelease, .config = change.before};
}

// Without keys a bearer has no PDCP entity, and its packets are dropped (pdcp_no_keys).
std::unique_ptr<datapath::SecuredBearer> FullChanges::make_secured(const BearerChange& change) {
  const ran::BearerConfig& config = change.config;
  datapath::WorkerPdcp* const pdcp = ues_.pdcp();
  if (pdcp == nullptr || !config.security) {
    log::warn("bearer {:#010x}: {}; its packets are dropped", config.id.value,
              pdcp == nullptr ? "it is secured, and ue.key_file is absent" : "it has no security");
    return nullptr;
  }
  const auto first = first_counts(config, change.numbers, pdcp->keys().used(*config.security));
  auto made = pdcp->make(config, first.tx_next, first.rx_deliv);
  if (made) return std::move(*made);
  log::warn("bearer {:#010x}: {}; its packets are dropped", config.id.value, made.error().message);
  return nullptr;
}

std::vector<BearerChange> FullChanges::carry_out(const std::vector<BearerChange>& wanted) {
  std::vector<BearerChange> changes;
  // What is destroyed is destroyed here, when the UEs do not use it any more.
  const auto entities = std::make_shared<std::vector<FullUe::Entities>>();
  for (const BearerChange& one : wanted) {
    const auto change = possible(one);
    if (!change) continue;
    changes.push_back(*change);
    FullUe::Entities& made = entities->emplace_back();
    if (change->kind != Kind::kEstablish) continue;
    made.radio = ues_.make_radio(*change);
    made.secured = make_secured(*change);
  }
  const bool done = execute_([this, entities, changes] {
    for (std::size_t i = 0; i < changes.size(); ++i) {
      (*entities)[i] = ues_.change(changes[i], std::move((*entities)[i]));
    }
  });
  if (!done) {
    log::error("the UEs do not answer; {} changes of bearers are tried again", changes.size());
    return wanted;
  }
  std::vector<BearerChange> again, of_tun;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BearerChange& change = changes[i];
    const FullUe::Entities& old = (*entities)[i];
    note_used(old);
    if (!refused(change, old)) {
      if (old.uses_tun) of_tun.push_back(std::move(change));
      continue;
    }
    // What was there before the change is gone.
    if (old.uses_tun) of_tun.push_back({.kind = Kind::kRelease, .config = change.before});
    change.before = {};
    again.push_back(std::move(change));
  }
  if (addresses_ != nullptr) addresses_->follow(of_tun);
  return again;
}

void FullChanges::note_used(const FullUe::Entities& old) {
  if (!old.secured) return;
  ues_.pdcp()->keys().note_used(old.secured->security,
                                {old.secured->entity.tx().tx_next(), old.secured->received_until});
}

bool FullChanges::refused(const BearerChange& change, const FullUe::Entities& old) {
  const BearerId id = change.config.id;
  if (!old.refused) {
    refused_.erase(id);
  } else if (refused_.insert(id).second) {
    log::warn("bearer {:#010x}: its UE has no place for LCID {}; it is tried again with each list", id.value,
              change.radio->lcid);
  }
  return old.refused;
}

}  // namespace splitplane::ue
