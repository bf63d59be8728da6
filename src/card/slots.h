// The slots of a card's bearers: their index into the program's registers. A slot that was never used has registers
// that are 0 already, so installing its bearer needs fewer writes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace splitplane::nic {

struct Slot {
  std::uint32_t number = 0;
  bool fresh = false;  // never used: its registers are 0
};

class Slots {
 public:
  explicit Slots(std::uint32_t count = 0) : count_(count) {}

  // Nothing if all are in use. A slot that was used before comes first.
  [[nodiscard]] std::optional<Slot> take() {
    if (!used_.empty()) {
      const Slot slot{used_.back(), false};
      used_.pop_back();
      return slot;
    }
    if (next_ == count_) return std::nullopt;
    return Slot{next_++, true};
  }
  // The slot's registers may have been written.
  void give_back(Slot slot) { used_.push_back(slot.number); }
  // Reverses take(); the slot's registers were not written. Several slots come back in reverse order.
  void undo(Slot slot) {
    if (slot.fresh) {
      --next_;
    } else {
      used_.push_back(slot.number);
    }
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::uint32_t count_;
  std::uint32_t next_ = 0;           // slots from here on were never used
  std::vector<std::uint32_t> used_;  // free again, but their registers are not 0
};

}  // namespace splitplane::nic
