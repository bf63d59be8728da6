// How the control thread runs a command on a worker's thread. The worker executes one command at a time between two
// rounds, so the packet path needs no lock. The caller keeps the command, and the worker frees nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "engine/wakeup.h"

namespace splitplane::datapath {

class Mailbox {
 public:
  // The control side calls it. Returns true when the worker has executed `command`. Returns false if the worker did not
  // look into its mailbox for `patience`; the command is then taken back and never executed.
  bool execute(const std::function<void()>& command, std::chrono::milliseconds patience = std::chrono::seconds{10}) {
    using Clock = std::chrono::steady_clock;
    Letter letter{&command};
    const auto deadline = Clock::now() + patience;
    Letter* empty = nullptr;
    while (!slot_.compare_exchange_weak(empty, &letter, std::memory_order_acq_rel)) {
      empty = nullptr;
      if (Clock::now() > deadline) return false;
      std::this_thread::sleep_for(kLook);
    }
    if (wakeup_ != nullptr) wakeup_->wake();
    while (!letter.done.load(std::memory_order_acquire)) {
      Letter* mine = &letter;
      if (Clock::now() > deadline && slot_.compare_exchange_strong(mine, nullptr, std::memory_order_acq_rel)) {
        return false;
      }
      std::this_thread::sleep_for(kLook);  // past the deadline but fetched: the worker executes it now and will end
    }
    return true;
  }

  // The worker calls it once per round. It costs one relaxed load unless there is a command.
  void run_pending() {
    if (slot_.load(std::memory_order_relaxed) == nullptr) [[likely]]
      return;
    Letter* letter = slot_.exchange(nullptr, std::memory_order_acq_rel);
    if (letter == nullptr) return;  // the control side took it back meanwhile
    (*letter->command)();
    letter->done.store(true, std::memory_order_release);  // the last access: the letter is the caller's again
  }

  // `wakeup` is that of the worker that looks into the mailbox, if the worker may sleep for long.
  explicit Mailbox(Wakeup* wakeup = nullptr) : wakeup_(wakeup) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

 private:
  static constexpr std::chrono::microseconds kLook{20};
  Wakeup* wakeup_;
  struct Letter {
    const std::function<void()>* command;
    std::atomic<bool> done{false};
  };
  std::atomic<Letter*> slot_{nullptr};
};

}  // namespace splitplane::datapath
