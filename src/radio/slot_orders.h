// What the PHY shall do for the worker, slot by slot, on its way to the thread that talks to the PHY. One producer and
// one consumer. Blocks are not copied: they stay as they are until the consumer has read their order.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "radio/cell_slots.h"

namespace splitplane::datapath {

struct SlotOrder {
  std::uint64_t number = 0;  // of the plan
  phy::Slot slot, uplink_slot;
  std::vector<DownlinkSlots::Sent> downlink;
  std::vector<phy::Grant> uplink;
  std::vector<phy::Rnti> request_chances;
};

class SlotOrders {
 public:
  static constexpr std::size_t kMost = 16;  // that wait

  // `grants`: of a slot and direction; `chances`: scheduling requests of a slot. Both at most.
  SlotOrders(std::size_t grants, std::size_t chances) {
    for (SlotOrder& order : orders_) {
      order.downlink.reserve(grants);
      order.uplink.reserve(grants);
      order.request_chances.reserve(chances);
    }
  }
  SlotOrders(const SlotOrders&) = delete;
  SlotOrders& operator=(const SlotOrders&) = delete;

  // On the worker's thread.
  [[nodiscard]] bool full() const {
    return written_.load(std::memory_order_relaxed) - read_.load(std::memory_order_acquire) == kMost;
  }
  // Unless full().
  void put(const CellSlots::Plan& plan) {
    const std::uint64_t at = written_.load(std::memory_order_relaxed);
    SlotOrder& order = orders_[at % kMost];
    order.number = plan.number;
    order.slot = plan.slot;
    order.uplink_slot = plan.uplink_slot;
    order.downlink.assign(plan.downlink.begin(), plan.downlink.end());
    order.uplink.assign(plan.uplink.begin(), plan.uplink.end());
    order.request_chances.assign(plan.request_chances.begin(), plan.request_chances.end());
    written_.store(at + 1, std::memory_order_release);
  }
  // The number of the last plan that was read: no earlier one is needed any more.
  [[nodiscard]] std::uint64_t read() const { return plan_read_.load(std::memory_order_acquire); }

  // On the thread of the PHY: the oldest order, or nullptr.
  [[nodiscard]] const SlotOrder* front() const {
    const std::uint64_t at = read_.load(std::memory_order_relaxed);
    return at == written_.load(std::memory_order_acquire) ? nullptr : &orders_[at % kMost];
  }
  void pop() {
    const std::uint64_t at = read_.load(std::memory_order_relaxed);
    plan_read_.store(orders_[at % kMost].number, std::memory_order_release);
    read_.store(at + 1, std::memory_order_release);
  }

 private:
  std::array<SlotOrder, kMost> orders_;
  alignas(64) std::atomic<std::uint64_t> written_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};
  std::atomic<std::uint64_t> plan_read_{0};
};

}  // namespace splitplane::datapath
