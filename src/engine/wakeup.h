// How other threads wake a sleeping worker: for control commands, frames of the control thread, and packets on rings.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace splitplane::datapath {

// The announcement. For a sleeper whose producers are in another process it lies in memory that both see.
struct alignas(64) Sleeper {
  std::atomic<bool> asleep{false};

  // A producer calls it after its work is visible; `fd` is the sleeper's eventfd, or a copy of it. It costs a fence and
  // a load unless the sleeper sleeps.
  void wake(int fd) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!asleep.load(std::memory_order_relaxed)) [[likely]]
      return;
    if (!asleep.exchange(false, std::memory_order_relaxed)) return;  // another thread has woken it
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);  // if it is full, the sleeper is awake
  }
};

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

  // From now on the announcement stands at `shared`. Before the sleeper or any producer runs.
  void announce_at(Sleeper& shared) { sleeper_ = &shared; }
  // A producer calls it after its work is visible.
  void wake() { sleeper_->wake(fd_); }

  // The sleeper calls these.
  void announce() {
    sleeper_->asleep.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void awake() { sleeper_->asleep.store(false, std::memory_order_relaxed); }
  // The descriptor becomes readable, edge-triggered, when the worker is woken; -1 if it could not be made.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  Sleeper own_;
  Sleeper* sleeper_ = &own_;
  int fd_;
};

}  // namespace splitplane::datapath
