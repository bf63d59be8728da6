#include "ue/ue_worker.h"

#include <rte_launch.h>

#include <utility>

#include "engine/worker.h"

namespace splitplane::ue {

Expected<void> UeWorker::start(unsigned lcore, const power::Settings& policy) {
  power_.set(policy);
  lcore_ = lcore;
  const auto entry = [](void* worker) {
    static_cast<UeWorker*>(worker)->loop();
    return 0;
  };
  running_ = true;
  if (rte_eal_remote_launch(entry, this, lcore) == 0) return {};
  running_ = false;
  return fail("the worker thread could not be started");
}

void UeWorker::stop() {
  if (!running_) return;
  stop_ = true;
  power_.wakeup().wake();
  rte_eal_wait_lcore(lcore_);
  running_ = false;
}

bool UeWorker::execute(std::function<void(UeBearers&)> command) {
  if (running_) return mailbox_.execute([this, command = std::move(command)] { command(bearers_); });
  command(bearers_);
  return true;
}

void UeWorker::loop() {
  datapath::run_worker(function_, power_, mailbox_, worker_stats_, stop_);
}

}  // namespace splitplane::ue
