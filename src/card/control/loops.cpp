#include "card/control/loops.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include <chrono>

#include "runtime/config/lookup.h"
#include "runtime/start_up.h"

namespace splitplane::app {
namespace {

constexpr unsigned kFirstLcore = 1;
constexpr unsigned kLinkEntries = 1023;  // of each ring between two cores
// Longer than a host waits for an answer. The host then takes a silent core for silence and not for a refusal, and
// compares what the card has when it answers again.
constexpr std::chrono::milliseconds kPatience{1500};
constexpr unsigned kRingFlags = RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ;

}  // namespace

void CardLoops::add(std::unique_ptr<nic::Card> card) {
  const auto number = loops_.size();
  CardLoop& loop =
      loops_.emplace_back(config_.cores.size() == 1 ? config_.name : fmt::format("{}.{}", config_.name, number),
                          config_.cores[number], config_.policy);
  loop.card = std::move(card);
}

Expected<void> CardLoops::connect(const std::vector<nic::CardEndpoint>& endpoints) {
  const auto cores = size();
  std::vector<nic::Card*> cards;
  for (CardLoop& loop : loops_) cards.push_back(loop.card.get());
  cards_.emplace(std::move(cards),
                 [this](unsigned core, const std::function<void()>& command) { return execute(core, command); });
  if (cores == 1) {
    loops_[0].alone.emplace(*loops_[0].card, endpoints, loops_[0].stats);
    return {};
  }
  std::vector<std::vector<nic::CoreLink>> links(cores, std::vector<nic::CoreLink>(cores));
  for (unsigned from = 0; from < cores; ++from) {
    for (unsigned to = 0; to < cores; ++to) {
      if (from == to) continue;
      const std::string name = fmt::format("{}.{}.{}", config_.name, from, to);
      rings_.emplace_back(rte_ring_create((name + "f").c_str(), kLinkEntries, SOCKET_ID_ANY, kRingFlags));
      output_rings_.push_back(nic::make_output_ring(name + "o", kLinkEntries));
      if (!rings_.back() || !output_rings_.back()) {
        return fail("card {}: no memory for the rings between its cores; allowed: a larger memory.megabytes",
                    config_.name);
      }
      links[from][to] = {rings_.back().get(), output_rings_.back().get(), &loops_[to].power.wakeup()};
    }
  }
  for (unsigned core = 0; core < cores; ++core) {
    nic::CardCoreSettings own{.self = core, .cores = cores, .endpoints = endpoints, .to = links[core], .from = {}};
    for (unsigned from = 0; from < cores; ++from) own.from.push_back(links[from][core]);
    loops_[core].together.emplace(*loops_[core].card, std::move(own), loops_[core].stats);
  }
  return {};
}

Expected<void> CardLoops::launch() {
  struct Start {
    CardLoops* loops;
    CardLoop* loop;
  };
  const auto entry = [](void* argument) {
    const auto [loops, loop] = *std::unique_ptr<Start>(static_cast<Start*>(argument));
    apply_schedule(loop->name, loops->config_.schedule);
    loop->run(loops->stop_);
    return 0;
  };
  for (unsigned core = 0; core < size(); ++core) {
    CardLoop& loop = loops_[core];
    power_of(core).start();
    auto start = std::make_unique<Start>(Start{this, &loop});
    if (rte_eal_remote_launch(entry, start.get(), kFirstLcore + core) != 0)
      return fail("card {}: its thread could not be started on core {}", config_.name, loop.core);
    (void)start.release();  // the thread's
    loop.running = true;
  }
  for (unsigned core = 0; core < size(); ++core) power_of(core).say_what_cannot_wake();
  return {};
}

void CardLoops::stop() {
  stop_.store(true, std::memory_order_relaxed);
  bool ran = false;
  for (unsigned core = 0; core < size(); ++core) {
    if (!loops_[core].running) continue;
    loops_[core].power.wakeup().wake();
    rte_eal_wait_lcore(kFirstLcore + core);
    (void)loops_[core].cpu_at_end.load(std::memory_order_acquire);  // what its thread wrote is seen from here on
    loops_[core].running = false;
    ran = true;
  }
  // A loop that ended first may have been given something since then.
  for (bool moved = ran && loops_.size() > 1; moved;) {
    moved = false;
    for (CardLoop& loop : loops_) moved = loop.together->take_rest() || moved;
  }
}

bool CardLoops::execute(unsigned core, const std::function<void()>& command) {
  if (loops_[core].running) return loops_[core].mailbox.execute(command, kPatience);
  command();
  return true;
}

void CardLoops::on_all(std::mutex& mutex, const std::function<void(CardLoop&)>& change) {
  for (unsigned core = 0; core < size(); ++core) {
    for (bool done = false; !done;) {
      const std::lock_guard guard(mutex);
      done = execute(core, [&] { change(loops_[core]); });
    }
  }
}

LoopPower CardLoops::power_of(unsigned core) {
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
