#include "app/card_link.h"

#include <algorithm>

#include "app/card_lease.h"
#include "app/card_request.h"
#include "base/log.h"

namespace splitplane::app {
namespace {

constexpr std::chrono::milliseconds kRest{500};  // without bearers on the card: is it still there?

}  // namespace

CardLink::CardLink(CardLinkSettings settings) : settings_(std::move(settings)) {
  view_.name = settings_.name;
  view_.control = settings_.control;
  view_.reason = "not asked yet";
}

CardLink::~CardLink() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CardLink::begin() {
  thread_ = std::thread([this] { serve(); });
}

Expected<void> CardLink::put(std::span<const nic::CardBearer> bearers) {
  Lock lock(mutex_);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> versions;
  for (const nic::CardBearer& b : bearers) {
    Entry& entry = entries_[b.id.value];
    nic::CardBearer want = b;
    if (entry.version != 0) {
      want.next_count = entry.want.next_count;
      want.epoch = entry.want.epoch;
    }
    want.lease = lease_size(b.pdcp_sn_bits).least;
    entry.want = want;
    entry.refused.clear();
    versions.emplace_back(b.id.value, ++entry.version);
    dirty_.insert(b.id.value);
  }
  changed_.notify_all();
  const auto pending = [&] {
    return up_ && std::ranges::any_of(versions, [&](const auto& v) {
             const auto at = entries_.find(v.first);
             return at != entries_.end() && at->second.version == v.second && dirty_.contains(v.first);
           });
  };
  done_.wait_for(lock, 2 * settings_.answer, [&] { return !pending(); });
  for (const auto& [id, version] : versions) {
    const auto at = entries_.find(id);
    if (at != entries_.end() && !at->second.refused.empty())
      return fail("card {}: {}", settings_.name, at->second.refused);
  }
  return {};
}

void CardLink::remove(std::span<const BearerId> ids) {
  Lock lock(mutex_);
  for (const BearerId id : ids) {
    const auto at = entries_.find(id.value);
    if (at == entries_.end()) continue;
    if (at->second.sent) removals_.insert(id.value);
    due_.erase({at->second.due, id.value});
    dirty_.erase(id.value);
    entries_.erase(at);
  }
  changed_.notify_all();
  done_.wait_for(lock, 2 * settings_.answer, [&] {
    return !up_ || std::ranges::none_of(ids, [&](BearerId id) { return removals_.contains(id.value); });
  });
}

void CardLink::set_peer(const nic::CardPeer& peer) {
  const std::lock_guard guard(mutex_);
  peers_[peer.number] = peer;
  dirty_peers_.insert(peer.number);
  changed_.notify_all();
}

void CardLink::unset_peer(unsigned number) {
  const std::lock_guard guard(mutex_);
  peers_[number].reset();
  dirty_peers_.insert(number);
  changed_.notify_all();
}

std::vector<CardBearerView> CardLink::look(std::span<const BearerId> ids) {
  const std::lock_guard reading(reader_mutex_);
  Json asked = Json::array();
  std::uint64_t run = 0;
  {
    const std::lock_guard guard(mutex_);
    run = view_.connects;
    for (const BearerId id : ids) {
      const auto at = entries_.find(id.value);
      if (up_ && at != entries_.end() && at->second.confirmed) asked.push_back(id.value);
    }
  }
  std::vector<CardNumbersRow> rows;
  // A second time where the connection is that to an earlier run of the card.
  for (int attempt = 0; attempt < 2 && !asked.empty() && rows.empty(); ++attempt) {
    if (!reader_) {
      auto client = ControlClient::connect(settings_.control, settings_.answer);
      if (!client) break;
      reader_.emplace(*std::move(client));
    }
    const auto answer = reader_->call("card.numbers", {{"ids", asked}}).and_then(numbers_from_json);
    if (answer) rows = *answer;
    if (!answer) reader_.reset();
  }
  std::vector<CardBearerView> views;
  const std::lock_guard guard(mutex_);
  // Entry::seen belongs to the thread, which reckons rates from it.
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
  view.up = up_;
  view.bearers = entries_.size();
  view.waiting = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [&](const auto& e) { return !up_ || !e.second.confirmed; }));
  return view;
}

void CardLink::serve() {
  Lock lock(mutex_);
  while (!stop_) {
    const auto now = Clock::now();
    if (!up_ && now < next_attempt_) {
      changed_.wait_until(lock, next_attempt_, [&] { return stop_; });
      continue;
    }
    Expected<void> done = up_ ? Expected<void>{} : connect(lock);
    if (done) done = push(lock);
    if (done) done = renew(lock);
    if (!done) {
      lose(done.error());
      continue;
    }
    announce();
    const auto next = due_.empty() ? Clock::now() + kRest : due_.begin()->first;
    changed_.wait_until(lock, next, [&] { return stop_ || has_work(); });
  }
}

// Asks without the lock. A card that answers a ping after it has failed to do something has refused it.
Expected<Json> CardLink::ask(Lock& lock, const std::string& method, const Json& params) {
  lock.unlock();
  auto answer = client_->call(method, params);
  const bool refused = !answer && client_->call("ping").has_value();
  lock.lock();
  refusal_ = refused;
  if (!answer) ++view_.failures;
  return answer;
}

}  // namespace splitplane::app
