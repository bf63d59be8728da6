#include "gnb/control/numbers.h"

#include <rte_cycles.h>

#include <algorithm>
#include <map>

#include "base/log.h"
#include "gnb/config/lookup.h"
#include "gnb/datapath/count_limit.h"
#include "gnb/journal/sessions.h"
#include "secured/rekey.h"

namespace splitplane::gnb {
namespace {

constexpr unsigned kLeaseEntries = 4096;
constexpr std::size_t kGrantsPerCommand = 256;  // so that no round of a worker grows long
constexpr std::chrono::milliseconds kLookAtReceived{100};
constexpr std::size_t kReceivedPerTurn = 1024;

FileKey key_of(const ran::BearerConfig& config) {
  return {config.upf, config.uplink_teid};
}

// Of a bearer that goes on in another run: RLC AM begins anew, and says so. RLC UM of header mode has no state to begin
// anew with; in full mode it has.
JournalNumbers resumed(const GnbConfig& config, const JournalBearer& before) {
  JournalNumbers numbers = before.numbers;
  const unsigned shard = ran::shard_of(before.config.id.value).value;
  const bool full_mode = std::ranges::any_of(config.workers, [shard](const WorkerConfig& worker) {
    return worker.features == datapath::FeatureSet::full && shard >= worker.shard_first && shard <= worker.shard_last;
  });
  if (before.config.rlc_mode == RlcMode::kAm || full_mode) numbers.epoch = ran::next_epoch(numbers.epoch);
  return numbers;
}

// A bearer of the configuration that got new keys since keeps them: its COUNTs are those of these keys.
void keep_newer_keys(ran::BearerConfig& config, const ran::BearerConfig& before) {
  if (!config.security || !before.security || config.security->drb != before.security->drb) return;
  config.security->key = std::max(config.security->key, before.security->key);
}

bool same_keys(const ran::BearerConfig& a, const ran::BearerConfig& b) {
  return a.security && b.security && used_key_of(*a.security) == used_key_of(*b.security);
}

// SDUs of an acknowledged bearer that wait for their acknowledgement, at most.
std::uint32_t most_kept(const ran::BearerConfig& config) {
  return config.acknowledged ? std::min(config.arq.max_unacked, 1U << (config.pdcp_sn_bits - 1)) : 0;
}

bool same_parameters(ran::BearerConfig a, const ran::BearerConfig& b) {
  a.id = b.id;
  a.acknowledged = b.acknowledged;
  return a == b;
}

}  // namespace

Expected<void> Numbers::open(bool fresh) {
  if (config_.journal.empty()) return {};
  auto journal =
      BearerJournal::open({.path = config_.journal, .owner = {config_.file_prefix, config_.instance}}, fresh);
  if (!journal) return tl::unexpected(journal.error());
  journal_ = *std::move(journal);
  for (const auto& worker : workers_.all()) {
    if (!worker->gnb) continue;
    const std::string name = worker->config.name + ".leases";
    constexpr unsigned kFlags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;
    NumberRing ring(rte_ring_create(name.c_str(), kLeaseEntries, SOCKET_ID_ANY, kFlags));
    if (!ring) {
      return fail("no memory for ring {} of {} entries; allowed: a larger memory.megabytes", name, kLeaseEntries);
    }
    worker->gnb->lease_requests.emplace(ring.get());
    lease_rings_.push_back(std::move(ring));
  }
  return {};
}

Numbers::Restart Numbers::restart() {
  Restart all;
  const JournalContent found = journal_ ? journal_->found() : JournalContent{};
  all.found = !found.bearers.empty() || !found.released.empty();
  note_used_keys(found);
  std::map<FileKey, const JournalBearer*> in_file, by_control;
  for (const auto& [id, bearer] : found.bearers) {
    if (bearer.session) continue;
    const bool file = bearer.origin == JournalBearer::Origin::kFile;
    (file ? in_file : by_control).emplace(file ? bearer.file : key_of(bearer.config), &bearer);
  }
  for (const auto& group : config_.bearers) {
    for (std::size_t i = 0; i < group.count; ++i) {
      NewBearer one{.config = bearer_at(group, i), .shard = group.shard};
      const FileKey key = key_of(one.config);
      one.file = key;
      if (found.released.contains(key)) {
        journal_->keep_away(key);
        ++all.away;
        continue;
      }
      auto* from = &in_file;
      auto before = in_file.find(key);
      if (before == in_file.end()) before = (from = &by_control)->find(key);
      if (before == from->end()) {
        all.others.push_back(std::move(one));
        continue;
      }
      one.numbers = resumed(config_, *before->second);
      one.pin = pin_of(*before->second);
      one.is_restored = true;
      keep_newer_keys(one.config, before->second->config);
      one.keeps_keys = same_keys(one.config, before->second->config);
      const BearerId id = before->second->config.id;
      const bool same_shard = !group.shard || *group.shard == ran::shard_of(id.value).value;
      if (!same_parameters(before->second->config, one.config)) ++all.changed;
      from->erase(before);
      if (!same_shard || !store_.is_ours(id)) {
        all.others.push_back(std::move(one));  // another identity, and the numbers go on
        continue;
      }
      one.config.id = id;
      all.known.push_back(std::move(one));
    }
  }
  for (const auto& [key, before] : by_control) {
    all.by_control.push_back({.config = before->config,
                              .shard = {},
                              .file = {},
                              .numbers = resumed(config_, *before),
                              .pin = pin_of(*before),
                              .is_restored = true,
                              .keeps_keys = true});
  }
  restart_sessions(found, all);
  return all;
}

// Nothing if its card is no longer in the configuration.
std::optional<std::string> Numbers::pin_of(const JournalBearer& before) const {
  const auto& pin = before.pin;
  if (!pin || pin->empty() || *pin == "host" || find_card(config_, *pin) != nullptr) return pin;
  log::warn("bearer {:#010x} was pinned to card {}, which is no longer there; it is not pinned any more",
            before.config.id.value, *pin);
  return std::nullopt;
}

// The workers of an instance share their book of keys.
datapath::BearerKeys* Numbers::keys() const {
  for (const auto& worker : workers_.all()) {
    if (worker->gnb && worker->gnb->pdcp) return &worker->gnb->pdcp->keys();
  }
  return nullptr;
}

// Keys of all bearers of earlier runs. Those that come back with them are told apart by NewBearer::keeps_keys.
void Numbers::note_used_keys(const JournalContent& found) {
  datapath::BearerKeys* const book = keys();
  if (book == nullptr) return;
  for (const UsedKey& used : found.used_keys) book->note_used({.key = used.key, .drb = used.drb}, {});
  for (const auto& [id, bearer] : found.bearers) {
    if (bearer.config.security) book->note_used(*bearer.config.security, {});
  }
}

// Of a bearer that goes: unless they protected nothing, its keys are given to no other one.
void Numbers::spend_keys(BearerId id) {
  const datapath::BearerKeys* const book = keys();
  const auto had = journal_->keys_of(id);
  if (book != nullptr && had && book->used({.key = had->key, .drb = had->drb}) != nullptr) journal_->spend(*had);
}

// A session's bearers are those of its DRBs: by these their numbers go on, also where the configuration has changed.
void Numbers::restart_sessions(const JournalContent& found, Restart& all) {
  std::map<FileKey, FoundSession> in_file, by_control;
  for (FoundSession& session : sessions_in(found.bearers)) {
    const JournalBearer& first = session.bearers.front();
    const bool file = first.origin == JournalBearer::Origin::kFile;
    (file ? in_file : by_control).emplace(file ? first.file : key_of(first.config), std::move(session));
  }
  for (const ran::WantedSession& wanted : config_.sessions) {
    NewSession one{.config = wanted.config, .shard = wanted.shard};
    const FileKey key = key_of(one.config.bearers.front().config);
    one.file = key;
    if (found.released.contains(key)) {
      journal_->keep_away(key);
      ++all.away;
      continue;
    }
    auto* from = &in_file;
    auto before = in_file.find(key);
    if (before == in_file.end()) before = (from = &by_control)->find(key);
    if (before == from->end()) {
      all.other_sessions.push_back(std::move(one));
      continue;
    }
    const FoundSession session = std::move(before->second);
    from->erase(before);
    const Teid teid = session.config.teid();
    const bool same_shard = !wanted.shard || *wanted.shard == ran::shard_of(teid.value).value;
    const bool same_place = session.is_whole && same_shard && store_.is_ours(BearerId{teid.value});
    one.is_restored = true;
    bool same_bearers = session.bearers.size() == one.config.bearers.size();
    for (ran::SessionBearer& bearer : one.config.bearers) {
      const auto same_drb = [&](const JournalBearer& b) { return b.session->drb == bearer.drb; };
      const auto known = std::ranges::find_if(session.bearers, same_drb);
      const bool was_there = known != session.bearers.end();
      if (was_there) keep_newer_keys(bearer.config, known->config);
      one.numbers.push_back(was_there ? resumed(config_, *known) : JournalNumbers{});
      one.pins.push_back(was_there ? pin_of(*known) : std::nullopt);
      one.keeps_keys.push_back(was_there && same_keys(known->config, bearer.config));
      same_bearers = same_bearers && was_there && same_parameters(known->config, bearer.config);
      // The UPF sends to the TEID, so the first bearer has it, also where it is another DRB now.
      if (same_place && was_there && known->config.id.value != teid.value) bearer.config.id = known->config.id;
    }
    if (!same_bearers) ++all.changed;
    if (same_place) {
      one.config.bearers.front().config.id = BearerId{teid.value};
      one.config.spare = session.config.spare;
    }
    (same_place ? all.known_sessions : all.other_sessions).push_back(std::move(one));
  }
  for (const auto& [key, session] : by_control) {
    if (!session.is_whole) continue;  // no answer to the request has said that it is there
    NewSession one{.config = session.config, .is_restored = true};
    for (const JournalBearer& bearer : session.bearers) {
      one.numbers.push_back(resumed(config_, bearer));
      one.pins.push_back(pin_of(bearer));
    }
    one.keeps_keys.assign(session.bearers.size(), true);
    all.sessions_by_control.push_back(std::move(one));
  }
}

Expected<void> Numbers::begin() {
  if (!journal_) return {};
  if (auto begun = journal_->begin([this](std::span<const BearerJournal::Grant> grants) { grant(grants); }); !begun) {
    return fail("{}; allowed: a journal elsewhere, or journal: none", begun.error().message);
  }
  return {};
}

std::optional<Error> Numbers::refusal() const {
  if (!journal_) return std::nullopt;
  const auto view = journal_->view();
  if (view.reason.empty()) return std::nullopt;
  return Error{fmt::format("{}; no bearer was added", view.reason)};
}

void Numbers::enter(const Locked& /*locked*/, std::span<const Installation> fresh) {
  if (!journal_) return;
  for (const Installation& one : fresh) {
    JournalBearer bearer{.config = one.config, .origin = JournalBearer::Origin::kControl, .numbers = one.numbers};
    bearer.pin = one.pin;
    if (one.file) {
      bearer.origin = JournalBearer::Origin::kFile;
      bearer.file = *one.file;
    }
    if (one.session) bearer.session = in_journal(*one.session, one.config.id);
    if (!one.config.card.empty()) {
      journal_->set(bearer);
      continue;
    }
    const std::uint32_t next = one.numbers.end;
    const std::uint32_t ahead = next - one.numbers.heard;
    const auto lease = leases_.begin(one.config.id, one.config.pdcp_sn_bits, next, ahead);
    bearer.numbers.end = lease.end;
    journal_->set(bearer, BearerJournal::Grant{one.config.id, next, lease});
  }
}

void Numbers::revive(const Locked& /*locked*/, std::span<const Installation> fresh) {
  if (!journal_) return;
  for (const Installation& one : fresh) journal_->revive(key_of(one.config));
}

void Numbers::set_config(const Locked& /*locked*/, const ran::BearerConfig& config) {
  if (journal_) journal_->set_config(config);
}

void Numbers::set_pin(const Locked& /*locked*/, BearerId id, const std::optional<std::string>& to) {
  if (journal_) journal_->set_pin(id, to);
}

void Numbers::begin_move(const Locked& /*locked*/, BearerId id) {
  moving_[id.value] = {.lease = leases_.put_aside(id)};
}

void Numbers::give_up_move(const Locked& locked, BearerId id) {
  auto aside = moving_.extract(id.value);
  if (!aside || !aside.mapped().lease) return;
  leases_.put_back(std::move(aside.mapped().lease));
  if (aside.mapped().asked) extend(locked, id);
}

void Numbers::extend(const Locked& /*locked*/, BearerId id) {
  if (!journal_) return;
  const auto more = leases_.asked(id, std::chrono::steady_clock::now(), journal_->horizon());
  if (more) journal_->extend({id, more->from, more->lease}, more->heard);
}

void Numbers::moved_to_card(const Locked& /*locked*/, const ran::BearerConfig& config) {
  moving_.erase(config.id.value);
  leases_.forget(config.id);
  if (journal_) journal_->set_config(config);
}

ran::CountLease Numbers::moved_to_host(const Locked& /*locked*/, const ran::BearerConfig& config, std::uint32_t next,
                                       std::uint32_t lease_end) {
  if (!journal_) return {};
  journal_->set_config(config);
  const ran::CountLease lease = leases_.adopt(config.id, config.pdcp_sn_bits, next, lease_end);
  return {.end = lease.end, .mark = lease.end};
}

void Numbers::set_session(const Locked& /*locked*/, const ran::SessionConfig& session) {
  if (!journal_) return;
  for (const ran::SessionBearer& one : session.bearers) {
    journal_->set_session(one.config.id, in_journal(session, one.config.id));
  }
}

void Numbers::remove(const Locked& /*locked*/, BearerId id) {
  leases_.forget(id);
  if (!journal_) return;
  spend_keys(id);
  journal_->remove(id);
}

void Numbers::release(const Locked& /*locked*/, BearerId id) {
  leases_.forget(id);
  if (!journal_) return;
  spend_keys(id);
  journal_->release(id);
}

std::uint8_t Numbers::next_epoch(const Locked& /*locked*/) {
  if (epoch_ == 0) epoch_ = static_cast<std::uint8_t>(rte_rdtsc() >> 12);
  return epoch_ = ran::next_epoch(epoch_);
}

std::pair<Change, Expected<void>> Numbers::keep_epoch(Change&& change, BearerId id, std::uint8_t epoch) {
  if (!journal_) return {std::move(change), Expected<void>{}};
  journal_->set_epoch(id, epoch);
  return ControlLock::apart(std::move(change), [this] { return journal_->wait_for_disk(); });
}

std::pair<Change, Expected<void>> Numbers::keep_keys(Change&& change, KeyChange& keys) {
  const BearerId id = keys.config.id;
  if (!journal_) return {std::move(change), Expected<void>{}};
  const auto on_disk = [this] { return journal_->wait_for_disk(); };
  journal_->spend(used_key_of(*keys.before.security));
  if (!keys.begins_anew) {
    keys.are_kept = true;
    journal_->set_epoch(id, keys.epoch);
    journal_->set_config(keys.config);
    return ControlLock::apart(std::move(change), on_disk);
  }
  rekeyed_ = id;
  aside_ = leases_.put_aside(id);
  auto [here, settled] = ControlLock::apart(std::move(change), on_disk);  // leases that the worker asked for before
  if (!settled) return {std::move(here), std::move(settled)};  // grants that wait for the disk stay as they are
  // SDUs that RLC keeps get the first COUNTs.
  const std::uint32_t kept = most_kept(keys.config);
  keys.lease = CountLeases().begin(id, keys.config.pdcp_sn_bits, kept, kept);
  numbers_aside_ = journal_->set_keys(keys.config, {.end = keys.lease.end, .epoch = keys.epoch});
  keys.are_kept = true;
  return ControlLock::apart(std::move(here), on_disk);
}

void Numbers::end_keys(const Locked& /*locked*/, const KeyChange& keys, bool done) {
  if (!journal_) return;
  const BearerId id = keys.config.id;
  rekeyed_.reset();
  if (!keys.begins_anew) {
    if (!done && keys.are_kept) journal_->set_config(keys.before);
    return;
  }
  const bool asked = std::exchange(asked_meanwhile_, false);
  if (done) {
    aside_ = {};
    const std::uint32_t kept = most_kept(keys.config);
    leases_.begin(id, keys.config.pdcp_sn_bits, kept, kept);
    return;
  }
  if (keys.are_kept) {
    journal_->restore_keys(keys.before, numbers_aside_);
  }
  leases_.put_back(std::move(aside_));
  if (!asked) return;
  // The worker asks once only.
  const auto more = leases_.asked(id, std::chrono::steady_clock::now(), journal_->horizon());
  if (more) journal_->extend({id, more->from, more->lease}, more->heard);
}

// On the journal's thread, and on the starting one before the workers run.
void Numbers::grant(std::span<const BearerJournal::Grant> grants) {
  std::map<WorkerRuntime*, std::vector<BearerJournal::Grant>> by_worker;
  for (const auto& one : grants) {
    if (WorkerRuntime* worker = workers_.owner_of(one.id.value)) by_worker[worker].push_back(one);
  }
  for (auto& [worker, list] : by_worker) {
    datapath::GnbContext* gnb = worker->gnb.get();
    for (std::size_t done = 0; done < list.size(); done += kGrantsPerCommand) {
      const auto part = std::span(list).subspan(done, std::min(kGrantsPerCommand, list.size() - done));
      const bool listened = worker->execute([gnb, part] {
        for (const auto& one : part) datapath::grant_lease(*gnb, one.id, one.from, one.lease);
      });
      if (!listened) {
        log::warn("worker {} does not answer; {} of its bearers wait for a further lease of COUNTs",
                  worker->config.name, list.size() - done);
        for (const auto& one : std::span(list).subspan(done)) journal_->again(one);
        break;
      }
    }
  }
}

void Numbers::serve(const Locked& /*locked*/, Time now) {
  if (!journal_) return;
  note_received(now);
  std::optional<std::chrono::milliseconds> horizon;
  for (const auto& worker : workers_.all()) {
    if (!worker->gnb || !worker->gnb->lease_requests) continue;
    while (const auto request = worker->gnb->lease_requests->take()) {
      const BearerId* const id = &request->id;
      // The bearer was on a card since then: its lease is another one.
      if (leases_.is_earlier(*id, request->at)) continue;
      if (const auto moving = moving_.find(id->value); moving != moving_.end()) moving->second.asked = true;
      if (!horizon) horizon = journal_->horizon();
      if (rekeyed_ && *rekeyed_ == *id) asked_meanwhile_ = true;
      const auto more = leases_.asked(*id, now, *horizon);
      if (!more) continue;
      journal_->extend({*id, more->from, more->lease}, more->heard);
      constexpr std::uint32_t kNear = datapath::kNearlyExhausted;
      if (more->lease.end >= kNear && more->from < kNear) {
        const ran::BearerConfig* config = store_.find(*id);
        log::warn("bearer {:#010x} has used 15 of 16 COUNTs; it stops at the last one: {}", id->value,
                  config != nullptr && config->security ? "give it new keys (ctl bearer rekey)"
                                                        : "release it, and add it anew");
      }
    }
  }
}

// A page of bearers at a time. A worker's number is read beside it: it only rises, and any value that it had will do.
void Numbers::note_received(Time now) {
  if (config_.key_file.empty() || now < next_received_) return;
  next_received_ = now + kLookAtReceived;
  const auto page = store_.after(received_after_, kReceivedPerTurn);
  received_after_ = page.size() < kReceivedPerTurn ? 0 : page.back().id.value;
  for (const ran::BearerConfig& config : page) {
    WorkerRuntime* worker = config.security ? workers_.owner_of(config.id.value) : nullptr;
    if (worker == nullptr || config.id == rekeyed_) continue;
    const ran::BearerUplink& line = *worker->gnb->bearers.uplink_line(config.id.value);
    journal_->set_received(config.id, __atomic_load_n(&line.pdcp_rx_next, __ATOMIC_RELAXED));
  }
}

Expected<void> Numbers::wait_for_disk() {
  if (!journal_) return {};
  if (auto settled = journal_->wait_for_disk(); !settled) {
    return fail("the change is made, and not on the disk yet: {}; bearers without a lease drop (count_lease_ended)",
                settled.error().message);
  }
  return {};
}

CardLinkSettings::Journal Numbers::for_cards() {
  if (!journal_) return {};
  return [this](std::span<const CardNumbering> numberings) {
    for (const CardNumbering& n : numberings) {
      // Where what a receiver has seen is not known, the longest step is taken for granted.
      const std::uint32_t heard = n.heard <= n.lease_end ? n.heard : 0;
      journal_->set_numbers(n.id, {.end = n.lease_end, .heard = heard, .epoch = n.epoch});
    }
    return journal_->wait_for_disk();
  };
}

void Numbers::stop() {
  if (journal_) journal_->stop();
}

void Numbers::close(const Locked& /*locked*/) {
  if (!journal_) return;
  std::vector<std::pair<BearerId, JournalNumbers>> last;
  for (const ran::BearerConfig& config : store_.after(0, store_.size())) {
    WorkerRuntime* worker = workers_.owner_of(config.id.value);
    if (worker == nullptr || !config.card.empty()) continue;
    const ran::BearerDownlink& line = *worker->gnb->bearers.bearer_line(config.id.value);
    const ran::BearerUplink& uplink = *worker->gnb->bearers.uplink_line(config.id.value);
    const ran::BearerDownlink& fixed = worker->gnb->fixed_bearer;
    std::uint32_t next = line.pdcp_tx_next;
    if (fixed.id == config.id.value) next = std::max(next, fixed.pdcp_tx_next);
    last.emplace_back(
        config.id,
        JournalNumbers{.end = next, .heard = leases_.heard(config.id, next), .rx_next = uplink.pdcp_rx_next});
  }
  (void)journal_->finish(last);  // it has said what failed; then the leases are on the disk
}

std::optional<BearerJournalView> Numbers::view() const {
  return journal_ ? std::optional(journal_->view()) : std::nullopt;
}

nlohmann::json Numbers::row() const {
  if (!journal_) return nullptr;
  const BearerJournalView view = journal_->view();
  nlohmann::json row{{"path", view.path},
                     {"state", view.reason.empty() ? "written" : "refused"},
                     {"reason", view.reason},
                     {"octets", view.octets}};
#define SPLITPLANE_JOURNAL_MEMBER(field, unit, help) row[#field] = view.field;
  SPLITPLANE_JOURNAL_COUNTERS(SPLITPLANE_JOURNAL_MEMBER)
  return row;
}

}  // namespace splitplane::gnb
