#include "card/tables.h"

#include <algorithm>

namespace splitplane::nic {

CardTables::CardTables(GnbProgram program, const CardSettings& settings)
    : settings_(settings),
      program_(std::move(program)),
      slots_(program_.slots()),
      order_(settings.core, settings.cores) {}

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
  if (b.peer >= kCardPeers) {
    return fail("bearer {}: peer {} has no such number; allowed: 0 to {}", b.id.value, b.peer, kCardPeers - 1);
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
  const bool of_session = b.has_flows || b.session.value != 0;
  if ((b.flows != 0 && b.session.value == 0) || (b.has_flows && b.session.value != 0)) {
    return fail("bearer {}: flows without a session, or of its own session; allowed: flows and session, or has_flows",
                b.id.value);
  }
  if (of_session && !program_.has_flows()) {
    return fail(
        "bearer {}: it has flows of a session; allowed on card {}: program gnb with features mat, clone_drop or "
        "clone, which looks for TEIDs",
        b.id.value, settings_.name);
  }
  // The TEID leads to one core, and the bearers' identities to others.
  if (of_session && settings_.cores > 1) {
    return fail("bearer {}: it has flows of a session, and card {} has {} cores; allowed: a card with one core",
                b.id.value, settings_.name, settings_.cores);
  }
  if (program_.by_ue_address() && !b.ue_ipv4 && !b.ue_ipv6) {
    return fail("bearer {}: no UE address; allowed on a card that looks for UE addresses: at least one", b.id.value);
  }
  return {};
}

// Whether the call itself gives the key's owner other keys.
bool CardTables::gives_up(std::span<const CardBearer> bearers, std::uint32_t owner, const BearerKey& key) const {
  const auto at = std::ranges::find(bearers, BearerId{owner}, &CardBearer::id);
  if (at == bearers.end()) return false;
  const BearerKeys keys = program_.keys_of(*at);
  return std::find(keys.begin(), keys.end(), key) == keys.end();
}

// Claims identities, keys and slots for the bearers. A call that is refused here has touched no table.
Expected<void> CardTables::claim(std::span<const CardBearer> bearers, Attempt& attempt) {
  for (const CardBearer& b : bearers) {
    if (auto fine = check(b); !fine) return fine;
    const auto [at, is_new] = entries_.try_emplace(b.id.value);
    Entry& entry = at->second;
    if (is_new) {
      attempt.ids.push_back(b.id.value);
      const auto slot = slots_.take();
      if (!slot) {
        attempt.ids.pop_back();
        entries_.erase(at);
        return fail("bearer {}: card {} is full; allowed: {} bearers", b.id.value, settings_.name, slots_.count());
      }
      entry.slot = *slot;
    } else if (entry.installed == calls_) {
      return fail("bearer {} is there twice; allowed: each bearer once", b.id.value);
    }
    entry.installed = calls_;
    attempt.entries.push_back(&entry);
    for (const BearerKey& key : program_.keys_of(b)) {
      const auto [owner, is_new_key] = owners_.try_emplace(key, b.id.value);
      if (is_new_key) {
        attempt.keys.push_back(key);
      } else if (owner->second != b.id.value && gives_up(bearers, owner->second, key)) {
        attempt.taken_over.emplace_back(key, std::exchange(owner->second, b.id.value));
      } else if (owner->second != b.id.value) {
        return fail("bearer {}: its {} is that of bearer {}; allowed: one of its own", b.id.value,
                    program_.by_ue_address() ? "UE address"
                    : key.flow               ? "TEID and QFI"
                                             : "TEID",
                    owner->second);
      }
    }
  }
  return {};
}

void CardTables::undo(std::span<const CardBearer> bearers, const Attempt& attempt) {
  for (const auto& [key, owner] : attempt.taken_over) owners_[key] = owner;
  for (const BearerKey& key : attempt.keys) {
    program_.erase_key(key);
    owners_.erase(key);
  }
  for (auto id = attempt.ids.rbegin(); id != attempt.ids.rend(); ++id) {
    program_.erase_uplink(BearerId{*id});
    program_.release(entries_.at(*id).slot.number);
    slots_.undo(entries_.at(*id).slot);
    entries_.erase(*id);
  }
  for (const CardBearer& b : bearers.first(attempt.written)) {
    const auto at = entries_.find(b.id.value);
    if (at == entries_.end()) continue;
    // There is room, because the entries are replaced.
    const std::uint32_t slot = at->second.slot.number;
    (void)program_.write_entries(at->second.bearer, slot, program_.numbers_of(slot));
  }
  // Rows that the new owner may have written before the old one's turn came.
  for (const auto& [key, owner] : attempt.taken_over) {
    const Entry& before = entries_.at(owner);
    (void)program_.write_entries(before.bearer, before.slot.number, program_.numbers_of(before.slot.number));
  }
}

// Writes everything but numbers; a refused call leaves all as it was.
Expected<void> CardTables::try_install(std::span<const CardBearer> bearers, bool restart, Attempt& attempt) {
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
    const Entry& entry = *attempt.entries[attempt.written++];
    const bool begins = restart || entry.bearer.id.value == 0 || GnbProgram::comes_from_host(&entry.bearer, b);
    const std::uint32_t slot = entry.slot.number;
    const auto numbers = begins ? GnbProgram::first_numbers(b) : program_.numbers_of(slot);
    if (auto written = program_.write_entries(b, slot, numbers); !written) {
      undo(bearers, attempt);
      return written;
    }
  }
  return {};
}

Expected<std::size_t> CardTables::would_install(std::span<const CardBearer> bearers) {
  Attempt attempt;
  if (auto tried = try_install(bearers, false, attempt); !tried) return tl::unexpected(tried.error());
  undo(bearers, attempt);
  return std::ranges::count_if(attempt.ids, [this](std::uint32_t id) { return order_.is_own(id); });
}

Expected<void> CardTables::install(std::span<const CardBearer> bearers, bool restart) {
  Attempt attempt;
  if (auto tried = try_install(bearers, restart, attempt); !tried) return tried;
  for (std::size_t i = 0; i < bearers.size(); ++i) {
    const CardBearer& b = bearers[i];
    Entry& entry = *attempt.entries[i];
    const bool is_new = entry.bearer.id.value == 0;
    if (!is_new) {
      const BearerKeys now = program_.keys_of(b);
      for (const BearerKey& key : program_.keys_of(entry.bearer)) {
        if (std::find(now.begin(), now.end(), key) != now.end()) continue;
        const auto owner = owners_.find(key);
        if (owner == owners_.end() || owner->second != b.id.value)
          continue;  // another bearer of this call took it over
        program_.erase_key(key);
        owners_.erase(owner);
      }
    }
    program_.begin_numbers(b, entry.slot, is_new ? nullptr : &entry.bearer, restart);
    if (order_.is_own(b.id.value)) {
      if (!is_new && entry.bearer.place != Place::kHost) --served_;
      if (b.place != Place::kHost) ++served_;
    }
    entry.bearer = b;
  }
  order_.enter(std::move(attempt.ids));
  write_fixed();
  return {};
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
    for (const BearerKey& key : program_.keys_of(at->second.bearer)) {
      program_.erase_key(key);
      owners_.erase(key);
    }
    program_.erase_uplink(id);
    program_.release(at->second.slot.number);
    slots_.give_back(at->second.slot);
    if (order_.is_own(id.value) && at->second.bearer.place != Place::kHost) --served_;
    entries_.erase(at);
    gone.push_back(id.value);
  }
  order_.leave(std::move(gone));
  write_fixed();
  return {};
}

Expected<void> CardTables::can_lease(std::span<const CardLease> leases) const {
  for (const auto& [id, first_not_allowed] : leases) {
    const auto at = entries_.find(id.value);
    if (at == entries_.end())
      return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, settings_.name);
    // The program compares for the exact COUNT at which the lease ends.
    const std::uint32_t next = program_.pdcp_next(at->second.slot.number);
    if (first_not_allowed - next > UINT32_MAX / 2) {
      return fail("bearer {}: a lease that ends at COUNT {}; allowed: not before {}, which is the next", id.value,
                  first_not_allowed, next);
    }
  }
  return {};
}

Expected<void> CardTables::set_leases(std::span<const CardLease> leases) {
  if (auto can = can_lease(leases); !can) return can;
  for (const auto& [id, first_not_allowed] : leases) {
    const Entry& entry = entries_.at(id.value);
    program_.set_lease(entry.bearer, entry.slot.number, first_not_allowed);
    if (id.value == fixed_id_) write_fixed();
  }
  return {};
}

Expected<void> CardTables::begin(std::span<const CardBeginning> bearers) {
  for (const CardBeginning& b : bearers) {
    const auto at = entries_.find(b.id.value);
    if (at == entries_.end() || at->second.bearer.place == Place::kHost) {
      return fail("bearer {} is not served by card {}; allowed: one that is installed with place card", b.id.value,
                  settings_.name);
    }
    if (b.lease_end - b.next_count > UINT32_MAX / 2) {
      return fail("bearer {}: a lease that ends at COUNT {}; allowed: not before {}, which is the next", b.id.value,
                  b.lease_end, b.next_count);
    }
  }
  for (const CardBeginning& b : bearers) {
    Entry& entry = entries_.at(b.id.value);
    entry.bearer.next_count = b.next_count;
    entry.bearer.next_rlc = b.next_rlc;
    entry.bearer.epoch = b.epoch;
    entry.bearer.ahead = 0;
    entry.bearer.lease = b.lease_end - b.next_count;
    program_.begin_moved(entry.bearer, entry.slot.number, b.settled);
    if (b.id.value == fixed_id_) write_fixed();
  }
  return {};
}

CardNumbers CardTables::numbers_of(const Entry& entry) const {
  CardNumbers numbers = program_.numbers(entry.slot.number);
  numbers.place = entry.bearer.place;
  numbers.epoch = entry.bearer.epoch;
  if (numbers.pdcp_next == entry.bearer.next_count) numbers.ahead = entry.bearer.ahead;
  return numbers;
}

Expected<CardNumbers> CardTables::numbers(BearerId id) const {
  const auto at = entries_.find(id.value);
  if (at == entries_.end())
    return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, settings_.name);
  return numbers_of(at->second);
}

std::vector<BearerNumbers> CardTables::numbers_after(std::uint32_t after, std::size_t limit) const {
  std::vector<BearerNumbers> rows;
  const auto page = order_.page(after, limit);
  rows.reserve(page.size());
  for (const std::uint32_t id : page) rows.emplace_back(BearerId{id}, numbers_of(entries_.at(id)));
  return rows;
}

std::vector<BearerId> CardTables::bearers() const {
  std::vector<BearerId> ids;
  ids.reserve(order_.size());
  for (const std::uint32_t id : order_.all()) ids.push_back(BearerId{id});
  return ids;
}

const CardBearer* CardTables::find(BearerId id) const {
  const auto at = entries_.find(id.value);
  return at == entries_.end() ? nullptr : &at->second.bearer;
}

// The first bearer that exists stays the fixed one until it is removed.
void CardTables::write_fixed() {
  auto at = entries_.find(fixed_id_);
  if (at == entries_.end()) at = entries_.begin();
  if (at == entries_.end()) return program_.set_fixed(nullptr, 0);
  fixed_id_ = at->first;
  program_.set_fixed(&at->second.bearer, at->second.slot.number);
}

}  // namespace splitplane::nic
