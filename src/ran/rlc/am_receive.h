// The receiving side of an AM entity (TS 38.322 5.2.3.2, 5.3.4). A PDU costs O(1); a STATUS costs as much as it has
// holes.
#pragma once

#include "ran/rlc/counters.h"
#include "ran/rlc/reassembly.h"
#include "ran/rlc/received_window.h"
#include "wire/rlc_status.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class AmReceive {
 public:
  AmReceive(const AmConfig& config, Memory<B>& memory)
      : config_(config), reassembly_(memory), window_(config.sn_bits, memory.directories, memory.received_pages) {}
  AmReceive(const AmReceive&) = delete;
  AmReceive& operator=(const AmReceive&) = delete;
  ~AmReceive() { restart_at(0); }

  // Takes an AMD PDU. For each completed SDU it calls deliver(std::span<Part<B>>) with the SDU's parts in order of
  // their octets; `deliver` may take their buffers. SDUs are delivered in the order in which they are completed.
  template <class Deliver>
  Received receive(B pdu, Time now, Deliver&& deliver) {
    const auto header = wire::rlc::parse_am(buf::octets(pdu), config_.sn_bits);
    Received what = Received::kRefused;
    if (header) {
      counters_status_.polls += header->poll ? 1 : 0;
      what = take(*header, std::move(pdu), now, deliver);
    }
    counters_.count(what);
    return what;
  }

  // Takes an AMD PDU with a complete SDU whose buffer stays with the caller (header mode). On kDelivered the caller
  // delivers it. On kRefused the PDU is a segment. SDUs at `most_ahead` or more above RX_Next count as outside the
  // window.
  Received receive_complete(const wire::rlc::AmHeader& header, Time now, std::uint32_t most_ahead = 1U << 31) {
    counters_status_.polls += header.poll ? 1 : 0;
    const Received what = take_complete(header, now, std::min(most_ahead, window_size(config_.sn_bits)));
    counters_.count(what);
    counters_.sdus += what == Received::kDelivered ? 1 : 0;
    return what;
  }

  // Runs the timers (TS 38.322 5.2.3.2.4, 5.3.4).
  void tick(Time now) {
    if (t_status_prohibit_.expired(now)) t_status_prohibit_.stop();
    if (!t_reassembly_.expired(now)) return;
    ++counters_status_.reassembly_timeouts;
    raise_highest_status(window_.first_not_done(status_trigger_, next_highest_));
    t_reassembly_.stop();
    if (is_open(highest_status_)) start_reassembly(now);
    triggered_ = true;
  }
  // The time at which tick() next has something to do.
  [[nodiscard]] Time next_expiry() const { return std::min(t_reassembly_.expiry(), t_status_prohibit_.expiry()); }

  // Asks for a STATUS PDU that no poll and no hole asked for.
  void want_status() { triggered_ = true; }
  [[nodiscard]] bool status_due() const { return triggered_ && !t_status_prohibit_.running(); }
  // Writes the STATUS PDU of this moment to `out`, as much of it as fits, and starts t-StatusProhibit. Returns the
  // octets written, or 0 if `out` has no room for a STATUS without NACK.
  std::size_t write_status(MutableOctets out, Time now) {
    wire::rlc::StatusWriter status(out, config_.sn_bits);
    std::uint64_t holes = 0;
    const auto add = [&](const wire::rlc::Nack& nack) {
      const bool fits = status.add(nack);
      holes += fits ? 1 : 0;
      return fits;
    };
    const std::uint32_t ack = report(add, [&] { status.extend_last_to_end(); });
    const std::size_t bytes = status.finish(ack & sn_mask(config_.sn_bits));
    if (bytes == 0) return 0;
    counters_status_.holes += holes;
    triggered_ = false;
    ++counters_status_.status;
    t_status_prohibit_.start(now, config_.t_status_prohibit);
    return bytes;
  }

  // Octets of the whole STATUS PDU of this moment, or 0 if none is due. TS 38.322 5.5 allows an estimate: it covers the
  // first kCounted runs of missing SDUs and SDUs with holes, and none after these.
  [[nodiscard]] std::uint64_t volume() const {
    if (!status_due()) return 0;
    std::uint64_t octets = wire::rlc::kStatusFixedBytes;
    std::uint32_t sn = window_.first_not_done(next_, highest_status_);
    for (unsigned counted = 0; counted != kCounted && before(sn, highest_status_); ++counted) {
      if (const std::uint32_t name = assembly(sn); name != 0) {
        octets += reassembly_.holes(name) * wire::rlc::nack_bytes(config_.sn_bits, hole(sn++, 0, 1));
      } else {
        const wire::rlc::Nack run = missing_run(sn);
        octets += wire::rlc::nack_bytes(config_.sn_bits, run);
        sn += run.range;
      }
      sn = window_.first_not_done(sn, highest_status_);
    }
    return octets;
  }

  // Re-establishes the entity (TS 38.322 5.1.3): it drops everything it holds and sets all state variables to `sn`.
  void restart_at(std::uint32_t sn) {
    window_.clear(next_, next_ + window_size(config_.sn_bits),
                  [this](std::uint32_t name) { reassembly_.discard(name); });
    if (front_ != 0) reassembly_.discard(std::exchange(front_, 0));
    front_polled_ = false;
    next_ = next_highest_ = highest_status_ = status_trigger_ = sn;
    t_reassembly_.stop();
    t_status_prohibit_.stop();
    triggered_ = false;
  }

  // RX_Next, RX_Next_Highest, RX_Highest_Status, RX_Next_Status_Trigger (TS 38.322 7.1), without the modulus.
  [[nodiscard]] std::uint32_t next() const { return next_; }
  [[nodiscard]] std::uint32_t next_highest() const { return next_highest_; }
  [[nodiscard]] std::uint32_t highest_status() const { return highest_status_; }
  [[nodiscard]] std::uint32_t status_trigger() const { return status_trigger_; }
  [[nodiscard]] const Timer& t_reassembly() const { return t_reassembly_; }
  [[nodiscard]] const Timer& t_status_prohibit() const { return t_status_prohibit_; }
  [[nodiscard]] bool triggered() const { return triggered_; }
  [[nodiscard]] const ReceiveCounters& counters() const { return counters_; }
  [[nodiscard]] const StatusCounters& status_counters() const { return counters_status_; }

 private:
  using Share = typename Reassembly<B>::Share;
  static constexpr std::uint32_t kMaxRange = 255;  // NACK range has 8 bits
  static constexpr unsigned kCounted = 64;

  template <class Deliver>
  Received take(const wire::rlc::AmHeader& h, B pdu, Time now, Deliver&& deliver) {
    const std::uint32_t sn = from_base(next_, h.sn, config_.sn_bits);
    const std::size_t length = pdu.size() - h.header_bytes;
    Received what = Received::kOutsideWindow;
    if (length + h.so > kMaxSduBytes) {
      what = Received::kContradiction;
    } else if (sn == next_highest_ && sn == next_ && h.si == wire::rlc::Segment::kComplete && window_.empty() &&
               front_ == 0) [[likely]] {  // that the window is empty is not enough: segments may have been given up
      take_in_order(std::move(pdu), h.header_bytes, deliver);
      triggered_ |= h.poll;
      return Received::kDelivered;
    } else if (sn - next_ < window_size(config_.sn_bits)) {
      what = store(h, sn, pdu, deliver);
      if (what == Received::kDelivered || what == Received::kStored) update(sn, what == Received::kDelivered, now);
    }
    if (h.poll) poll(sn, what);
    return what;
  }

  Received take_complete(const wire::rlc::AmHeader& h, Time now, std::uint32_t window) {
    if (h.si != wire::rlc::Segment::kComplete) return Received::kRefused;
    const std::uint32_t sn = from_base(next_, h.sn, config_.sn_bits);
    Received what = Received::kOutsideWindow;
    if (sn == next_highest_ && sn == next_ && window_.empty()) [[likely]] {
      next_ = highest_status_ = ++next_highest_;
      triggered_ |= h.poll;
      return Received::kDelivered;
    }
    if (sn - next_ < window) {
      ReceivedPage* const page = page_of(sn);
      what = page == nullptr && sn != next_ ? Received::kNoMemory
             : is_done(page, sn)            ? Received::kDuplicate
                                            : Received::kDelivered;
      if (what == Received::kDelivered) {
        set_done(page, sn);
        update(sn, true, now);
      }
    }
    if (h.poll) poll(sn, what);
    return what;
  }

  // The path for an entity that misses nothing and holds nothing: it touches no window memory, and no timer runs.
  template <class Deliver>
  void take_in_order(B pdu, std::uint8_t header_bytes, Deliver&& deliver) {
    next_ = highest_status_ = ++next_highest_;
    Part<B> part{std::move(pdu), header_bytes, 0};
    part.length = static_cast<std::uint16_t>(part.pdu.size() - header_bytes);
    hand_over(std::span(&part, 1), counters_, deliver);
  }

  // Stores a PDU of the window. RX_Next needs no page, because only its segments can be held. So whole PDUs always make
  // progress, however much memory other bearers hold. To make room for segments of RX_Next, the entity gives up
  // segments of later SDUs, which the peer still has. After that RX_Next waits only while the half-received RX_Next
  // SDUs of other bearers hold all segments of the memory.
  template <class Deliver>
  Received store(const wire::rlc::AmHeader& h, std::uint32_t sn, B& pdu, Deliver&& deliver) {
    ReceivedPage* const page = page_of(sn);
    if (page == nullptr && sn != next_) return Received::kNoMemory;
    if (is_done(page, sn)) return Received::kDuplicate;
    if (h.si == wire::rlc::Segment::kComplete && assembly(sn) == 0) {
      Part<B> part{std::move(pdu), h.header_bytes, 0};
      part.length = static_cast<std::uint16_t>(part.pdu.size() - h.header_bytes);
      set_done(page, sn);
      hand_over(std::span(&part, 1), counters_, deliver);
      return Received::kDelivered;
    }
    Received what = store_segment(h, page, sn, pdu, deliver);
    while (what == Received::kNoMemory && sn == next_ && give_up_last()) {
      what = store_segment(h, window_.find(sn), sn, pdu, deliver);
    }
    return what;
  }

  template <class Deliver>
  Received store_segment(const wire::rlc::AmHeader& h, ReceivedPage* page, std::uint32_t sn, B& pdu,
                         Deliver&& deliver) {
    const auto stop = static_cast<std::uint16_t>(h.so + (pdu.size() - h.header_bytes));
    const bool is_last = h.si == wire::rlc::Segment::kLast || h.si == wire::rlc::Segment::kComplete;
    const Share share = sn == next_ ? Share::kAll : Share::kFair;
    std::uint32_t name = assembly(sn);
    const bool is_new = name == 0;
    if (is_new) name = reassembly_.begin(share);
    if (name == 0) return Received::kNoMemory;
    const Received what = reassembly_.add(name, pdu, h.header_bytes, h.so, stop, is_last, share);
    if (is_new && what != Received::kStored) {
      reassembly_.discard(name);
    } else if (is_new) {
      if (page != nullptr) {
        window_.set_assembly(*page, sn, name);
      } else {
        front_ = name;
      }
    }
    if (what == Received::kStored && reassembly_.complete(name)) {
      set_done(page, sn);
      hand_over(reassembly_.finish(name), counters_, deliver);
      return Received::kDelivered;
    }
    if (what == Received::kNoMemory && !is_new && reassembly_.completes(name, h.so, stop, is_last)) {
      set_done(page, sn);
      hand_over(reassembly_.finish_with(name, std::move(pdu), h.header_bytes, h.so, stop), counters_, deliver);
      return Received::kDelivered;
    }
    return what;
  }

  // The page on which `sn` is noted; RX_Next does without a new one.
  [[nodiscard]] ReceivedPage* page_of(std::uint32_t sn) { return sn == next_ ? window_.find(sn) : window_.page(sn); }
  [[nodiscard]] static bool is_done(const ReceivedPage* page, std::uint32_t sn) {
    return page != nullptr && (page->done & ReceivedWindow::bit(sn)) != 0;
  }
  void set_done(ReceivedPage* page, std::uint32_t sn) {
    if (sn == next_) front_ = 0;
    if (page != nullptr) window_.set_done(*page, sn);
  }
  // The assembly with the segments of an SDU; 0 if none is held.
  [[nodiscard]] std::uint32_t assembly(std::uint32_t sn) const {
    return sn == next_ && front_ != 0 ? front_ : window_.assembly(sn);
  }
  // Drops the segments of the last SDU after RX_Next that has any. If there is none, it drops those of RX_Next. Returns
  // false if no segments are held.
  bool give_up_last() {
    const std::uint32_t last = window_.last_partial(next_ + 1, next_highest_);
    const std::uint32_t sn = last == next_highest_ ? next_ : last;
    if (assembly(sn) == 0) return false;
    ++counters_.given_up;
    if (sn == next_ && front_ != 0) {
      reassembly_.discard(std::exchange(front_, 0));
      return true;
    }
    if (window_.take_polls(sn, sn + 1)) triggered_ = true;
    window_.clear(sn, sn + 1, [this](std::uint32_t name) { reassembly_.discard(name); });
    return true;
  }

  // Updates the state variables after PDU `sn` was placed in the reception buffer (TS 38.322 5.2.3.2.3).
  void update(std::uint32_t sn, bool is_complete, Time now) {
    if (!before(sn, next_highest_)) next_highest_ = sn + 1;
    if (is_complete) {
      if (sn == highest_status_) raise_highest_status(window_.first_not_done(sn + 1, next_highest_));
      if (sn == next_) {
        const std::uint32_t next = window_.first_not_done(sn + 1, next_highest_);
        window_.clear(next_, next, [](std::uint32_t) {});
        next_ = next;
      }
    }
    if (t_reassembly_.running()) {
      const std::uint32_t ahead = status_trigger_ - next_;
      const bool outside = ahead > window_size(config_.sn_bits);  // neither in the window nor at its upper edge
      if (ahead == 0 || (ahead == 1 && !has_gap(next_)) || outside) t_reassembly_.stop();
    }
    if (!t_reassembly_.running() && is_open(next_)) start_reassembly(now);
  }

  [[nodiscard]] bool has_gap(std::uint32_t sn) const {
    const std::uint32_t name = assembly(sn);
    return name != 0 && reassembly_.has_gap(name);
  }
  // True if SDUs at or after `sn` were received out of order: `sn` is missing below the highest SN, or has a gap.
  [[nodiscard]] bool is_open(std::uint32_t sn) const {
    const std::uint32_t known = next_highest_ - sn;
    return known > 1 || (known == 1 && has_gap(sn));
  }
  void start_reassembly(Time now) {
    t_reassembly_.start(now, config_.t_reassembly);
    status_trigger_ = next_highest_;
  }

  // Sets RX_Highest_Status. Polls that waited for it to pass them now trigger a STATUS.
  void raise_highest_status(std::uint32_t sn) {
    if (window_.take_polls(highest_status_, sn)) triggered_ = true;
    if (front_polled_ && before(next_, sn)) {
      triggered_ = true;
      front_polled_ = false;
    }
    highest_status_ = sn;
  }

  // Acts on a poll (TS 38.322 5.3.4): at once, or later when RX_Highest_Status has passed the PDU.
  void poll(std::uint32_t sn, Received what) {
    const bool discarded = what != Received::kDelivered && what != Received::kStored;
    if (discarded || before(sn, highest_status_)) {
      triggered_ = true;
      return;
    }
    if (ReceivedPage* page = window_.find(sn); page != nullptr) {
      page->polled |= ReceivedWindow::bit(sn);
    } else {
      front_polled_ = true;  // only RX_Next is held without a page
    }
  }

  // Calls add(Nack) for every hole below RX_Highest_Status as long as `add` returns true. Returns the ACK_SN that
  // follows. The peer takes everything below ACK_SN that a STATUS does not name as received. So if the STATUS ends
  // between two holes of an SDU, extend_last() makes its last block run to the end of that SDU. An ACK_SN before that
  // SDU would be legal too. But an SDU with more holes than fit in a grant would then never be reported.
  template <class Add, class ExtendLast>
  [[nodiscard]] std::uint32_t report(Add&& add, ExtendLast&& extend_last) const {
    for (std::uint32_t sn = next_; before(sn, highest_status_);) {
      sn = window_.first_not_done(sn, highest_status_);
      if (sn == highest_status_) break;
      if (const std::uint32_t name = assembly(sn); name != 0) {
        bool any = false;
        const bool all = reassembly_.for_each_hole(name, [&](std::uint32_t start, std::uint32_t stop) {
          const bool fits = add(hole(sn, start, stop));
          any |= fits;
          return fits;
        });
        if (!all && !any) return sn;
        if (!all) {
          extend_last();
          return window_.first_not_done(sn + 1, highest_status_);
        }
        ++sn;
        continue;
      }
      const wire::rlc::Nack run = missing_run(sn);
      if (!add(run)) return sn;
      sn += run.range;
    }
    return highest_status_;
  }

  // The run of SDUs from `sn` on of which nothing is held.
  [[nodiscard]] wire::rlc::Nack missing_run(std::uint32_t sn) const {
    const std::uint32_t most = std::min<std::uint32_t>(highest_status_ - sn, kMaxRange);
    wire::rlc::Nack nack{.sn = sn & sn_mask(config_.sn_bits)};
    nack.range = static_cast<std::uint8_t>(window_.first_touched(sn, sn + most) - sn);
    nack.has_range = nack.range > 1;
    return nack;
  }
  [[nodiscard]] wire::rlc::Nack hole(std::uint32_t sn, std::uint32_t start, std::uint32_t stop) const {
    wire::rlc::Nack nack{.sn = sn & sn_mask(config_.sn_bits), .has_so = true};
    nack.so_start = static_cast<std::uint16_t>(start);
    nack.so_end = stop > kMaxSduBytes ? wire::rlc::kSoEnd : static_cast<std::uint16_t>(stop - 1);
    return nack;
  }

  AmConfig config_;
  Reassembly<B> reassembly_;
  ReceivedWindow window_;
  std::uint32_t front_ = 0;    // the assembly of RX_Next, if its segments came when its SN had no page
  bool front_polled_ = false;  // a poll on RX_Next waits, and RX_Next has no page
  std::uint32_t next_ = 0, next_highest_ = 0, highest_status_ = 0, status_trigger_ = 0;
  Timer t_reassembly_, t_status_prohibit_;
  bool triggered_ = false;
  ReceiveCounters counters_;
  StatusCounters counters_status_;
};

}  // namespace splitplane::ran::rlc
