// Bearers of the running user plane, as the control server asks for them: added, modified, released, reestablished.
#include "base/log.h"
#include "gnb/control/instance.h"
#include "gnb/datapath/count_limit.h"

namespace splitplane::app {
namespace {

tl::unexpected<Error> unknown(BearerId id) {
  return fail("no bearer with identity {:#010x}", id.value);
}
tl::unexpected<Error> silent(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; nothing was changed", worker.config.name);
}

}  // namespace

WorkerRuntime* UserPlane::owner_of(std::uint32_t id) {
  for (auto& worker : workers_) {
    if (worker->gnb && worker->gnb->bearers.owns(id)) return worker.get();
  }
  return nullptr;
}

Expected<PeerId> UserPlane::peer_on(WorkerRuntime& worker, const IpAddress& upf) {
  const auto place_of = [&](std::size_t i) { return PeerId{static_cast<std::uint16_t>(i)}; };
  std::size_t place = worker.peers.size();
  for (std::size_t i = 0; i < worker.peers.size(); ++i) {
    if (worker.peers[i].bearers != 0 && worker.peers[i].upf == upf) return place_of(i);
    if (worker.peers[i].bearers == 0) place = i;
  }
  if (place == datapath::kMaxPeers) {
    return fail("upf: worker {} sends to {} UPFs already, which is the limit", worker.config.name, datapath::kMaxPeers);
  }
  const N3Runtime& n3 = *n3_of(worker);
  if (upf.is_v6() ? !n3.own.ipv6 : !n3.own.ipv4) {
    return fail("upf: {} cannot be reached: N3 port {} has no address of that family", upf.to_string(), n3.config.port);
  }
  const datapath::N3Peer peer = datapath::make_peer(worker.gnb->n3, upf, mac_of(n3, upf));
  if (!worker.execute([&] { worker.gnb->peers[place] = peer; })) return silent(worker);
  if (place == worker.peers.size()) worker.peers.emplace_back();
  worker.peers[place] = {upf, 0};
  return place_of(place);
}

void UserPlane::leave_peer(WorkerRuntime& worker, const IpAddress& upf) {
  if (CardRuntime* card = card_before(worker)) leave_peer(*card, upf);
  for (UpfPeer& peer : worker.peers) {
    if (peer.bearers != 0 && peer.upf == upf) {
      --peer.bearers;
      return;
    }
  }
}

Expected<UserPlane::Installation> UserPlane::prepare(const ran::BearerConfig& config) {
  WorkerRuntime* worker = owner_of(config.id.value);
  if (worker == nullptr) return fail("no worker serves the shard of bearer {:#010x}", config.id.value);
  if (auto fine = check_card(config, *worker); !fine) return tl::unexpected(fine.error());
  const auto peer = peer_on(*worker, config.upf);
  if (!peer) return tl::unexpected(peer.error());
  ran::BearerConfig here = config;
  here.acknowledged = worker->gnb->arq && config.rlc_mode == RlcMode::kAm && config.card.empty();
  const bool is_new = worker->peers[peer->value].bearers++ == 0;
  if (is_new && !mac_of(*n3_of(*worker), config.upf)) next_question_ = next_hops_ = {};  // asked for now
  Installation installation{here, worker, *peer, {}};
  if (CardRuntime* card = card_before(*worker); card != nullptr && !config.upf.is_v6()) {
    const auto number = peer_on(*card, *worker, config.upf);
    if (!number) {
      leave_peer(*worker, config.upf);
      return tl::unexpected(number.error());
    }
    installation.card_peer = *number;
  }
  return installation;
}

Expected<AddedBearers> UserPlane::add_bearers(std::span<const ran::BearerConfig> wanted,
                                              std::optional<unsigned> shard) {
  if (journal_) {
    if (const auto view = journal_->view(); !view.reason.empty()) return fail("{}; no bearer was added", view.reason);
  }
  std::vector<NewBearer> bearers;
  for (const ran::BearerConfig& config : wanted) bearers.push_back({.config = config, .shard = shard});
  return enter(bearers);
}

Expected<AddedBearers> UserPlane::enter(std::span<const NewBearer> wanted) {
  const std::lock_guard request(requests_);
  std::unique_lock lock(mutex_);
  AddedBearers result;
  std::vector<Installation> fresh;
  Workers told;
  const auto refused = [&](Error error) {
    for (const WorkerRuntime* worker : uninstall(fresh, told)) {
      const auto kept =
          fmt::format("worker {} does not answer, and may keep bearers that were not added", worker->config.name);
      log::warn("{}", kept);
      error.message += "; " + kept;
    }
    return tl::unexpected(std::move(error));
  };
  for (const NewBearer& one : wanted) {
    const ran::BearerConfig& config = one.config;
    if (const auto* twin = store_->find_uplink(config.upf, config.uplink_teid)) {
      ran::BearerConfig same = config;
      if (same.id.value == 0) same.id = twin->id;
      same.acknowledged = twin->acknowledged;
      if (same == *twin) {
        result.bearers.push_back(*twin);
        ++result.existed;
        continue;
      }
    }
    auto entered = store_->add(config, one.shard);
    if (!entered) return refused(entered.error());
    auto prepared = prepare(*entered);
    if (!prepared) {
      store_->remove(entered->id);
      return refused(prepared.error());
    }
    prepared->file = one.file;
    prepared->numbers = one.numbers;
    if (prepared->config.acknowledged && !one.is_restored) prepared->numbers.epoch = next_epoch();
    fresh.push_back(*prepared);
    if (prepared->config.acknowledged) store_->replace(prepared->config);
    result.bearers.push_back(prepared->config);
  }
  auto installed = install(fresh, false, told);
  if (installed) {
    enter_in_journal(fresh);  // before cards number them
    installed = wait_for_cards(lock, put_on_cards(fresh));
  }
  if (!installed) return refused(installed.error());
  if (journal_) {  // one that was released may come back with the configuration again
    for (const Installation& one : fresh) journal_->revive({one.config.upf, one.config.uplink_teid});
  }
  return result;
}

Expected<ran::BearerConfig> UserPlane::modify_bearer(BearerId id, const BearerPatch& patch) {
  const std::lock_guard request(requests_);
  std::unique_lock lock(mutex_);
  const ran::BearerConfig* current = store_->find(id);
  if (current == nullptr) return unknown(id);
  ran::BearerConfig changed = *current;
  if (patch.uplink_teid) changed.uplink_teid = *patch.uplink_teid;
  if (patch.upf) changed.upf = *patch.upf;
  if (patch.qfi) changed.qfi = *patch.qfi;
  if (patch.poll_pdu) changed.poll_pdu = *patch.poll_pdu;
  if (const auto refused = ran::refuse(changed)) return fail("{}", *refused);
  const auto* twin = store_->find_uplink(changed.upf, changed.uplink_teid);
  if (twin != nullptr && twin->id != id) {
    return fail("uplink TEID {:#010x} at {} is in use by bearer {:#010x}", changed.uplink_teid.value,
                changed.upf.to_string(), twin->id.value);
  }
  const auto prepared = prepare(changed);
  if (!prepared) return tl::unexpected(prepared.error());
  changing_ = id;
  auto done = wait_for_cards(lock, put_on_cards({&*prepared, 1}));
  changing_ = {};
  Workers told;
  if (done) done = install({&*prepared, 1}, true, told);
  if (!done) {
    put_soon_on_card(*prepared->worker, *current);
    leave_peer(*prepared->worker, changed.upf);
    return tl::unexpected(done.error());
  }
  leave_peer(*prepared->worker, current->upf);
  store_->replace(changed);
  if (journal_) journal_->set_config(changed);
  if (const auto seen = bearer_gtpu_.find(id.value); seen != bearer_gtpu_.end()) seen->second.uplink = {};
  return changed;
}

Expected<bool> UserPlane::release_bearer(BearerId id) {
  const std::lock_guard request(requests_);
  std::unique_lock lock(mutex_);
  if (store_->find(id) == nullptr) return false;
  WorkerRuntime* worker = owner_of(id.value);
  const ran::BearerConfig config = *store_->find(id);
  if (config.n3_reorder) {
    // What the bearer still holds goes out before it ends: between two commands the worker makes a whole round.
    datapath::GnbContext* gnb = worker->gnb.get();
    if (!worker->execute([gnb, id] { gnb->reorder.close(id); })) return silent(*worker);
  }
  const bool silence = n3_of(*worker)->config.released_teid_silence_s != 0;
  for (WorkerRuntime* holder : key_holders(*worker)) {
    if (take_out(*worker, *holder, {&config, 1}, silence)) continue;
    if (holder != worker) {  // its owner, which comes first, has it no more: nothing leads back
      log::warn("worker {} does not answer; it may keep keys of bearer {:#010x}, which is released",
                holder->config.name, id.value);
    } else if (config.n3_reorder) {
      return fail("worker {} does not answer; the bearer goes on without n3_reorder; allowed: releasing it again",
                  worker->config.name);
    } else {
      return silent(*worker);
    }
  }
  const CardRequests requests = take_off_card(*worker, id);
  leave_peer(*worker, config.upf);
  store_->remove(id);
  leases_.forget(id);
  if (journal_) journal_->release(id);
  remember_released(*worker, id);
  if (config.dl_teid) remember_released(*worker, BearerId{config.dl_teid->value});
  (void)wait_for_cards(lock, requests);  // that a bearer goes no card refuses
  return true;
}

// Another one than before, as far as eight bits tell; without a journal also than before a restart of this process.
std::uint8_t UserPlane::next_epoch() {
  if (epoch_ == 0) epoch_ = static_cast<std::uint8_t>(rte_rdtsc() >> 12);
  return epoch_ = ran::next_epoch(epoch_);
}

Expected<std::uint8_t> UserPlane::reestablish_bearer(BearerId id) {
  const std::lock_guard request(requests_);
  std::unique_lock lock(mutex_);
  const ran::BearerConfig* config = store_->find(id);
  if (config == nullptr) return unknown(id);
  const auto unable = [&] {
    return fail("bearer {:#010x} has no retransmission; allowed: AM with baas: inline", id.value);
  };
  if (!config->acknowledged) return unable();
  WorkerRuntime* worker = owner_of(id.value);
  datapath::GnbContext* gnb = worker->gnb.get();
  const std::uint8_t epoch = next_epoch();
  if (journal_) {  // no later run may use it for other PDUs
    journal_->set_epoch(id, epoch);
    lock.unlock();
    const auto settled = journal_->settle();
    lock.lock();
    if (!settled) return fail("{}; the bearer was not reestablished", settled.error().message);
  }
  bool able = false;
  const bool done = worker->execute([gnb, id, epoch, &able] {
    datapath::ArqBearer* const arq = gnb->arq_bearers.find(id.value);
    able = arq != nullptr;
    if (!able) return;
    gnb->arq->reestablish(*arq, epoch, rte_rdtsc());
    ran::BearerDownlink& downlink = *gnb->bearers.downlink_line(id.value);
    ran::set_epoch(downlink, epoch);
    downlink.rlc_tx_next = arq->retx.next();
    datapath::set_count_limit(*gnb, downlink);
    downlink.pdu_without_poll = 0;
    gnb->bearers.uplink_line(id.value)->rlc_rx_next_highest = 0;
  });
  if (!done) return silent(*worker);
  if (!able) return unable();
  return epoch;
}

}  // namespace splitplane::app
