// The loops of a running card, one a core: the ports that they serve, the rings between them, their threads.
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring_elem.h>

#include <algorithm>
#include <chrono>

#include "card/control/instance.h"
#include "config/check.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kFirstLcore = 1;
constexpr unsigned kUnconnectedEntries = 64;
constexpr unsigned kLinkEntries = 1024;  // of each ring between two cores
// Longer than a host waits for an answer: it shall take a core that is silent for silence, and compare what the card
// has when it is back, not for a refusal.
constexpr std::chrono::milliseconds kPatience{1500};
constexpr unsigned kRingFlags = RING_F_SP_ENQ | RING_F_SC_DEQ;

}  // namespace

void FreeOutputRing::operator()(rte_ring* ring) const {
  nic::CoreOutput output;
  while (rte_ring_sc_dequeue_elem(ring, &output, nic::kCoreOutputBytes) == 0) rte_pktmbuf_free(output.mbuf);
  rte_ring_free(ring);
}

// The card's ports in the program's order; a side without a port of ours is a pair of rings that nobody else has.
Expected<void> CardPlane::make_endpoints() {
  const auto ring = [&](const char* end) -> rte_ring* {
    Ring made(rte_ring_create(fmt::format("{}.{}{}", settings_.name, end, rings_.size()).c_str(), kUnconnectedEntries,
                              SOCKET_ID_ANY, kRingFlags));
    rings_.push_back(std::move(made));
    return rings_.back().get();
  };
  const auto connect = [&](const std::string& name, std::uint16_t queue, const std::string& shown) {
    const auto port = ports_.find(name);
    endpoints_.push_back({.port = port == ports_.end() ? nic::kNoDevice : port->second->id(), .queue = queue});
    endpoint_ports_.push_back(name);
    port_names_.push_back(shown);
  };
  const auto leave = [&] {
    endpoints_.push_back({.in = ring("in"), .out = ring("out")});
    endpoint_ports_.emplace_back();
    port_names_.emplace_back();
  };
  for (const auto& name : {settings_.n3, settings_.air}) name.empty() ? leave() : connect(name, 0, name);
  for (const auto& name : settings_.vfs) {
    const std::uint16_t queues = find_port(config_, name)->rx_queues;
    for (std::uint16_t queue = 0; queue < queues; ++queue)
      connect(name, queue, queues == 1 ? name : fmt::format("{}/{}", name, queue));
  }
  if (settings_.vfs.empty()) leave();
  for (const Ring& made : rings_) {
    if (!made) return fail("card {}: no memory for its rings; allowed: a larger memory.megabytes", settings_.name);
  }
  return {};
}

// What the loops run, and between several of them a pair of rings each way.
Expected<void> CardPlane::make_functions() {
  const auto cores = static_cast<unsigned>(loops_.size());
  std::vector<nic::Card*> cards;
  for (CardLoop& loop : loops_) cards.push_back(loop.card.get());
  cards_.emplace(std::move(cards),
                 [this](unsigned core, const std::function<void()>& command) { return execute(core, command); });
  if (cores == 1) {
    loops_[0].alone.emplace(*loops_[0].card, endpoints_, loops_[0].stats);
    return {};
  }
  std::vector<std::vector<nic::CoreLink>> links(cores, std::vector<nic::CoreLink>(cores));
  for (unsigned from = 0; from < cores; ++from) {
    for (unsigned to = 0; to < cores; ++to) {
      if (from == to) continue;
      const std::string name = fmt::format("{}.{}.{}", settings_.name, from, to);
      rings_.emplace_back(rte_ring_create((name + "f").c_str(), kLinkEntries, SOCKET_ID_ANY, kRingFlags));
      output_rings_.emplace_back(
          rte_ring_create_elem((name + "o").c_str(), nic::kCoreOutputBytes, kLinkEntries, SOCKET_ID_ANY, kRingFlags));
      if (!rings_.back() || !output_rings_.back()) {
        return fail("card {}: no memory for the rings between its cores; allowed: a larger memory.megabytes",
                    settings_.name);
      }
      links[from][to] = {rings_.back().get(), output_rings_.back().get(), &loops_[to].power.wakeup()};
    }
  }
  for (unsigned core = 0; core < cores; ++core) {
    nic::CardCoreSettings own{.self = core, .cores = cores, .endpoints = endpoints_, .to = links[core], .from = {}};
    for (unsigned from = 0; from < cores; ++from) own.from.push_back(links[from][core]);
    loops_[core].together.emplace(*loops_[core].card, std::move(own), loops_[core].stats);
  }
  return {};
}

Expected<void> CardPlane::launch() {
  struct Start {
    CardPlane* plane;
    CardLoop* loop;
  };
  const auto entry = [](void* argument) {
    const auto [plane, loop] = *std::unique_ptr<Start>(static_cast<Start*>(argument));
    apply_schedule(loop->name, plane->settings_.schedule);
    loop->run(plane->stop_);
    return 0;
  };
  for (unsigned core = 0; core < loops_.size(); ++core) {
    CardLoop& loop = loops_[core];
    power_of(core).start();
    auto start = std::make_unique<Start>(Start{this, &loop});
    if (rte_eal_remote_launch(entry, start.get(), kFirstLcore + core) != 0)
      return fail("card {}: its thread could not be started on core {}", settings_.name, loop.core);
    (void)start.release();  // the thread's
    loop.running = true;
  }
  for (unsigned core = 0; core < loops_.size(); ++core) power_of(core).say_what_cannot_wake();
  return {};
}

void CardPlane::stop() {
  stop_vf_thread();
  const std::lock_guard guard(mutex_);
  stop_.store(true, std::memory_order_relaxed);
  bool ran = false;
  for (unsigned core = 0; core < loops_.size(); ++core) {
    if (!loops_[core].running) continue;
    loops_[core].power.wakeup().wake();
    rte_eal_wait_lcore(kFirstLcore + core);
    loops_[core].running = false;
    ran = true;
  }
  // A loop that ended first may have been given something since then.
  for (bool moved = ran && loops_.size() > 1; moved;) {
    moved = false;
    for (CardLoop& loop : loops_) moved = loop.together->take_rest() || moved;
  }
}

bool CardPlane::execute(unsigned core, const std::function<void()>& command) {
  if (loops_[core].running) return loops_[core].mailbox.execute(command, kPatience);
  command();
  return true;
}

LoopPower CardPlane::power_of(unsigned core) {
  CardLoop& loop = loops_[core];
  return {.name = loop.name,
          .core = loop.core,
          .sysfs_root = config_.sysfs_root,
          .settings = loop.policy,
          .governor = loop.governor,
          .power = loop.power,
          .stats = loop.stats,
          .execute = [this, core](const std::function<void()>& command) { return execute(core, command); }};
}

}  // namespace splitplane::app
