// For tests of card/ only: a card of several cores with rings as ports. The test steps it, or threads run it.
#pragma once

#include <atomic>
#include <deque>
#include <thread>

#include "card/cores.h"
#include "card/test_card.h"

namespace splitplane::nic::test {

class TestCores {
 public:
  TestCores(std::string_view program, unsigned cores, CardSettings settings, unsigned entries = 1024)
      : ports(kFirstVf + settings.vfs) {
    settings.cores = cores;
    std::vector<CardEndpoint> endpoints;
    for (unsigned port = 0; port < ports; ++port) {
      in_.emplace_back(1024);
      out_.emplace_back(1024);
      endpoints.push_back({.in = in_.back().get(), .out = out_.back().get()});
    }
    std::vector<std::vector<CoreLink>> links(cores, std::vector<CoreLink>(cores));
    for (unsigned from = 0; from < cores; ++from) {
      for (unsigned to = 0; to < cores; ++to) {
        if (from == to) continue;
        frames_.emplace_back(entries);
        outputs_.push_back(make_output_ring(datapath::test::unique_name("outputs"), entries));
        if (!outputs_.back()) throw std::runtime_error("no memory for a ring");
        links[from][to] = {.frames = frames_.back().get(), .outputs = outputs_.back().get()};
      }
    }
    for (unsigned core = 0; core < cores; ++core) {
      settings.core = core;
      settings.execution = execution_of_tests();
      auto made = Card::make(parsed(generated(program)), settings);
      if (!made) throw std::runtime_error(made.error().message);
      cards.push_back(std::move(*made));
      CardCoreSettings own{.self = core, .cores = cores, .endpoints = endpoints, .to = links[core], .from = {}};
      for (unsigned from = 0; from < cores; ++from) own.from.push_back(links[from][core]);
      functions_.emplace_back(*cards.back(), std::move(own), stats.emplace_back());
    }
    std::vector<Card*> all;
    for (const auto& card : cards) all.push_back(card.get());
    control.emplace(std::move(all), [this](unsigned core, const std::function<void()>& command) {
      if (answers && !answers(core)) return false;
      command();
      return true;
    });
  }

  // Returns false if the port's ring is full.
  [[nodiscard]] bool give(unsigned port, rte_mbuf* m) { return rte_ring_sp_enqueue(in_[port].get(), m) == 0; }
  std::vector<Bytes> take(unsigned port) { return out_[port].drain(); }

  // One round of one core's loop.
  bool round(unsigned core) {
    datapath::Burst burst;
    bool any = false;
    for (auto& queue : functions_[core].queues()) {
      if (queue.receive(burst) == 0) continue;
      any = true;
      functions_[core].process(queue, burst);
    }
    functions_[core].flush();
    return any;
  }
  // Runs rounds until no frame moves.
  void wait_for_disk() {
    for (bool any = true; any;) {
      any = false;
      for (unsigned core = 0; core < cards.size(); ++core) any = round(core) || any;
    }
  }
  // Runs a thread for each core while `feed` runs.
  void run(const std::function<void()>& feed) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned core = 0; core < cards.size(); ++core) {
      threads.emplace_back([this, core, &stop] {
        while (!stop.load(std::memory_order_acquire)) {
          if (!round(core)) std::this_thread::yield();
        }
      });
    }
    feed();
    stop.store(true, std::memory_order_release);
    for (auto& thread : threads) thread.join();
  }
  bool take_rest() {
    bool any = false;
    for (CardCore& core : functions_) any = core.take_rest() || any;
    return any;
  }

  [[nodiscard]] CardCounters counters() const {
    CardCounters all;
    for (const auto& card : cards) add(all, card->counters());
    return all;
  }
  [[nodiscard]] const CardCoreCounters& counters(unsigned core) const { return functions_[core].counters(); }
  // True if received + clones = sent + handed off + dropped + sunk.
  [[nodiscard]] bool adds_up(unsigned core) const {
    const CardCounters c = cards[core]->counters();
    const CardCoreCounters& n = functions_[core].counters();
    std::uint64_t in = n.frames_taken + n.outputs_taken + c.clones;
    for (const CardPortCounters& port : c.ports) in += port.in;
    return in == n.sent + n.frames_handed + n.outputs_handed + c.dropped + c.tx_full + c.clones_sunk + c.held;
  }

  const unsigned ports;
  std::vector<std::unique_ptr<Card>> cards;
  std::deque<datapath::WorkerStats> stats;
  std::optional<CardCores> control;
  std::function<bool(unsigned core)> answers;  // the cores that answer the control plane; all of them if empty

 private:
  std::deque<datapath::test::Ring> in_, out_, frames_;
  std::vector<OutputRing> outputs_;
  std::deque<CardCore> functions_;
};

}  // namespace splitplane::nic::test
