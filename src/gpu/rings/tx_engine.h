// The sender of one NIC ring. It gives the NIC the packets of the receiver, and returns the slots of sent packets to
// the receiver. It is one warp on a device, or one CPU thread on the host.
#pragma once

#include "gpu/rings/engine_parts.h"
#include "gpu/rings/lane.h"
#include "gpu/rings/ring.h"

namespace splitplane::gpu {

template <class Lane, class Doorbell = ReleaseDoorbell>
class TxEngine {
 public:
  SPLITPLANE_HD explicit TxEngine(const Ring& ring)
      : ring_(ring),
        account_(ring.tx_counters),
        tail_(ring.tdt, ring.settings),
        watch_(ring.settings.stall_within_ns),
        mask_(ring.settings.ring_size - 1),
        received_{ring.received},
        free_{ring.free, ring.settings.slots - ring.settings.ring_size} {}

  // One round. Returns the packets given to the NIC plus those that came back, each at most kBatch.
  SPLITPLANE_HD std::uint32_t step(Lane lane, std::uint64_t now) {
    const std::uint32_t sent = send(lane);
    // Completed descriptors are collected when there is a batch of them, or when there is time.
    const std::uint32_t back = sent == 0 || next_ - clean_ >= kBatch ? reclaim(lane) : 0;
    if (tail_.is_due(next_, now, clean_ == tail_.told())) tell(lane);
    if (watch_.look(now, back, clean_ != next_, account_)) tail_.repeat(lane);
    if (account_.count_step(sent + back != 0)) publish(lane);
    return sent + back;
  }

  // True if no packet is on its way from the receiver, or at the NIC.
  [[nodiscard]] SPLITPLANE_HD bool is_idle(Lane lane) { return clean_ == next_ && received_.available(lane, 1) == 0; }

  // True if no more packets come from the receiver.
  [[nodiscard]] SPLITPLANE_HD bool is_last(Lane lane) const {
    return lane.shfl(load_acquire(&ring_.rx_counters->stopped), 0) != 0;
  }

  SPLITPLANE_HD void finish(Lane lane) {
    publish(lane);
    lane.sync();
    if (lane.id == 0) account_.publish_stopped();
  }

  [[nodiscard]] SPLITPLANE_HD const Ring& ring() const { return ring_; }
  // For counting slots after the end: packets taken over, descriptors at the NIC, slots given back.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t received_taken() const { return received_.next; }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t first_at_nic() const { return clean_; }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t next_to_nic() const { return next_; }

 private:
  SPLITPLANE_HD void tell(Lane lane) { tail_.tell(lane, next_, next_); }

  SPLITPLANE_HD std::uint32_t send(Lane lane) {
    std::uint32_t moved = 0;
    while (moved < kBatch) {
      const std::uint32_t room = ring_.settings.ring_size - 1 - (next_ - clean_);  // one stays free: 7.2.3.3
      const std::uint32_t wanted = least(least(Lane::width, kBatch - moved), tail_.room(next_));
      std::uint32_t n = least(wanted, received_.available(lane, wanted));
      if (n > room) {
        n = room;
        ++account_.waits;
      }
      if (n == 0) break;
      // The last descriptor of a step always requests DD, because no other may follow for a long time.
      const bool ends_step = received_.known() == n || moved + n == kBatch || n == room;
      PacketRef packet{};
      if (lane.id < n) {
        const std::uint32_t index = next_ + lane.id, at = index & mask_;
        const bool report = (index + 1) % ring_.settings.report_every == 0 || (ends_step && lane.id == n - 1);
        packet = received_.get(lane.id);
        ring_.tx_slot[at] = packet.slot;
        put_descriptor(&ring_.tx[at],
                       make_tx_data(ring_.slots.bus_of(packet.slot) + packet.offset, packet.length, report));
      }
      received_.take(n);
      account_.packets += n;
      account_.octets += lane.sum(packet.length);
      next_ += n;
      moved += n;
      if (tail_.room(next_) == 0) tell(lane);
      if (n < wanted) break;
    }
    return moved;
  }

  SPLITPLANE_HD std::uint32_t reclaim(Lane lane) {
    std::uint32_t moved = 0;
    while (moved < kBatch) {
      const std::uint32_t n = done(lane, least(kBatch - moved, next_ - clean_));
      if (n == 0) break;
      for (std::uint32_t i = lane.id; i < n; i += Lane::width) free_.put(i, ring_.tx_slot[(clean_ + i) & mask_]);
      free_.add(n);
      clean_ += n;
      moved += n;
    }
    if (moved != 0) free_.publish(lane);
    account_.completed += moved;
    return moved;
  }

  // How many of the oldest `most` descriptors the NIC has completed, up to the last, or the first, that reports. One in
  // report_every reports, which is at most kBatch, and the last of each step.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t done(Lane lane, std::uint32_t most) const {
    if constexpr (Lane::width == 1) {
      for (std::uint32_t i = 0; i < most; ++i) {
        const std::uint64_t hi = load_acquire(&ring_.tx[(clean_ + i) & mask_].hi);
        if (tx_is_done(hi)) return i + 1;
        if (tx_wants_report(hi)) return 0;
      }
      return 0;
    } else {
      const std::uint32_t at = (clean_ + lane.id) & mask_;
      return bit_width(lane.ballot(lane.id < most && tx_is_done(load_acquire(&ring_.tx[at].hi))));
    }
  }

  // Every lane keeps the account; one lane publishes it.
  SPLITPLANE_HD void publish(Lane lane) {
    if (lane.id == 0) {
      account_.publish(tail_.count());
    } else {
      account_.note_published();
    }
  }

  Ring ring_;
  Account account_;
  Tail<Doorbell> tail_;
  ReturnWatch watch_;
  std::uint32_t mask_;
  Consumer<PacketRef> received_;
  Producer<std::uint32_t> free_;
  std::uint32_t next_ = 0;   // the descriptor that is filled next
  std::uint32_t clean_ = 0;  // the oldest one whose slot has not come back
};

}  // namespace splitplane::gpu
