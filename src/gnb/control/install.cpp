// Bearers on the workers of the running user plane: every change is a command that the owning worker, and those that
// find bearers for it, execute between two rounds.
#include <algorithm>

#include "base/log.h"
#include "gnb/control/instance.h"
#include "gnb/datapath/count_limit.h"

namespace splitplane::app {
namespace {

tl::unexpected<Error> not_changed(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; nothing was changed", worker.config.name);
}
tl::unexpected<Error> not_added(const WorkerRuntime& worker) {
  return fail("worker {} does not answer; no bearer was added", worker.config.name);
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

}  // namespace

Expected<void> UserPlane::install(std::span<const Installation> all, bool modified, Workers& told) {
  for (auto& worker : workers_) {
    if (std::none_of(all.begin(), all.end(), [&](const Installation& i) { return i.worker == worker.get(); })) continue;
    datapath::GnbContext& gnb = *worker->gnb;
    std::vector<std::unique_ptr<datapath::ArqBearer>> arq(all.size());
    for (std::size_t i = 0; i < all.size() && !modified; ++i) {
      if (all[i].worker == worker.get() && all[i].config.acknowledged)
        arq[i] = gnb.arq->make(all[i].config, all[i].numbers.epoch);
    }
    const bool done = worker->execute([&] {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Installation& one = all[i];
        if (one.worker != worker.get()) continue;
        ran::BearerDownlink& downlink = *gnb.bearers.downlink_line(one.config.id.value);
        ran::BearerUplink& uplink = *gnb.bearers.uplink_line(one.config.id.value);
        const bool on_card = !one.config.card.empty();
        ran::BearerDownlink new_downlink = on_card ? ran::make_on_card(one.config) : ran::make_downlink(one.config);
        ran::BearerUplink new_uplink = ran::make_uplink(one.config, one.peer);
        if (modified) {  // the numbers go on
          ran::carry_over(downlink, new_downlink);
          ran::carry_over(uplink, new_uplink);
          gnb.monitor.forget(one.config.id);  // nothing leads back to a time stamp of the old line
        } else {
          gnb.bearers.losses(one.config.id.value) = {};
          new_downlink.pdcp_tx_next = one.numbers.end;
          new_uplink.pdcp_rx_next = one.numbers.rx_next;
          if (one.config.rlc_mode == RlcMode::kAm) ran::set_epoch(new_downlink, one.numbers.epoch);
          // Closed until the journal's grant comes.
          *gnb.bearers.lease(one.config.id.value) =
              journal_ ? ran::CountLease{one.numbers.end, one.numbers.end} : ran::CountLease{};
          if (one.config.n3_reorder) gnb.reorder.open(one.config.id, *one.config.n3_reorder, rte_get_tsc_hz());
        }
        if (arq[i]) gnb.arq_bearers.exchange(one.config.id.value, std::move(arq[i]));
        if (!modified && !on_card) datapath::set_count_limit(gnb, new_downlink);
        downlink = new_downlink;
        uplink = new_uplink;
        if (gnb.fixed_bearer.id == 0 && !on_card) gnb.fixed_bearer = new_downlink;
      }
    });
    if (!done) return modified ? not_changed(*worker) : not_added(*worker);
    told.insert(worker.get());
    if (modified) continue;  // the keys stay as they are
    for (WorkerRuntime* holder : key_holders(*worker)) {
      const Installation* refused = nullptr;
      const bool listened = holder->execute([&] {
        for (const Installation& one : all) {
          if (one.worker == worker.get() && !datapath::enter(*holder->keys(), one.config)) refused = &one;
        }
      });
      if (!listened) return not_added(*holder);
      told.insert(holder);
      if (refused != nullptr) return no_room_for_keys(*holder, refused->config);
    }
  }
  return {};
}

// Bearers that were to be added, and are not: what `told` workers were told goes again. Returns those of them that do
// not answer now, and may keep it.
UserPlane::Workers UserPlane::uninstall(std::span<const Installation> all, const Workers& told) {
  std::map<WorkerRuntime*, std::vector<ran::BearerConfig>> by_worker;
  for (const Installation& one : all) {
    by_worker[one.worker].push_back(one.config);
    (void)take_off_card(*one.worker, one.config.id);
    leave_peer(*one.worker, one.config.upf);
    store_->remove(one.config.id);
    leases_.forget(one.config.id);
    if (journal_) journal_->remove(one.config.id);
    bearer_gtpu_.erase(one.config.id.value);
  }
  Workers silent_now;
  for (const auto& [worker, configs] : by_worker) {
    for (WorkerRuntime* holder : key_holders(*worker)) {
      if (told.contains(holder) && !take_out(*worker, *holder, configs, false)) silent_now.insert(holder);
    }
  }
  return silent_now;
}

// From one of their key holders: wipes bearers' keys, and where it is their owner their lines; with `silence` their
// TEIDs can still be told from those that never were. False: it did not listen.
bool UserPlane::take_out(WorkerRuntime& owner, WorkerRuntime& holder, std::span<const ran::BearerConfig> configs,
                         bool silence) {
  std::vector<std::unique_ptr<datapath::ArqBearer>> arq;  // destroyed here, not on the worker
  arq.reserve(configs.size());
  return holder.execute([&] {
    for (const ran::BearerConfig& config : configs) {
      datapath::leave(*holder.keys(), config);
      if (&holder != &owner) continue;
      datapath::GnbContext& gnb = *owner.gnb;
      const std::uint32_t id = config.id.value;
      *gnb.bearers.downlink_line(id) = silence ? ran::make_released(id) : ran::BearerDownlink{};
      *gnb.bearers.uplink_line(id) = {};
      gnb.monitor.forget(config.id);
      if (config.n3_reorder) gnb.reorder.close(config.id);
      if (!gnb.arq) continue;
      arq.push_back(gnb.arq_bearers.exchange(id, nullptr));
      if (arq.back()) gnb.arq->detach(*arq.back());
    }
  });
}

}  // namespace splitplane::app
