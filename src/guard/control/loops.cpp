#include "guard/control/loops.h"

namespace splitplane::app {
namespace {

constexpr unsigned kFirstLcore = 1;

}  // namespace

void GuardLoops::add(const GuardWorkerConfig& config, std::unique_ptr<guard::GuardWorker> worker) {
  GuardLoop& loop = loops_.emplace_back();
  loop.name = fmt::format("w{}", loops_.size() - 1);
  loop.core = config.core;
  loop.schedule = config.schedule;
  loop.policy = config.policy;
  loop.slow_clock = config.slow_clock;
  loop.worker = std::move(worker);
}

Expected<void> GuardLoops::launch() {
  for (std::size_t i = 0; i < size(); ++i) {
    GuardLoop& loop = loops_[i];
    power_of(i).start();
    loop.worker->power().slow_down(loop.slow_clock);
    const auto lcore = kFirstLcore + static_cast<unsigned>(i);
    auto started = loop.worker->start({.start =
                                           [&loop, lcore](std::function<void()> run) {
                                             return loop.thread.start(lcore, loop.name, loop.schedule, std::move(run));
                                           },
                                       .join = [&loop] { loop.thread.join(); }});
    if (!started) return fail("worker {}: {}", loop.name, started.error().message);
  }
  for (std::size_t i = 0; i < size(); ++i) power_of(i).say_what_cannot_wake();
  return {};
}

void GuardLoops::stop() {
  for (GuardLoop& loop : loops_) loop.worker->stop();
}

Expected<void> GuardLoops::execute(std::size_t i, const std::function<void(guard::WorkerGuard&)>& command) {
  if (loops_[i].worker->execute(command)) return {};
  return fail("worker {} does not answer", loops_[i].name);
}

Expected<void> GuardLoops::on_all(const std::function<void(GuardLoop&, guard::WorkerGuard&)>& command) {
  for (std::size_t i = 0; i < size(); ++i) {
    auto done = execute(i, [&, i](guard::WorkerGuard& guard) { command(loops_[i], guard); });
    if (!done) return done;
  }
  return {};
}

LoopPower GuardLoops::power_of(std::size_t i) {
  GuardLoop& loop = loops_[i];
  return {.name = loop.name,
          .core = loop.core,
          .sysfs_root = sysfs_root_,
          .settings = loop.policy,
          .governor = loop.governor,
          .power = loop.worker->power(),
          .stats = loop.worker->worker_stats(),
          .execute = [&loop](const std::function<void()>& command) {
            return loop.worker->execute([&command](guard::WorkerGuard&) { command(); });
          }};
}

}  // namespace splitplane::app
