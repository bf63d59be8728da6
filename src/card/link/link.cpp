#include "card/link/link.h"

#include <algorithm>

#include "base/log.h"
#include "card/protocol/lease.h"
#include "card/protocol/request.h"

namespace splitplane::app {

using namespace std::chrono_literals;

CardLink::CardLink(CardLinkSettings settings) : settings_(std::move(settings)) {
  view_.name = settings_.name;
  view_.control = settings_.control;
  view_.reason = "not asked yet";
}

CardLink::~CardLink() {
  end();
}

void CardLink::end() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  done_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CardLink::begin() {
  thread_ = std::thread([this] { serve(); });
}

// Waits for the card: not if it is away or silent, and not for ever if it is busy.
template <class Done>
void CardLink::wait_for_card(Lock& lock, Clock::time_point end, Done done) {
  while (up_ && !stop_ && !done() && !silent() && Clock::now() < end) done_.wait_for(lock, settings_.patience / 5);
}

bool CardLink::silent() const {
  return asking_since_ && Clock::now() - *asking_since_ >= settings_.patience;
}

// With the lock held. Returns the version of the desired state.
std::uint64_t CardLink::want(const nic::CardBearer& bearer, By by) {
  Entry& entry = entries_[bearer.id.value];
  nic::CardBearer wanted = bearer;
  if (entry.version != 0) {
    wanted.next_count = entry.want.next_count;
    wanted.ahead = entry.want.ahead;
    wanted.epoch = entry.want.epoch;
  } else {
    entry.heard = wanted.next_count - wanted.ahead;
  }
  wanted.lease = lease_size(bearer.pdcp_sn_bits).least;
  entry.want = wanted;
  entry.refused.clear();
  dirty_.insert(bearer.id.value);
  entry.version = ++versions_;
  if (by == By::kWaiting) entry.awaited = entry.version;
  return entry.version;
}

CardLink::Asked CardLink::put(std::span<const nic::CardBearer> bearers) {
  const std::lock_guard guard(mutex_);
  Asked asked;
  for (const nic::CardBearer& b : bearers) asked.emplace_back(b.id.value, want(b, By::kWaiting));
  changed_.notify_all();
  return asked;
}

void CardLink::put_soon(const nic::CardBearer& bearer) {
  const std::lock_guard guard(mutex_);
  (void)want(bearer, By::kNobodyWaiting);
  changed_.notify_all();
}

CardLink::Asked CardLink::remove(std::span<const BearerId> ids) {
  const std::lock_guard guard(mutex_);
  Asked asked;
  for (const BearerId id : ids) {
    asked.emplace_back(id.value, kRemoval);
    const auto at = entries_.find(id.value);
    if (at == entries_.end()) continue;
    if (at->second.sent) removals_.insert(id.value);
    due_.erase({at->second.due, id.value});
    dirty_.erase(id.value);
    entries_.erase(at);
  }
  changed_.notify_all();
  return asked;
}

Expected<void> CardLink::wait_for(const Asked& asked, Clock::time_point since) {
  Lock lock(mutex_);
  const auto still_wanted = [&](std::uint32_t id, std::uint64_t version) {
    const auto at = version == kRemoval ? entries_.end() : entries_.find(id);
    return at != entries_.end() && at->second.awaited == version ? &at->second : nullptr;
  };
  wait_for_card(lock, since + settings_.longest, [&] {
    return std::ranges::none_of(asked, [&](const auto& a) {
      const auto& [id, version] = a;
      return version == kRemoval ? removals_.contains(id) : dirty_.contains(id) && still_wanted(id, version) != nullptr;
    });
  });
  Expected<void> result;
  for (const auto& [id, version] : asked) {
    Entry* const entry = still_wanted(id, version);
    if (entry == nullptr) continue;
    entry->awaited = 0;
    if (result && !entry->refused.empty()) result = fail("card {}: {}", settings_.name, entry->refused);
  }
  return result;
}

void CardLink::set_cut_off(const std::string& why) {
  const std::lock_guard guard(mutex_);
  if (why == cut_off_) return;
  if (cut_off_.empty()) cut_off_said_next_ = Clock::now() + settings_.cut_off_after;
  cut_off_ = why;
  changed_.notify_all();
}

void CardLink::set_peer(const nic::CardPeer& peer) {
  const std::lock_guard guard(mutex_);
  peers_[peer.number].want = peer;
  dirty_peers_.insert(peer.number);
  changed_.notify_all();
}

void CardLink::unset_peer(unsigned number) {
  const std::lock_guard guard(mutex_);
  peers_[number] = {{}, Peer::kToUnset};
  dirty_peers_.insert(number);
  changed_.notify_all();
}

// The bearers among `ids` that the card has, as far as this host knows, and which run of the card that is.
Json CardLink::confirmed(std::span<const BearerId> ids, std::uint64_t& run) const {
  const std::lock_guard guard(mutex_);
  run = view_.connects;
  Json found = Json::array();
  for (const BearerId id : ids) {
    const auto at = entries_.find(id.value);
    if (up_ && !silent() && at != entries_.end() && at->second.confirmed) found.push_back(id.value);
  }
  return found;
}

// On a separate connection, because the thread's is busy while bearers are installed.
Expected<std::vector<CardNumbersRow>> CardLink::read_numbers(const Json& ids, Clock::time_point end) {
  const auto left = [end] { return std::max(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()), 1ms); };
  if (!reader_) {
    auto client = ControlClient::connect(settings_.control, left());
    if (!client) return tl::unexpected(client.error());
    reader_.emplace(*std::move(client));
  }
  reader_->wait_no_longer_than(left());
  auto rows = reader_->call("card.numbers", {{"ids", ids}}).and_then(numbers_from_json);
  if (!rows) reader_.reset();
  return rows;
}

// Takes at most `patience`, and does not ask again at once after an unanswered request. It retries if the connection
// led to an earlier run of the card, or if a bearer was removed from the card meanwhile.
std::vector<CardBearerView> CardLink::look(std::span<const BearerId> ids) {
  const std::lock_guard reading(reader_mutex_);
  const auto begin = Clock::now(), end = begin + settings_.patience;
  std::uint64_t run = 0;
  std::vector<CardNumbersRow> rows;
  for (int attempt = 0; attempt < 3 && begin >= reader_rests_; ++attempt) {
    const Json asked = confirmed(ids, run);
    if (asked.empty()) break;
    if (auto read = read_numbers(asked, end)) {
      rows = *std::move(read);
      break;
    }
    if (Clock::now() < end) continue;
    reader_rests_ = Clock::now() + 4 * settings_.patience;
    break;
  }
  std::vector<CardBearerView> views;
  const std::lock_guard guard(mutex_);
  // Only the thread may write Entry::seen, because it computes rates from it.
  std::map<std::uint32_t, nic::CardNumbers> fresh;
  if (run == view_.connects) {
    for (const CardNumbersRow& row : rows) fresh.emplace(row.id.value, row.numbers);
  }
  for (const BearerId id : ids) {
    const auto at = entries_.find(id.value);
    CardBearerView& view = views.emplace_back();
    if (at == entries_.end()) continue;
    const Entry& entry = at->second;
    const auto now = fresh.find(id.value);
    view = {up_ && entry.confirmed, entry.want.epoch, entry.lease_end, now == fresh.end() ? entry.seen : now->second};
    view.numbers.dl_packets += entry.dl_packets;
    view.numbers.ul_packets += entry.ul_packets;
  }
  return views;
}

CardLinkView CardLink::view() const {
  const std::lock_guard guard(mutex_);
  CardLinkView view = view_;
  view.up = up_ && cut_off_.empty();
  view.cut_off = client_ && !cut_off_.empty();
  if (view.cut_off) view.reason = cut_off_;
  view.bearers = entries_.size();
  view.serves = static_cast<std::uint32_t>(
      std::ranges::count_if(entries_, [](const auto& e) { return e.second.want.place != nic::Place::kHost; }));
  view.waiting = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [&](const auto& e) { return !view.up || !e.second.confirmed; }));
  return view;
}

void CardLink::serve() {
  Lock lock(mutex_);
  while (!stop_) {
    const auto now = Clock::now();
    if (!client_ && now < next_attempt_) {
      changed_.wait_until(lock, next_attempt_, [&] { return stop_; });
      continue;
    }
    Expected<void> done = client_ ? Expected<void>{} : connect(lock);
    if (done && !cut_off_.empty()) {
      if (done = stay_cut_off(lock); !done) lose(done.error());
      continue;
    }
    if (done && !up_) done = fill(lock);
    if (done) done = push(lock);
    if (done) done = renew(lock);
    if (done) done = look_at_counters(lock);
    if (!done) {
      lose(done.error());
      continue;
    }
    announce();
    const auto next = due_.empty() ? next_show_ : std::min(next_show_, due_.begin()->first);
    changed_.wait_until(lock, next, [&] { return stop_ || has_work() || !cut_off_.empty(); });
  }
}

// Without the lock.
Expected<void> CardLink::enter_in_journal(Lock& lock, std::span<const CardNumbering> numberings) {
  if (!settings_.journal || numberings.empty()) return {};
  lock.unlock();
  auto entered = settings_.journal(numberings);
  lock.lock();
  return entered;
}

// Makes the request without the lock. If a request fails but the card then answers a ping, the card has refused the
// request.
Expected<Json> CardLink::ask(Lock& lock, const std::string& method, const Json& params) {
  asking_since_ = Clock::now();
  lock.unlock();
  auto answer = client_->call(method, params);
  const bool late = Clock::now() - *asking_since_ >= settings_.answer;
  const bool refused = !answer && !late && client_->call("ping").has_value();
  lock.lock();
  asking_since_.reset();
  refusal_ = refused;
  if (!answer) ++view_.failures;
  return answer;
}

}  // namespace splitplane::app
