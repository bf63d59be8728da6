// What CardLink sends: removals, UPFs, bearers in batches, and leases before they are used up.
#include <algorithm>

#include "base/log.h"
#include "card/link/link.h"
#include "card/protocol/lease.h"
#include "card/protocol/request.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kInstallBatch = kCardBearersPerRequest;
constexpr std::size_t kInstallMembers = 2000;  // a request line has at most 64 KiB, a member about 25 octets
constexpr std::size_t kIdBatch = 500;
// How often a card with few bearers is asked; with more bearers each of them is looked at less often.
constexpr std::chrono::microseconds kIdleLook{10000}, kIdleLookEach{20};

std::chrono::microseconds idle_look(std::size_t bearers) {
  return std::max(kIdleLook, kIdleLookEach * static_cast<std::int64_t>(bearers));
}

}  // namespace

Expected<void> CardLink::push(Lock& lock) {
  Expected<void> done;
  while (done && !stop_ && has_work()) {
    done = push_removals(lock);
    if (done) done = push_peers(lock);
    if (done) done = push_bearers(lock);
    if (done) done = push_peers(lock);
  }
  return done;
}

Expected<void> CardLink::push_removals(Lock& lock) {
  while (!removals_.empty()) {
    std::vector<std::uint32_t> ids;
    for (const std::uint32_t id : removals_) {
      if (ids.size() == kIdBatch) break;
      ids.push_back(id);
    }
    const auto answer = ask(lock, "card.remove", {{"ids", ids}});
    if (!answer) return tl::unexpected(answer.error());  // the card's state is compared anew then
    view_.removed += ids.size();
    for (const std::uint32_t id : ids) removals_.erase(id);
    done_.notify_all();
  }
  return {};
}

// A number that gets another UPF is first unset. It is set when no bearer on the card means the first UPF any more.
// Until then packets of both UPFs' bearers go up to this host, which knows where they belong.
Expected<void> CardLink::push_peers(Lock& lock) {
  const auto is_ready = [this](unsigned number) {
    return peers_[number].since != Peer::kUnset || (dirty_.empty() && removals_.empty());
  };
  for (auto at = dirty_peers_.begin(); (at = std::find_if(at, dirty_peers_.end(), is_ready)) != dirty_peers_.end();) {
    const unsigned number = *at;
    Peer& peer = peers_[number];
    const bool set = peer.want && peer.since != Peer::kToUnset;
    peer.since = set ? Peer::kOne : Peer::kUnset;
    if (set || !peer.want) dirty_peers_.erase(at);
    const auto answer =
        set ? ask(lock, "card.peer", to_json(*peer.want)) : ask(lock, "card.peer_gone", {{"number", number}});
    at = dirty_peers_.begin();
    if (answer) continue;
    if (!set) peer.since = Peer::kToUnset;
    dirty_peers_.insert(number);
    return tl::unexpected(answer.error());
  }
  return {};
}

Expected<void> CardLink::push_bearers(Lock& lock) {
  while (!dirty_.empty() && removals_.empty()) {
    std::vector<std::uint32_t> ids;
    for (const std::uint32_t id : dirty_) {
      if (ids.size() == kInstallBatch) break;
      ids.push_back(id);
    }
    if (const auto done = install(lock, ids); done) {
      // Installing many bearers takes long, and bearers that are on the card are in use.
      if (auto renewed = renew(lock); !renewed) return renewed;
      continue;
    } else if (!refusal_) {
      return done;
    }
    // The card refused all or nothing. One by one shows which bearers it refuses.
    for (const std::uint32_t id : ids) {
      if (!dirty_.contains(id) || removals_.contains(id)) continue;  // refused here, or to be removed first
      const auto before = entries_.find(id);
      const std::uint64_t version = before == entries_.end() ? 0 : before->second.version;
      const auto one = install(lock, {id});
      if (one) continue;
      if (!refusal_) return tl::unexpected(one.error());
      const auto at = entries_.find(id);
      if (at != entries_.end() && at->second.version != version) continue;  // put anew meanwhile
      if (at != entries_.end()) refuse(id, at->second, one.error().message);
      dirty_.erase(id);
    }
    done_.notify_all();
  }
  return {};
}

// Handles a refusal. If a caller waits, the card keeps what it had, because the caller puts that again. Otherwise the
// host goes on with the refused state, and the card must not go on with the old one. It could send to a UPF whose
// number another UPF has by now.
void CardLink::refuse(std::uint32_t id, Entry& entry, const std::string& why) {
  ++view_.refused;
  dirty_.erase(id);
  entry.refused = why;
  const bool off = entry.confirmed && entry.awaited == 0;
  if (off) {
    put_behind_lease(entry);
    due_.erase({entry.due, id});
    entry.confirmed = false;
    removals_.insert(id);
  }
  entry.sent = entry.confirmed;
  log::warn("card {} does not take bearer {:#010x}{}: {}", settings_.name, id, off ? ", which goes off it" : "", why);
}

Expected<void> CardLink::install(Lock& lock, const std::vector<std::uint32_t>& ids) {
  Json bearers = Json::array();
  std::optional<nic::CardBearer> common;
  std::vector<std::uint64_t> versions;
  std::vector<CardNumbering> numberings;
  std::size_t members = 0;
  for (const std::uint32_t id : ids) {
    if (members > kInstallMembers) break;  // the rest stays dirty
    const auto at = entries_.find(id);
    if (at == entries_.end()) {
      dirty_.erase(id);
      versions.push_back(0);
      continue;
    }
    Entry& entry = at->second;
    const bool is_hosts = entry.want.place == nic::Place::kHost;
    if (!entry.sent) {
      entry.want.lease =
          within_counts(entry.want.next_count, first_lease(entry.want.pdcp_sn_bits, entry.want.ahead, entry.rate));
      if (entry.want.lease == 0 && is_hosts) {
        entry.want.lease = 1;  // for a bearer that the card does not number
      } else if (entry.want.lease == 0) {
        versions.push_back(0);
        refuse(id, entry,
               "its COUNTs are used up, or restarts without a packet between them used them up; allowed: added anew");
        continue;
      }
      entry.lease_end = entry.want.next_count + entry.want.lease;
    }
    if (!is_hosts) {
      entry.numbered = true;
      numberings.push_back({BearerId{id}, entry.lease_end, entry.heard, entry.want.epoch});
    }
    entry.sent = true;  // from here on the card may number its packets, whether the answer arrives or not
    versions.push_back(entry.version);
    if (!common) common = entry.want;
    members += bearers.emplace_back(to_json(entry.want, *common)).size();
  }
  if (bearers.empty()) return {};
  if (auto entered = enter_in_journal(lock, numberings); !entered) return entered;
  const auto answer = ask(lock, "card.install", {{"common", common_to_json(*common)}, {"bearers", bearers}});
  if (!answer) return tl::unexpected(answer.error());
  view_.installed += bearers.size();
  const auto now = Clock::now();
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const auto at = entries_.find(ids[i]);
    if (at == entries_.end() || versions[i] == 0 || !at->second.sent) continue;  // removed, or put anew since
    Entry& entry = at->second;
    entry.confirmed = true;
    if (entry.version == versions[i]) dirty_.erase(ids[i]);
    if (entry.want.place != nic::Place::kHost && !due_.contains({entry.due, ids[i]}))
      schedule(ids[i], entry, now + idle_look(due_.size()));
  }
  done_.notify_all();
  return {};
}

void CardLink::schedule(std::uint32_t id, Entry& entry, Clock::time_point due) {
  due_.erase({entry.due, id});
  entry.due = due;
  due_.insert({due, id});
}

void CardLink::note(std::uint32_t id, const nic::CardNumbers& numbers, Clock::time_point now) {
  Entry& entry = entries_.at(id);
  const double seconds = std::chrono::duration<double>(now - entry.looked).count();
  if (entry.looked != Clock::time_point{} && seconds > 0) {
    const double rate = std::max(left_of_lease(entry.seen.pdcp_next, numbers.pdcp_next), 0) / seconds;
    entry.rate = std::max(rate, entry.rate / 2);  // a pause is no reason to let a lease run out at its end
  }
  entry.looked = now;
  entry.seen = numbers;
  if (numbers.pdcp_next != entry.want.next_count) entry.heard = numbers.pdcp_next;
  const auto idle = idle_look(due_.size());
  if (entry.want.place == nic::Place::kHost) return;
  schedule(id, entry, now + next_lease_look(numbers.pdcp_next, entry.lease_end, entry.rate, idle));
}

// Renews leases. A lease counts as given before the card gets it, because its answer may be lost. Bearers that are due
// soon join those that are due now, so few requests serve many bearers.
Expected<void> CardLink::renew(Lock& lock) {
  if (due_.empty() || due_.begin()->first > Clock::now()) return {};
  const auto soon = Clock::now() + idle_look(due_.size()) / 16;
  Json ids = Json::array();
  std::vector<CardNumbering> numberings;
  std::vector<std::uint32_t> ends;  // of the leases before
  for (auto at = due_.begin(); at != due_.end() && at->first <= soon && ids.size() < kIdBatch;) {
    const auto entry = entries_.find(at->second);
    const bool there = entry != entries_.end() && entry->second.confirmed;
    if (there) ids.push_back(at->second);
    at = there ? std::next(at) : due_.erase(at);
  }
  if (ids.empty()) return {};
  const auto rows = ask(lock, "card.numbers", {{"ids", ids}}).and_then(numbers_from_json);
  if (!rows) return tl::unexpected(rows.error());
  const auto then = Clock::now();
  for (const CardNumbersRow& row : *rows) {
    const auto at = entries_.find(row.id.value);
    if (at == entries_.end() || !at->second.confirmed) continue;
    Entry& entry = at->second;
    note(row.id.value, row.numbers, then);
    // An idle bearer keeps its lease while a receiver may not have seen its position. A bearer at the end of its lease
    // when this host finds it is not idle.
    if (row.numbers.pdcp_next == entry.want.next_count && entry.want.ahead != 0) continue;
    const auto end = renewed_lease(entry.want.pdcp_sn_bits, row.numbers.pdcp_next, entry.lease_end, entry.rate);
    if (!end) continue;
    numberings.push_back({row.id, *end, entry.heard, entry.want.epoch});
    ends.push_back(entry.lease_end);
  }
  // The disk may be full. Then the card goes on to the ends that it knows.
  if (!enter_in_journal(lock, numberings)) return {};
  Json leases = Json::array();
  for (std::size_t i = 0; i < numberings.size(); ++i) {
    const CardNumbering& n = numberings[i];
    const auto at = entries_.find(n.id.value);
    if (at == entries_.end() || !at->second.confirmed || at->second.lease_end != ends[i]) continue;  // another since
    at->second.lease_end = n.lease_end;
    leases.push_back({n.id.value, n.lease_end});
    note(n.id.value, at->second.seen, then);
  }
  if (leases.empty()) return {};
  const auto given = ask(lock, "card.lease", {{"leases", leases}});
  if (!given) return tl::unexpected(given.error());
  view_.leases_renewed += leases.size();
  return {};
}

// Also shows whether a card without bearers still answers.
Expected<void> CardLink::look_at_counters(Lock& lock) {
  if (Clock::now() < next_show_) return {};
  const auto show = ask(lock, "card.show", Json::object());
  if (!show) return tl::unexpected(show.error());
  take_counters(*show);
  return {};
}

void CardLink::take_counters(const Json& show) {
  next_show_ = Clock::now() + settings_.show_each;
  const auto punts = show.find("punts");
  if (punts == show.end() || !punts->is_object()) return;
  std::uint64_t punted = 0;
  for (const auto& [reason, packets] : punts->items())
    punted += packets.is_number_unsigned() ? packets.get<std::uint64_t>() : 0;
  view_.punted += punted - std::exchange(punted_, punted);
}

}  // namespace splitplane::app
