// One core of a running card: its part of the card, its loop under the power policies, and what others need to reach
// it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "card/core.h"
#include "engine/mailbox.h"
#include "engine/worker_power.h"
#include "power/governor/governor.h"
#include "power/settings.h"
#include "runtime/loop_thread.h"

namespace splitplane::app {

struct CardLoop {
  CardLoop(std::string loop_name, unsigned on_core, const power::Settings& with)
      : name(std::move(loop_name)), core(on_core), policy(with) {}

  // Returns when `stop` is set. The only place that instantiates the power policies for a card.
  void run(const std::atomic<bool>& stop);
  // On its thread, between two rounds: the card's port `number` is `at` from now on.
  void set_endpoint(unsigned number, const nic::CardEndpoint& at);

  std::string name;  // the card's; of several "<card>.<number>"
  unsigned core;
  std::unique_ptr<nic::Card> card;
  datapath::WorkerStats stats;
  power::Settings policy;  // in force
  std::unique_ptr<governor::Governor> governor;
  datapath::WorkerPower power;
  datapath::Mailbox mailbox{&power.wakeup()};
  // One of them.
  std::optional<nic::CardFunction> alone;
  std::optional<nic::CardCore> together;  // with other cores
  LoopThread thread;
};

}  // namespace splitplane::app
