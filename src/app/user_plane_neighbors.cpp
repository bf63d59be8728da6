// The control thread's share of N3: answers ARP and neighbour discovery, and finds the MAC addresses of the UPFs (or of
// the gateway towards them). GTP-U messages go on to user_plane_gtpu.cpp.
#include <algorithm>

#include "app/user_plane.h"
#include "base/log.h"
#include "wire/bytes.h"

namespace splitplane::app {
namespace {

// How long an answer holds without another (RFC 4861's REACHABLE_TIME), and how long it is asked for after that.
constexpr std::chrono::seconds kReachable{30}, kGivenUp{10};

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
  if (n3.config.peer_mac) return n3.config.peer_mac;
  const auto known = n3.known.find(next_hop(n3, upf));
  return known == n3.known.end() ? std::nullopt : std::optional(known->second.mac);
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

void UserPlane::take_news(N3Runtime& n3, const datapath::NeighborNews& news) {
  if (n3.config.peer_mac) return;
  const auto now = std::chrono::steady_clock::now();
  const auto known = n3.known.find(news.ip);
  if (known != n3.known.end() && known->second.mac == news.mac) {
    known->second.heard = now;
    return;
  }
  bool wanted = false;
  const bool told = tell_workers(n3, news.ip, news.mac, wanted);
  if (!wanted || !told) return;  // a worker that did not listen is told with the next answer
  n3.known[news.ip] = {news.mac, now};
  log::info("N3 {}: {} is at {}", n3.config.port, news.ip.to_string(), news.mac.to_string());
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
  void* packet = nullptr;
  for (unsigned budget = kPuntsPerTurn; budget != 0 && rte_ring_sc_dequeue(punts, &packet) == 0; --budget) {
    auto* m = static_cast<rte_mbuf*>(packet);
    const std::span<const std::uint8_t> frame(datapath::octets(m), m->data_len);
    const auto result = datapath::handle_neighbor_frame(frame, n3->own);
    if (result.news) take_news(*n3, *result.news);
    if (result.answer) inject(*n3, *result.answer);
    if (!result.news && !result.answer) handle_gtpu(*n3, frame);
    rte_pktmbuf_free(m);
  }
}

// Asks for next hops that are not known, and again for those not heard of for a while; one that stays silent is
// forgotten, so that a UPF with a new card is found, and a dead one is a counted reason (peer_unresolved).
void UserPlane::ask_for_neighbors(N3Runtime& n3) {
  if (n3.config.peer_mac) return;
  const auto now = std::chrono::steady_clock::now();
  std::set<IpAddress, datapath::IpLess> targets;  // a gateway stands for many UPFs, and is asked for once
  for (const WorkerRuntime* worker : n3.workers) {
    for (const UpfPeer& peer : worker->peers) {
      const IpAddress hop = next_hop(n3, peer.upf);
      if (peer.bearers != 0) targets.insert(hop);
    }
  }
  for (const IpAddress& target : targets) {
    const auto known = n3.known.find(target);
    if (known != n3.known.end()) {
      if (now - known->second.heard < kReachable) continue;
      if (now - known->second.heard >= kReachable + kGivenUp) {
        bool wanted = false;
        if (!tell_workers(n3, target, std::nullopt, wanted)) continue;
        log::warn("N3 {}: {} at {} does not answer any more", n3.config.port, target.to_string(),
                  known->second.mac.to_string());
        n3.known.erase(known);
      }
    }
    if (const auto request = datapath::make_neighbor_request(target, n3.own)) inject(n3, *request);
  }
}

void UserPlane::serve_n3(std::chrono::steady_clock::time_point now) {
  watch_workers(now);
  const std::lock_guard guard(mutex_);
  quiet_stopped_taps();
  look_at_vfs(now);
  for (auto& worker : workers_) {
    if (worker->gnb) drain_punts(*worker, worker->gnb->punt);
    if (worker->dispatch) drain_punts(*worker, worker->dispatch->punt);
  }
  serve_paths(now);
  if (now < next_question_) return;
  next_question_ = now + std::chrono::seconds{1};
  for (auto& n3 : n3_) ask_for_neighbors(n3);
  warn_of_failures(now);
}

void UserPlane::warn_of_failures(std::chrono::steady_clock::time_point now) {
  for (auto& worker : workers_) {
    if (!worker->gnb) continue;
    const datapath::WorkerStats& stats = worker->stats();
    const auto exhausted = stats.drops[static_cast<std::size_t>(datapath::DropReason::count_exhausted)].get();
    const FailureWatch::Counts counts{stats.rlc_max_retx.get(), stats.rlc_peer_lost.get(), exhausted};
    for (const std::string& message : failures_.look(worker->config.name, counts, now)) log::warn("{}", message);
  }
}

}  // namespace splitplane::app
