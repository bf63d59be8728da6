#include "gnb/control/bearer_lines.h"

#include <algorithm>
#include <map>

#include "gnb/datapath/count_limit.h"

namespace splitplane::gnb {
namespace {

tl::unexpected<Error> not_changed(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; nothing was changed", worker.config.name);
}
tl::unexpected<Error> not_added(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; no bearer was added", worker.config.name);
}
tl::unexpected<Error> given_before(const ran::SecurityConfig& security) {
  return fail(
      "security.key: the keys with number {} were given to a bearer with drb {} before; allowed: keys that "
      "no bearer had",
      security.key, security.drb);
}
tl::unexpected<Error> equal_keys(std::uint32_t key, std::uint32_t present) {
  return fail("security.key: a key with number {} is that of number {}; allowed: keys that differ", key, present);
}
tl::unexpected<Error> no_room_for_keys(WorkerRuntime& worker, const ran::BearerConfig& config) {
  if (config.dl_teid && !worker.keys()->teids) {
    return fail(
        "dl_teid: this instance has no room for TEIDs of somebody else's choosing; allowed: with foreign_teids "
        "in its configuration");
  }
  return fail("worker {}: its table of keys is full; allowed: fewer bearers, or a larger foreign_teids or max_bearers",
              worker.config.name);
}

bool concerns(std::span<const Installation> all, const WorkerRuntime& worker) {
  return std::any_of(all.begin(), all.end(), [&](const Installation& one) { return one.worker == &worker; });
}

// No COUNT is used twice under one key: a bearer gets keys once. Its own COUNTs go on where the journal has them.
Expected<std::unique_ptr<datapath::SecuredBearer>> make_secured(datapath::WorkerPdcp& pdcp, const Installation& one) {
  const ran::SecurityConfig& security = *one.config.security;
  if (!one.keeps_keys && pdcp.keys().used(security) != nullptr) return given_before(security);
  auto made = pdcp.make(one.config, Count{one.numbers.end}, Count{one.numbers.rx_next});
  if (made) (*made)->epoch = one.numbers.epoch;
  if (made) pdcp.keys().note_used(security, {one.numbers.end, one.numbers.rx_next});
  return made;
}

// Keys with which nothing was sent or received may be given out again.
void give_back_unused(datapath::WorkerPdcp& pdcp, datapath::SecuredBearer& bearer) {
  if (bearer.entity.tx().tx_next() == 0 && bearer.received_until == 0) pdcp.keys().forget_used(bearer.security);
}

}  // namespace

Expected<void> BearerLines::install(const Locked& /*locked*/, std::span<const Installation> all, WorkerSet& told) {
  for (const auto& worker : workers_.all()) {
    if (!concerns(all, *worker)) continue;
    if (auto written = write(*worker, all, false); !written) return written;
    told.insert(worker.get());
    if (auto entered = enter_keys(*worker, all, told); !entered) return entered;
  }
  return {};
}

Expected<void> BearerLines::modify(const Locked& /*locked*/, const Installation& one) {
  return write(*one.worker, {&one, 1}, true);
}

Expected<void> BearerLines::move_flow(const Locked& /*locked*/, WorkerRuntime& worker,
                                      const ran::SessionConfig& session, const ran::SessionBearer& from, Qfi qfi) {
  datapath::GnbContext* gnb = worker.gnb.get();
  const auto to = static_cast<unsigned>(session.bearer_of(qfi) - session.bearers.data()) + 1;
  const bool done = worker.execute([&] {
    if (worker.config.features < datapath::FeatureSet::mat) {  // its packets find no bearers
      return ran::set_flow(*gnb->bearers.downlink_line(session.teid().value), qfi, to);
    }
    const BearerId old = from.config.id;
    const std::uint64_t now = rte_rdtsc(), ms = rte_get_tsc_hz() / 1000;
    const auto* const arq = gnb->arq_bearers.find(old.value);
    datapath::FlowMoves::Rest rest{.is_acknowledged = arq != nullptr, .not_before = now};
    if (arq != nullptr) {
      rest.until = arq->next();
      rest.epoch = arq->epoch;
    } else if (from.config.security) {
      rest.not_before = now + from.config.security->t_reordering_ms * ms;
    }
    gnb->flow_moves.begin({.session = session.teid(),
                           .qfi = qfi,
                           .old = old,
                           .number = to,
                           .rest = rest,
                           .deadline = now + datapath::FlowMoves::kMostMs * ms,
                           .last_deadline = now + datapath::FlowMoves::kMostInAllMs * ms,
                           .held = {}});
    ran::set_flow(*gnb->bearers.downlink_line(session.teid().value), qfi, ran::kMovingFlow);
  });
  return done ? Expected<void>{} : not_changed(worker);
}

Expected<void> BearerLines::write(WorkerRuntime& worker, std::span<const Installation> all, bool modified) {
  datapath::GnbContext& gnb = *worker.gnb;
  std::vector<std::unique_ptr<datapath::ArqBearer>> arq(all.size());  // made here, and what they replace ends here
  std::vector<std::unique_ptr<datapath::SecuredBearer>> secured(all.size());
  const auto forget_keys = [&](std::size_t of_first) {
    for (std::size_t i = 0; i < of_first; ++i) {
      if (secured[i] && !all[i].keeps_keys) gnb.pdcp->keys().forget_used(secured[i]->security);
    }
  };
  for (std::size_t i = 0; i < all.size() && !modified; ++i) {
    if (all[i].worker == &worker && all[i].config.acknowledged)
      arq[i] = gnb.arq->make(all[i].config, all[i].numbers.epoch);
    if (all[i].worker != &worker || !all[i].config.security) continue;
    if (config_.key_file.empty() || config_.journal.empty()) {
      return fail("security: this instance has no {}; allowed: with one in its configuration",
                  config_.key_file.empty() ? "key_file" : "journal");
    }
    if (gnb.pdcp == nullptr) continue;  // `splitplane explain` has no keys
    auto made = make_secured(*gnb.pdcp, all[i]);
    if (!made) {
      forget_keys(i);
      return tl::unexpected(made.error());
    }
    secured[i] = std::move(*made);
  }
  std::vector<datapath::UeParts> ues;
  if (gnb.cell != nullptr && !modified) {
    auto made = make_ues(worker, all);
    if (!made) {
      forget_keys(all.size());
      return tl::unexpected(made.error());
    }
    ues = *std::move(made);
  }
  const auto& session = all.front().session;
  datapath::FlowCounters::Memory flow_memory;
  if (session) {
    const Teid teid = session->teid();
    flow_memory = gnb.flow_counters.make(teid, gnb.bearers.slab(ran::shard_of(teid.value)).capacity);
  }
  const bool done = worker.execute([&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].worker == &worker) write_one(gnb, all[i], modified, arq[i], secured[i]);
    }
    for (datapath::UeParts& ue : ues) gnb.cell->attach(ue, rte_rdtsc());
    if (session) {
      gnb.flow_counters.open(session->teid(), flow_memory);
      *gnb.bearers.downlink_line(session->teid().value) = ran::make_session(*session);
      gnb.session_uplinks.open(*session, rte_get_tsc_hz());
    }
  });
  if (!done && modified) return not_changed(worker);
  if (!done) {  // the command was taken back
    forget_keys(all.size());
    return not_added(worker);
  }
  for (const Installation& one : all) {
    if (one.worker != &worker || !one.config.security) continue;
    const ran::SecurityConfig& security = *one.config.security;
    secured_drbs_->set(one.config.id, {security.drb, security.integrity != ran::Integrity::kNone});
  }
  return {};
}

Expected<std::vector<datapath::UeParts>> BearerLines::make_ues(WorkerRuntime& worker,
                                                               std::span<const Installation> all) {
  std::vector<datapath::UeParts> ues;
  std::vector<ran::BearerConfig> of_ue;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].worker != &worker) continue;
    of_ue.push_back(all[i].config);
    const ran::SessionConfig* const session = all[i].session.get();
    if (session != nullptr && i + 1 < all.size()) continue;
    if (session != nullptr) {  // LCIDs are in the order of the DRB identities
      std::ranges::sort(of_ue, {}, [session](const ran::BearerConfig& one) { return session->find(one.id)->drb; });
    }
    auto made = worker.gnb->cell->make(of_ue);
    if (!made) return fail("worker {}: {}", worker.config.name, made.error().message);
    ues.push_back(*std::move(made));
    of_ue.clear();
  }
  return ues;
}

Expected<BearerLines::PdcpState> BearerLines::read_pdcp(const Locked& /*locked*/, WorkerRuntime& worker,
                                                        BearerId id) const {
  std::optional<PdcpState> state;
  const bool done = worker.execute([&] {
    const auto* bearer = worker.gnb->secured_bearers.find(id.value);
    if (bearer == nullptr) return;
    state = PdcpState{bearer->entity.tx().tx_next(), bearer->entity.rx().rx_next(), bearer->epoch};
  });
  if (!done) return not_changed(worker);
  if (!state) return fail("bearer {:#010x} has no PDCP entity with keys", id.value);
  return *state;
}

Expected<datapath::NewKeys> BearerLines::make_keys(const Locked& /*locked*/, WorkerRuntime& worker,
                                                   const ran::BearerConfig& before, std::uint32_t key) const {
  datapath::BearerKeys& keys = worker.gnb->pdcp->keys();
  datapath::NewKeys fresh{.pair = {}, .security = *before.security};
  fresh.security.key = key;
  // After a restart the higher number counts, of file and journal.
  if (key < before.security->key) {
    return fail("security.key: {} is not above the bearer's present key {}; allowed: a higher number", key,
                before.security->key);
  }
  if (keys.used(fresh.security) != nullptr) return given_before(fresh.security);
  auto pair = keys.make(fresh.security);
  if (!pair) return tl::unexpected(pair.error());
  bool are_the_same = false;
  const bool done = worker.execute([&] {
    const auto* const bearer = worker.gnb->secured_bearers.find(before.id.value);
    are_the_same = bearer != nullptr && bearer->keys.security().protects_alike(pair->security());
  });
  if (!done) return not_changed(worker);
  if (are_the_same) return equal_keys(key, before.security->key);
  fresh.pair = std::move(*pair);
  keys.note_used(fresh.security, {});
  return fresh;
}

Expected<void> BearerLines::check_keys(const Locked& locked, WorkerRuntime& worker, const ran::BearerConfig& before,
                                       std::uint32_t key) const {
  return make_keys(locked, worker, before, key).map([&](const datapath::NewKeys& made) {
    worker.gnb->pdcp->keys().forget_used(made.security);
  });
}

Expected<void> BearerLines::rekey(const Locked& /*locked*/, WorkerRuntime& worker, const ran::BearerConfig& before,
                                  datapath::NewKeys& fresh, const ran::CountLease& lease) const {
  using ran::pdcp::Refusal;
  datapath::GnbContext& gnb = *worker.gnb;
  const std::uint32_t id = before.id.value;
  Refusal refusal = Refusal::kNone;
  datapath::BearerKeys::Used last, first;  // COUNTs with the keys before, and with the new ones
  const bool done = worker.execute([&] {
    datapath::SecuredBearer& bearer = *gnb.secured_bearers.find(id);
    datapath::ArqBearer* const rlc = gnb.arq ? gnb.arq_bearers.find(id) : nullptr;
    last = {bearer.entity.tx().tx_next(), bearer.entity.rx().rx_next()};
    refusal = datapath::rekey({*gnb.pdcp, bearer, gnb.arq.get(), rlc}, fresh, rte_rdtsc());
    if (refusal != Refusal::kNone) return;
    first = {bearer.entity.tx().tx_next(), bearer.entity.rx().rx_next()};
    ran::BearerDownlink& downlink = *gnb.bearers.bearer_line(id);
    ran::BearerUplink& uplink = *gnb.bearers.uplink_line(id);
    ran::set_epoch(downlink, fresh.epoch);
    downlink.pdcp_tx_next = first.tx_next;
    uplink.pdcp_rx_next = first.rx_next;
    if (fresh.begins_anew && !config_.journal.empty()) *gnb.bearers.lease(id) = lease;
    downlink.rlc_tx_next = rlc == nullptr ? 0 : rlc->next();
    uplink.rlc_rx_next_highest = 0;
    downlink.pdu_without_poll = 0;
    datapath::set_count_limit(gnb, downlink);
    gnb.session_uplinks.wait_again(id, rte_rdtsc());
    if (rlc == nullptr) return;
    gnb.arq->await_peer(*rlc, rte_rdtsc());
    gnb.arq->show_epoch(*rlc);
  });
  datapath::BearerKeys& keys = gnb.pdcp->keys();
  if (done && refusal == Refusal::kNone) {
    keys.note_used(*before.security, last);
    keys.note_used(fresh.security, first);
    return {};
  }
  keys.forget_used(fresh.security);
  if (!done) return not_changed(worker);
  if (refusal == Refusal::kKeyReused) return equal_keys(fresh.security.key, before.security->key);
  return fail("bearer {:#010x} cannot change its keys now; allowed: another try", id);
}

// On the worker.
void BearerLines::write_one(datapath::GnbContext& gnb, const Installation& one, bool modified,
                            std::unique_ptr<datapath::ArqBearer>& arq,
                            std::unique_ptr<datapath::SecuredBearer>& secured) const {
  const std::uint32_t id = one.config.id.value;
  const ran::SessionBearer* const of_session = one.session ? one.session->find(one.config.id) : nullptr;
  // The session line stands at the place of the first bearer.
  const bool is_first = of_session != nullptr && id == one.session->teid().value;
  const std::uint32_t place = is_first ? one.session->spare.value : id;
  ran::BearerDownlink& downlink = *(modified ? gnb.bearers.bearer_line(id) : gnb.bearers.downlink_line(place));
  ran::BearerUplink& uplink = *gnb.bearers.uplink_line(id);
  const bool on_card = !one.config.card.empty();
  ran::BearerDownlink new_downlink = on_card      ? ran::make_on_card(one.config)
                                     : of_session ? ran::make_session_bearer(*of_session)
                                                  : ran::make_downlink(one.config);
  ran::BearerUplink new_uplink =
      of_session != nullptr ? ran::make_session_uplink(one.config, one.peer) : ran::make_uplink(one.config, one.peer);
  if (modified) {  // the numbers go on
    ran::carry_over(downlink, new_downlink);
    ran::carry_over(uplink, new_uplink);
    gnb.monitor.forget(one.config.id);  // nothing leads back to a time stamp of the old line
    datapath::LogicalChannel* const channel = gnb.cell ? gnb.cell->find(id) : nullptr;
    if (channel != nullptr) channel->set_poll_pdu(one.config.poll_pdu);
  } else {
    gnb.bearers.drops(id) = {};
    new_downlink.pdcp_tx_next = one.numbers.end;
    new_uplink.pdcp_rx_next = one.numbers.rx_next;
    if (one.config.rlc_mode == RlcMode::kAm || one.config.security) ran::set_epoch(new_downlink, one.numbers.epoch);
    // With a journal: closed until the journal grants a lease.
    const bool leased = !config_.journal.empty();
    *gnb.bearers.lease(id) = leased ? ran::CountLease{one.numbers.end, one.numbers.end} : ran::CountLease{};
    if (one.config.n3_reorder) gnb.reorder.open(one.config.id, *one.config.n3_reorder, rte_get_tsc_hz());
  }
  if (arq) gnb.arq_bearers.exchange(id, std::move(arq));
  if (secured) gnb.secured_bearers.exchange(id, std::move(secured));
  if (!modified && !on_card) datapath::set_count_limit(gnb, new_downlink);
  downlink = new_downlink;
  uplink = new_uplink;
  if (gnb.fixed_bearer.id == 0 && !on_card) gnb.fixed_bearer = new_downlink;
}

Expected<void> BearerLines::enter_keys(WorkerRuntime& owner, std::span<const Installation> all, WorkerSet& told) {
  for (WorkerRuntime* holder : workers_.key_holders(owner)) {
    const Installation* refused = nullptr;
    const bool listened = holder->execute([&] {
      for (const Installation& one : all) {
        const bool has_keys = !one.session || one.config.id.value == one.session->teid().value;
        if (has_keys && one.worker == &owner && !datapath::enter(*holder->keys(), one.config)) refused = &one;
      }
    });
    if (!listened) return not_added(*holder);
    told.insert(holder);
    if (refused != nullptr) return no_room_for_keys(*holder, refused->config);
  }
  return {};
}

BearerLines::WorkerSet BearerLines::uninstall(const Locked& locked, std::span<const Installation> all,
                                              const WorkerSet& told) {
  const ran::SessionConfig* const session = all.empty() ? nullptr : all.front().session.get();
  std::map<WorkerRuntime*, std::vector<ran::BearerConfig>> by_worker;
  for (const Installation& one : all) by_worker[one.worker].push_back(one.config);
  WorkerSet silent_now;
  for (const auto& [worker, configs] : by_worker) {
    for (WorkerRuntime* holder : workers_.key_holders(*worker)) {
      if (told.contains(holder) && !take_out(locked, *worker, *holder, configs, false, session))
        silent_now.insert(holder);
    }
  }
  return silent_now;
}

bool BearerLines::take_out(const Locked& /*locked*/, WorkerRuntime& owner, WorkerRuntime& holder,
                           std::span<const ran::BearerConfig> configs, bool silence,
                           const ran::SessionConfig* session) {
  std::vector<std::unique_ptr<datapath::ArqBearer>> arq;  // destroyed here, not on the worker
  arq.reserve(configs.size());
  std::vector<std::unique_ptr<datapath::SecuredBearer>> secured;
  secured.reserve(configs.size());
  std::unique_ptr<datapath::FlowCounts> flow_counts;
  datapath::UeParts radio;
  radio.channels.reserve(configs.size());
  std::vector<std::unique_ptr<datapath::RadioUe>> ues;
  ues.reserve(configs.size());
  const bool done = holder.execute([&] {
    const auto clear = [&](std::uint32_t place, bool is_known_to_upf) {
      const bool released = silence && is_known_to_upf;
      *owner.gnb->bearers.downlink_line(place) = released ? ran::make_released(place) : ran::BearerDownlink{};
    };
    if (session != nullptr && &holder == &owner) {
      clear(session->teid().value, true);
      clear(session->spare.value, false);
      datapath::GnbContext& gnb = *owner.gnb;
      gnb.stats.drop(datapath::DropReason::teid_released, gnb.flow_moves.close(session->teid()));
      gnb.stats.drop(datapath::DropReason::pdcp_released, gnb.session_uplinks.close(*session));
      flow_counts = gnb.flow_counters.close(session->teid());
      datapath::note_flow_held(gnb);
    }
    for (const ran::BearerConfig& config : configs) {
      const std::uint32_t id = config.id.value;
      const bool is_first = session == nullptr || id == session->teid().value;
      if (is_first) datapath::leave(*holder.keys(), config);
      if (&holder != &owner) continue;
      datapath::GnbContext& gnb = *owner.gnb;
      clear(id, is_first);
      *gnb.bearers.uplink_line(id) = {};
      gnb.monitor.forget(config.id);
      if (!config.card.empty()) gnb.stats.drop(datapath::DropReason::teid_released, gnb.card_returns.close(config.id));
      if (config.n3_reorder) gnb.reorder.close(config.id);
      if (gnb.pdcp && config.security) {
        secured.push_back(gnb.secured_bearers.exchange(id, nullptr));
        if (secured.back()) {
          gnb.stats.drop(datapath::DropReason::pdcp_released, gnb.pdcp->detach(*secured.back()));
          gnb.stats.pdcp_held.set(gnb.pdcp->held());
        }
      }
      if (gnb.cell) {
        gnb.cell->detach(config.id, radio);
        if (radio.ue) {
          if (gnb.slots) gnb.slots->remove(*radio.ue);
          ues.push_back(std::move(radio.ue));
        }
      }
      if (!gnb.arq) continue;
      arq.push_back(gnb.arq_bearers.exchange(id, nullptr));
      if (arq.back()) gnb.arq->detach(*arq.back());
    }
  });
  for (const auto& one : secured) {
    if (!done || !one) continue;
    give_back_unused(*owner.gnb->pdcp, *one);
    secured_drbs_->remove(one->id);
  }
  return done;
}

Expected<std::vector<BearerView>> BearerLines::read(const Locked& /*locked*/,
                                                    std::span<const ran::BearerConfig> bearers,
                                                    datapath::FlowCounts* flows) const {
  auto views = std::make_shared<std::vector<BearerView>>(bearers.size());
  const auto& workers = workers_.all();
  for (std::size_t w = 0; w < workers.size(); ++w) {
    WorkerRuntime& worker = *workers[w];
    if (!worker.gnb) continue;
    auto mine = std::make_shared<std::vector<std::size_t>>();
    for (std::size_t i = 0; i < bearers.size(); ++i) {
      if (!worker.gnb->bearers.owns(bearers[i].id.value)) continue;
      mine->push_back(i);
      (*views)[i].config = bearers[i];
      (*views)[i].worker = w;
    }
    if (mine->empty()) continue;
    datapath::GnbContext* gnb = worker.gnb.get();
    const bool done = worker.execute([gnb, views, mine, flows] {
      for (const std::size_t i : *mine) {
        BearerView& view = (*views)[i];
        const std::uint32_t id = view.config.id.value;
        const ran::BearerDownlink& dl = *gnb->bearers.bearer_line(id);
        const ran::BearerUplink& ul = *gnb->bearers.uplink_line(id);
        const ran::BearerDrops& drops = gnb->bearers.drops(id);
        const std::uint64_t held = gnb->reorder.held(view.config.id);
        const std::uint64_t returning = view.config.card.empty() ? 0 : gnb->card_returns.held(view.config.id);
        view.downlink = {dl.received + held, dl.received - drops.downlink - returning, drops.downlink, held + returning,
                         dl.bytes};
        const auto* secured = gnb->secured_bearers.find(id);
        const std::uint64_t held_up =
            (secured == nullptr ? 0 : secured->entity.rx().held()) + gnb->session_uplinks.held(view.config.id);
        if (secured != nullptr) view.epoch = secured->epoch;
        view.uplink = {ul.received, ul.received - drops.uplink - held_up, drops.uplink, held_up, ul.bytes};
        view.pdcp_tx_next = dl.pdcp_tx_next;
        view.rlc_tx_next = dl.rlc_tx_next;
        view.pdcp_rx_next = ul.pdcp_rx_next;
        view.rlc_rx_next = ul.rlc_rx_next_highest;
        if (const auto* arq = gnb->arq_bearers.find(id); arq != nullptr) view.rlc_am = datapath::view_of(*arq);
        if (const auto* channel = gnb->cell ? gnb->cell->find(id) : nullptr; channel != nullptr) {
          view.rlc = channel->view();
          view.rlc->rnti = channel->ue->rnti.value().value;
          view.rlc->mac = channel->ue->view();
          view.rlc_tx_next = view.rlc->tx_next;
          view.rlc_rx_next = view.rlc->rx_next;
        }
        if (const auto* counts = gnb->flow_counters.find(id); counts != nullptr && flows != nullptr) *flows = *counts;
      }
    });
    if (!done) return fail("worker {} does not answer", worker.config.name);
  }
  return *views;
}

}  // namespace splitplane::gnb
