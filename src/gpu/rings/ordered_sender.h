// One sender for all rings that restores the order of the whole wire. It takes the packets of every receiver, holds
// each until its number's turn, and sends on the first ring's transmit ring. It always runs on one thread. That, and
// the wait for the slowest ring, is the cost of the order.
#pragma once

#include "gpu/rings/engine_parts.h"
#include "gpu/rings/reorder.h"

namespace splitplane::gpu {

template <class Doorbell = ReleaseDoorbell>
class OrderedSender {
 public:
  // `rings` are all of one NIC, and `places` are as many as the window has numbers. Both must stay in place.
  SPLITPLANE_HD OrderedSender(const Ring* rings, std::uint32_t count, const RestoreSettings& settings,
                              ReorderWindow::Place* places)
      : rings_(rings),
        count_(count),
        number_at_(settings.number_at),
        mask_(rings[0].settings.ring_size - 1),
        account_(rings[0].tx_counters),
        tail_(rings[0].tdt, rings[0].settings),
        watch_(rings[0].settings.stall_within_ns),
        window_(places, settings) {
    for (std::uint32_t i = 0; i < count; ++i) {
      received_[i].ring = rings[i].received;
      free_[i].ring = rings[i].free;
      free_[i].next = rings[i].settings.slots - rings[i].settings.ring_size;
    }
  }

  SPLITPLANE_HD std::uint32_t step(CpuLane lane, std::uint64_t now) {
    std::uint32_t moved = 0;
    for (std::uint32_t i = 0; i < count_; ++i) moved += collect(lane, i);
    moved += release(lane, now);
    const std::uint32_t back = reclaim(lane);
    if (tail_.is_due(next_, now, clean_ == tail_.told())) tell(lane);
    if (watch_.look(now, back, clean_ != next_, account_)) tail_.repeat(lane);
    if (account_.count_step(moved + back != 0)) account_.publish(tail_.count());
    if (account_.steps() % kQuietSteps == 0) show_pulse();
    return moved + back;
  }

  [[nodiscard]] SPLITPLANE_HD bool is_idle(CpuLane lane) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (received_[i].available(lane, 1) != 0) return false;
    }
    return window_.held() == 0 && clean_ == next_;
  }
  [[nodiscard]] SPLITPLANE_HD bool is_last(CpuLane /*lane*/) const {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (load_acquire(&rings_[i].rx_counters->stopped) == 0) return false;
    }
    return true;
  }
  SPLITPLANE_HD void finish(CpuLane /*lane*/) {
    account_.publish(tail_.count());
    for (std::uint32_t i = 1; i < count_; ++i) store_release(&rings_[i].tx_counters->stopped, 1U);
    account_.publish_stopped();
  }

  [[nodiscard]] SPLITPLANE_HD const Ring& ring() const { return rings_[0]; }
  [[nodiscard]] SPLITPLANE_HD const ReorderWindow& window() const { return window_; }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t received_taken(std::uint32_t ring) const { return received_[ring].next; }
  // For counting slots: calls f(slot) for each slot that this sender holds, of any ring.
  template <class F>
  void for_each_slot(F f) const {
    window_.for_each_held([&f](const PacketRef& packet) { f(packet.slot); });
    for (std::uint32_t i = clean_; i != next_; ++i) f(rings_[0].tx_slot[i & mask_]);
  }

 private:
  // This sender serves every ring, so it shows the host on each that it is alive. Packets are counted on the first.
  SPLITPLANE_HD void show_pulse() const {
    for (std::uint32_t i = 1; i < count_; ++i) store_relaxed(&rings_[i].tx_counters->steps, account_.steps());
  }
  // The last descriptor before a tail always requests DD. The NIC does not know it yet, so it may be changed.
  SPLITPLANE_HD void tell(CpuLane lane) {
    std::uint64_t* const last = &rings_[0].tx[(next_ - 1) & mask_].hi;
    store_relaxed(last, load_relaxed(last) | kTxReportStatus);
    tail_.tell(lane, next_, next_);
  }
  [[nodiscard]] SPLITPLANE_HD bool has_room() const { return next_ - clean_ != mask_; }

  // Puts the packets of one receiver into the window, or sends them at once. Returns the packets that were sent.
  SPLITPLANE_HD std::uint32_t collect(CpuLane lane, std::uint32_t ring) {
    std::uint32_t moved = 0;
    for (std::uint32_t taken = 0; taken < kBatch && received_[ring].available(lane, 1) != 0; ++taken) {
      if (!has_room()) break;
      const PacketRef packet = received_[ring].get(0);
      const auto answer =
          number_at_ + 8U <= packet.length ? window_.offer(number_of(packet), packet) : ReorderWindow::Answer::kNow;
      if (answer == ReorderWindow::Answer::kAhead) break;
      if (answer == ReorderWindow::Answer::kNow) {
        send(lane, packet);
        ++moved;
      }
      received_[ring].take(1);
    }
    return moved;
  }

  SPLITPLANE_HD std::uint32_t release(CpuLane lane, std::uint64_t now) {
    std::uint32_t moved = 0;
    PacketRef packet{};
    while (has_room() && window_.next(now, packet)) {
      send(lane, packet);
      ++moved;
    }
    if (!has_room()) ++account_.waits;
    return moved;
  }

  [[nodiscard]] SPLITPLANE_HD std::uint64_t number_of(const PacketRef& packet) const {
    const std::uint8_t* p = rings_[0].slots.at(packet.slot) + packet.offset + number_at_;
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i < 8; ++i) number |= static_cast<std::uint64_t>(p[i]) << (8 * i);
    return number;
  }

  SPLITPLANE_HD void send(CpuLane lane, const PacketRef& packet) {
    const std::uint32_t at = next_ & mask_;
    rings_[0].tx_slot[at] = packet.slot;
    const bool report = (next_ + 1) % rings_[0].settings.report_every == 0;
    put_descriptor(&rings_[0].tx[at],
                   make_tx_data(rings_[0].slots.bus_of(packet.slot) + packet.offset, packet.length, report));
    ++next_;
    ++account_.packets;
    account_.octets += packet.length;
    if (tail_.room(next_) == 0) tell(lane);
  }

  // Returns slots to the ring that they belong to.
  SPLITPLANE_HD std::uint32_t reclaim(CpuLane lane) {
    std::uint32_t moved = 0;
    std::uint64_t touched = 0;
    for (std::uint32_t i = clean_; i != next_; ++i) {
      const std::uint64_t hi = load_acquire(&rings_[0].tx[i & mask_].hi);
      if (!tx_is_done(hi)) {
        if (tx_wants_report(hi)) break;
        continue;  // a later descriptor reports
      }
      for (; clean_ != i + 1; ++clean_, ++moved) {
        const std::uint32_t slot = rings_[0].tx_slot[clean_ & mask_];
        const std::uint32_t ring = slot / rings_[0].settings.slots;
        free_[ring].put(0, slot);
        free_[ring].add(1);
        touched |= 1ULL << ring;
      }
    }
    for (std::uint32_t i = 0; i < count_ && touched != 0; ++i) {
      if ((touched >> i & 1U) != 0) free_[i].publish(lane);
    }
    account_.completed += moved;
    return moved;
  }

  const Ring* rings_;
  std::uint32_t count_, number_at_, mask_;
  Account account_;
  Tail<Doorbell> tail_;
  ReturnWatch watch_;
  ReorderWindow window_;
  std::uint32_t next_ = 0, clean_ = 0;
  Consumer<PacketRef> received_[kMaxRings];
  Producer<std::uint32_t> free_[kMaxRings];
};

}  // namespace splitplane::gpu
