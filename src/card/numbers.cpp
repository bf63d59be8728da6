// The half of CardTables that reads and sets the program's counters by bearer, and keeps the order in which they are
// read.
#include <algorithm>

#include "card/tables.h"

namespace splitplane::nic {

Expected<void> CardTables::can_lease(std::span<const CardLease> leases) const {
  for (const auto& [id, first_not_allowed] : leases) {
    const auto at = entries_.find(id.value);
    if (at == entries_.end())
      return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, settings_.name);
    // The program compares for the exact COUNT at which the lease ends.
    const auto next = static_cast<std::uint32_t>(pdcp_next_.read(at->second.slot));
    if (first_not_allowed - next > UINT32_MAX / 2) {
      return fail("bearer {}: a lease that ends at COUNT {}; allowed: not before {}, which is the next", id.value,
                  first_not_allowed, next);
    }
  }
  return {};
}

Expected<void> CardTables::set_leases(std::span<const CardLease> leases) {
  if (auto can = can_lease(leases); !can) return can;
  for (const auto& [id, first_not_allowed] : leases) lease_.write(entries_.at(id.value).slot, first_not_allowed);
  return {};
}

CardNumbers CardTables::read_numbers(const Entry& entry) const {
  const std::uint32_t slot = entry.slot;
  const auto pdcp_next = static_cast<std::uint32_t>(pdcp_next_.read(slot));
  return {.pdcp_next = pdcp_next,
          .rlc_next = static_cast<std::uint32_t>(rlc_next_.read(slot)),
          .in_flight = static_cast<std::uint32_t>(in_flight_.read(slot)),
          .dl_packets = dl_packets_.read(slot),
          .ul_packets = ul_packets_.read(slot),
          .epoch = entry.bearer.epoch,
          .ahead = pdcp_next == entry.bearer.next_count ? entry.bearer.ahead : 0,
          .lease_end = static_cast<std::uint32_t>(lease_.read(slot))};
}

Expected<CardNumbers> CardTables::numbers(BearerId id) const {
  const auto at = entries_.find(id.value);
  if (at == entries_.end())
    return fail("bearer {} is not on card {}; allowed: one of its bearers", id.value, settings_.name);
  return read_numbers(at->second);
}

std::vector<BearerNumbers> CardTables::numbers_after(std::uint32_t after, std::size_t limit) const {
  std::vector<BearerNumbers> rows;
  const auto first = std::ranges::upper_bound(order_, after);
  rows.reserve(std::min(limit, static_cast<std::size_t>(order_.end() - first)));
  for (auto id = first; id != order_.end() && rows.size() < limit; ++id)
    rows.emplace_back(BearerId{*id}, read_numbers(entries_.at(*id)));
  return rows;
}

std::vector<BearerId> CardTables::bearers() const {
  std::vector<BearerId> ids;
  ids.reserve(order_.size());
  for (const std::uint32_t id : order_) ids.push_back(BearerId{id});
  return ids;
}

void CardTables::enter_order(std::vector<std::uint32_t> ids) {
  std::erase_if(ids, [this](std::uint32_t id) { return !is_own(id); });
  std::ranges::sort(ids);
  const auto old = static_cast<std::ptrdiff_t>(order_.size());
  order_.insert(order_.end(), ids.begin(), ids.end());
  std::inplace_merge(order_.begin(), order_.begin() + old, order_.end());
}

// All `ids` of this core are there.
void CardTables::leave_order(std::vector<std::uint32_t> ids) {
  std::erase_if(ids, [this](std::uint32_t id) { return !is_own(id); });
  std::ranges::sort(ids);
  auto gone = ids.begin();
  std::size_t kept = 0;
  for (const std::uint32_t id : order_) {
    if (gone != ids.end() && *gone == id) {
      ++gone;
    } else {
      order_[kept++] = id;
    }
  }
  order_.resize(kept);
}

}  // namespace splitplane::nic
