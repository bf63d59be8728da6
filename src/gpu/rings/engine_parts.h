// Parts that both engines of a ring share: a tail register that is written once per batch, after a time, or at once if
// the NIC is idle; and the counters that the host reads.
#pragma once

#include "gpu/rings/lane.h"
#include "gpu/rings/memory_order.h"
#include "gpu/rings/ring.h"

namespace splitplane::gpu {

// A tail register, and the descriptors that the NIC does not know yet. Every lane has the same state; one lane writes.
template <class Doorbell>
class Tail {
 public:
  SPLITPLANE_HD Tail(std::uint32_t* tail_register, const RingSettings& settings)
      : register_(tail_register),
        mask_(settings.ring_size - 1),
        every_(settings.doorbell_every),
        within_(settings.doorbell_within_ns) {}

  // How many descriptors may be filled before the register has to be written.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t room(std::uint32_t next) const { return every_ - (next - told_); }

  // Announces to the NIC all descriptors before `next`, whose place in the ring is `tail`.
  template <class Lane>
  SPLITPLANE_HD void tell(Lane lane, std::uint32_t next, std::uint32_t tail) {
    lane.sync();  // all lanes have written their descriptors
    last_ = tail & mask_;
    if (lane.id == 0) Doorbell::ring(register_, last_);
    told_ = next;
    waiting_ = false;
    ++count_;
  }
  // Writes the same tail once more, for a NIC that may have missed it.
  template <class Lane>
  SPLITPLANE_HD void repeat(Lane lane) const {
    lane.sync();
    if (lane.id == 0) Doorbell::ring(register_, last_);
  }
  // At the end of a step: true if unannounced descriptors have waited long enough. `nic_has_none`: as far as the engine
  // knows, the NIC has completed all that it knows of and would only wait.
  [[nodiscard]] SPLITPLANE_HD bool is_due(std::uint32_t next, std::uint64_t now, bool nic_has_none) {
    if (next == told_) return false;
    if (nic_has_none) return true;
    if (!waiting_) {
      waiting_ = true;
      since_ = now;
    }
    return now - since_ >= within_;
  }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t told() const { return told_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t count() const { return count_; }

 private:
  std::uint32_t* register_;
  std::uint32_t mask_, every_;
  std::uint32_t told_ = 0, last_ = 0;
  bool waiting_ = false;
  std::uint64_t within_, since_ = 0, count_ = 0;
};

// An engine's own copy of its counters, and the faults that it finds.
class Account {
 public:
  SPLITPLANE_HD explicit Account(EngineCounters* visible) : visible_(visible) {}

  std::uint64_t packets = 0, octets = 0, completed = 0, waits = 0;

  SPLITPLANE_HD void raise(Fault fault) {
    fault_ = fault;
    unseen_ = true;
  }
  // The fault is over.
  SPLITPLANE_HD void recover() {
    ++recovered_;
    fault_ = Fault::none;
    unseen_ = true;
  }
  SPLITPLANE_HD void note_repeated() {
    ++repeated_;
    unseen_ = true;
  }
  [[nodiscard]] SPLITPLANE_HD Fault fault() const { return fault_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t steps() const { return steps_; }

  // Returns true if the host must see the counters now.
  [[nodiscard]] SPLITPLANE_HD bool count_step(bool moved) { return (++steps_ % kQuietSteps) == 0 || moved || unseen_; }

  // For the lanes that do not write.
  SPLITPLANE_HD void note_published() { unseen_ = false; }
  SPLITPLANE_HD void publish(std::uint64_t doorbells) {
    note_published();
    store_relaxed_on_device(&visible_->steps, steps_);
    store_relaxed_on_device(&visible_->packets, packets);
    store_relaxed_on_device(&visible_->octets, octets);
    store_relaxed_on_device(&visible_->completed, completed);
    store_relaxed_on_device(&visible_->doorbells, doorbells);
    store_relaxed_on_device(&visible_->repeated, repeated_);
    store_relaxed_on_device(&visible_->recovered, recovered_);
    store_relaxed_on_device(&visible_->waits, waits);
    store_relaxed_on_device(&visible_->fault, static_cast<std::uint64_t>(fault_));
  }
  // The engine has left its loop. A reader that sees this also sees everything that the engine did.
  SPLITPLANE_HD void publish_stopped() const { store_release(&visible_->stopped, 1U); }

 private:
  EngineCounters* visible_;
  std::uint64_t steps_ = 0, recovered_ = 0, repeated_ = 0;
  bool unseen_ = false;  // something changed that the host must see soon
  Fault fault_ = Fault::none;
};

// Watches that descriptors come back from the NIC. If they do not, the NIC may have missed the tail, so it is written
// again. If that does not help, the NIC has stopped. The tail is still written at times; if the NIC continues, the
// fault is over.
class ReturnWatch {
 public:
  SPLITPLANE_HD explicit ReturnWatch(std::uint64_t within_ns) : within_(within_ns) {}

  // Call it once per step. Returns true if the tail has to be written again.
  [[nodiscard]] SPLITPLANE_HD bool look(std::uint64_t now, std::uint32_t back, bool any_at_nic, Account& account) {
    if (back != 0 || !any_at_nic || !begun_) {
      if (asked_again_) account.recover();
      asked_again_ = false;
      begun_ = true;
      moved_at_ = now;
      return false;
    }
    if (now - moved_at_ < within_) return false;
    moved_at_ = now;
    if (asked_again_) account.raise(Fault::sender_stalled);
    asked_again_ = true;
    account.note_repeated();
    return true;
  }

 private:
  std::uint64_t within_, moved_at_ = 0;
  bool begun_ = false;  // the clock's zero is long ago
  bool asked_again_ = false;
};

}  // namespace splitplane::gpu
