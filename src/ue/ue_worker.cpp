#include "ue/ue_worker.h"

#include <rte_launch.h>
#include <sys/prctl.h>

#include <utility>

#include "datapath/worker.h"

namespace splitplane::ue {

Expected<void> UeWorker::start(unsigned lcore, const Policy& policy) {
  policy_ = policy;
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
  rte_eal_wait_lcore(lcore_);
  running_ = false;
}

bool UeWorker::execute(std::function<void(UeBearers&)> command) {
  if (running_) return mailbox_.execute([this, command = std::move(command)] { command(bearers_); });
  command(bearers_);
  return true;
}

void UeWorker::loop() {
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns: the default of 50 us would double a short sleep
  std::visit([this](const auto& policy) { datapath::run_worker(function_, policy, mailbox_, worker_stats_, stop_); },
             policy_);
}

}  // namespace splitplane::ue
