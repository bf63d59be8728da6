#include "gnb/journal/bearer_journal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kGrownEnough = std::size_t{4} << 20;  // octets behind the last rewriting, and four times the file
constexpr std::chrono::milliseconds kLeastHorizon{50}, kMostHorizon{2000};

// The worker does not have `earlier`: what it has ends where that one begins.
void put_behind(BearerJournal::Grant& grant, const BearerJournal::Grant& earlier) {
  if (grant.from == earlier.lease.end) grant.from = earlier.from;
}

}  // namespace

Expected<std::unique_ptr<BearerJournal>> BearerJournal::open(const Settings& settings, bool fresh) {
  std::unique_ptr<BearerJournal> journal(new BearerJournal(settings));
  if (fresh) {
    if (auto ours = journal->file_.forget(); !ours) return tl::unexpected(ours.error());
  } else {
    auto content = journal->file_.read();
    if (!content) return tl::unexpected(content.error());
    journal->found_ = *std::move(content);
  }
  journal->view_.path = settings.path;
  return journal;
}

BearerJournal::~BearerJournal() {
  stop();
}

void BearerJournal::stop() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  settled_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BearerJournal::note(std::uint32_t id, Change change, const std::optional<Grant>& grant) {
  const auto [at, is_new] = dirty_.try_emplace(id, change);
  if (!is_new) at->second = std::max(at->second == Change::kGone ? Change::kWhole : at->second, change);
  if (grant) {
    const auto [pending, first] = grants_.try_emplace(id, *grant);
    if (!first) pending->second.lease = grant->lease;  // and from where the first one began
    pending->second.series = series_.at(id);
  }
  ++said_;
  changed_.notify_all();
}

void BearerJournal::set(const JournalBearer& bearer, const std::optional<Grant>& grant) {
  const std::lock_guard guard(mutex_);
  const std::uint32_t id = bearer.config.id.value;
  JournalBearer& there = bearers_.insert_or_assign(id, bearer).first->second;
  const FileKey key{bearer.config.upf, bearer.config.uplink_teid};
  if (released_.contains(key)) {
    there.origin = JournalBearer::Origin::kFile;
    there.file = key;
  }
  grants_.erase(id);
  unheard_.erase(id);
  series_[id] = ++last_series_;
  note(id, Change::kWhole, grant);
}

void BearerJournal::set_config(const ran::BearerConfig& config) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(config.id.value);
  if (at == bearers_.end()) return;
  at->second.config = config;
  note(config.id.value, Change::kWhole, {});
}

void BearerJournal::set_session(BearerId id, const JournalSession& session) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end()) return;
  at->second.session = session;
  note(id.value, Change::kWhole, {});
}

void BearerJournal::set_pin(BearerId id, const std::optional<std::string>& to) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end() || at->second.pin == to) return;
  at->second.pin = to;
  note(id.value, Change::kWhole, {});
}

void BearerJournal::set_epoch(BearerId id, std::uint8_t epoch) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end()) return;
  at->second.numbers.epoch = epoch;
  note(id.value, Change::kNumbers, {});
}

void BearerJournal::set_numbers(BearerId id, const JournalNumbers& numbers, const std::optional<Grant>& grant) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end()) return;
  at->second.numbers = numbers;
  note(id.value, Change::kNumbers, grant);
}

void BearerJournal::set_received(BearerId id, std::uint32_t rx_next) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end() || at->second.numbers.rx_next == rx_next) return;
  at->second.numbers.rx_next = rx_next;
  note(id.value, Change::kNumbers, {});
}

BearerJournal::Before BearerJournal::set_keys(const ran::BearerConfig& config, const JournalNumbers& numbers) {
  const std::lock_guard guard(mutex_);
  const std::uint32_t id = config.id.value;
  const auto at = bearers_.find(id);
  if (at == bearers_.end()) return {.numbers = numbers};
  at->second.config = config;
  grants_.erase(id);
  note(id, Change::kWhole, {});
  return {.numbers = std::exchange(at->second.numbers, numbers),
          .series = std::exchange(series_.at(id), ++last_series_)};
}

void BearerJournal::restore_keys(const ran::BearerConfig& config, const Before& before) {
  const std::lock_guard guard(mutex_);
  const std::uint32_t id = config.id.value;
  const auto at = bearers_.find(id);
  if (at == bearers_.end()) return;
  at->second.config = config;
  at->second.numbers = before.numbers;
  series_.at(id) = before.series;
  note(id, Change::kWhole, {});
}

void BearerJournal::extend(const Grant& grant, std::uint32_t heard) {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(grant.id.value);
  if (at == bearers_.end()) return;
  at->second.numbers.end = grant.lease.end;
  at->second.numbers.heard = heard;
  note(grant.id.value, Change::kNumbers, grant);
}

void BearerJournal::remove(BearerId id) {
  const std::lock_guard guard(mutex_);
  if (bearers_.erase(id.value) == 0) return;
  grants_.erase(id.value);
  unheard_.erase(id.value);
  series_.erase(id.value);
  note(id.value, Change::kGone, {});
}

void BearerJournal::release(BearerId id) {
  {
    const std::lock_guard guard(mutex_);
    const auto at = bearers_.find(id.value);
    if (at == bearers_.end()) return;
    if (at->second.origin == JournalBearer::Origin::kFile) {
      released_.insert(at->second.file);
      dirty_keys_.insert(at->second.file);
    }
  }
  remove(id);
}

void BearerJournal::revive(const FileKey& file) {
  const std::lock_guard guard(mutex_);
  if (released_.erase(file) == 0) return;
  dirty_keys_.insert(file);
  ++said_;
  changed_.notify_all();
}

void BearerJournal::spend(const UsedKey& key) {
  const std::lock_guard guard(mutex_);
  if (!used_keys_.insert(key).second) return;
  dirty_used_.insert(key);
  ++said_;
  changed_.notify_all();
}

std::optional<UsedKey> BearerJournal::keys_of(BearerId id) const {
  const std::lock_guard guard(mutex_);
  const auto at = bearers_.find(id.value);
  if (at == bearers_.end() || !at->second.config.security) return std::nullopt;
  return used_key_of(*at->second.config.security);
}

JournalRecords BearerJournal::everything() const {
  JournalRecords records;
  for (const auto& [id, bearer] : bearers_) records.bearer(bearer);
  for (const FileKey& key : released_) records.released(key);
  for (const UsedKey& key : used_keys_) records.used_key(key);
  return records;
}

Expected<void> BearerJournal::begin(Granted granted) {
  Lock lock(mutex_);
  granted_ = std::move(granted);
  // A bearer of an earlier run may not have come back, or come back with other keys.
  used_keys_.insert(found_.used_keys.begin(), found_.used_keys.end());
  for (const auto& [id, bearer] : found_.bearers) {
    if (bearer.config.security) used_keys_.insert(used_key_of(*bearer.config.security));
  }
  for (const auto& [id, bearer] : bearers_) {
    if (bearer.config.security) used_keys_.erase(used_key_of(*bearer.config.security));
  }
  if (auto written = file_.rewrite(everything()); !written) return written;
  std::vector<Grant> grants;
  for (const auto& [id, grant] : grants_) grants.push_back(grant);
  grants_.clear();
  dirty_.clear();
  dirty_keys_.clear();
  dirty_used_.clear();
  on_disk_ = said_;
  begun_ = true;
  rewritten_octets_ = view_.octets = file_.octets();
  view_.written += view_.octets;
  view_.leases += grants.size();
  ++view_.commits;
  lock.unlock();
  if (!grants.empty()) granted_(grants);
  thread_ = std::thread([this] { serve(); });
  return {};
}

void BearerJournal::serve() {
  Lock lock(mutex_);
  const auto has_work = [&] { return stop_ || has_changes(); };
  while (!stop_) {
    if (!unheard_.empty() && std::chrono::steady_clock::now() >= again_at_) {
      give_again(lock);
    } else if (has_changes()) {
      if (!commit(lock)) changed_.wait_for(lock, settings_.retry, [&] { return stop_; });
    } else if (unheard_.empty()) {
      changed_.wait(lock, has_work);
    } else {
      changed_.wait_until(lock, again_at_, has_work);
    }
  }
}

// COUNTs of a bearer may have begun anew since, or another bearer may have its identity.
bool BearerJournal::is_current(const Grant& grant) const {
  const auto at = series_.find(grant.id.value);
  return at != series_.end() && at->second == grant.series;
}

// A grant of another series stays: restore_keys() may bring its series back.
void BearerJournal::give_again(Lock& lock) {
  std::vector<Grant> grants;
  std::erase_if(unheard_, [&](const auto& entry) {
    const bool current = is_current(entry.second);
    if (current) grants.push_back(entry.second);
    return current;
  });
  again_at_ = std::chrono::steady_clock::now() + settings_.retry;
  if (grants.empty()) return;
  lock.unlock();
  granted_(grants);
  lock.lock();
}

bool BearerJournal::commit(Lock& lock) {
  const bool grown = file_.octets() > rewritten_octets_ + std::max(kGrownEnough, 4 * rewritten_octets_);
  const bool anew = !file_.is_open() || grown;
  JournalRecords records;
  if (anew) {
    records = everything();
  } else {
    for (const auto& [id, change] : dirty_) {
      const auto at = bearers_.find(id);
      if (change == Change::kGone || at == bearers_.end()) {
        records.gone(BearerId{id});
      } else if (change == Change::kWhole) {
        records.bearer(at->second);
      } else {
        records.numbers(BearerId{id}, at->second.numbers);
      }
    }
  }
  if (!anew) {
    for (const FileKey& key : dirty_keys_) released_.contains(key) ? records.released(key) : records.revived(key);
    for (const UsedKey& key : dirty_used_) records.used_key(key);
  }
  const auto changes = std::exchange(dirty_, {});
  const auto changed_keys = std::exchange(dirty_keys_, {});
  const auto spent = std::exchange(dirty_used_, {});
  auto pending = std::exchange(grants_, {});
  for (auto& [id, grant] : pending) {
    if (const auto earlier = unheard_.extract(id); earlier && earlier.mapped().series == grant.series) {
      put_behind(grant, earlier.mapped());
    }
  }
  const std::uint64_t version = said_;
  lock.unlock();
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t before = anew ? 0 : file_.octets();
  const auto done = anew ? file_.rewrite(records) : file_.append(records);
  const double took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<Grant> grants;
  if (done) {
    for (const auto& [id, grant] : pending) grants.push_back(grant);
    if (!grants.empty()) granted_(grants);
  }
  lock.lock();
  if (!done) {
    for (const auto& [id, change] : changes) {
      const auto [at, is_new] = dirty_.try_emplace(id, change);
      if (!is_new && at->second == Change::kNumbers) at->second = change;
    }
    dirty_keys_.insert(changed_keys.begin(), changed_keys.end());
    dirty_used_.insert(spent.begin(), spent.end());
    for (auto& [id, grant] : pending) {
      if (!is_current(grant)) continue;
      const auto [at, is_new] = grants_.try_emplace(id, grant);
      if (!is_new) put_behind(at->second, grant);
    }
    say_failed(done.error());
    settled_.notify_all();
    return false;
  }
  if (!view_.reason.empty()) log::info("journal {}: is written again", settings_.path);
  view_.reason.clear();
  slowest_ms_ = std::max(took, slowest_ms_ * 0.95);
  ++view_.commits;
  view_.octets = file_.octets();
  view_.written += view_.octets - before;
  view_.leases += grants.size();
  if (anew) rewritten_octets_ = file_.octets();
  on_disk_ = version;
  settled_.notify_all();
  return true;
}

void BearerJournal::again(const Grant& grant) {
  const std::lock_guard guard(mutex_);
  if (!series_.contains(grant.id.value)) return;
  if (unheard_.empty()) again_at_ = std::chrono::steady_clock::now() + settings_.retry;
  unheard_.insert_or_assign(grant.id.value, grant);
}

void BearerJournal::say_failed(const Error& error) {
  ++view_.failures;
  if (view_.reason != error.message) {
    log::error("{}; bearers go on as far as their leases of COUNTs reach, and then drop (count_lease_ended)",
               error.message);
  }
  view_.reason = error.message;
}

Expected<void> BearerJournal::wait_for_disk() {
  Lock lock(mutex_);
  if (!begun_) return {};  // nothing runs yet
  if (finished_) return fail("the journal is closed");
  if (!view_.reason.empty()) return tl::unexpected(Error{view_.reason});
  const std::uint64_t wanted = said_, failures = view_.failures;
  const bool known = settled_.wait_for(lock, settings_.patience,
                                       [&] { return stop_ || on_disk_ >= wanted || view_.failures != failures; });
  if (on_disk_ >= wanted) return {};
  if (!known) return fail("journal {}: the disk does not answer", settings_.path);
  return tl::unexpected(Error{view_.reason.empty() ? "the journal is closed" : view_.reason});
}

Expected<void> BearerJournal::finish(std::span<const std::pair<BearerId, JournalNumbers>> last) {
  const std::lock_guard guard(mutex_);
  if (!begun_ || finished_) return {};  // a start that failed leaves the file as it was
  for (const auto& [id, numbers] : last) {
    const auto at = bearers_.find(id.value);
    // What was granted and not used is free again, since no worker runs any more.
    if (at == bearers_.end()) continue;
    const std::uint8_t epoch = at->second.numbers.epoch;
    at->second.numbers = numbers;
    at->second.numbers.epoch = epoch;
  }
  auto written = file_.rewrite(everything());
  if (!written) say_failed(written.error());
  finished_ = true;
  return written;
}

BearerJournalView BearerJournal::view() const {
  const std::lock_guard guard(mutex_);
  return view_;
}

std::chrono::milliseconds BearerJournal::horizon() const {
  const std::lock_guard guard(mutex_);
  const auto wanted = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(8 * slowest_ms_)));
  return std::clamp(wanted, kLeastHorizon, kMostHorizon);
}

}  // namespace splitplane::app
