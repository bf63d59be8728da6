// For tests only: a job on an lcore of DPDK whose end ThreadSanitizer can see. rte_eal_wait_lcore() orders the two
// threads only inside DPDK's uninstrumented library.
#pragma once

#include <rte_launch.h>

#include <atomic>
#include <functional>

namespace splitplane::datapath::test {

class OnLcore {
 public:
  OnLcore(unsigned lcore, std::function<void()> job) : lcore_(lcore), job_(std::move(job)) {
    const auto entry = [](void* self) {
      auto* const on = static_cast<OnLcore*>(self);
      on->job_();
      on->done_.store(true, std::memory_order_release);
      return 0;
    };
    launched_ = rte_eal_remote_launch(entry, this, lcore) == 0;
  }
  OnLcore(const OnLcore&) = delete;
  OnLcore& operator=(const OnLcore&) = delete;
  ~OnLcore() { wait(); }

  [[nodiscard]] bool launched() const { return launched_; }
  void wait() {
    if (!launched_) return;
    rte_eal_wait_lcore(lcore_);
    (void)done_.load(std::memory_order_acquire);
  }

 private:
  unsigned lcore_;
  std::function<void()> job_;
  std::atomic<bool> done_{false};
  bool launched_ = false;
};

}  // namespace splitplane::datapath::test
