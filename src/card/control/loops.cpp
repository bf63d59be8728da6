#include "card/control/loops.h"

#include <chrono>

#include "runtime/config/lookup.h"

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
  for (unsigned core = 0; core < size(); ++core) {
    CardLoop& loop = loops_[core];
    power_of(core).start();
    const auto run = [this, &loop] { loop.run(stop_); };
    if (!loop.thread.start(kFirstLcore + core, loop.name, config_.schedule, run))
      return fail("card {}: its thread could not be started on core {}", config_.name, loop.core);
  }
  for (unsigned core = 0; core < size(); ++core) power_of(core).say_what_cannot_wake();
  return {};
}

void CardLoops::stop() {
  stop_.store(true, std::memory_order_relaxed);
  bool ran = false;
  for (unsigned core = 0; core < size(); ++core) {
    if (!loops_[core].thread.running) continue;
    loops_[core].power.wakeup().wake();
    loops_[core].thread.join();
    ran = true;
  }
  // A loop that ended first may have been given something since then.
  for (bool moved = ran && loops_.size() > 1; moved;) {
    moved = false;
    for (CardLoop& loop : loops_) moved = loop.together->take_rest() || moved;
  }
}

bool CardLoops::execute(unsigned core, const std::function<void()>& command) {
  if (loops_[core].thread.running) return loops_[core].mailbox.execute(command, kPatience);
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
