// A UM entity (TS 38.322 5.2.2). Segments of an SDU share an SN, complete SDUs have none, and lost PDUs are not sent
// again. Full mode uses it (radio/logical_channel.h): header mode sends whole SDUs (ran/header_mode.h).
#pragma once

#include "ran/rlc/counters.h"
#include "ran/rlc/reassembly.h"
#include "ran/rlc/received_window.h"
#include "ran/rlc/sdu_queue.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class UmSend {
 public:
  UmSend(const UmConfig& config, Memory<B>& memory) : config_(config), queue_(memory, config.max_queued) {}

  // Takes an SDU from PDCP. On false the SDU stays with the caller; SduQueue::push says why.
  [[nodiscard]] bool send(B& sdu) { return queue_.push(sdu, counters_); }
  // Takes back SDU `ordinal` if none of its octets was sent (TS 38.322 5.4).
  bool discard(std::uint64_t ordinal) {
    const bool done = queue_.discard(ordinal);
    counters_.discarded += done ? 1 : 0;
    return done;
  }

  // The next PDU of at most `grant` octets; none if no SDU waits or a header with one octet does not fit.
  [[nodiscard]] Pdu<B> pull(std::size_t grant) {
    using wire::rlc::Segment;
    Pdu<B> pdu;
    const B* const sdu = current_ ? &current_ : queue_.front();
    if (sdu == nullptr) return pdu;
    const std::size_t bytes = sdu->size();
    const std::size_t whole = std::size_t{wire::rlc::um_header_bytes(config_.sn_bits, Segment::kComplete)} + bytes;
    wire::rlc::UmHeader h{.so = sent_, .sn = next_ & sn_mask(config_.sn_bits)};
    if (sent_ == 0 && whole <= grant) {
      pdu.length = static_cast<std::uint16_t>(bytes);
    } else {
      const unsigned header =
          wire::rlc::um_header_bytes(config_.sn_bits, sent_ == 0 ? Segment::kFirst : Segment::kMiddle);
      if (grant <= header) return pdu;
      pdu.offset = sent_;
      pdu.length = static_cast<std::uint16_t>(std::min(grant - header, bytes - sent_));
    }
    h.si = wire::rlc::segment_of(pdu.offset, pdu.length, bytes);
    pdu.header_bytes = static_cast<std::uint8_t>(wire::rlc::write_um(pdu.header, config_.sn_bits, h));
    ++counters_.pdus;
    if (h.si == Segment::kComplete) {
      pdu.sdu = queue_.take();
      return pdu;
    }
    ++counters_.segments;
    if (!current_) current_ = queue_.take();
    sent_ = static_cast<std::uint16_t>(sent_ + pdu.length);
    if (h.si != Segment::kLast) {
      pdu.sdu = current_.share();
      return pdu;
    }
    pdu.sdu = std::move(current_);
    sent_ = 0;
    ++next_;
    return pdu;
  }

  // Re-establishes this half (TS 38.322 5.1.3): it drops all waiting SDUs and sets TX_Next to `sn`.
  void restart_at(std::uint32_t sn) {
    queue_.clear();
    current_.release();
    sent_ = 0;
    next_ = sn;
  }

  [[nodiscard]] const SduQueue<B>& queue() const { return queue_; }
  [[nodiscard]] std::uint32_t next() const { return next_; }  // TX_Next (TS 38.322 7.1), without the modulus
  [[nodiscard]] std::uint32_t waiting() const { return queue_.size() + (current_ ? 1 : 0); }
  // Octets of the PDUs that would carry everything that waits (TS 38.322 5.5).
  [[nodiscard]] std::uint64_t volume() const {
    const std::uint64_t cut =
        current_ ? current_.size() - sent_ + wire::rlc::um_header_bytes(config_.sn_bits, wire::rlc::Segment::kLast) : 0;
    return queue_.octets() + queue_.size() + cut;
  }
  [[nodiscard]] const SendCounters& counters() const { return counters_; }

 private:
  UmConfig config_;
  SduQueue<B> queue_;
  B current_;               // the SDU that is being segmented
  std::uint16_t sent_ = 0;  // octets of current_ that were sent
  std::uint32_t next_ = 0;
  SendCounters counters_;
};

template <buf::PacketBuffer B>
class UmReceive {
 public:
  UmReceive(const UmConfig& config, Memory<B>& memory)
      : config_(config), reassembly_(memory), window_(config.sn_bits, memory.directories, memory.received_pages) {}
  UmReceive(const UmReceive&) = delete;
  UmReceive& operator=(const UmReceive&) = delete;
  ~UmReceive() { restart_at(0); }

  // Takes a UMD PDU. AmReceive::receive describes `deliver`.
  template <class Deliver>
  Received receive(B pdu, Time now, Deliver&& deliver) {
    const auto header = wire::rlc::parse_um(buf::octets(pdu), config_.sn_bits);
    Received what = Received::kRefused;
    if (header) what = take(*header, std::move(pdu), now, deliver);
    counters_.count(what);
    return what;
  }

  // Runs t-Reassembly (TS 38.322 5.2.2.2.4).
  void tick(Time now) {
    if (!t_reassembly_.expired(now)) return;
    t_reassembly_.stop();
    advance_to(window_.first_not_done(timer_trigger_, next_highest_));
    if (is_open()) start_reassembly(now);
  }
  [[nodiscard]] Time next_expiry() const { return t_reassembly_.expiry(); }

  // Re-establishes this half (TS 38.322 5.1.3): it drops everything it holds and sets all state variables to `sn`.
  void restart_at(std::uint32_t sn) {
    advance_to(base() + (2 * window_size(config_.sn_bits)));
    next_reassembly_ = next_highest_ = timer_trigger_ = sn;
    t_reassembly_.stop();
  }

  // RX_Next_Reassembly, RX_Next_Highest, RX_Timer_Trigger (TS 38.322 7.1), without the modulus.
  [[nodiscard]] std::uint32_t next_reassembly() const { return next_reassembly_; }
  [[nodiscard]] std::uint32_t next_highest() const { return next_highest_; }
  [[nodiscard]] std::uint32_t timer_trigger() const { return timer_trigger_; }
  [[nodiscard]] const Timer& t_reassembly() const { return t_reassembly_; }
  [[nodiscard]] std::uint32_t held() const { return held_; }  // SDUs of which segments are held
  [[nodiscard]] const ReceiveCounters& counters() const { return counters_; }

 private:
  template <class Deliver>
  Received take(const wire::rlc::UmHeader& h, B pdu, Time now, Deliver&& deliver) {
    using wire::rlc::Segment;
    const auto length = static_cast<std::uint32_t>(pdu.size() - h.header_bytes);
    if (length + h.so > kMaxSduBytes) return Received::kContradiction;
    if (h.si == Segment::kComplete) {
      Part<B> part{std::move(pdu), h.header_bytes, static_cast<std::uint16_t>(length)};
      hand_over(std::span(&part, 1), counters_, deliver);
      return Received::kDelivered;
    }
    const std::uint32_t sn = from_base(base(), h.sn, config_.sn_bits);
    const bool inside = before(sn, next_highest_);
    if (inside && before(sn, next_reassembly_)) return Received::kOutsideWindow;
    ReceivedPage* const page = window_.page(sn);
    if (page == nullptr) return Received::kNoMemory;
    if ((page->done & ReceivedWindow::bit(sn)) != 0) return Received::kDuplicate;
    std::uint32_t name = (page->partial & ReceivedWindow::bit(sn)) != 0 ? page->assembly[sn % kPageSns] : 0;
    const bool is_new = name == 0;
    if (is_new && (name = reassembly_.begin()) == 0) return Received::kNoMemory;
    const Received what = reassembly_.add(name, pdu, h.header_bytes, h.so, static_cast<std::uint16_t>(h.so + length),
                                          h.si == Segment::kLast);
    if (what != Received::kStored) {
      if (is_new) reassembly_.discard(name);
      return what;
    }
    if (is_new) {
      window_.set_assembly(*page, sn, name);
      ++held_;
    }
    const bool complete = reassembly_.complete(name);
    if (complete) {
      window_.set_done(*page, sn);
      --held_;
      hand_over(reassembly_.finish(name), counters_, deliver);
      if (sn == next_reassembly_) advance_to(window_.first_not_done(sn + 1, next_highest_));
    } else if (!inside) {
      next_highest_ = sn + 1;
      if (before(next_reassembly_, base())) advance_to(window_.first_not_done(base(), next_highest_));
    }
    const bool is_over = !before(next_reassembly_, timer_trigger_) || !is_open();
    if (t_reassembly_.running() && is_over) t_reassembly_.stop();
    if (!t_reassembly_.running() && is_open()) start_reassembly(now);
    return complete ? Received::kDelivered : what;
  }

  // The lower edge of the reassembly window.
  [[nodiscard]] std::uint32_t base() const { return next_highest_ - window_size(config_.sn_bits); }
  // Sets RX_Next_Reassembly to `sn` and gives up the segments below it.
  void advance_to(std::uint32_t sn) {
    window_.clear(next_reassembly_, sn, [this](std::uint32_t name) {
      reassembly_.discard(name);
      --held_;
      ++counters_.given_up;
    });
    next_reassembly_ = sn;
  }
  // True if a PDU below the highest SN is missing (TS 38.322 5.2.2.2.3).
  [[nodiscard]] bool is_open() const {
    const std::uint32_t known = next_highest_ - next_reassembly_;
    if (known != 1) return known > 1;
    const std::uint32_t name = window_.assembly(next_reassembly_);
    return name != 0 && reassembly_.has_gap(name);
  }
  void start_reassembly(Time now) {
    t_reassembly_.start(now, config_.t_reassembly);
    timer_trigger_ = next_highest_;
  }

  UmConfig config_;
  Reassembly<B> reassembly_;
  ReceivedWindow window_;
  std::uint32_t next_reassembly_ = 0, next_highest_ = 0, timer_trigger_ = 0;
  std::uint32_t held_ = 0;
  Timer t_reassembly_;
  ReceiveCounters counters_;
};

}  // namespace splitplane::ran::rlc
