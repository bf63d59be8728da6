// The receiving side of an AM entity (TS 38.322 5.2.3.2, 5.3.4): O(1) a PDU, a STATUS in the number of its holes.
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

  // Takes an AMD PDU. deliver(std::span<Part<B>>) gets each completed SDU's parts, in order of their octets, and may
  // take their buffers; SDUs come in the order of completion.
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

  // The same for an AMD PDU with a complete SDU whose buffer stays the caller's (header mode): on kDelivered he
  // delivers it. kRefused: a segment.
  Received receive_complete(const wire::rlc::AmHeader& header, Time now) {
    counters_status_.polls += header.poll ? 1 : 0;
    const Received what = take_complete(header, now);
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
  // When tick() has something to do.
  [[nodiscard]] Time next_expiry() const { return std::min(t_reassembly_.expiry(), t_status_prohibit_.expiry()); }

  [[nodiscard]] bool status_due() const { return triggered_ && !t_status_prohibit_.running(); }
  // Builds the STATUS PDU of this moment into `out`, as much as fits, and starts t-StatusProhibit. Octets written; 0 if
  // `out` has no room for a STATUS without NACK.
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

  // Octets of the whole STATUS PDU of this moment; 0 if none is due (TS 38.322 5.5).
  [[nodiscard]] std::uint64_t volume() const {
    if (!status_due()) return 0;
    std::uint64_t octets = wire::rlc::kStatusFixedBytes;
    const auto add = [&](const wire::rlc::Nack& nack) {
      octets += wire::rlc::nack_bytes(config_.sn_bits, nack);
      return true;
    };
    (void)report(add, [] {});
    return octets;
  }

  // Re-establishment (TS 38.322 5.1.3): nothing is held, all variables are `sn`.
  void restart_at(std::uint32_t sn) {
    window_.clear(next_, next_ + window_size(config_.sn_bits),
                  [this](std::uint32_t name) { reassembly_.discard(name); });
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
  static constexpr std::uint32_t kMaxRange = 255;  // NACK range has 8 bits

  template <class Deliver>
  Received take(const wire::rlc::AmHeader& h, B pdu, Time now, Deliver&& deliver) {
    const std::uint32_t sn = from_base(next_, h.sn, config_.sn_bits);
    const std::size_t length = pdu.size() - h.header_bytes;
    Received what = Received::kOutsideWindow;
    if (length + h.so > kMaxSduBytes) {
      what = Received::kContradiction;
    } else if (sn == next_highest_ && h.si == wire::rlc::Segment::kComplete && window_.empty()) [[likely]] {
      take_in_order(std::move(pdu), h.header_bytes, deliver);
      triggered_ |= h.poll;
      return Received::kDelivered;
    } else if (sn - next_ < window_size(config_.sn_bits)) {
      what = store(h, sn, std::move(pdu), deliver);
      if (what == Received::kDelivered || what == Received::kStored) update(sn, what == Received::kDelivered, now);
    }
    if (h.poll && what != Received::kNoMemory) poll(sn, what);
    return what;
  }

  Received take_complete(const wire::rlc::AmHeader& h, Time now) {
    if (h.si != wire::rlc::Segment::kComplete) return Received::kRefused;
    const std::uint32_t sn = from_base(next_, h.sn, config_.sn_bits);
    Received what = Received::kOutsideWindow;
    if (sn == next_highest_ && window_.empty()) [[likely]] {
      next_ = highest_status_ = ++next_highest_;
      triggered_ |= h.poll;
      return Received::kDelivered;
    }
    if (sn - next_ < window_size(config_.sn_bits)) {
      ReceivedPage* const page = window_.page(sn);
      if (page == nullptr) return Received::kNoMemory;
      what = (page->done & ReceivedWindow::bit(sn)) != 0 ? Received::kDuplicate : Received::kDelivered;
      if (what == Received::kDelivered) {
        window_.set_done(*page, sn);
        update(sn, true, now);
      }
    }
    if (h.poll) poll(sn, what);
    return what;
  }

  // Nothing is missing and nothing is held: no window memory is touched, no timer runs.
  template <class Deliver>
  void take_in_order(B pdu, std::uint8_t header_bytes, Deliver&& deliver) {
    next_ = highest_status_ = ++next_highest_;
    Part<B> part{std::move(pdu), header_bytes, 0};
    part.length = static_cast<std::uint16_t>(part.pdu.size() - header_bytes);
    hand_over(std::span(&part, 1), counters_, deliver);
  }

  template <class Deliver>
  Received store(const wire::rlc::AmHeader& h, std::uint32_t sn, B pdu, Deliver&& deliver) {
    ReceivedPage* const page = window_.page(sn);
    if (page == nullptr) return Received::kNoMemory;
    if ((page->done & ReceivedWindow::bit(sn)) != 0) return Received::kDuplicate;
    const auto length = static_cast<std::uint16_t>(pdu.size() - h.header_bytes);
    std::uint32_t name = (page->partial & ReceivedWindow::bit(sn)) != 0 ? page->assembly[sn % kPageSns] : 0;
    if (name == 0 && h.si == wire::rlc::Segment::kComplete) {
      Part<B> part{std::move(pdu), h.header_bytes, length};
      window_.set_done(*page, sn);
      hand_over(std::span(&part, 1), counters_, deliver);
      return Received::kDelivered;
    }
    const bool is_new = name == 0;
    if (is_new) name = reassembly_.begin();
    if (name == 0) return Received::kNoMemory;
    const bool is_last = h.si == wire::rlc::Segment::kLast || h.si == wire::rlc::Segment::kComplete;
    const Received what =
        reassembly_.add(name, std::move(pdu), h.header_bytes, h.so, static_cast<std::uint16_t>(h.so + length), is_last);
    if (is_new) {
      if (what != Received::kStored) {
        reassembly_.discard(name);
      } else {
        window_.set_assembly(*page, sn, name);
      }
    }
    if (what != Received::kStored || !reassembly_.complete(name)) return what;
    window_.set_done(*page, sn);
    hand_over(reassembly_.finish(name), counters_, deliver);
    return Received::kDelivered;
  }

  // TS 38.322 5.2.3.2.3, after PDU `sn` was placed in the reception buffer.
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
    const std::uint32_t name = window_.assembly(sn);
    return name != 0 && reassembly_.has_gap(name);
  }
  // SDUs at or after `sn` were received out of order: `sn` itself is missing below the highest, or has a gap.
  [[nodiscard]] bool is_open(std::uint32_t sn) const {
    const std::uint32_t known = next_highest_ - sn;
    return known > 1 || (known == 1 && has_gap(sn));
  }
  void start_reassembly(Time now) {
    t_reassembly_.start(now, config_.t_reassembly);
    status_trigger_ = next_highest_;
  }

  // Polls that waited for RX_Highest_Status to pass them trigger now.
  void raise_highest_status(std::uint32_t sn) {
    if (window_.take_polls(highest_status_, sn)) triggered_ = true;
    highest_status_ = sn;
  }

  // TS 38.322 5.3.4: at once, or delayed until RX_Highest_Status has passed the PDU.
  void poll(std::uint32_t sn, Received what) {
    const bool discarded = what != Received::kDelivered && what != Received::kStored;
    if (discarded || before(sn, highest_status_)) {
      triggered_ = true;
      return;
    }
    if (ReceivedPage* page = window_.page(sn); page != nullptr) page->polled |= ReceivedWindow::bit(sn);
  }

  // Calls add(Nack) for every hole below RX_Highest_Status as long as it returns true; the ACK_SN that follows. What a
  // STATUS does not name below ACK_SN counts as received: where it ends between two holes of an SDU, extend_last()
  // makes the last block run to that SDU's end. ACK_SN before the SDU would be legal as well, but then an SDU with more
  // holes than a grant holds is never reported.
  template <class Add, class ExtendLast>
  [[nodiscard]] std::uint32_t report(Add&& add, ExtendLast&& extend_last) const {
    for (std::uint32_t sn = next_; before(sn, highest_status_);) {
      sn = window_.first_not_done(sn, highest_status_);
      if (sn == highest_status_) break;
      if (const std::uint32_t name = window_.assembly(sn); name != 0) {
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
      const std::uint32_t most = std::min<std::uint32_t>(highest_status_ - sn, kMaxRange);
      const std::uint32_t run = window_.first_touched(sn, sn + most) - sn;
      wire::rlc::Nack nack{.sn = sn & sn_mask(config_.sn_bits)};
      nack.has_range = run > 1;
      nack.range = static_cast<std::uint8_t>(run);
      if (!add(nack)) return sn;
      sn += run;
    }
    return highest_status_;
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
  std::uint32_t next_ = 0, next_highest_ = 0, highest_status_ = 0, status_trigger_ = 0;
  Timer t_reassembly_, t_status_prohibit_;
  bool triggered_ = false;
  ReceiveCounters counters_;
  StatusCounters counters_status_;
};

}  // namespace splitplane::ran::rlc
