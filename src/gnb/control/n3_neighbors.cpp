// The control thread's share of N3: answers ARP and neighbour discovery, and finds the MAC addresses of the UPFs (or of
// the gateway towards them). GTP-U messages go on to n3_gtpu.cpp.
#include <algorithm>

#include "base/log.h"
#include "gnb/control/instance.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

// How often next hops are looked at, and how often for new ones.
constexpr std::chrono::milliseconds kLook{50}, kWatch{200};

}  // namespace

UserPlane::N3Runtime* UserPlane::n3_of(const WorkerRuntime& worker) {
  for (auto& n3 : n3_) {
    if (n3.config.port == worker.config.n3) return &n3;
  }
  return nullptr;
}

IpAddress UserPlane::next_hop(const N3Runtime& n3, const IpAddress& upf) {
  return (upf.is_v6() ? n3.config.gateway_ipv6 : n3.config.gateway_ipv4).value_or(upf);
}

std::optional<MacAddress> UserPlane::mac_of(const N3Runtime& n3, const IpAddress& upf) const {
  return n3.config.peer_mac ? n3.config.peer_mac : n3.neighbors.mac_of(next_hop(n3, upf));
}

// Gives the workers that send by way of `hop` its address, or takes it from them. True if all of them listened.
bool UserPlane::tell_workers(N3Runtime& n3, const IpAddress& hop, std::optional<MacAddress> mac, bool& wanted) {
  bool told = true;
  for (WorkerRuntime* worker : n3.workers) {
    for (std::size_t i = 0; i < worker->peers.size(); ++i) {
      if (worker->peers[i].bearers == 0 || next_hop(n3, worker->peers[i].upf) != hop) continue;
      wanted = true;
      const datapath::N3Peer peer = datapath::make_peer(worker->gnb->n3, worker->peers[i].upf, mac);
      told = worker->execute([&] { worker->gnb->peers[i] = peer; }) && told;
    }
  }
  tell_cards(n3, hop, mac);
  return told;
}

void UserPlane::take_event(N3Runtime& n3, const datapath::NeighborTable::Event& event, Time now) {
  using What = datapath::NeighborTable::What;
  const std::string hop = event.ip.to_string();
  const char* const how = event.ip.is_v6() ? "neighbour discovery" : "ARP";
  const auto tell = [&](std::optional<MacAddress> mac) {
    bool wanted = false;
    return tell_workers(n3, event.ip, mac, wanted);
  };
  switch (event.what) {
    case What::kFound:
      if (!tell(event.mac)) return n3.neighbors.forget(event.ip, now);  // it is asked for again
      log::info("N3 {}: {} is at {}", n3.config.port, hop, event.mac.to_string());
      break;
    case What::kMoved:
      if (!tell(event.mac)) return n3.neighbors.forget(event.ip, now);
      n3.gtpu.count(NeighborCounter::neighbor_moves);
      log::warn("N3 {}: {} moved from {} to {}", n3.config.port, hop, event.other.to_string(), event.mac.to_string());
      break;
    case What::kGone:
      (void)tell(std::nullopt);
      n3.gtpu.count(NeighborCounter::neighbor_gone);
      log::warn("N3 {}: {} at {} does not answer {} any more: the path is down", n3.config.port, hop,
                event.mac.to_string(), how);
      return;
    case What::kUnanswered:
      log::warn("N3 {}: nobody answers {} for {}: the path is down, and no Echo Request can be sent", n3.config.port,
                how, hop);
      return;
    case What::kClaimRefused:
      n3.gtpu.count(NeighborCounter::neighbor_claims_refused);
      if (n3.gtpu.log_lines.allow(event.ip, now)) {
        log::warn("N3 {}: a frame claims that {} is at {}; it is not believed, since {} still answers", n3.config.port,
                  hop, event.other.to_string(), event.mac.to_string());
      }
      return;
  }
  for (const auto& [upf, path] : n3.gtpu.paths.paths()) {
    if (path.unresolved && next_hop(n3, upf) == event.ip) n3.gtpu.paths.ask_now(upf, now);
  }
}

bool UserPlane::inject(N3Runtime& n3, std::span<const std::uint8_t> frame) {
  WorkerRuntime* worker = n3.workers.empty() ? nullptr : n3.workers.front();
  if (worker == nullptr) return false;
  rte_mbuf* m = rte_pktmbuf_alloc(worker->gnb->pool);
  char* room = m == nullptr ? nullptr : rte_pktmbuf_append(m, static_cast<std::uint16_t>(frame.size()));
  if (room != nullptr) std::copy(frame.begin(), frame.end(), room);
  if (room != nullptr && rte_ring_sp_enqueue(worker->gnb->inject, m) == 0) {
    worker->power.wakeup().wake();
    return true;
  }
  rte_pktmbuf_free(m);
  worker->gnb->stats.inject_refused.add(1);
  return false;
}

void UserPlane::drain_punts(WorkerRuntime& worker, rte_ring* punts) {
  N3Runtime* n3 = n3_of(worker);
  const auto now = std::chrono::steady_clock::now();
  void* packet = nullptr;
  for (unsigned budget = kPuntsPerTurn; budget != 0 && rte_ring_sc_dequeue(punts, &packet) == 0; --budget) {
    auto* m = static_cast<rte_mbuf*>(packet);
    const std::span<const std::uint8_t> frame(datapath::octets(m), m->data_len);
    const auto result = datapath::handle_neighbor_frame(frame, n3->own);
    if (result.refused_mac) n3->gtpu.count(NeighborCounter::neighbor_macs_refused);
    if (result.claim && !n3->config.peer_mac) {
      if (const auto event = n3->neighbors.take(*result.claim, now)) take_event(*n3, *event, now);
    }
    if (result.answer) inject(*n3, *result.answer);
    if (!result.claim && !result.answer && !result.refused_mac) handle_gtpu(*n3, frame);
    rte_pktmbuf_free(m);
  }
}

// The next hops that somebody sends to; a gateway stands for many UPFs.
void UserPlane::watch_neighbors(N3Runtime& n3, Time now) {
  std::set<IpAddress, datapath::IpLess> hops;
  for (const WorkerRuntime* worker : n3.workers) {
    for (const UpfPeer& peer : worker->peers) {
      if (peer.bearers != 0) hops.insert(next_hop(n3, peer.upf));
    }
  }
  n3.neighbors.watch({hops.begin(), hops.end()}, now);
}

void UserPlane::serve_neighbors(N3Runtime& n3, Time now) {
  const auto turn = n3.neighbors.turn(now);
  for (const auto& event : turn.events) take_event(n3, event, now);
  for (const auto& [ip, only] : turn.questions) {
    const auto request = datapath::make_neighbor_request(ip, n3.own, only);
    if (request && inject(n3, *request)) n3.gtpu.count(NeighborCounter::neighbor_questions);
  }
  n3.gtpu.neighbor_counters[static_cast<std::size_t>(NeighborCounter::neighbor_checks)] = n3.neighbors.checks();
}

void UserPlane::serve_n3(Time now) {
  watch_workers(now);
  const std::lock_guard guard(mutex_);
  quiet_stopped_taps();
  look_at_vfs(now);
  for (auto& worker : workers_) {
    datapath::Punts* const punts = worker->gnb        ? &worker->gnb->punt
                                   : worker->dispatch ? &worker->dispatch->punt
                                                      : nullptr;
    if (punts == nullptr) continue;
    for (rte_ring* ring : punts->rings) drain_punts(*worker, ring);
  }
  serve_leases(now);
  serve_paths(now);
  if (now < next_question_) return;
  next_question_ = now + kLook;
  serve_uplinks(now);
  const bool watch = now >= next_hops_;
  if (watch) {
    next_hops_ = now + kWatch;
    warn_of_failures(now);
  }
  for (auto& n3 : n3_) {
    if (n3.config.peer_mac) continue;
    if (watch) watch_neighbors(n3, now);
    serve_neighbors(n3, now);
  }
}

void UserPlane::warn_of_failures(Time now) {
  for (auto& worker : workers_) {
    if (!worker->gnb) continue;
    const datapath::WorkerStats& stats = worker->stats();
    const auto exhausted = stats.drops[static_cast<std::size_t>(datapath::DropReason::count_exhausted)].get();
    const FailureWatch::Counts counts{stats.rlc_max_retx.get(), stats.rlc_peer_lost.get(), exhausted};
    for (const std::string& message : failures_.look(worker->config.name, counts, now)) log::warn("{}", message);
  }
}

}  // namespace splitplane::app
