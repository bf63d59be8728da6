// The half of CardTables that adds and removes bearers: all bearers of a call, or none.
#include <algorithm>

#include "card/tables.h"

namespace splitplane::nic {

Expected<void> CardTables::check(const CardBearer& b) const {
  const auto sn_bits = [](unsigned bits) { return bits == 12 || bits == 18; };
  if (b.id.value == 0 || b.teid.value == 0) {
    return fail("bearer {}: identity or TEID is 0; allowed: 1 to 4294967295", b.id.value);
  }
  if (!sn_bits(b.rlc_sn_bits) || !sn_bits(b.pdcp_sn_bits)) {
    return fail("bearer {}: sequence numbers of {} (RLC) and {} (PDCP) bits; allowed: 12 or 18", b.id.value,
                b.rlc_sn_bits, b.pdcp_sn_bits);
  }
  for (const unsigned vf : {b.vf_n3, b.vf_air, b.copies_vf}) {
    if (vf >= settings_.vfs) {
      return fail("bearer {}: VF {} is not one of card {}; allowed: 0 to {}", b.id.value, vf, settings_.name,
                  settings_.vfs - 1);
    }
  }
  if (b.qfi.value > 63) return fail("bearer {}: QFI {}; allowed: 0 to 63", b.id.value, b.qfi.value);
  if (b.peer >= has_peer_.size()) {
    return fail("bearer {}: peer {} has no such number; allowed: 0 to {}", b.id.value, b.peer, has_peer_.size() - 1);
  }
  // After a restart numbering continues at the lease's end. The receiver must take that as a step forwards.
  const std::uint32_t half = 1U << (b.pdcp_sn_bits - 1);
  if (b.lease == 0 || b.lease >= half) {
    return fail("bearer {}: a lease of {} COUNTs; allowed: 1 to {} with a PDCP SN of {} bits", b.id.value, b.lease,
                half - 1, b.pdcp_sn_bits);
  }
  if (b.ahead >= half) {
    return fail("bearer {}: its COUNTs begin {} ahead; allowed: less than {} with a PDCP SN of {} bits", b.id.value,
                b.ahead, half, b.pdcp_sn_bits);
  }
  if (by_ue_address_ && !b.ue_ipv4 && !b.ue_ipv6) {
    return fail("bearer {}: no UE address; allowed on a card that looks for UE addresses: at least one", b.id.value);
  }
  return {};
}

// Claims identities, keys and slots for the bearers. A call that is refused here has touched no table.
Expected<void> CardTables::claim(std::span<const CardBearer> bearers, Attempt& attempt) {
  for (const CardBearer& b : bearers) {
    if (auto fine = check(b); !fine) return fine;
    const auto [at, is_new] = entries_.try_emplace(b.id.value);
    Entry& entry = at->second;
    if (is_new) {
      attempt.ids.push_back(b.id.value);
      if (!take_slot(entry)) {
        attempt.ids.pop_back();
        entries_.erase(at);
        return fail("bearer {}: card {} is full; allowed: {} bearers", b.id.value, settings_.name, slots_);
      }
    } else if (entry.installed == calls_) {
      return fail("bearer {} is there twice; allowed: each bearer once", b.id.value);
    }
    entry.installed = calls_;
    attempt.entries.push_back(&entry);
    for (const BearerKey& key : keys_of(b)) {
      const auto [owner, is_new_key] = owners_.try_emplace(key, b.id.value);
      if (is_new_key) {
        attempt.keys.push_back(key);
      } else if (owner->second != b.id.value) {
        return fail("bearer {}: its {} is that of bearer {}; allowed: one of its own", b.id.value,
                    by_ue_address_ ? "UE address" : "TEID", owner->second);
      }
    }
  }
  return {};
}

void CardTables::undo(std::span<const CardBearer> bearers, const Attempt& attempt) {
  for (const BearerKey& key : attempt.keys) {
    erase_key(key);
    owners_.erase(key);
  }
  // Slots go back in reverse order. A slot that was never used counts as never used again, so its registers need no
  // writing.
  for (auto id = attempt.ids.rbegin(); id != attempt.ids.rend(); ++id) {
    if (uplink_ != nullptr) uplink_->remove(std::array<std::uint64_t, 1>{*id});
    const Entry& entry = entries_.at(*id);
    if (entry.fresh) {
      --next_slot_;
    } else {
      used_slots_.push_back(entry.slot);
    }
    entries_.erase(*id);
  }
  for (const CardBearer& b : bearers.first(attempt.written)) {
    const auto at = entries_.find(b.id.value);
    if (at != entries_.end()) (void)write_entries(at->second.bearer, at->second.slot);  // replaces: there is room
  }
}

// Writes everything but numbers; a refused call leaves all as it was.
Expected<void> CardTables::try_install(std::span<const CardBearer> bearers, Attempt& attempt) {
  ++calls_;
  attempt.entries.reserve(bearers.size());
  if (entries_.empty()) {
    entries_.reserve(bearers.size());
    owners_.reserve(bearers.size());
  }
  if (auto claimed = claim(bearers, attempt); !claimed) {
    undo(bearers, attempt);
    return claimed;
  }
  for (const CardBearer& b : bearers) {
    if (!write_entries(b, attempt.entries[attempt.written++]->slot)) {
      undo(bearers, attempt);
      return fail("bearer {}: the tables of card {} have no place left for it; allowed: other keys, or fewer",
                  b.id.value, settings_.name);
    }
  }
  return {};
}

Expected<std::size_t> CardTables::would_install(std::span<const CardBearer> bearers) {
  Attempt attempt;
  if (auto tried = try_install(bearers, attempt); !tried) return tl::unexpected(tried.error());
  undo(bearers, attempt);
  return std::ranges::count_if(attempt.ids, [this](std::uint32_t id) { return is_own(id); });
}

Expected<void> CardTables::install(std::span<const CardBearer> bearers, bool restart) {
  Attempt attempt;
  if (auto tried = try_install(bearers, attempt); !tried) return tried;
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    const CardBearer& b = bearers[i];
    Entry& entry = *attempt.entries[i];
    const bool is_new = entry.bearer.id.value == 0;
    if (!is_new) {
      const Keys now = keys_of(b);
      for (const BearerKey& key : keys_of(entry.bearer)) {
        if (std::find(now.begin(), now.end(), key) != now.end()) continue;
        erase_key(key);
        owners_.erase(key);
      }
    }
    write_registers(b, entry, is_new, restart);
    if (is_own(b.id.value)) {
      if (!is_new && entry.bearer.place != Place::kHost) --served_;
      if (b.place != Place::kHost) ++served_;
    }
    entry.bearer = b;
  }
  enter_order(std::move(attempt.ids));
  write_fixed();
  return {};
}

// Registers of a slot that was never used are 0 already.
void CardTables::write_registers(const CardBearer& b, const Entry& entry, bool is_new, bool restart) {
  const std::uint32_t slot = entry.slot;
  if (is_new || restart) {
    lease_.write(slot, (std::uint64_t{b.next_count} + b.lease) & UINT32_MAX);
    const bool is_zero = is_new && entry.fresh;
    if (!is_zero || b.next_count != 0) pdcp_next_.write(slot, b.next_count);
    if (!is_zero) {
      rlc_next_.write(slot, 0);
      without_poll_.write(slot, 0);
    }
    if (is_new && !entry.fresh) {
      dl_packets_.write(slot, 0);
      ul_packets_.write(slot, 0);
    }
  }
  const bool was_armed = !is_new && entry.bearer.place == Place::kArmed;
  if (b.place == Place::kArmed && (!was_armed || restart)) {
    in_flight_.write(slot, b.in_flight);
  } else if (is_new && !entry.fresh) {
    in_flight_.write(slot, 0);
  }
}

bool CardTables::take_slot(Entry& entry) {
  entry.fresh = used_slots_.empty();
  if (!entry.fresh) {
    entry.slot = used_slots_.back();
    used_slots_.pop_back();
    return true;
  }
  if (next_slot_ == slots_) return false;
  entry.slot = next_slot_++;
  return true;
}

Expected<void> CardTables::can_remove(std::span<const BearerId> ids) {
  ++calls_;
  for (const BearerId id : ids) {
    const auto at = entries_.find(id.value);
    if (at == entries_.end()) {
      return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, settings_.name);
    }
    if (at->second.installed == calls_) return fail("bearer {} is there twice; allowed: each bearer once", id.value);
    at->second.installed = calls_;
  }
  return {};
}

Expected<void> CardTables::remove(std::span<const BearerId> ids) {
  if (auto can = can_remove(ids); !can) return can;
  std::vector<std::uint32_t> gone;
  gone.reserve(ids.size());
  for (const BearerId id : ids) {
    const auto at = entries_.find(id.value);
    for (const BearerKey& key : keys_of(at->second.bearer)) {
      erase_key(key);
      owners_.erase(key);
    }
    if (uplink_ != nullptr) uplink_->remove(std::array<std::uint64_t, 1>{id.value});
    used_slots_.push_back(at->second.slot);
    if (is_own(id.value) && at->second.bearer.place != Place::kHost) --served_;
    entries_.erase(at);
    gone.push_back(id.value);
  }
  leave_order(std::move(gone));
  write_fixed();
  return {};
}

}  // namespace splitplane::nic
