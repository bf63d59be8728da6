// The one mutex of the control side, and its witnesses. The threads of the control server, of control, of metrics and
// of telemetry share the parts of an instance. A method that touches what they share takes a witness as its parameter,
// so a call without the mutex does not compile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace splitplane::gnb {

class ControlLock {
 public:
  // Holds the mutex as long as it lives.
  class Locked {
   public:
    Locked(Locked&&) noexcept = default;
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   protected:
    friend class ControlLock;
    explicit Locked(std::mutex& mutex) : lock_(mutex) {}
    std::unique_lock<std::mutex> lock_;
  };

  // Holds the mutex, and the turn to change bearers. A second change waits for its turn until this one has ended, also
  // while apart() lets the mutex go: so the order "first the turn, then the mutex" cannot be broken. Turns are given in
  // the order in which they are asked for. So one who makes many changes, as moves do, keeps no other waiting for
  // longer than one of them takes.
  class Change : public Locked {
   public:
    Change(Change&& other) noexcept : Locked(std::move(other)), control_(std::exchange(other.control_, nullptr)) {}
    // Takes over what apart() gives back.
    Change& operator=(Change&& other) noexcept {
      if (this == &other) return *this;
      end();
      lock_ = std::move(other.lock_);
      control_ = std::exchange(other.control_, nullptr);
      return *this;
    }
    ~Change() { end(); }

   private:
    friend class ControlLock;
    explicit Change(ControlLock& control) : Locked(control.mutex_), control_(&control) {
      control.turn_.wait(lock_, [&control, mine = control.asked_++] { return control.ended_ == mine; });
    }
    void end() {
      if (control_ == nullptr) return;
      ++control_->ended_;
      control_->turn_.notify_all();
      control_ = nullptr;
    }
    ControlLock* control_;  // nullptr: moved from
  };

  [[nodiscard]] Locked lock() { return Locked(mutex_); }
  [[nodiscard]] Change change() { return Change(*this); }

  // Runs `wait` without the mutex, then takes the mutex again; the turn stays with `change`. Other threads run
  // meanwhile, so the caller looks up again what it had found before.
  template <class Wait>
  [[nodiscard]] static auto apart(Change&& change, Wait wait) -> std::pair<Change, decltype(wait())> {
    Change here(std::move(change));
    here.lock_.unlock();
    auto result = wait();
    here.lock_.lock();
    return {std::move(here), std::move(result)};
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t asked_ = 0, ended_ = 0;  // changes; the one that has the turn is number ended_, if it has asked
};

using Locked = ControlLock::Locked;
using Change = ControlLock::Change;

}  // namespace splitplane::gnb
