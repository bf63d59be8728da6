// How others wake a worker that sleeps: control commands, frames of the control thread, packets on rings.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace splitplane::datapath {

// The sleeper announces that it is about to sleep, looks once more at everything that could wake it, and only then
// sleeps; a producer makes its work visible first and looks at the announcement then. One of the two sees the other.
class Wakeup {
 public:
  Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Wakeup() {
    if (fd_ >= 0) ::close(fd_);
  }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // A producer, after its work is visible: a fence and a load unless the worker sleeps.
  void wake() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!asleep_.load(std::memory_order_relaxed)) [[likely]]
      return;
    if (!asleep_.exchange(false, std::memory_order_relaxed)) return;  // somebody else has woken it
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);  // full: it is awake already
  }

  // The sleeper.
  void announce() {
    asleep_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  void awake() { asleep_.store(false, std::memory_order_relaxed); }
  // Readable, edge-triggered, when it was woken; -1: none could be made.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  alignas(64) std::atomic<bool> asleep_{false};
  int fd_;
};

}  // namespace splitplane::datapath
