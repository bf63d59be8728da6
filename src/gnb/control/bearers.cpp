#include "gnb/control/bearers.h"

#include <rte_cycles.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "base/log.h"
#include "gnb/config/full_mode.h"
#include "gnb/datapath/count_limit.h"

namespace splitplane::gnb {
namespace {

tl::unexpected<Error> unknown(BearerId id) {
  return fail("no bearer with identity {:#010x}", id.value);
}
tl::unexpected<Error> silent(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; nothing was changed", worker.config.name);
}
Expected<void> check_security(const ran::BearerConfig& config, const WorkerRuntime& worker) {
  if (!config.security) return {};
  if (worker.config.features < datapath::FeatureSet::mat)
    return fail("security: the features of worker {} look for no bearers; allowed: mat, clone_drop, clone, full",
                worker.config.name);
  return {};
}
Expected<void> check_full_mode(const ran::BearerConfig& config, const WorkerRuntime& worker) {
  if (worker.config.features != datapath::FeatureSet::full) return {};
  if (const auto refused = refuse_in_full_mode(config))
    return fail("{} (worker {} is in full mode)", *refused, worker.config.name);
  return {};
}
Expected<void> check_ecn(const ran::BearerConfig& config, const WorkerRuntime& worker) {
  if (!config.ecn || worker.gnb->arq) return {};
  return fail("ecn: worker {} does not keep what the UE has not acknowledged; allowed: a worker with baas: inline",
              worker.config.name);
}
// Frames of another bearer that had the identity before are of another epoch.
bool has_epoch(const ran::BearerConfig& config) {
  return config.acknowledged || config.security;
}
tl::unexpected<Error> unable(BearerId id) {
  return fail("bearer {:#010x} has no retransmission; allowed: AM with baas: inline", id.value);
}

tl::unexpected<Error> of_session(BearerId id, const ran::SessionConfig& session, const char* what) {
  return fail("bearer {:#010x} is one of {} of session {:#010x}; allowed: {}", id.value, session.bearers.size(),
              session.teid().value, what);
}

std::vector<ran::BearerConfig> bearers_of(const ran::SessionConfig& session) {
  std::vector<ran::BearerConfig> bearers;
  for (const ran::SessionBearer& one : session.bearers) bearers.push_back(one.config);
  return bearers;
}

InSession place_of(const ran::SessionConfig& session, const ran::SessionBearer& bearer) {
  return {.teid = session.teid(),
          .spare = session.spare,
          .drb = bearer.drb,
          .is_default = bearer.drb == session.default_drb,
          .reflective = bearer.reflective,
          .flows = bearer.flows};
}

}  // namespace

Expected<void> Bearers::restore(const std::string& journal) {
  const Numbers::Restart start = parts_.numbers.restart();
  // No new bearer takes the identity of one that comes back, unless there is no other left: the configuration comes
  // first. What it names no longer keeps nothing.
  std::set<std::uint32_t> identities;
  for (const auto* list : {&start.known, &start.by_control}) {
    for (const NewBearer& one : *list) identities.insert(one.config.id.value);
  }
  for (const auto* list : {&start.known_sessions, &start.sessions_by_control}) {
    for (const NewSession& one : *list) {
      for (const ran::SessionBearer& bearer : one.config.bearers) identities.insert(bearer.config.id.value);
      identities.insert(one.config.spare.value);
    }
  }
  parts_.store.reserve(identities);
  bool reserved = false;
  if (auto entered = enter_all(start.known, reserved); !entered) return entered;
  if (auto entered = enter_sessions(start.known_sessions, reserved); !entered) return entered;
  reserved = true;
  if (auto entered = enter_all(start.others, reserved); !entered) return entered;
  if (auto entered = enter_sessions(start.other_sessions, reserved); !entered) return entered;
  std::size_t back = 0, refused = 0;
  const auto say_refused = [&](const char* what, std::uint32_t id, const Error& error) {
    if (++refused <= 10) log::warn("{} {:#010x} of the journal does not come back: {}", what, id, error.message);
  };
  for (const NewBearer& one : start.by_control) {
    const auto added = enter({&one, 1});
    added ? void(++back) : say_refused("bearer", one.config.id.value, added.error());
  }
  for (const NewSession& one : start.sessions_by_control) {
    const auto added = enter_session(one);
    added ? void(++back) : say_refused("session", one.config.teid().value, added.error());
  }
  parts_.store.release_reserved();
  if (auto begun = parts_.numbers.begin(); !begun) return begun;
  if (start.found) {
    log::info(
        "journal {}: {} bearers and sessions of the configuration go on with their numbers, {} have changed "
        "parameters, "
        "{} that were released stay away; {} that were added by the control socket are back, {} are not",
        journal, start.known.size() + start.known_sessions.size(), start.changed, start.away, back, refused);
  }
  return {};
}

// `reserved`: identities are kept for bearers that come back; they are given up when there is no other left.
Expected<void> Bearers::enter_all(std::span<const NewBearer> wanted, bool& reserved) {
  for (std::size_t done = 0; done < wanted.size(); done += kBearersPerBatch) {
    const auto batch = wanted.subspan(done, std::min(kBearersPerBatch, wanted.size() - done));
    auto added = enter(batch);
    if (!added && std::exchange(reserved, false)) {
      parts_.store.release_reserved();
      added = enter(batch);
    }
    if (!added) return fail("bearers: {}", added.error().message);
  }
  return {};
}

Expected<AddedBearers> Bearers::add(std::span<const ran::BearerConfig> wanted, std::optional<unsigned> shard) {
  if (auto refused = parts_.numbers.refusal()) return tl::unexpected(*std::move(refused));
  std::vector<NewBearer> bearers;
  for (const ran::BearerConfig& config : wanted) bearers.push_back({.config = config, .shard = shard});
  return enter(bearers);
}

Expected<AddedBearers> Bearers::enter(std::span<const NewBearer> wanted) {
  Change change = parts_.control.change();
  BearerStore& store = parts_.store;
  AddedBearers result;
  std::vector<Installation> fresh;
  BearerLines::WorkerSet told;
  const auto refused = [&](Error error) { return tl::unexpected(undo(change, fresh, told, std::move(error))); };
  for (const NewBearer& one : wanted) {
    const ran::BearerConfig& config = one.config;
    const auto* twin = store.find_uplink(config.upf, config.uplink_teid);
    if (twin != nullptr && store.session_of(twin->id) == nullptr) {
      ran::BearerConfig same = config;
      if (same.id.value == 0) same.id = twin->id;
      same.acknowledged = twin->acknowledged;
      if (same == *twin) {
        result.bearers.push_back(*twin);
        ++result.existed;
        continue;
      }
    }
    auto entered = store.add(config, one.shard);
    if (!entered) return refused(entered.error());
    auto prepared = prepare(change, *entered);
    if (!prepared) {
      store.remove(entered->id);
      return refused(prepared.error());
    }
    prepared->file = one.file;
    prepared->numbers = one.numbers;
    prepared->pin = one.pin;
    prepared->keeps_keys = one.keeps_keys;
    if (has_epoch(prepared->config) && !one.is_restored) prepared->numbers.epoch = parts_.numbers.next_epoch(change);
    fresh.push_back(*prepared);
    if (prepared->config.acknowledged) store.replace(prepared->config);
    result.bearers.push_back(prepared->config);
  }
  auto installed = parts_.lines.install(change, fresh, told);
  if (installed) {
    parts_.numbers.enter(change, fresh);  // before cards number them
    enter_pins(change, fresh);
    const auto requests = parts_.cards.put(change, fresh);
    std::tie(change, installed) = Cards::wait_for(std::move(change), requests);
  }
  if (!installed) return refused(installed.error());
  parts_.numbers.revive(change, fresh);  // one that was released may come back with the configuration again
  return result;
}

Expected<void> Bearers::enter_sessions(std::span<const NewSession> wanted, bool& reserved) {
  for (const NewSession& one : wanted) {
    auto added = enter_session(one);
    if (!added && std::exchange(reserved, false)) {
      parts_.store.release_reserved();
      added = enter_session(one);
    }
    if (!added) return fail("sessions: {}", added.error().message);
  }
  return {};
}

Expected<AddedSession> Bearers::add_session(const ran::WantedSession& wanted) {
  if (auto refused = parts_.numbers.refusal()) return tl::unexpected(*std::move(refused));
  if (auto refused = ran::refuse_wanted(wanted.config)) return fail("{}", *refused);
  return enter_session({.config = wanted.config, .shard = wanted.shard});
}

// The session that has the same keys and rules; identities that are not chosen match any.
const ran::SessionConfig* Bearers::find_same(const ran::SessionConfig& wanted) const {
  const ran::BearerConfig& first = wanted.bearers.front().config;
  const auto* twin = parts_.store.find_uplink(first.upf, first.uplink_teid);
  const auto* there = twin == nullptr ? nullptr : parts_.store.session_of(twin->id);
  if (there == nullptr || there->bearers.size() != wanted.bearers.size()) return nullptr;
  ran::SessionConfig same = wanted;
  for (std::size_t i = 0; i < same.bearers.size(); ++i) {
    ran::BearerConfig& bearer = same.bearers[i].config;
    if (bearer.id.value == 0) bearer.id = there->bearers[i].config.id;
    bearer.acknowledged = there->bearers[i].config.acknowledged;
  }
  if (same.spare.value == 0) same.spare = there->spare;
  return same == *there ? there : nullptr;
}

Expected<AddedSession> Bearers::enter_session(const NewSession& wanted) {
  Change change = parts_.control.change();
  if (const auto* there = find_same(wanted.config)) return AddedSession{*there, true};
  const auto entered = parts_.store.add_session(wanted.config, wanted.shard);
  if (!entered) return tl::unexpected(entered.error());
  const BearerId first{entered->teid().value};
  std::vector<Installation> fresh;
  BearerLines::WorkerSet told;
  const auto refused = [&](Error error) {
    parts_.store.remove_session(Teid{first.value});
    return tl::unexpected(undo(change, fresh, told, std::move(error)));
  };
  for (std::size_t i = 0; i < entered->bearers.size(); ++i) {
    auto prepared = prepare(change, entered->bearers[i].config);
    if (!prepared) return refused(prepared.error());
    prepared->file = wanted.file;
    if (!wanted.numbers.empty()) prepared->numbers = wanted.numbers[i];
    if (!wanted.pins.empty()) prepared->pin = wanted.pins[i];
    if (!wanted.keeps_keys.empty()) prepared->keeps_keys = wanted.keeps_keys[i];
    const bool is_new = prepared->numbers == JournalNumbers{};
    if (has_epoch(prepared->config) && is_new) prepared->numbers.epoch = parts_.numbers.next_epoch(change);
    parts_.store.replace(prepared->config);
    fresh.push_back(*prepared);
  }
  const auto session = std::make_shared<const ran::SessionConfig>(*parts_.store.session_of(first));
  for (Installation& one : fresh) one.session = session;
  auto installed = parts_.lines.install(change, fresh, told);
  if (installed) {
    parts_.numbers.enter(change, fresh);  // before cards number them
    enter_pins(change, fresh);
    const auto requests = parts_.cards.put(change, fresh);
    std::tie(change, installed) = Cards::wait_for(std::move(change), requests);
  }
  if (!installed) return refused(installed.error());
  parts_.numbers.revive(change, fresh);
  return AddedSession{*session, false};
}

Expected<bool> Bearers::release_session(Teid teid) {
  Change change = parts_.control.change();
  const BearerId first{teid.value};
  const ran::SessionConfig* found = parts_.store.session_of(first);
  if (found != nullptr && found->teid() != teid)
    return of_session(first, *found, "session.release with the session's TEID");
  if (found == nullptr && parts_.store.find(first) != nullptr) {
    return fail("bearer {:#010x} is a session by itself; allowed: bearer.release", teid.value);
  }
  if (found == nullptr) return false;
  const ran::SessionConfig session = *found;
  WorkerRuntime& worker = *parts_.workers.owner_of(teid.value);
  const auto bearers = bearers_of(session);
  if (auto wiped = wipe(change, worker, bearers, &session); !wiped) return tl::unexpected(wiped.error());
  Cards::Requests requests;
  for (const ran::BearerConfig& config : bearers) {
    std::ranges::copy(parts_.cards.take_off(change, worker, config.id), std::back_inserter(requests));
    leave_peer(change, worker, config.upf);
    parts_.numbers.release(change, config.id);
    parts_.uplinks.forget(change, config.id);
    parts_.pins.forget(config.id);
  }
  parts_.store.remove_session(teid);
  parts_.n3.remember_released(change, worker, first);
  if (const auto dl_teid = bearers.front().dl_teid) {
    parts_.n3.remember_released(change, worker, BearerId{dl_teid->value});
  }
  (void)Cards::wait_for(std::move(change), requests);  // no card refuses that a bearer goes
  return true;
}

Expected<ran::SessionConfig> Bearers::find_session(Teid teid) const {
  const ran::SessionConfig* session = parts_.store.session_of(BearerId{teid.value});
  if (session == nullptr || session->teid() != teid) {
    return fail("no session with several bearers has TEID {:#010x}; bearer.show has those with one", teid.value);
  }
  return *session;
}

Expected<ran::SessionConfig> Bearers::move_flow(Teid teid, Qfi qfi, ran::sdap::DrbId drb) {
  const Change change = parts_.control.change();
  const auto session = find_session(teid);
  if (!session) return session;
  ran::SessionConfig moved = *session;
  if (!ran::set_flow(moved, qfi, drb))
    return fail("drb: {} is no bearer of the session; allowed: the drb of one", drb.value);
  if (const auto refused = ran::refuse(moved)) return fail("{}", *refused);
  for (const ran::SessionBearer& bearer : session->bearers) {
    if (bearer.config.card.empty()) continue;
    return fail("drb {} is on card {}, where flows do not move; allowed: session.release, then session.add",
                bearer.drb.value, bearer.config.card);
  }
  const ran::SessionBearer& from = *session->bearer_of(qfi);
  WorkerRuntime& worker = *parts_.workers.owner_of(teid.value);
  if (worker.gnb->cell)
    return fail("worker {} is in full mode, where flows do not move; allowed: session.release, then session.add",
                worker.config.name);
  if (from.drb != drb) {
    if (const auto done = parts_.lines.move_flow(change, worker, moved, from, qfi); !done) {
      return tl::unexpected(done.error());
    }
  }
  parts_.store.replace_session(moved);
  parts_.numbers.set_session(change, moved);
  return moved;
}

Expected<SessionView> Bearers::show_session(Teid teid) {
  const Locked locked = parts_.control.lock();
  const auto session = find_session(teid);
  if (!session) return tl::unexpected(session.error());
  return read_session(locked, *session);
}

Expected<std::vector<SessionView>> Bearers::list_sessions(std::uint32_t after, std::size_t limit) {
  std::vector<SessionView> all;
  const Locked locked = parts_.control.lock();
  for (const ran::SessionConfig& session : parts_.store.sessions_after(after, limit)) {
    auto view = read_session(locked, session);
    if (!view) return tl::unexpected(view.error());
    all.push_back(*std::move(view));
  }
  return all;
}

void Bearers::enter_pins(const Locked& locked, std::span<const Installation> fresh) {
  for (const Installation& one : fresh) {
    parts_.pins.enter(one.config.id, {one.config.upf, one.config.uplink_teid}, one.pin);
    if (one.pin) parts_.numbers.set_pin(locked, one.config.id, parts_.pins.said(one.config.id));
  }
}

Expected<Installation> Bearers::prepare(const Locked& locked, const ran::BearerConfig& config) {
  WorkerRuntime* worker = parts_.workers.owner_of(config.id.value);
  if (worker == nullptr) return fail("no worker serves the shard of bearer {:#010x}", config.id.value);
  if (auto fine = parts_.cards.check(config, *worker); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_security(config, *worker); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_full_mode(config, *worker); !fine) return tl::unexpected(fine.error());
  if (auto fine = check_ecn(config, *worker); !fine) return tl::unexpected(fine.error());
  const auto peer = parts_.peers.join(locked, *worker, config.upf);
  if (!peer) return tl::unexpected(peer.error());
  if (peer->must_be_asked) parts_.n3.ask_soon(locked);
  const auto number = parts_.cards.join(locked, *worker, config.upf);
  if (!number) {
    parts_.peers.leave(locked, *worker, config.upf);
    return tl::unexpected(number.error());
  }
  Installation installation{.config = config, .worker = worker, .peer = peer->id, .card_peer = *number};
  installation.config.acknowledged = worker->gnb->arq && config.rlc_mode == RlcMode::kAm &&
                                     (config.card.empty() || parts_.cards.keep_copies(config.card));
  return installation;
}

void Bearers::leave_peer(const Locked& locked, WorkerRuntime& worker, const IpAddress& upf) {
  parts_.cards.leave(locked, worker, upf);
  parts_.peers.leave(locked, worker, upf);
}

Error Bearers::undo(const Locked& locked, std::span<const Installation> fresh, const BearerLines::WorkerSet& told,
                    Error error) {
  for (const Installation& one : fresh) {
    (void)parts_.cards.take_off(locked, *one.worker, one.config.id);
    leave_peer(locked, *one.worker, one.config.upf);
    parts_.store.remove(one.config.id);
    parts_.numbers.remove(locked, one.config.id);
    parts_.uplinks.forget(locked, one.config.id);
    parts_.pins.forget(one.config.id);
  }
  for (const WorkerRuntime* worker : parts_.lines.uninstall(locked, fresh, told)) {
    const auto kept =
        fmt::format("worker {} does not answer, and may keep bearers that were not added", worker->config.name);
    log::warn("{}", kept);
    error.message += "; " + kept;
  }
  return error;
}

Expected<ran::BearerConfig> Bearers::modify(BearerId id, const BearerPatch& patch) {
  Change change = parts_.control.change();
  const ran::BearerConfig* found = parts_.store.find(id);
  if (found == nullptr) return unknown(id);
  if (const auto* session = parts_.store.session_of(id)) {
    return of_session(id, *session, "session.release, then session.add with other keys");
  }
  const ran::BearerConfig current = *found;
  const ran::BearerConfig changed = patch.applied_to(current);
  if (const auto refused = ran::refuse(changed)) return fail("{}", *refused);
  const auto* twin = parts_.store.find_uplink(changed.upf, changed.uplink_teid);
  if (twin != nullptr && twin->id != id) {
    return fail("uplink TEID {:#010x} at {} is in use by bearer {:#010x}", changed.uplink_teid.value,
                changed.upf.to_string(), twin->id.value);
  }
  auto prepared = prepare(change, changed);
  if (!prepared) return tl::unexpected(prepared.error());
  // After a move the uplink goes by the worker, and some packets may be there: the card would overtake them. Of a
  // stopped uplink none is.
  const bool by_host = !parts_.uplinks.is_stopped(change, id) && !current.card.empty() &&
                       parts_.cards.has_uplink_by_host(change, *prepared->worker, id);
  if (by_host) prepared->card_peer.reset();
  parts_.uplinks.changing(change, id);
  const auto requests = parts_.cards.put(change, {&*prepared, 1});
  Expected<void> done;
  std::tie(change, done) = Cards::wait_for(std::move(change), requests);
  parts_.uplinks.changed(change);
  if (done) done = parts_.lines.modify(change, *prepared);
  if (!done) {
    parts_.cards.put_soon(change, *prepared->worker, current, by_host || parts_.uplinks.is_stopped(change, id));
    leave_peer(change, *prepared->worker, changed.upf);
    return tl::unexpected(done.error());
  }
  leave_peer(change, *prepared->worker, current.upf);
  parts_.store.replace(changed);
  parts_.numbers.set_config(change, changed);
  parts_.pins.change(id, {changed.upf, changed.uplink_teid});
  parts_.uplinks.begin_anew(change, id);
  return changed;
}

Expected<bool> Bearers::release(BearerId id) {
  Change change = parts_.control.change();
  const ran::BearerConfig* found = parts_.store.find(id);
  if (found == nullptr) return false;
  if (const auto* session = parts_.store.session_of(id)) {
    return of_session(id, *session, "session.release, which releases them all");
  }
  const ran::BearerConfig config = *found;
  WorkerRuntime& worker = *parts_.workers.owner_of(id.value);
  if (auto wiped = wipe(change, worker, {&config, 1}); !wiped) return tl::unexpected(wiped.error());
  const Cards::Requests requests = parts_.cards.take_off(change, worker, id);
  leave_peer(change, worker, config.upf);
  parts_.store.remove(id);
  parts_.numbers.release(change, id);
  parts_.uplinks.forget(change, id);
  parts_.pins.forget(id);
  parts_.n3.remember_released(change, worker, id);
  if (config.dl_teid) parts_.n3.remember_released(change, worker, BearerId{config.dl_teid->value});
  (void)Cards::wait_for(std::move(change), requests);  // no card refuses that a bearer goes
  return true;
}

// The bearers' lines and keys.
Expected<void> Bearers::wipe(const Locked& locked, WorkerRuntime& worker, std::span<const ran::BearerConfig> bearers,
                             const ran::SessionConfig* session) {
  const ran::BearerConfig& config = bearers.front();  // several ones have no n3_reorder
  if (config.n3_reorder) {
    // What the bearer still holds goes out before it ends: between two commands the worker makes a whole round.
    datapath::GnbContext* gnb = worker.gnb.get();
    if (!worker.execute([gnb, id = config.id] { gnb->reorder.close(id); })) return silent(worker);
  }
  const bool silence = parts_.peers.n3_of(worker).config.released_teid_silence_s != 0;
  for (WorkerRuntime* holder : parts_.workers.key_holders(worker)) {
    if (parts_.lines.take_out(locked, worker, *holder, bearers, silence, session)) continue;
    if (holder != &worker) {  // its owner, which comes first, no longer has the bearer: nothing leads back to it
      log::warn("worker {} does not answer; it may keep keys of bearer {:#010x}, which is released",
                holder->config.name, config.id.value);
    } else if (config.n3_reorder) {
      return fail("worker {} does not answer; the bearer goes on without n3_reorder; allowed: releasing it again",
                  worker.config.name);
    } else {
      return silent(worker);
    }
  }
  return {};
}

Expected<std::uint8_t> Bearers::reestablish(BearerId id) {
  Change change = parts_.control.change();
  const ran::BearerConfig* config = parts_.store.find(id);
  if (config == nullptr) return unknown(id);
  WorkerRuntime& worker = *parts_.workers.owner_of(id.value);
  if (worker.gnb->cell) return reestablish_in_full_mode(std::move(change), worker, id);
  if (!config->acknowledged) return unable(id);
  if (!config->card.empty()) return reestablish_on_card(std::move(change), worker, id);
  datapath::GnbContext* gnb = worker.gnb.get();
  std::optional<std::uint8_t> present;
  const bool listened = worker.execute([gnb, id, &present] {
    if (const auto* const arq = gnb->arq_bearers.find(id.value); arq != nullptr) present = arq->epoch;
  });
  if (!listened) return silent(worker);
  if (!present) return unable(id);
  const std::uint8_t epoch = ran::next_epoch(*present);
  Expected<void> kept;
  std::tie(change, kept) = parts_.numbers.keep_epoch(std::move(change), id, epoch);
  if (!kept) return fail("{}; the bearer was not reestablished", kept.error().message);
  bool able = false;
  const bool done = worker.execute([gnb, id, epoch, &able] {
    datapath::ArqBearer* const arq = gnb->arq_bearers.find(id.value);
    able = arq != nullptr;
    if (!able) return;
    gnb->arq->reestablish(*arq, epoch, rte_rdtsc());
    gnb->arq->show_epoch(*arq);
    if (auto* const secured = gnb->secured_bearers.find(id.value); secured != nullptr) secured->epoch = epoch;
    ran::BearerDownlink& downlink = *gnb->bearers.bearer_line(id.value);
    ran::set_epoch(downlink, epoch);
    downlink.rlc_tx_next = arq->next();
    datapath::set_count_limit(*gnb, downlink);
    downlink.pdu_without_poll = 0;
    gnb->bearers.uplink_line(id.value)->rlc_rx_next_highest = 0;
    gnb->session_uplinks.wait_again(id.value, rte_rdtsc());
  });
  if (!done) return silent(worker);
  if (!able) return unable(id);
  return epoch;
}

// The UE side learns of it by the epoch, as in header mode, and by the C-RNTI that its UE has from now on: so what is
// in the air from before is no UE's. COUNTs go on: what RLC held is missing at PDCP's other end.
Expected<std::uint8_t> Bearers::reestablish_in_full_mode(Change&& change, WorkerRuntime& worker, BearerId id) {
  const auto now = parts_.lines.read_pdcp(change, worker, id);
  if (!now) return tl::unexpected(now.error());
  auto rnti = worker.gnb->cell->take_rnti();
  if (!rnti) return fail("worker {}: {}", worker.config.name, rnti.error().message);
  const std::uint8_t epoch = ran::next_epoch(now->epoch);
  Expected<void> kept;
  std::tie(change, kept) = parts_.numbers.keep_epoch(std::move(change), id, epoch);
  if (!kept) return fail("{}; the bearer was not reestablished", kept.error().message);
  // It takes `rnti` by reference, and gives the old one back: this thread destroys it.
  const bool done = worker.execute([gnb = worker.gnb.get(), id, epoch, &rnti] {
    datapath::LogicalChannel* const channel = gnb->cell->find(id.value);
    datapath::SecuredBearer* const secured = gnb->secured_bearers.find(id.value);
    if (channel == nullptr || secured == nullptr) return;  // it was released meanwhile
    gnb->cell->reestablish(*channel, *rnti, rte_rdtsc());
    secured->epoch = epoch;
  });
  if (!done) return silent(worker);
  return epoch;
}

// The card gives the bearer up, its worker begins anew with the next epoch, and the card goes on behind what the worker
// sends again (CardLink).
Expected<std::uint8_t> Bearers::reestablish_on_card(Change&& change, WorkerRuntime& worker, BearerId id) {
  const auto epoch = [&worker, id] {
    std::optional<std::uint8_t> found;
    (void)worker.execute([gnb = worker.gnb.get(), id, &found] {
      if (const auto* const arq = gnb->arq_bearers.find(id.value); arq != nullptr) found = arq->epoch;
    });
    return found;
  };
  const auto before = epoch();
  if (!before) return unable(id);
  const Cards::Requests requests = parts_.cards.restart(change, worker, id);
  if (requests.empty()) return unable(id);
  auto [after, done] = Cards::wait_for(std::move(change), requests);
  if (!done) return tl::unexpected(done.error());
  const auto now = epoch();
  if (!now || *now == *before)
    return fail("the card of bearer {:#010x} does not answer; RLC begins anew when it does", id.value);
  return *now;
}

// Each takes the turn of a change. Turns go in the order in which they are asked for, so during moves it waits for one
// batch: some milliseconds, and 1.6 s at most if a card hangs in the middle of it (docs/design/placement.md). After a
// long wait the rest waits for the next call.
void Bearers::reestablish_gone() {
  // Each takes some milliseconds, and this thread has other work.
  constexpr std::size_t kAtOnce = 8;
  constexpr std::chrono::milliseconds kLongest{100};
  for (const auto& worker : parts_.workers.all()) {
    if (!worker->gnb || !worker->gnb->arq) continue;
    const std::uint64_t gone = worker->gnb->stats.rlc_copy_gone.get();
    if (gone_seen_[worker.get()] == gone) continue;
    const bool listened = worker->execute(
        [gnb = worker->gnb.get(), this] { std::ranges::copy(gnb->arq->take_gone(), std::back_inserter(gone_)); });
    if (listened) gone_seen_[worker.get()] = gone;
  }
  const Time end = std::chrono::steady_clock::now() + kLongest;
  for (std::size_t n = 0; n < kAtOnce && !gone_.empty() && (n == 0 || std::chrono::steady_clock::now() < end); ++n) {
    const BearerId id{gone_.front()};
    gone_.pop_front();
    const auto done = reestablish(id);
    if (done || !exists(id)) continue;
    log::warn("bearer {:#010x} needs re-establishment, since no copy of a packet is left: {}; asking again", id.value,
              done.error().message);
    gone_.push_back(id.value);
    break;
  }
}

bool Bearers::exists(BearerId id) {
  const Locked locked = parts_.control.lock();
  return parts_.store.find(id) != nullptr;
}

Expected<Rekeyed> Bearers::rekey(BearerId id, std::uint32_t key) {
  return rekey_one(parts_.control.change(), id, key).second;
}

// The turn stays with `change`, so that no other change comes between two bearers of a session.
std::pair<Change, Expected<Rekeyed>> Bearers::rekey_one(Change&& change, BearerId id, std::uint32_t key) {
  const auto refused = [&](tl::unexpected<Error> error) {
    return std::pair<Change, Expected<Rekeyed>>{std::move(change), std::move(error)};
  };
  const ran::BearerConfig* found = parts_.store.find(id);
  if (found == nullptr) return refused(unknown(id));
  if (!found->security) return refused(fail("bearer {:#010x} has no security; allowed: a bearer with keys", id.value));
  WorkerRuntime& worker = *parts_.workers.owner_of(id.value);
  if (worker.gnb->cell)
    return refused(fail("worker {} is in full mode, where keys do not change; allowed: bearer.release, then bearer.add",
                        worker.config.name));
  const auto now = parts_.lines.read_pdcp(change, worker, id);
  if (!now) return refused(tl::unexpected(now.error()));
  if (found->security->key == key) return {std::move(change), Rekeyed{.key = key, .epoch = now->epoch}};
  Numbers::KeyChange keys{.before = *found, .config = *found};
  auto fresh = parts_.lines.make_keys(change, worker, keys.before, key);
  if (!fresh) return refused(tl::unexpected(fresh.error()));
  keys.config.security->key = key;
  keys.epoch = fresh->epoch = ran::next_epoch(now->epoch);
  // What RLC AM keeps is protected again with the COUNTs that it has, so these go on until they are near their end.
  keys.begins_anew = fresh->begins_anew =
      !keys.before.acknowledged || std::max(now->tx_next, now->rx_next) >= datapath::kNearlyExhausted;
  auto [here, done] = parts_.numbers.keep_keys(std::move(change), keys);
  if (!done) worker.gnb->pdcp->keys().forget_used(fresh->security);
  if (done) done = parts_.lines.rekey(here, worker, keys.before, *fresh, keys.lease);
  parts_.numbers.end_keys(here, keys, done.has_value());
  if (!done) {
    return {std::move(here),
            fail("{}; the bearer has the keys with number {}", done.error().message, keys.before.security->key)};
  }
  parts_.store.replace(keys.config);  // also in its session
  return {std::move(here), Rekeyed{.key = key, .epoch = keys.epoch, .changed = true}};
}

Expected<std::vector<RekeyedBearer>> Bearers::rekey_session(Teid teid, std::uint32_t key) {
  Change change = parts_.control.change();
  const auto session = find_session(teid);
  if (!session) return tl::unexpected(session.error());
  std::vector<RekeyedBearer> bearers;
  for (const ran::SessionBearer& one : session->bearers) {
    if (!one.config.security) continue;
    bearers.push_back({.id = one.config.id, .drb = one.drb, .now = {}});
    if (one.config.security->key == key) continue;
    const auto may = parts_.lines.check_keys(change, *parts_.workers.owner_of(teid.value), one.config, key);
    if (!may) return fail("drb {}: {}; no bearer was changed", one.drb.value, may.error().message);
  }
  if (bearers.empty()) return fail("no bearer of session {:#010x} has security; allowed: one with keys", teid.value);
  for (RekeyedBearer& one : bearers) {
    Expected<Rekeyed> now;
    std::tie(change, now) = rekey_one(std::move(change), one.id, key);
    if (!now) {
      const auto have = std::ranges::count_if(
          bearers, [&](const RekeyedBearer& other) { return parts_.store.find(other.id)->security->key == key; });
      return fail("drb {}: {}; {} of {} bearers have the new ones; allowed: the same request again, or a higher number",
                  one.drb.value, now.error().message, have, bearers.size());
    }
    one.now = *now;
  }
  return bearers;
}

Expected<SessionView> Bearers::read_session(const Locked& locked, const ran::SessionConfig& session) {
  datapath::FlowCounts counts;
  auto views = read(locked, bearers_of(session), &counts);
  if (!views) return tl::unexpected(views.error());
  SessionView view{.config = session, .bearers = *std::move(views), .flows = {}};
  for (std::uint8_t qfi = 0; qfi < ran::sdap::kFlows; ++qfi) {
    const auto& [downlink, uplink] = counts.flows[qfi];
    if (downlink.sdus + uplink.sdus == 0) continue;
    view.flows.push_back({.qfi{qfi}, .drb = session.bearer_of(Qfi{qfi})->drb, .downlink = downlink, .uplink = uplink});
  }
  return view;
}

Expected<std::vector<BearerView>> Bearers::read(const Locked& locked, std::span<const ran::BearerConfig> bearers,
                                                datapath::FlowCounts* flows) {
  auto views = parts_.lines.read(locked, bearers, flows);
  if (!views) return views;
  for (BearerView& view : *views) {
    parts_.uplinks.add_to(locked, view);
    const ran::SessionConfig* session = parts_.store.session_of(view.config.id);
    if (session != nullptr) view.session = place_of(*session, *session->find(view.config.id));
  }
  return views;
}

Expected<BearerView> Bearers::show(BearerId id) {
  Expected<std::vector<BearerView>> views;
  {
    const Locked locked = parts_.control.lock();
    const ran::BearerConfig* config = parts_.store.find(id);
    if (config == nullptr) return unknown(id);
    views = read(locked, {config, 1});
  }
  if (!views) return tl::unexpected(views.error());
  parts_.cards.add_numbers(*views);
  return views->front();
}

// A page is read in small pieces, so that no round of a worker grows long.
Expected<std::vector<BearerView>> Bearers::list(std::uint32_t after, std::size_t limit) {
  constexpr std::size_t kPiece = 64;
  std::vector<BearerView> all;
  {
    const Locked locked = parts_.control.lock();
    const auto page = parts_.store.after(after, limit);
    for (std::size_t first = 0; first < page.size(); first += kPiece) {
      auto views = read(locked, std::span(page).subspan(first, std::min(kPiece, page.size() - first)));
      if (!views) return views;
      all.insert(all.end(), views->begin(), views->end());
    }
  }
  parts_.cards.add_numbers(all);
  return all;
}

std::size_t Bearers::count() {
  const Locked locked = parts_.control.lock();
  return parts_.store.size();
}

}  // namespace splitplane::gnb
