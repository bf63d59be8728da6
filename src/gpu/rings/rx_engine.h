// The receiver of one NIC ring. It takes frames that the NIC marked done and calls the function on them. It passes them
// to the sender and gives the NIC free slots in their place. It is one warp on a device, or one CPU thread on the host.
#pragma once

#include "gpu/rings/engine_parts.h"
#include "gpu/rings/functions.h"
#include "gpu/rings/lane.h"
#include "gpu/rings/ring.h"

namespace splitplane::gpu {

inline constexpr std::uint32_t kMinFrameBytes = 14;  // an Ethernet header

template <class Lane, class Function, class Doorbell = ReleaseDoorbell>
class RxEngine {
 public:
  SPLITPLANE_HD RxEngine(const Ring& ring, const Function& function)
      : ring_(ring),
        function_(function),
        account_(ring.rx_counters),
        tail_(ring.rdt, ring.settings),
        mask_(ring.settings.ring_size - 1),
        free_{ring.free},
        received_{ring.received} {
    const std::uint32_t spare = ring.settings.slots - ring.settings.ring_size;
    const std::uint32_t credit = ring.settings.credit;
    kept_back_ = credit == 0 || credit >= spare ? 0 : spare - credit;
  }

  // One round; returns the packets taken from the NIC, at most kBatch. `now` in nanoseconds.
  SPLITPLANE_HD std::uint32_t step(Lane lane, std::uint64_t now) {
    if (!begun_) begin(lane, now);
    waits_ = false;
    std::uint32_t moved = 0;
    while (moved < kBatch) {
      const std::uint32_t wanted = least(least(Lane::width, kBatch - moved), tail_.room(next_));
      const std::uint32_t n = take(lane, now, wanted);
      moved += n;
      if (tail_.room(next_) == 0) {
        hand_over(lane);  // before the doorbell, so that the sender does not wait for its fence
        tell(lane);
      }
      if (n < wanted) break;
    }
    hand_over(lane);
    if (tail_.is_due(next_, now, next_ - tail_.told() == mask_)) tell(lane);
    watch(lane, now, moved);
    if (waits_) ++account_.waits;
    if (account_.count_step(moved != 0)) publish(lane);
    return moved;
  }

  // After the last step: tells the sender that no more frames come.
  SPLITPLANE_HD void finish(Lane lane) {
    publish(lane);
    lane.sync();
    if (lane.id == 0) account_.publish_stopped();
  }

  [[nodiscard]] SPLITPLANE_HD const Ring& ring() const { return ring_; }
  [[nodiscard]] SPLITPLANE_HD Function& function() { return function_; }
  // How many free slots this end has taken in total, for counting slots after the end.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t free_taken() const { return free_.next; }

 private:
  // The NIC gets all descriptors but one. The tail stays one behind the filled descriptors, so head never equals tail
  // when there are descriptors (7.1.9).
  SPLITPLANE_HD void begin(Lane lane, std::uint64_t now) {
    begun_ = true;
    moved_at_ = now;
    tell(lane);
  }
  SPLITPLANE_HD void tell(Lane lane) { tail_.tell(lane, next_, next_ - 1); }
  SPLITPLANE_HD void hand_over(Lane lane) {
    if (handed_over_ == received_.next) return;
    handed_over_ = received_.next;
    received_.publish(lane);
  }

  // Takes up to `wanted` frames, one per lane. All lanes call it and return the same number.
  SPLITPLANE_HD std::uint32_t take(Lane lane, std::uint64_t now, std::uint32_t wanted) {
    const std::uint32_t at = (next_ + lane.id) & mask_;
    const std::uint64_t hi = lane.id < wanted ? load_acquire(&ring_.rx[at].hi) : 0;
    std::uint32_t n = trailing_ones(lane.ballot(rx_is_done(hi)));
    if (n == 0) return 0;
    bool late = false;
    if (ring_.settings.early_within_ns != 0) n = wait_for_octets(lane, now, at, n, late);
    n = limit_to_free(lane, n);
    if (n == 0) return 0;

    const bool mine = lane.id < n;
    const std::uint32_t ends = lane.ballot(mine && (hi & kRxEndOfPacket) != 0);
    std::uint32_t slot = 0;
    Frame frame{};
    Verdict verdict = Verdict::refused;
    if (mine) {
      slot = ring_.rx_slot[at];
      frame = {ring_.slots.at(slot), rx_length(hi), ring_.slots.at(slot), ring_.settings.slot_bytes};
      const bool is_part = lane.id == 0 ? continues_ : (ends >> (lane.id - 1) & 1U) == 0;
      verdict = late && lane.id == 0 ? Verdict::early_write_back : judge(hi, is_part);
    }
    const std::uint32_t good = lane.ballot(mine && verdict == Verdict::send);
    if (mine && verdict == Verdict::send) verdict = function_.process(lane.only(good), frame);
    const std::uint32_t sent = lane.ballot(mine && verdict == Verdict::send);
    const std::uint32_t sent_count = count_ones(sent);
    if (mine) {
      if (verdict == Verdict::send) {
        const std::uint32_t rank = count_ones(sent & ((1U << lane.id) - 1U));
        received_.put(rank, {slot, static_cast<std::uint16_t>(frame.data - frame.slot),
                             static_cast<std::uint16_t>(frame.length)});
        slot = free_.get(rank);
        ring_.rx_slot[at] = slot;
      }
      post(at, slot);  // a dropped frame's slot goes back to the NIC at once
    }
    free_.take(sent_count);
    received_.add(sent_count);
    account_.packets += n;
    account_.completed += sent_count;
    account_.octets += lane.sum(mine ? rx_length(hi) : 0);
    if (sent_count != n) count_drops(lane, mine, verdict);
    continues_ = (ends >> (n - 1) & 1U) == 0;
    next_ += n;
    return n;
  }

  // Limits the frames to the free slots, because each frame that goes on needs one; credit reserves some.
  SPLITPLANE_HD std::uint32_t limit_to_free(Lane lane, std::uint32_t n) {
    const std::uint32_t free = free_.available(lane, n + kept_back_);
    if (free >= n + kept_back_) return n;
    waits_ = true;
    return free > kept_back_ ? free - kept_back_ : 0;
  }

  // The verdict from the descriptor alone, before the function sees the frame.
  [[nodiscard]] SPLITPLANE_HD Verdict judge(std::uint64_t hi, bool is_part) const {
    const std::uint32_t length = rx_length(hi);
    if (is_part || !rx_is_whole(hi)) return Verdict::broken_frame;
    if (length < kMinFrameBytes || length > ring_.settings.slot_bytes) return Verdict::bad_length;
    return Verdict::send;
  }

  SPLITPLANE_HD void post(std::uint32_t at, std::uint32_t slot) {
    if (ring_.settings.early_within_ns != 0) mark_slot(ring_.slots, slot);
    put_descriptor(&ring_.rx[at], make_rx_read(ring_.slots.bus_of(slot)));
  }

  // Of `n` frames marked done, returns those whose octets are there. It gives up the first one that never gets any
  // (`late`).
  SPLITPLANE_HD std::uint32_t wait_for_octets(Lane lane, std::uint64_t now, std::uint32_t at, std::uint32_t n,
                                              bool& late) {
    const bool there = lane.id < n && !is_marked(ring_.slots, ring_.rx_slot[at]);
    const std::uint32_t arrived = lane.ballot(there);
    if ((arrived & 1U) != 0) {
      if (early_) account_.recover();
      early_ = false;
      return trailing_ones(arrived);
    }
    if (!early_) {
      early_ = true;
      early_since_ = now;
    }
    late = now - early_since_ >= ring_.settings.early_within_ns;
    if (!late) return 0;
    early_ = false;
    return 1;
  }

  // After a time without frames the NIC may have missed the tail; repeating it does no harm. After a time without free
  // slots another engine does not return them.
  SPLITPLANE_HD void watch(Lane lane, std::uint64_t now, std::uint32_t moved) {
    if (moved != 0) {
      moved_at_ = now;
      if (account_.fault() != Fault::none) account_.recover();
      return;
    }
    if (now - moved_at_ < ring_.settings.stall_within_ns) return;
    moved_at_ = now;
    if (waits_) {
      account_.raise(Fault::slots_exhausted);
    } else {
      tail_.repeat(lane);
      account_.note_repeated();
    }
  }

  SPLITPLANE_HD void count_drops(Lane lane, bool mine, Verdict verdict) {
    for (std::uint32_t v = 1; v < kVerdictCount; ++v) {
      const std::uint32_t n = count_ones(lane.ballot(mine && verdict == static_cast<Verdict>(v)));
      if (n != 0) dropped_[v] += n;
    }
  }

  SPLITPLANE_HD void publish(Lane lane) {
    if (lane.id != 0) {
      account_.note_published();
      return;
    }
    account_.publish(tail_.count());
    store_relaxed_on_device(&ring_.verdicts->count[0], account_.completed);
    for (std::uint32_t v = 1; v < kVerdictCount; ++v) store_relaxed_on_device(&ring_.verdicts->count[v], dropped_[v]);
  }

  Ring ring_;
  Function function_;
  Account account_;
  Tail<Doorbell> tail_;
  std::uint32_t mask_;
  Consumer<std::uint32_t> free_;
  Producer<PacketRef> received_;
  std::uint32_t handed_over_ = 0;  // of `received_`: packets that the sender knows of
  std::uint32_t next_ = 0;
  std::uint32_t kept_back_ = 0;  // free slots that credit reserves
  bool begun_ = false;
  bool waits_ = false;      // in this step a frame waits for a slot
  bool continues_ = false;  // the last descriptor was not the end of its frame
  bool early_ = false;      // the next descriptor is done, but its octets are missing
  std::uint64_t moved_at_ = 0, early_since_ = 0;
  std::uint64_t dropped_[kVerdictCount] = {};
};

}  // namespace splitplane::gpu
