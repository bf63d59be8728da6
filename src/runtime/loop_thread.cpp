#include "runtime/loop_thread.h"

#include <rte_launch.h>
#include <rte_lcore.h>

#include <utility>

#include "engine/cpu_time.h"
#include "runtime/start_up.h"

namespace splitplane::app {

int LoopThread::entry(void* self) {
  auto& thread = *static_cast<LoopThread*>(self);
  apply_schedule(thread.name_, thread.schedule_);
  thread.clock_.store(datapath::thread_cpu_clock(), std::memory_order_release);
  thread.loop_();
  thread.cpu_at_end_.store(datapath::thread_cpu_time(), std::memory_order_release);
  return 0;
}

bool LoopThread::start(unsigned lcore, std::string name, const ScheduleConfig& schedule, std::function<void()> loop) {
  lcore_ = lcore;
  name_ = std::move(name);
  schedule_ = schedule;
  loop_ = std::move(loop);
  if (rte_eal_remote_launch(&entry, this, lcore) != 0) return false;
  running = true;
  return true;
}

void LoopThread::join() {
  rte_eal_wait_lcore(lcore_);
  (void)cpu_at_end_.load(std::memory_order_acquire);
  running = false;
}

power::Ticks LoopThread::cpu_cycles() const {
  return running ? datapath::cpu_time(clock_.load(std::memory_order_acquire))
                 : cpu_at_end_.load(std::memory_order_acquire);
}

}  // namespace splitplane::app
