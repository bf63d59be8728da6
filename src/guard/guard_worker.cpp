#include "guard/guard_worker.h"

#include <rte_launch.h>

#include <string>
#include <utility>

#include "engine/worker.h"

namespace splitplane::guard {

GuardWorker::Thread GuardWorker::on_lcore(unsigned lcore) {
  // The loop lives as long as the lcore runs it.
  auto job = std::make_shared<std::function<void()>>();
  return {.start =
              [lcore, job](std::function<void()> loop) {
                *job = std::move(loop);
                const auto entry = [](void* run) {
                  (*static_cast<std::function<void()>*>(run))();
                  return 0;
                };
                return rte_eal_remote_launch(entry, job.get(), lcore) == 0;
              },
          .join = [lcore] { rte_eal_wait_lcore(lcore); }};
}

GuardWorker::GuardWorker(const GuardSettings& settings, const GuardMemory& memory, const Function::Ends& ends)
    : guard_(settings, memory), function_(guard_, GuardClock::of_this_machine(), ends) {}

Expected<void> GuardWorker::start(Thread thread) {
  thread_ = std::move(thread);
  stop_ = false;
  running_ = true;
  if (thread_.start([this] { datapath::run_worker(function_, power_, mailbox_, worker_stats_, stop_); })) return {};
  running_ = false;
  return fail("the thread of a guard's worker could not be started");
}

void GuardWorker::stop() {
  if (!running_) return;
  stop_ = true;
  power_.wakeup().wake();
  thread_.join();
  running_ = false;
}

bool GuardWorker::execute(const std::function<void(WorkerGuard&)>& command) {
  const auto run = [this, &command] {
    command(guard_);
    function_.show_servers();
  };
  if (running_) return mailbox_.execute(run);
  run();
  return true;
}

Expected<std::uint16_t> GuardWorker::put_server(const ServerRule& rule) {
  Expected<std::uint16_t> index = std::uint16_t{0};
  if (!execute([&](WorkerGuard& guard) { index = guard.put_server(rule); }))
    return fail("a worker of the guard does not answer");
  return index;
}

Expected<void> GuardWorker::remove_server(std::string_view name) {
  bool removed = false;
  if (!execute([&](WorkerGuard& guard) { removed = guard.remove_server(name); }))
    return fail("a worker of the guard does not answer");
  if (!removed) return fail("the guard protects no server '{}'", name);
  return {};
}

}  // namespace splitplane::guard
