#include "card/link/bearers.h"

#include <algorithm>
#include <array>

#include "card/protocol/lease.h"

namespace splitplane::app {
namespace {

// How often a card with few bearers is asked; with more bearers each of them is looked at less often.
constexpr std::chrono::microseconds kIdleLook{10000}, kIdleLookEach{20};

std::chrono::microseconds idle_look(std::size_t bearers) {
  return std::max(kIdleLook, kIdleLookEach * static_cast<std::int64_t>(bearers));
}

LinkBearers::Ids first_of(const std::set<std::uint32_t>& all, std::size_t limit) {
  LinkBearers::Ids ids;
  for (const std::uint32_t id : all) {
    if (ids.size() == limit) break;
    ids.push_back(id);
  }
  return ids;
}

bool is_hosts(const LinkBearers::Entry& entry) {
  return entry.want.place == nic::Place::kHost;
}

// In a session with several bearers the card finds those that it serves by way of the host's entries.
bool may_be_absent(const LinkBearers::Entry& entry) {
  return is_hosts(entry) && !entry.want.has_flows && entry.want.session.value == 0;
}

}  // namespace

std::uint64_t LinkBearers::put(const nic::CardBearer& bearer, Caller caller) {
  Entry& entry = entry_of(bearer.id.value);
  nic::CardBearer wanted = bearer;
  if (entry.version != 0) {
    wanted.next_count = entry.want.next_count;
    wanted.ahead = entry.want.ahead;
    wanted.next_rlc = entry.want.next_rlc;
    wanted.epoch = entry.want.epoch;
  } else {
    entry.heard = wanted.next_count - wanted.ahead;
  }
  wanted.lease = lease_size(bearer.pdcp_sn_bits).least;
  set_want(entry, wanted);
  entry.refused.clear();
  entry.absent = false;
  mark_dirty(bearer.id.value, entry);
  entry.version = ++versions_;
  if (caller == Caller::kWaits) entry.awaited = entry.version;
  return entry.version;
}

void LinkBearers::set_want(Entry& entry, const nic::CardBearer& want) {
  entry.want = want;
  entry.of_host = is_hosts(entry);
  entry.fixed = is_hosts(entry) && !may_be_absent(entry);
}

void LinkBearers::remove(std::uint32_t id) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  if (at->second.sent) removals_.insert(id);
  if (at->second.sent && at->second.unsure) unsure_removals_.insert(id);
  due_.erase({at->second.due, id});
  clean(id);
  requested_.erase(id);
  entries_.erase(at);
}

void LinkBearers::mark_dirty(std::uint32_t id, const Entry& entry) {
  clean(id);
  dirty_.emplace(may_be_absent(entry), id);
}

bool LinkBearers::clean(std::uint32_t id) {
  return dirty_.erase({false, id}) + dirty_.erase({true, id}) != 0;
}

// Takes an entry of the host's off the card. Its packets then come to the same queue of its worker by the punt VF.
// Returns false if there is none that could go.
bool LinkBearers::evict_one() {
  for (auto at = evictable_.begin(); at != evictable_.end();) {
    const auto found = entries_.find(*at);
    if (found == entries_.end() || !found->second.confirmed || !may_be_absent(found->second) || is_removal(*at)) {
      at = evictable_.erase(at);
      continue;
    }
    auto& [id, entry] = *found;
    if (entry.moving) {
      ++at;
      continue;
    }
    evictable_.erase(at);
    removals_.insert(id);
    clean(id);
    entry.sent = entry.confirmed = entry.numbered = false;
    entry.absent = true;
    return true;
  }
  return false;
}

const LinkBearers::Entry* LinkBearers::find(std::uint32_t id) const {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : &at->second;
}

const LinkBearers::Entry* LinkBearers::awaited(std::uint32_t id, std::uint64_t version) const {
  const Entry* const entry = version == kRemoval ? nullptr : find(id);
  return entry != nullptr && entry->awaited == version ? entry : nullptr;
}

bool LinkBearers::is_done(std::uint32_t id, std::uint64_t version) const {
  return version == kRemoval ? !is_removal(id) : !is_dirty(id) || awaited(id, version) == nullptr;
}

std::string LinkBearers::take_refusal(std::uint32_t id, std::uint64_t version) {
  if (awaited(id, version) == nullptr) return {};
  Entry& entry = entries_.at(id);
  entry.awaited = 0;
  return entry.refused;
}

void LinkBearers::begin_anew() {
  due_.clear();
  requested_.clear();
  taken_.clear();
  for (auto& [id, entry] : entries_) {
    if (entry.sent) put_behind_lease(entry);
    entry.sent = entry.confirmed = entry.absent = entry.unsure = false;
    entry.refused.clear();
    mark_dirty(id, entry);
  }
}

void LinkBearers::put_behind_lease(Entry& entry) {
  entry.dl_packets += entry.seen.dl_packets;
  entry.ul_packets += entry.seen.ul_packets;
  entry.dl_octets += entry.seen.dl_octets;
  entry.ul_octets += entry.seen.ul_octets;
  entry.seen = {};
  entry.has_begun = false;
  if (!std::exchange(entry.numbered, false)) return;
  entry.want.next_count = entry.seen.pdcp_next = entry.lease_end;
  entry.want.ahead = entry.lease_end - entry.heard;
  ++entry.want.epoch;
  entry.rate = 0;
  entry.waits_since = {};
}

LinkBearers::Found LinkBearers::found_on_card(const CardNumbersRow& row, Clock::time_point now) {
  const std::uint32_t id = row.id.value;
  taken_.insert(id);
  const auto at = entries_.find(id);
  if (at == entries_.end() || is_removal(id)) {
    removals_.insert(id);
    return {};
  }
  Entry& entry = at->second;
  // Its registers say nothing of a bearer that the host has numbered. It is installed as a new one.
  if (row.numbers.place == nic::Place::kHost && !is_hosts(entry)) {
    removals_.insert(id);
    return {};
  }
  // The host has numbered the bearer since the card got this entry: a move was cut off.
  if (!entry.sent && !is_hosts(entry) && left_of_lease(row.numbers.lease_end, entry.want.next_count) > 0) {
    removals_.insert(id);
    return {};
  }
  Found found;
  if (!entry.sent) {
    entry.sent = entry.numbered = found.adopted = true;
    entry.want.epoch = row.numbers.epoch;
    entry.want.next_count = row.numbers.pdcp_next;
    entry.want.ahead = std::min(row.numbers.ahead, (1U << (entry.want.pdcp_sn_bits - 1)) - 1);
    entry.heard = row.numbers.pdcp_next - entry.want.ahead;
    entry.lease_end = row.numbers.lease_end;
    entry.absent = false;
    mark_dirty(id, entry);
    // The copies of what it has sent died with the host before this one. RLC begins anew, so that no number is missed.
    if (entry.want.keeps_copies) removals_.insert(id);
  }
  entry.confirmed = true;
  entry.absent = entry.unsure = false;
  if (may_be_absent(entry)) evictable_.insert(id);
  wait_again(entry);
  note(id, row.numbers, now);
  if (!is_hosts(entry) && left_of_lease(row.numbers.pdcp_next, entry.lease_end) >= 0) found.lease = entry.lease_end;
  return found;
}

void LinkBearers::compared(const std::set<std::uint32_t>& on_card) {
  std::erase_if(removals_, [&](std::uint32_t id) { return !on_card.contains(id); });
  unsure_removals_.clear();
  taken_ = {on_card.begin(), on_card.end()};
  Ids may_wait;
  for (auto& [id, entry] : entries_) {
    if (on_card.contains(id) && !is_removal(id)) continue;
    if (entry.confirmed) put_behind_lease(entry);
    due_.erase({entry.due, id});
    entry.sent = entry.confirmed = entry.absent = entry.unsure = false;
    if (may_be_absent(entry)) {
      may_wait.push_back(id);
    } else {
      mark_dirty(id, entry);
    }
  }
  // What the others leave. Of many thousands, few are dirty then.
  std::size_t used = entries_in_use();
  for (const std::uint32_t id : may_wait) {
    Entry& entry = entries_.at(id);
    entry.absent = room_ != 0 && used >= room_ && !is_removal(id);
    if (entry.absent) {
      clean(id);
    } else {
      mark_dirty(id, entry);
      ++used;
    }
  }
}

std::uint64_t LinkBearers::restart(std::uint32_t id) {
  const auto at = entries_.find(id);
  if (at == entries_.end() || is_hosts(at->second)) return 0;
  Entry& entry = at->second;
  if (entry.sent) removals_.insert(id);
  const std::uint8_t before = entry.want.epoch;
  entry.moving = false;
  put_behind_lease(entry);
  entry.want.epoch = static_cast<std::uint8_t>(before + 1);
  due_.erase({entry.due, id});
  entry.sent = entry.confirmed = false;
  entry.refused.clear();
  mark_dirty(id, entry);
  entry.awaited = entry.version = ++versions_;
  return entry.version;
}

std::vector<LinkBearers::ToBegin> LinkBearers::to_begin(const Ids& ids) const {
  std::vector<ToBegin> found;
  for (const std::uint32_t id : ids) {
    const Entry* const entry = find(id);
    if (entry == nullptr || entry->sent || is_hosts(*entry) || !entry->want.keeps_copies || is_removal(id)) continue;
    found.push_back({BearerId{id}, entry->want.epoch, entry->version});
  }
  return found;
}

void LinkBearers::begun(const ToBegin& what, const CardLinkSettings::KeptWindow& kept) {
  const auto at = entries_.find(what.id.value);
  if (at == entries_.end() || at->second.sent) return;
  Entry& entry = at->second;
  if (entry.version != what.version || entry.want.epoch != what.epoch) return;
  entry.has_begun = true;
  entry.want.next_rlc = kept.next;
  entry.window = kept.most - std::min(kept.most, kept.next - kept.next_ack);
}

void LinkBearers::postpone(std::uint32_t id) {
  if (clean(id)) postponed_.insert(id);
}

void LinkBearers::resume() {
  for (const std::uint32_t id : std::exchange(postponed_, {})) {
    if (const Entry* const entry = find(id); entry != nullptr) mark_dirty(id, *entry);
  }
}

bool LinkBearers::can_prepare(std::uint32_t id) const {
  const Entry* const entry = find(id);
  if (entry == nullptr) return true;
  if (is_removal(id)) return false;
  return entry->sent || is_hosts(*entry) || !entry->want.keeps_copies || entry->has_begun;
}

std::vector<BearerId> LinkBearers::keepers(std::span<const CardNumbersRow> rows) const {
  std::vector<BearerId> ids;
  for (const CardNumbersRow& row : rows) {
    const Entry* const entry = find(row.id.value);
    if (entry != nullptr && entry->want.keeps_copies && !is_hosts(*entry)) ids.push_back(row.id);
  }
  return ids;
}

LinkBearers::Ids LinkBearers::dirty(std::size_t limit) const {
  Ids ids;
  for (const auto& [last, id] : dirty_) {
    if (ids.size() == limit) break;
    ids.push_back(id);
  }
  return ids;
}

LinkBearers::Ids LinkBearers::removals(std::size_t limit) const {
  return first_of(removals_, limit);
}

void LinkBearers::removed(std::span<const std::uint32_t> ids) {
  for (const std::uint32_t id : ids) {
    removals_.erase(id);
    unsure_removals_.erase(id);
    taken_.erase(id);
  }
}

void LinkBearers::found_removal(std::uint32_t id, bool is_there) {
  unsure_removals_.erase(id);
  if (!is_there) removed(std::array{id});
}

Expected<std::optional<LinkBearers::ToInstall>> LinkBearers::prepare(std::uint32_t id) {
  const auto at = entries_.find(id);
  if (at == entries_.end()) {
    clean(id);
    return std::nullopt;
  }
  Entry& entry = at->second;
  if (!entry.sent && is_full()) {
    if (may_be_absent(entry)) {
      entry.absent = true;
      clean(id);
      return std::nullopt;
    }
    if (evict_one() || has_removals()) return std::nullopt;
  }
  if (!entry.sent) {
    entry.want.lease =
        within_counts(entry.want.next_count, first_lease(entry.want.pdcp_sn_bits, entry.want.ahead, entry.rate));
    if (entry.want.lease == 0) {
      if (!is_hosts(entry)) {
        return fail(
            "its COUNTs are used up, or restarts without a packet between them used them up; allowed: added anew");
      }
      entry.want.lease = 1;  // for a bearer that the card does not number
    }
    if (entry.want.keeps_copies && !is_hosts(entry))
      entry.want.lease = std::min(entry.want.lease, std::max(entry.window, 1U));
    entry.lease_end = entry.want.next_count + entry.want.lease;
  }
  ToInstall out{entry.want, entry.version, std::nullopt};
  if (!is_hosts(entry)) {
    entry.numbered = true;
    out.numbering = CardNumbering{BearerId{id}, entry.lease_end, entry.heard, entry.want.epoch};
  }
  entry.sent = true;
  entry.has_begun = false;
  taken_.insert(id);
  return out;
}

void LinkBearers::installed(std::uint32_t id, std::uint64_t version, Clock::time_point now) {
  const auto at = entries_.find(id);
  if (at == entries_.end() || !at->second.sent) return;  // removed, or put anew since
  Entry& entry = at->second;
  entry.confirmed = true;
  entry.unsure = false;
  wait_again(entry);
  if (may_be_absent(entry)) evictable_.insert(id);
  if (entry.version == version) clean(id);
  if (!is_hosts(entry) && !due_.contains({entry.due, id})) schedule(id, entry, now + idle_look(due_.size()));
}

bool LinkBearers::refuse(std::uint32_t id, const std::string& why) {
  Entry& entry = entries_.at(id);
  clean(id);
  entry.refused = why;
  const bool off = entry.confirmed && entry.awaited == 0;
  if (off) {
    put_behind_lease(entry);
    due_.erase({entry.due, id});
    entry.confirmed = false;
    removals_.insert(id);
  }
  entry.sent = entry.confirmed;
  if (!entry.sent && !is_removal(id)) taken_.erase(id);
  if (!entry.sent && !off && entry.awaited == 0 && room_ != 0 && may_be_absent(entry)) {
    entry.refused.clear();
    entry.absent = true;
  }
  return off;
}

std::optional<LinkBearers::Clock::time_point> LinkBearers::next_look() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

void LinkBearers::request(const CardRequest& request) {
  const auto at = entries_.find(request.id.value);
  if (at == entries_.end() || is_hosts(at->second)) return;
  at->second.request = request;
  if (at->second.confirmed) requested_.insert(request.id.value);
}

LinkBearers::Ids LinkBearers::due(Clock::time_point now, std::size_t limit) {
  Ids ids;
  while (!requested_.empty() && ids.size() < limit) {
    const std::uint32_t id = *requested_.begin();
    requested_.erase(requested_.begin());
    const auto entry = entries_.find(id);
    if (entry == entries_.end() || !entry->second.confirmed) continue;
    // A request that comes while the card is asked waits for the next reading: the answer's tag says what came before.
    entry->second.answering = std::exchange(entry->second.request, std::nullopt);
    ids.push_back(id);
  }
  const std::size_t requested = ids.size();
  if (due_.empty() || due_.begin()->first > now) return ids;
  const auto soon = now + idle_look(due_.size()) / 16;
  for (auto at = due_.begin(); at != due_.end() && at->first <= soon && ids.size() < limit;) {
    const Entry* const entry = find(at->second);
    const bool there = entry != nullptr && entry->confirmed;
    const auto asks = ids.begin() + static_cast<std::ptrdiff_t>(requested);
    if (there && !std::binary_search(ids.begin(), asks, at->second)) ids.push_back(at->second);
    at = there ? std::next(at) : due_.erase(at);
  }
  return ids;
}

std::vector<LinkBearers::Renewal> LinkBearers::renewals(std::span<const CardNumbersRow> rows, const Windows& windows,
                                                        Clock::time_point now) {
  std::vector<Renewal> renewals;
  for (const CardNumbersRow& row : rows) {
    const auto at = entries_.find(row.id.value);
    if (at == entries_.end() || !at->second.confirmed || at->second.moving || is_hosts(at->second)) continue;
    Entry& entry = at->second;
    note(row.id.value, row.numbers, now);
    // An idle bearer keeps its lease while a receiver may not have seen its position. A bearer at the end of its lease
    // when this host finds it is not idle.
    if (row.numbers.pdcp_next == entry.want.next_count && entry.want.ahead != 0) continue;
    const auto later = entry.answering ? lengthened_lease : renewed_lease;
    auto end = later(entry.want.pdcp_sn_bits, row.numbers.pdcp_next, entry.lease_end, entry.rate);
    if (end && entry.want.keeps_copies) {
      const auto window = windows.find(row.id.value);
      if (window == windows.end()) continue;
      // What was acknowledged since the card said its numbers is no use of the window.
      const auto waits = static_cast<std::int32_t>(row.numbers.rlc_next - window->second.next_ack);
      const auto used = static_cast<std::uint32_t>(std::max(waits, 0));
      const std::uint32_t left = window->second.most - std::min(window->second.most, used);
      if (const std::uint32_t most = row.numbers.pdcp_next + left; left_of_lease(most, *end) > 0) end = most;
      if (left_of_lease(entry.lease_end, *end) <= 0) continue;  // the UE has to acknowledge first
    }
    if (end) renewals.push_back({{row.id, *end, entry.heard, entry.want.epoch}, entry.lease_end});
  }
  return renewals;
}

bool LinkBearers::renew(const Renewal& renewal, Clock::time_point now) {
  const auto at = entries_.find(renewal.numbering.id.value);
  if (at == entries_.end() || !at->second.confirmed || at->second.moving) return false;
  if (is_hosts(at->second) || at->second.lease_end != renewal.before) return false;
  at->second.lease_end = renewal.numbering.lease_end;
  at->second.is_longer = true;
  note(at->first, at->second.seen, now);
  return true;
}

std::vector<CardNotice> LinkBearers::notices(std::span<const CardNumbersRow> rows, const CardLinkSettings& settings,
                                             Clock::time_point now) {
  std::vector<CardNotice> notices;
  for (const CardNumbersRow& row : rows) {
    const auto at = entries_.find(row.id.value);
    if (at == entries_.end() || !at->second.confirmed || at->second.moving) continue;
    Entry& entry = at->second;
    // A lease that was renewed while packets are at the host is of use to the worker, whether it has asked or not.
    const bool is_longer = std::exchange(entry.is_longer, false) && row.numbers.in_flight != 0;
    if (entry.answering || is_longer) {
      const CardRequest request = entry.answering.value_or(CardRequest{row.id, CardRequest::kUnasked});
      notices.push_back(
          {CardNotice::Kind::kGrant, {request, row.numbers.pdcp_next, entry.lease_end, row.numbers.in_flight}});
      entry.answering.reset();
      entry.granted = true;
    }
    if (entry.waits_since == Clock::time_point{} || now - entry.waits_since < settings.settle_after) continue;
    if (now < entry.settle_due) continue;
    entry.settle_due = now + settings.settle_each;
    notices.push_back({CardNotice::Kind::kSettleAll, {.answers = {.id = row.id}}});
  }
  return notices;
}

std::optional<LinkBearers::Obstacle> LinkBearers::begin_move(std::span<const BearerId> ids) {
  std::size_t absent = 0;
  for (const BearerId id : ids) {
    const Entry* const entry = find(id.value);
    const bool there = entry != nullptr && (entry->absent || entry->confirmed);
    if (!there || entry->moving || is_dirty(id.value) || is_removal(id.value)) return Obstacle{.id = id.value};
    absent += entry->absent ? 1 : 0;
  }
  // All of them move before any entry goes, so none of theirs does.
  for (const BearerId id : ids) entries_.at(id.value).moving = true;
  bool has_room = true;
  if (absent != 0) {
    for (std::size_t more = entries_in_use() + absent; has_room && more > room_; --more) has_room = evict_one();
  }
  for (const BearerId id : ids) {
    Entry& entry = entries_.at(id.value);
    entry.moving = has_room;
    if (!has_room || !entry.absent) continue;
    taken_.insert(id.value);
    entry.sent = entry.unsure = true;  // the move installs it; until then it counts as absent
  }
  return has_room ? std::nullopt : std::optional(Obstacle{.is_full = true});
}

// Entries of the card that stay, and those that it needs for bearers that shall come.
std::size_t LinkBearers::entries_in_use() const {
  std::size_t used = taken_.size();
  for (const std::uint32_t id : removals_) used -= taken_.contains(id) ? 1 : 0;
  const auto needs = [this](std::uint32_t id) {
    const Entry* const entry = find(id);
    return entry != nullptr && (!entry->sent || is_removal(id)) && !may_be_absent(*entry);
  };
  for (auto at = dirty_.begin(); at != dirty_.end() && !at->first; ++at) used += needs(at->second) ? 1 : 0;
  for (const std::uint32_t id : postponed_) used += needs(id) ? 1 : 0;
  return used;
}

void LinkBearers::give_up_move(std::uint32_t id) {
  const auto at = entries_.find(id);
  if (at == entries_.end() || !std::exchange(at->second.moving, false)) return;
  if (is_hosts(at->second)) {
    at->second.version = ++versions_;
    at->second.absent = false;  // the card may have what the move installed, and keeps it as the way to the worker
    mark_dirty(id, at->second);
  } else if (at->second.confirmed) {
    leases_to_tell_.insert(id);
  }
}

std::vector<nic::CardLease> LinkBearers::take_leases_to_tell() {
  std::vector<nic::CardLease> leases;
  for (const std::uint32_t id : std::exchange(leases_to_tell_, {})) {
    const Entry* const entry = find(id);
    if (entry != nullptr && entry->confirmed && !is_hosts(*entry)) leases.emplace_back(BearerId{id}, entry->lease_end);
  }
  return leases;
}

LinkBearers::Served LinkBearers::served(std::uint32_t id, const nic::CardNumbers& numbers) const {
  const Entry* const entry = find(id);
  if (entry == nullptr) return {};
  return {entry->dl_packets + numbers.dl_packets, entry->ul_packets + numbers.ul_packets,
          entry->dl_octets + numbers.dl_octets, entry->ul_octets + numbers.ul_octets};
}

void LinkBearers::moved_away(const nic::CardBearer& want) {
  const std::uint32_t id = want.id.value;
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  Entry& entry = at->second;
  const std::uint8_t epoch = entry.want.epoch;
  due_.erase({entry.due, id});
  requested_.erase(id);
  set_want(entry, want);
  entry.want.epoch = epoch;
  entry.want.next_count = entry.lease_end;  // should it have to come back: no number below was left to it
  entry.moving = entry.numbered = entry.granted = entry.has_begun = false;
  entry.request.reset();
  entry.answering.reset();
  entry.waits_since = {};
  entry.rate = 0;
  entry.awaited = entry.version = ++versions_;
  mark_dirty(id, entry);
}

void LinkBearers::moved_here(const nic::CardBearer& want, const nic::CardBeginning& beginning, const Served& before,
                             const nic::CardNumbers& numbers, Clock::time_point now) {
  const std::uint32_t id = want.id.value;
  Entry& entry = entry_of(id);
  set_want(entry, want);
  entry.want.next_count = beginning.next_count;
  entry.want.next_rlc = 0;  // where RLC begins in the next epoch, should this run of the card end
  entry.want.epoch = beginning.epoch;
  entry.want.ahead = 0;
  entry.version = ++versions_;
  entry.moving = true;  // until arrived(): the card has a lease that lets nothing through, and no number of the bearer
  entry.sent = entry.confirmed = entry.numbered = entry.granted = true;
  entry.absent = entry.unsure = false;
  taken_.insert(id);
  entry.lease_end = beginning.lease_end;
  entry.heard = beginning.next_count;
  entry.dl_packets = before.dl_packets - numbers.dl_packets;
  entry.ul_packets = before.ul_packets - numbers.ul_packets;
  entry.dl_octets = before.dl_octets - numbers.dl_octets;
  entry.ul_octets = before.ul_octets - numbers.ul_octets;
  entry.seen = numbers;
  entry.seen.pdcp_next = beginning.next_count;
  entry.seen.rlc_next = beginning.next_rlc;
  entry.seen.epoch = beginning.epoch;
  entry.seen.lease_end = beginning.lease_end;
  entry.looked = now;
  entry.rate = 0;
  entry.waits_since = {};
  clean(id);
}

void LinkBearers::arrived(std::uint32_t id, Clock::time_point now) {
  const auto at = entries_.find(id);
  if (at == entries_.end() || !std::exchange(at->second.moving, false)) return;
  if (at->second.confirmed && !is_hosts(at->second)) schedule(id, at->second, now + std::chrono::milliseconds(2));
}

// A request whose answer did not come before the card was away.
void LinkBearers::wait_again(Entry& entry) {
  if (!entry.request) entry.request = entry.answering;
  entry.answering.reset();
  if (entry.request) requested_.insert(entry.request->id.value);
}

bool LinkBearers::take_granted(std::uint32_t id) {
  const auto at = entries_.find(id);
  return at != entries_.end() && std::exchange(at->second.granted, false);
}

void LinkBearers::note(std::uint32_t id, const nic::CardNumbers& numbers, Clock::time_point now) {
  Entry& entry = entries_.at(id);
  const double seconds = std::chrono::duration<double>(now - entry.looked).count();
  if (entry.looked != Clock::time_point{} && seconds > 0) {
    const double rate = std::max(left_of_lease(entry.seen.pdcp_next, numbers.pdcp_next), 0) / seconds;
    entry.rate = std::max(rate, entry.rate / 2);  // a pause is no reason to let a lease run out at its end
  }
  entry.looked = now;
  entry.seen = numbers;
  if (numbers.in_flight == 0) {
    entry.waits_since = {};
  } else if (entry.waits_since == Clock::time_point{}) {
    entry.waits_since = now;
  }
  if (numbers.pdcp_next != entry.want.next_count) entry.heard = numbers.pdcp_next;
  const auto idle = idle_look(due_.size());
  if (is_hosts(entry)) return;
  schedule(id, entry, now + next_lease_look(numbers.pdcp_next, entry.lease_end, entry.rate, idle));
}

void LinkBearers::schedule(std::uint32_t id, Entry& entry, Clock::time_point due) {
  due_.erase({entry.due, id});
  entry.due = due;
  due_.insert({due, id});
}

}  // namespace splitplane::app
