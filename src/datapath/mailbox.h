// How the control thread gets something done on a worker's own thread: one command at a time, executed between two
// rounds, so that the packet path needs no lock.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace splitplane::datapath {

class Mailbox {
 public:
  // Called by the control thread: returns when the worker has executed `command`, or false if it did not look into its
  // mailbox for `patience`. A command that was given up may still be executed later, so it must own what it touches.
  bool execute(std::function<void()> command, std::chrono::milliseconds patience = std::chrono::milliseconds{2000}) {
    auto letter = std::make_shared<Letter>();
    letter->command = std::move(command);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    auto posted = std::make_unique<std::shared_ptr<Letter>>(letter);
    std::shared_ptr<Letter>* empty = nullptr;
    while (!slot_.compare_exchange_strong(empty, posted.get(), std::memory_order_acq_rel)) {
      empty = nullptr;
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds{20});
    }
    (void)posted.release();  // the worker's now
    while (!letter->done.load(std::memory_order_acquire)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds{20});
    }
    return true;
  }

  // Called by the worker once per round: one relaxed load unless there is a letter.
  void run_pending() {
    if (slot_.load(std::memory_order_relaxed) == nullptr) [[likely]]
      return;
    const std::unique_ptr<std::shared_ptr<Letter>> letter(slot_.exchange(nullptr, std::memory_order_acq_rel));
    (*letter)->command();
    (*letter)->command = nullptr;  // what it owns is given back before the control thread goes on
    (*letter)->done.store(true, std::memory_order_release);
  }

  ~Mailbox() { delete slot_.load(); }
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

 private:
  struct Letter {
    std::function<void()> command;
    std::atomic<bool> done{false};
  };
  std::atomic<std::shared_ptr<Letter>*> slot_{nullptr};
};

}  // namespace splitplane::datapath
