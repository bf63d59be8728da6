// The timers of one owner thread: O(1) to arm, move and disarm, with bounded work per turn. A node is a member of the
// object that it times.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace splitplane {

// A node is in no wheel while `expiry` is kNeverExpires.
struct TimerNode {
  static constexpr std::uint64_t kNeverExpires = std::numeric_limits<std::uint64_t>::max();
  TimerNode* next = nullptr;
  TimerNode* prev = nullptr;
  std::uint64_t expiry = kNeverExpires;
};

// Times are ticks of one clock. A node fires at its expiry or up to one slot later, never earlier.
class TimerWheel {
 public:
  static constexpr std::size_t kSlots = 512;

  TimerWheel(std::uint64_t ticks_per_slot, std::uint64_t now)
      : ticks_per_slot_(ticks_per_slot), turn_(now / ticks_per_slot) {
    for (TimerNode& head : slots_) head.next = head.prev = &head;
  }
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Arms `node`, or moves it.
  void arm(TimerNode& node, std::uint64_t expiry) {
    disarm(node);
    if (expiry == TimerNode::kNeverExpires) return;
    node.expiry = expiry;
    const std::uint64_t turn = expiry / ticks_per_slot_ + 1;  // when all of the expiry's slot is over
    const std::size_t slot = (turn < turn_ ? turn_ : turn) % kSlots;
    marked_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    TimerNode& head = slots_[slot];
    node.next = &head;
    node.prev = head.prev;
    head.prev->next = &node;
    head.prev = &node;
    ++armed_;
  }
  void disarm(TimerNode& node) {
    if (node.expiry == TimerNode::kNeverExpires) return;
    node.expiry = TimerNode::kNeverExpires;
    node.prev->next = node.next;
    node.next->prev = node.prev;
    --armed_;
  }
  [[nodiscard]] std::size_t armed() const { return armed_; }

  // When run() next has something to do; kNeverExpires if nothing is armed. It is never later than the end of the first
  // expiry's slot. It may be earlier by whole revolutions if that slot is far off. It looks at up to kSlots slots.
  [[nodiscard]] std::uint64_t next_turn() const {
    if (armed_ == 0) return TimerNode::kNeverExpires;
    for (std::uint64_t ahead = 0; ahead < kSlots;) {
      const std::size_t slot = (turn_ + ahead) % kSlots;
      const std::uint64_t marks = marked_[slot / 64] >> (slot % 64);
      if (marks == 0) {
        ahead += 64 - slot % 64;
        continue;
      }
      ahead += static_cast<unsigned>(std::countr_zero(marks));
      const std::size_t found = (turn_ + ahead) % kSlots;
      if (slots_[found].next != &slots_[found]) return (turn_ + ahead) * ticks_per_slot_;
      marked_[found / 64] &= ~(std::uint64_t{1} << (found % 64));  // the slot is empty since
    }
    return turn_ * ticks_per_slot_;
  }

  // Takes out at most `budget` nodes whose time has come and calls fired(node) for each. The next call fires those that
  // are left. `fired` may arm and disarm any node.
  template <class Fired>
  void run(std::uint64_t now, unsigned budget, Fired&& fired) {
    const std::uint64_t last = now / ticks_per_slot_;
    if (armed_ == 0) {
      turn_ = last + 1;
      return;
    }
    if (last >= turn_ + kSlots) turn_ = last - kSlots + 1;  // each slot is looked at once
    for (; turn_ <= last; ++turn_) {
      TimerNode& head = slots_[turn_ % kSlots];
      for (TimerNode* node = head.next; node != &head;) {
        if (node->expiry > now) {  // the node is of a later revolution
          node = node->next;
          continue;
        }
        if (budget-- == 0) return;
        disarm(*node);
        fired(*node);
        node = head.next;  // `fired` may have changed the list
      }
    }
  }

 private:
  std::uint64_t ticks_per_slot_;
  std::uint64_t turn_;  // the next slot to look at, not taken modulo kSlots
  std::array<TimerNode, kSlots> slots_;
  mutable std::array<std::uint64_t, kSlots / 64> marked_{};  // slots that may hold a node; no other slot holds one
  std::size_t armed_ = 0;
};

}  // namespace splitplane
