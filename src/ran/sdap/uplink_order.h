// Keeps the SDUs of a QoS flow in order when the UE moves the flow to another DRB. The gNB's entity says from which DRB
// each SDU came. SDUs of the new DRB wait here until the end marker comes on the old one (TS 37.324 5.3.1, 5.3.2).
//
// A second move may begin when the first SDU of the first one has arrived. A UE that moves a flow faster gets its SDUs
// delivered, but their order is then that of arrival. A DRB without an UL header cannot say that a flow left it, so
// nothing waits for it.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ran/sdap/flow_map.h"

namespace splitplane::ran::sdap {

// Ticks of a clock that the owner chooses. It never goes back.
using Time = std::uint64_t;
inline constexpr Time kNever = std::numeric_limits<Time>::max();

struct OrderLimits {
  Time hold = 0;          // how long an SDU waits for an end marker; 0: SDUs do not wait
  std::size_t held = 64;  // SDUs of a session that wait at one time
};

struct OrderCounters {
  std::uint64_t held = 0;       // SDUs that had to wait
  std::uint64_t timeouts = 0;   // moves whose end marker did not come in time
  std::uint64_t overflows = 0;  // moves that ended because too many SDUs waited
};

// `B` is a handle of an SDU. Deliver is called as deliver(Qfi, B) and must not call this object.
template <std::movable B>
class UplinkOrder {
 public:
  // `map` says which DRBs have an UL header, and so can carry an end marker. It outlives this object. Memory for SDUs
  // is taken when the first flow moves.
  UplinkOrder(const FlowMap& map, OrderLimits limits) : map_(map), limits_(limits) {}

  // An SDU of a flow. `qfi` is at most 63.
  template <class Deliver>
  void receive(Qfi qfi, DrbId drb, B sdu, Time now, Deliver&& deliver) {
    if (current_[qfi.value] == drb) [[likely]] {
      deliver(qfi, std::move(sdu));
      return;
    }
    receive_elsewhere(qfi, drb, std::move(sdu), now, deliver);
  }

  // The UE sends no more SDUs of that flow on that DRB.
  template <class Deliver>
  void end(Qfi qfi, DrbId drb, Deliver&& deliver) {
    if (current_[qfi.value] == drb) {
      current_[qfi.value] = {};
      advance(qfi, deliver);
    } else if ((left_[qfi.value] & bit(drb)) != 0) {
      left_[qfi.value] &= ~bit(drb);
    } else if (waits(qfi, drb)) {
      ended_[qfi.value] |= bit(drb);
    }
  }

  // The DRB was released, so no end marker comes on it.
  template <class Deliver>
  void release_drb(DrbId drb, Deliver&& deliver) {
    for (std::uint8_t qfi = 0; qfi < kFlows; ++qfi) end(Qfi{qfi}, drb, deliver);
  }

  // Delivers what waited long enough.
  template <class Deliver>
  void tick(Time now, Deliver&& deliver) {
    while (!held_.empty() && held_.front().deadline <= now) {
      ++counters_.timeouts;
      give_up(held_.front().qfi, deliver);
    }
  }
  // End markers come later than they would, because the bearer that carries one begins anew: the waits begin anew, too.
  // No SDU waits longer than kMostHolds times the hold time in all, however often a peer lets its bearers begin anew.
  void wait_again(Time now) {
    for (Held& one : held_) one.deadline = std::min(now + limits_.hold, one.came + kMostHolds * limits_.hold);
  }
  static constexpr Time kMostHolds = 10;
  // When tick() has work.
  [[nodiscard]] Time next_work() const { return held_.empty() ? kNever : held_.front().deadline; }
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  [[nodiscard]] const OrderCounters& counters() const { return counters_; }

 private:
  struct Held {
    Time came, deadline;
    Qfi qfi;
    DrbId drb;
    B sdu;
  };

  static constexpr std::uint32_t bit(DrbId drb) { return 1U << (drb.value - 1U) % kMaxDrb; }
  [[nodiscard]] bool waits(Qfi qfi, DrbId drb) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Held& h) { return h.qfi == qfi && h.drb == drb; });
  }

  template <class Deliver>
  void receive_elsewhere(Qfi qfi, DrbId drb, B sdu, Time now, Deliver& deliver) {
    const DrbId current = current_[qfi.value];
    if (current != DrbId{} && (left_[qfi.value] & bit(drb)) != 0) {
      deliver(qfi, std::move(sdu));  // too late for the order
      return;
    }
    if (current != DrbId{} && map_.header_ul(current) && limits_.hold != 0) {
      if (held_.size() < limits_.held) {
        held_.push_back({now, now + limits_.hold, qfi, drb, std::move(sdu)});
        ++counters_.held;
        return;
      }
      ++counters_.overflows;
    }
    give_up(qfi, deliver);
    go_to(qfi, drb);
    deliver(qfi, std::move(sdu));
  }

  // The flow is on that DRB now. No end marker was seen on the one before, if there was one.
  void go_to(Qfi qfi, DrbId drb) {
    DrbId& current = current_[qfi.value];
    if (current != DrbId{} && current != drb) left_[qfi.value] |= bit(current);
    left_[qfi.value] &= ~bit(drb);
    current = drb;
  }

  // The flow has left its DRB: goes on with the one whose SDUs have waited longest.
  template <class Deliver>
  void advance(Qfi qfi, Deliver& deliver) {
    DrbId& current = current_[qfi.value];
    while (current == DrbId{}) {
      const auto first = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.qfi == qfi; });
      if (first == held_.end()) return;
      const DrbId drb = first->drb;
      deliver_where([&](const Held& h) { return h.qfi == qfi && h.drb == drb; }, deliver);
      if ((ended_[qfi.value] & bit(drb)) == 0) go_to(qfi, drb);
      ended_[qfi.value] &= ~bit(drb);
    }
  }

  // Delivers all that waits of a flow, in the order of arrival. The flow has left a DRB whose end marker came already,
  // so it is not there.
  template <class Deliver>
  void give_up(Qfi qfi, Deliver& deliver) {
    for (const Held& h : held_) {
      if (h.qfi == qfi && (ended_[qfi.value] & bit(h.drb)) == 0) go_to(qfi, h.drb);
    }
    ended_[qfi.value] = 0;
    deliver_where([&](const Held& h) { return h.qfi == qfi; }, deliver);
  }

  template <class Which, class Deliver>
  void deliver_where(Which which, Deliver& deliver) {
    auto kept = held_.begin();
    for (auto& held : held_) {
      if (which(held)) {
        deliver(held.qfi, std::move(held.sdu));
      } else {
        if (&*kept != &held) *kept = std::move(held);
        ++kept;
      }
    }
    held_.erase(kept, held_.end());
  }

  const FlowMap& map_;
  OrderLimits limits_;
  std::array<DrbId, kFlows> current_{};        // where the flow is; {}: nothing came since its end marker
  std::array<std::uint32_t, kFlows> ended_{};  // bit d-1: an end marker came on DRB d, whose SDUs wait
  std::array<std::uint32_t, kFlows> left_{};   // bit d-1: the flow left DRB d, and its end marker is missing
  std::vector<Held> held_;                     // in the order of arrival, and so of their deadlines
  OrderCounters counters_;
};

}  // namespace splitplane::ran::sdap
