// What of the bearers survives a restart of the running user plane: at the start those of the configuration and of the
// journal are put together, then leases of COUNTs are renewed as workers ask, and at the end exact numbers are left.
#include <algorithm>

#include "base/log.h"
#include "gnb/control/instance.h"
#include "gnb/datapath/count_limit.h"

namespace splitplane::app {
namespace {

constexpr unsigned kLeaseEntries = 4096;
constexpr std::size_t kGrantsPerCommand = 256;  // so that no round of a worker grows long
constexpr std::uint32_t kNearlyExhausted = 0xf0000000;

FileKey key_of(const ran::BearerConfig& config) {
  return {config.upf, config.uplink_teid};
}

// Of a bearer that goes on in another run: RLC begins anew, and says so.
JournalNumbers resumed(const JournalBearer& before) {
  JournalNumbers numbers = before.numbers;
  numbers.epoch = ran::next_epoch(numbers.epoch);
  return numbers;
}

bool same_parameters(ran::BearerConfig a, const ran::BearerConfig& b) {
  a.id = b.id;
  a.acknowledged = b.acknowledged;
  return a == b;
}

}  // namespace

Expected<void> UserPlane::open_journal(bool fresh) {
  if (config_.journal.empty()) return {};
  auto journal =
      BearerJournal::open({.path = config_.journal, .owner = {config_.file_prefix, config_.instance}}, fresh);
  if (!journal) return tl::unexpected(journal.error());
  journal_ = *std::move(journal);
  for (auto& worker : workers_) {
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

// The bearers of the configuration, with their identities and numbers where an earlier run knew them, and those that
// the control socket had added. The configuration comes first, and what contradicts it stays away.
Expected<void> UserPlane::restore_bearers() {
  const JournalContent found = journal_ ? journal_->found() : JournalContent{};
  std::map<FileKey, const JournalBearer*> in_file, by_control;
  for (const auto& [id, bearer] : found.bearers) {
    const bool file = bearer.origin == JournalBearer::Origin::kFile;
    (file ? in_file : by_control).emplace(file ? bearer.file : key_of(bearer.config), &bearer);
  }

  std::vector<NewBearer> known, others;
  std::size_t changed = 0, away = 0;
  for (const auto& group : config_.bearers) {
    for (std::size_t i = 0; i < group.count; ++i) {
      NewBearer one{.config = bearer_at(group, i), .shard = group.shard};
      const FileKey key = key_of(one.config);
      one.file = key;
      if (found.released.contains(key)) {
        journal_->keep_away(key);
        ++away;
        continue;
      }
      auto* from = &in_file;
      auto before = in_file.find(key);
      if (before == in_file.end()) before = (from = &by_control)->find(key);
      if (before == from->end()) {
        others.push_back(std::move(one));
        continue;
      }
      one.numbers = resumed(*before->second);
      one.is_restored = true;
      const BearerId id = before->second->config.id;
      const bool same_shard = !group.shard || *group.shard == ran::shard_of(id.value).value;
      if (!same_parameters(before->second->config, one.config)) ++changed;
      from->erase(before);
      if (!same_shard || !store_->is_ours(id)) {
        others.push_back(std::move(one));  // another identity, and the numbers go on
        continue;
      }
      one.config.id = id;
      known.push_back(std::move(one));
    }
  }
  const std::size_t restored = known.size();
  // No new bearer takes the identity of one that comes back, unless there is no other left: the configuration comes
  // first. What it names no longer keeps nothing.
  std::set<std::uint32_t> identities;
  for (const NewBearer& one : known) identities.insert(one.config.id.value);
  for (const auto& [key, before] : by_control) identities.insert(before->config.id.value);
  store_->reserve(identities);
  bool reserved = true;
  for (const auto* list : {&known, &others}) {
    for (std::size_t done = 0; done < list->size(); done += kBearersPerBatch) {
      const auto batch = std::span(*list).subspan(done, std::min(kBearersPerBatch, list->size() - done));
      auto added = enter(batch);
      if (!added && list == &others && std::exchange(reserved, false)) {
        store_->release_reserved();
        added = enter(batch);
      }
      if (!added) return fail("bearers: {}", added.error().message);
    }
  }
  std::size_t back = 0, refused = 0;
  for (const auto& [key, before] : by_control) {
    const NewBearer one{
        .config = before->config, .shard = {}, .file = {}, .numbers = resumed(*before), .is_restored = true};
    if (auto added = enter({&one, 1}); added) {
      ++back;
    } else if (++refused <= 10) {
      log::warn("bearer {:#010x} of the journal does not come back: {}", before->config.id.value,
                added.error().message);
    }
  }
  store_->release_reserved();
  if (!journal_) return {};
  if (auto begun = journal_->begin([this](std::span<const BearerJournal::Grant> grants) { grant(grants); }); !begun) {
    return fail("{}; allowed: a journal elsewhere, or journal: none", begun.error().message);
  }
  if (!found.bearers.empty() || !found.released.empty()) {
    log::info(
        "journal {}: {} bearers of the configuration go on with their numbers, {} have changed parameters, "
        "{} that were released stay away; {} that were added by the control socket are back, {} are not",
        config_.journal, restored, changed, away, back, refused);
  }
  return {};
}

// Of bearers that are in their workers' lines now. From here on they have a lease when the disk has it.
void UserPlane::enter_in_journal(std::span<const Installation> fresh) {
  if (!journal_) return;
  for (const Installation& one : fresh) {
    JournalBearer bearer{.config = one.config, .origin = JournalBearer::Origin::kControl, .numbers = one.numbers};
    if (one.file) {
      bearer.origin = JournalBearer::Origin::kFile;
      bearer.file = *one.file;
    }
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

// On the journal's thread, and on this one before the workers run.
void UserPlane::grant(std::span<const BearerJournal::Grant> grants) {
  std::map<WorkerRuntime*, std::vector<BearerJournal::Grant>> by_worker;
  for (const auto& one : grants) {
    if (WorkerRuntime* worker = owner_of(one.id.value)) by_worker[worker].push_back(one);
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

// One turn of the control thread: workers have come to the marks of leases.
void UserPlane::serve_leases(Time now) {
  if (!journal_) return;
  std::optional<std::chrono::milliseconds> horizon;
  for (auto& worker : workers_) {
    if (!worker->gnb || !worker->gnb->lease_requests) continue;
    while (const auto id = worker->gnb->lease_requests->take()) {
      if (!horizon) horizon = journal_->horizon();
      const auto more = leases_.asked(*id, now, *horizon);
      if (!more) continue;
      journal_->extend({*id, more->from, more->lease}, more->heard);
      if (more->lease.end >= kNearlyExhausted && more->from < kNearlyExhausted) {
        log::warn("bearer {:#010x} has used 15 of 16 COUNTs; it stops at the last one: release it, and add it anew",
                  id->value);
      }
    }
  }
}

// After the workers have stopped: what was leased and not used is free again. A card goes on by itself, so that its
// leases stay.
void UserPlane::close_journal() {
  if (!journal_) return;
  std::vector<std::pair<BearerId, JournalNumbers>> last;
  for (const ran::BearerConfig& config : store_->after(0, store_->size())) {
    WorkerRuntime* worker = owner_of(config.id.value);
    if (worker == nullptr || !config.card.empty()) continue;
    const ran::BearerDownlink& line = *worker->gnb->bearers.downlink_line(config.id.value);
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

// What a card is about to be told, on the thread of its link.
CardLinkSettings::Journal UserPlane::journal_of_cards() {
  if (!journal_) return {};
  return [this](std::span<const CardNumbering> numberings) {
    for (const CardNumbering& n : numberings) {
      // Where what a receiver has seen is not known, the longest step is taken for granted.
      const std::uint32_t heard = n.heard <= n.lease_end ? n.heard : 0;
      journal_->set_numbers(n.id, {.end = n.lease_end, .heard = heard, .epoch = n.epoch});
    }
    return journal_->settle();
  };
}

Expected<void> UserPlane::settle() {
  if (!journal_) return {};
  if (auto settled = journal_->settle(); !settled) {
    return fail("the change is made, and not on the disk yet: {}; bearers without a lease drop (count_lease_ended)",
                settled.error().message);
  }
  return {};
}

nlohmann::json UserPlane::journal_row() const {
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

}  // namespace splitplane::app
