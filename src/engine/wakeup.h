// How other threads wake a sleeping worker: for control commands, frames of the control thread, and packets on rings.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace splitplane::datapath {

// The sleeper announces that it is about to sleep, looks once more at all its sources of work, and only then sleeps. A
// producer first makes its work visible and then looks at the announcement. So at least one of the two sees the other.
class Wakeup {
 public:
  Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Wakeup() {
    if (fd_ >= 0) ::close(fd_);
  }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // A producer calls it after its work is visible. It costs a fence and a load unless the worker sleeps.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!asleep_.load(std::memory_order_relaxed)) [[likely]]
      return;
    if (!asleep_.exchange(false, std::memory_order_relaxed)) return;  // another thread has woken it
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);  // if it is full, the worker is awake
  }

  // The sleeper calls these.
  void announce() {
    asleep_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void awake() { asleep_.store(false, std::memory_order_relaxed); }
  // The descriptor becomes readable, edge-triggered, when the worker is woken; -1 if it could not be made.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  alignas(64) std::atomic<bool> asleep_{false};
  int fd_;
};

}  // namespace splitplane::datapath
