// How CardLink connects to its card, and compares the reported state with the desired state.
#include <algorithm>

#include "base/log.h"
#include "card/link/link.h"
#include "card/protocol/lease.h"
#include "card/protocol/request.h"
#include "gnb/datapath/feature_set.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kNumbersPage = 1000;

std::string text(const Json& show, const char* key) {
  const auto at = show.find(key);
  return at != show.end() && at->is_string() ? at->get<std::string>() : std::string{};
}

}  // namespace

Expected<void> CardLink::connect(Lock& lock) {
  lock.unlock();
  auto client = ControlClient::connect(settings_.control, settings_.answer);
  lock.lock();
  if (!client) return tl::unexpected(client.error());
  client_.emplace(*std::move(client));
  const auto show = ask(lock, "card.show", Json::object());
  if (!show) return tl::unexpected(show.error());
  if (auto fit = fits(*show); !fit) return fit;
  const std::string boot = text(*show, "boot");
  const bool restarted = !view_.boot.empty() && boot != view_.boot;
  if (restarted) {
    ++view_.restarts;
    punted_ = 0;
    begin_anew();
  }
  ++view_.connects;
  view_.boot = boot;
  view_.program = text(*show, "program");
  take_counters(*show);
  warn_of_punts(*show);
  return {};
}

// Compares the card's bearers with the desired ones, after a connection or when the card is no longer cut off.
Expected<void> CardLink::fill(Lock& lock) {
  for (unsigned number = 0; number < peers_.size(); ++number) {
    if (peers_[number].want) dirty_peers_.insert(number);
  }
  if (auto compared = compare(lock); !compared) return compared;
  up_ = announce_ = true;
  return {};
}

// Waits until the next look, or until packets pass again.
Expected<void> CardLink::stay_cut_off(Lock& lock) {
  if (std::exchange(up_, false)) done_.notify_all();
  // The card's bearers stay in use: a card forwards without its host.
  if (auto renewed = renew(lock); !renewed) return renewed;
  if (auto there = look_at_counters(lock); !there) return there;
  if (!cut_off_.empty() && Clock::now() >= cut_off_said_next_) {
    cut_off_said_next_ = Clock::now() + settings_.cut_off_each;
    log::warn("card {} is cut off: {}; nothing is installed on it or taken off it until then, and its {} bearers wait",
              settings_.name, cut_off_, entries_.size());
  }
  const auto next = due_.empty() ? next_show_ : std::min(next_show_, due_.begin()->first);
  changed_.wait_until(lock, next, [&] { return stop_ || cut_off_.empty(); });
  return {};
}

// Returns an error if this card cannot serve this host's bearers.
Expected<void> CardLink::fits(const Json& show) const {
  const std::string program = text(show, "program"), features = text(show, "features");
  if (text(show, "boot").empty()) return fail("what answers at {} is no card", settings_.control);
  if (!program.starts_with("gnb")) {
    return fail("its program is {}, which serves no bearers; allowed: gnb", program);
  }
  constexpr auto kLooking = static_cast<std::ptrdiff_t>(datapath::FeatureSet::mat);
  const auto& names = datapath::kFeatureSetNames;
  if (std::find(names.begin() + kLooking, names.end(), features) == names.end()) {
    return fail("its features are {}, which look for no bearers; allowed: {}", features,
                fmt::join(names.begin() + kLooking, names.end(), ", "));
  }
  const auto vfs = show.find("vfs");
  const std::size_t count = vfs != show.end() && vfs->is_array() ? vfs->size() : 0;
  if (count != settings_.vfs)
    return fail("it has {} VFs, and this host's ports are {}; allowed: as many", count, settings_.vfs);
  const std::string wanted = settings_.by_ue_address ? "ue_address" : "teid";
  if (const std::string lookup = text(show, "lookup"); lookup != wanted) {
    return fail("it looks for bearers by {}, and this host by {}; allowed: the same lookup on both", lookup, wanted);
  }
  return {};
}

// The card's own configuration says where it punts. Packets of bearers arrive even if that is wrong, so the card is not
// refused.
void CardLink::warn_of_punts(const Json& show) const {
  for (const auto& [key, side, ours] :
       {std::tuple{"punt_n3", "N3", settings_.punt_n3}, {"punt_air", "the air", settings_.punt_air}}) {
    const auto theirs = show.find(key);
    if (theirs == show.end() || !theirs->is_number_unsigned() || theirs->get<unsigned>() == ours) continue;
    log::warn(
        "card {}: what it cannot read from {} comes by VF {}, and this host reads that side's from VF {}: it is lost; "
        "allowed: the same port as {} there and here",
        settings_.name, side, theirs->get<unsigned>(), ours, key);
  }
}

// The card runs anew: it has no bearers, and PDCP may have used every number of the leases.
void CardLink::begin_anew() {
  due_.clear();
  for (Peer& peer : peers_) peer.since = Peer::kOne;
  for (auto& [id, entry] : entries_) {
    if (entry.sent) put_behind_lease(entry);
    entry.sent = entry.confirmed = false;
    entry.refused.clear();
    dirty_.insert(id);
  }
}

void CardLink::put_behind_lease(Entry& entry) {
  entry.dl_packets += entry.seen.dl_packets;
  entry.ul_packets += entry.seen.ul_packets;
  entry.seen = {};
  if (!std::exchange(entry.numbered, false)) return;
  entry.want.next_count = entry.seen.pdcp_next = entry.lease_end;
  entry.want.ahead = entry.lease_end - entry.heard;
  ++entry.want.epoch;
  entry.rate = 0;
}

// Finds bearers that the card should not have, and those that it lacks. An earlier run of this host, or a connection
// that broke half-way, may have left such differences.
Expected<void> CardLink::compare(Lock& lock) {
  std::set<std::uint32_t> there;
  bool adopted = false;
  for (std::uint32_t after = 0;;) {
    const auto answer =
        ask(lock, "card.numbers", {{"after", after}, {"limit", kNumbersPage}}).and_then(numbers_from_json);
    if (!answer) return tl::unexpected(answer.error());
    const auto now = Clock::now();
    Json leases = Json::array();
    for (const CardNumbersRow& row : *answer) {
      there.insert(row.id.value);
      after = std::max(after, row.id.value);
      const auto at = entries_.find(row.id.value);
      if (at == entries_.end() || removals_.contains(row.id.value)) {
        removals_.insert(row.id.value);
        continue;
      }
      Entry& entry = at->second;
      if (!entry.sent) {  // it was there before this host ran: its numbers and its RLC continue
        entry.sent = entry.numbered = true;
        adopted = true;
        entry.want.epoch = row.numbers.epoch;
        entry.want.next_count = row.numbers.pdcp_next;
        entry.want.ahead = std::min(row.numbers.ahead, (1U << (entry.want.pdcp_sn_bits - 1)) - 1);
        entry.heard = row.numbers.pdcp_next - entry.want.ahead;
        entry.lease_end = row.numbers.lease_end;
        dirty_.insert(row.id.value);
      }
      entry.confirmed = true;
      note(row.id.value, row.numbers, now);
      if (entry.want.place != nic::Place::kHost && left_of_lease(row.numbers.pdcp_next, entry.lease_end) >= 0)
        leases.push_back({row.id.value, entry.lease_end});
    }
    // Leases that count as given are sent again, because the card may not have executed the first request.
    if (!leases.empty()) {
      const auto told = ask(lock, "card.lease", {{"leases", leases}});
      if (!told) return tl::unexpected(told.error());
    }
    if (answer->size() < kNumbersPage) break;
  }
  // The earlier host had its own numbers of UPFs.
  for (unsigned number = 0; adopted && number < peers_.size(); ++number) {
    peers_[number].since = Peer::kToUnset;
    dirty_peers_.insert(number);
  }
  std::erase_if(removals_, [&](std::uint32_t id) { return !there.contains(id); });
  for (auto& [id, entry] : entries_) {
    if (there.contains(id) && !removals_.contains(id)) continue;
    if (entry.confirmed) put_behind_lease(entry);
    due_.erase({entry.due, id});
    entry.sent = entry.confirmed = false;
    dirty_.insert(id);
  }
  return {};
}

void CardLink::lose(const Error& why) {
  client_.reset();
  up_ = false;
  view_.reason = why.message;
  next_attempt_ = Clock::now() + settings_.retry;
  done_.notify_all();
  if (said_away_) return;
  said_away_ = true;
  log::warn("card {} is away: {}; its {} bearers wait for it", settings_.name, why.message, entries_.size());
}

// Called once the card has everything.
void CardLink::announce() {
  done_.notify_all();
  if (!announce_) return;
  announce_ = said_away_ = false;
  view_.reason.clear();
  log::info("card {} is up ({}): it has {} bearers{}", settings_.name, view_.program, entries_.size(),
            view_.restarts == 0 ? "" : fmt::format(", run {} of it that this host sees", view_.restarts + 1));
}

}  // namespace splitplane::app
