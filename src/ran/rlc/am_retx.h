// The half of AM transmission that keeps the copies (TS 38.322 5.3). It owns the window of sent SDUs, STATUS, POLL_SN,
// t-PollRetransmit and retransmission. AmSend is the other half; am_messages.h has what they exchange.
#pragma once

#include <cstddef>

#include "ran/rlc/am_messages.h"
#include "ran/rlc/counters.h"
#include "ran/rlc/sent_window.h"
#include "wire/rlc_status.h"

namespace splitplane::ran::rlc {

template <buf::Keepable B>
class AmRetx {
 public:
  // The most work of one receive_status() call: NACK blocks plus unacknowledged SDUs that they name.
  static constexpr std::uint32_t kStatusWork = 4096;

  AmRetx(const AmConfig& config, Memory<B>& memory)
      : poll_retransmit_time_(config.t_poll_retransmit),
        max_retx_(config.max_retx),
        sn_bits_(config.sn_bits),
        whole_sdus_(config.whole_sdus),
        window_(config.sn_bits, memory),
        repair_unit_(config.repair_unit) {}
  AmRetx(const AmRetx&) = delete;
  AmRetx& operator=(const AmRetx&) = delete;
  ~AmRetx() { restart_at(0); }

  // How many new SDUs can surely be kept, at most a page. It is 0 while buffers that are not yet released occupy the
  // SNs that come next after a wrap.
  [[nodiscard]] std::uint32_t room() const {
    if (end_ - oldest() >= sn_mask(sn_bits_) - kPageSns) return 0;
    return window_.room(end_);
  }

  // The lowest SN whose buffer may still be held, without the modulus. It is at most next_ack().
  [[nodiscard]] std::uint32_t oldest() const { return before(release_from_, next_ack_) ? release_from_ : next_ack_; }

  // SDUs [next(), next() + count) were sent and acknowledged, and their buffers given back, before this half knew of
  // them.
  void skip(std::uint32_t count) {
    if (window_.unacked() == 0 && window_.held() == 0) return restart_at(end_ + count);
    end_ += count;
  }
  // SDU next() was sent, and there is no copy of it. It may be acknowledged as any other. The caller has checked
  // room(), and calls watch_last() when no SDU with a copy follows.
  void lost() {
    window_.add(end_++, B(), 1);
    last_sent_ = 1;
  }
  // True if the peer misses an SDU of which there is no copy. Only re-establishment ends that.
  [[nodiscard]] bool copy_is_gone() const { return copy_is_gone_; }

  // Records what AmSend says of a PDU with octets that were never sent before. The caller has checked room() for a new
  // SDU.
  void submitted(Submission<B> s, Time now) {
    if (s.sn == end_) {
      window_.add(end_++, std::move(s.sdu), s.bytes);
      frequent_.unacked_most = std::max(frequent_.unacked_most, window_.unacked());
    }
    last_sent_ = s.sent;
    if (s.poll) polled(now);
  }

  // Acts on a STATUS PDU. It ignores a whole PDU that is stale or that contradicts what was sent. After kStatusWork
  // NACK blocks and SDUs it acts as if ACK_SN were there; the next STATUS brings the rest. It calls max_retx(sn) for
  // each SDU that reached maxRetxThreshold.
  template <class MaxRetx>
  StatusResult receive_status(Octets pdu, Time now, MaxRetx&& max_retx) {
    const auto status = wire::rlc::parse_status(pdu, sn_bits_);
    std::uint32_t ack = 0;
    const StatusResult result = status ? check(*status, ack) : StatusResult::kMalformed;
    count(result);
    if (result == StatusResult::kTaken) apply(*status, ack, now, max_retx);
    return result;
  }

  // Runs t-PollRetransmit (TS 38.322 5.3.3.4). `sender` is what AmSend has to send.
  template <class MaxRetx>
  void tick(Time now, const SenderState& sender, MaxRetx&& max_retx) {
    if (!t_poll_retransmit_.expired(now)) return;
    t_poll_retransmit_.stop();
    ++rare_.poll_timeouts;
    poll_wanted_ = true;
    if ((sender.unsent || window_.pending() != 0) && !sender.stalled) return;
    const std::uint32_t sn = last_to_send();
    if (sn != end_) make_pending(sn, 0, wire::rlc::kSoEnd, now, max_retx);
  }
  [[nodiscard]] Time next_expiry() const { return t_poll_retransmit_.expiry(); }
  // For a sender that polls by its counters only, as a card: what it sent last must be asked for by t-PollRetransmit.
  // Call it after submitted() and receive_status().
  void watch_last(Time now) {
    if (window_.unacked() != 0 && !t_poll_retransmit_.running()) polled(now);
  }

  // True after a protocol failure: many polls in a row over a long time brought no acknowledgement, so the two ends no
  // longer agree on the numbers. RETX_COUNT does not see that while new SDUs come: each poll restarts t-PollRetransmit,
  // and its expiry sends the newest SDU again. Invalid STATUS PDUs alone are no failure, because an attacker can send
  // them.
  [[nodiscard]] bool peer_lost() const { return peer_lost_; }
  [[nodiscard]] std::uint32_t polls_in_vain() const { return polls_in_vain_; }

  [[nodiscard]] bool has_pending() const { return window_.pending() != 0; }
  // The next retransmission within `grant` octets: the lowest waiting SN, from its lowest octet on. It returns none if
  // the header and one octet do not fit.
  [[nodiscard]] Pdu<B> pull(std::size_t grant, const SenderState& sender, Time now) {
    Pdu<B> pdu;
    if (!has_pending()) return pdu;
    pending_from_ = window_.next_pending(before(pending_from_, next_ack_) ? next_ack_ : pending_from_, end_);
    const std::uint32_t sn = pending_from_;
    SentPage<B>& page = *window_.find(sn);
    SentSdu<B>& sdu = page.sdu[sn % kPageSns];
    const Interval wanted = window_.first_pending(page, sn);
    const unsigned header = wire::rlc::am_header_bytes(
        sn_bits_, wanted.start == 0 ? wire::rlc::Segment::kFirst : wire::rlc::Segment::kMiddle);
    if (grant <= header) return pdu;
    pdu.offset = wanted.start;
    pdu.length = static_cast<std::uint16_t>(std::min<std::size_t>(grant - header, wanted.stop - wanted.start));
    if (!sdu.sdu) [[unlikely]] {
      window_.take_pending(page, sn, pdu.length);
      copy_is_gone_ = true;
      return {};
    }
    pdu.sdu = sdu.sdu.share();
    window_.take_pending(page, sn, pdu.length);
    wire::rlc::AmHeader h{.si = wire::rlc::segment_of(pdu.offset, pdu.length, sdu.bytes), .so = pdu.offset};
    h.sn = sn & sn_mask(sn_bits_);
    h.poll = poll_after(sender);
    pdu.header_bytes = static_cast<std::uint8_t>(wire::rlc::write_am(pdu.header, sn_bits_, h));
    if (h.poll) polled(now);
    ++rare_.pdus;
    rare_.octets += pdu.length;
    return pdu;
  }

  // Octets of the PDUs that would carry everything that waits for retransmission, one PDU for each run of octets (TS
  // 38.322 5.5).
  [[nodiscard]] std::uint64_t volume() const { return window_.pending_volume(); }

  // Gives back at most `budget` buffers of acknowledged SDUs. It calls released(sn, B) for each, which also tells PDCP
  // that the SDU was delivered. Returns their number.
  template <class Released>
  std::size_t release(std::size_t budget, Released&& released) {
    const std::size_t before_it = budget;
    if (before(release_from_, release_end_)) {
      release_from_ = window_.release(release_from_, release_end_, end_, budget, released);
    }
    return before_it - budget;
  }
  // True if release() has something to do.
  [[nodiscard]] bool releasable() const { return before(release_from_, release_end_); }

  // True if the next PDU of either half carries a poll because t-PollRetransmit expired.
  [[nodiscard]] bool poll_wanted() const { return poll_wanted_; }

  // Takes out all SDUs that are not acknowledged and calls taken(B) in order of their SNs. PDCP data recovery calls it
  // before restart_at().
  template <class Taken>
  void take_unacked(Taken&& taken) {
    window_.take_open(next_ack_, end_, taken);
  }
  // Marks SDU `sn`, which is not acknowledged, for retransmission.
  void resend(std::uint32_t sn, Time now) {
    make_pending(sn, 0, wire::rlc::kSoEnd, now, [](std::uint32_t) {});
  }
  // Marks every SDU that is not acknowledged for retransmission.
  void resend_all(Time now) {
    for (std::uint32_t sn = next_ack_; sn != end_; ++sn) {
      if (window_.is_open(sn)) make_pending(sn, 0, wire::rlc::kSoEnd, now, [](std::uint32_t) {});
    }
  }

  // For one who serves a burst of many bearers, whose state is in no cache. Each function fetches what the next ones
  // look at. First the state that every SDU and every STATUS needs:
  void prefetch() const {
    const auto* const at = reinterpret_cast<const char*>(this);
    for (std::size_t octet = 0; octet < hot_octets(); octet += kLine) __builtin_prefetch(at + octet, 1);
  }
  [[nodiscard]] static constexpr std::size_t hot_octets() {
    return offsetof(AmRetx, window_) + SentWindow<B>::hot_octets();
  }
  // What submitted() needs of the page of SDU `sn`, and what a STATUS that acknowledges everything needs. They return
  // false if the page is new, or if the three functions below have to fetch the way to it first, one level each.
  bool prefetch_sdu(std::uint32_t sn) const { return window_.prefetch(sn, sn + 1); }
  bool prefetch_open() const { return window_.prefetch(next_ack_, end_); }
  void prefetch_root(std::uint32_t sn) const { window_.prefetch_root(sn); }
  void prefetch_directory(std::uint32_t sn) const { window_.prefetch_directory(sn); }
  void prefetch_page(std::uint32_t sn) const { window_.prefetch_page(sn, sn + 1); }
  // The page that SDU `sn` gets if it has none, after `ahead` others got theirs.
  void prefetch_new(std::uint32_t sn, unsigned ahead) const { window_.prefetch_new(sn, ahead); }
  // What release() will look at.
  void prefetch_released() const { window_.prefetch_page(release_from_, release_end_); }

  // The buffer of an SDU that is not acknowledged; nullptr if `sn` has none.
  [[nodiscard]] B* kept(std::uint32_t sn) const { return window_.kept(sn); }
  // The peer could not answer what was sent until now: attempts count from here on.
  void forget_attempts() {
    window_.forget_attempts(next_ack_, end_);
    peer_answers();
  }

  // Re-establishes this half (TS 38.322 5.1.3): it drops everything it holds and sets all state variables to `sn`.
  void restart_at(std::uint32_t sn) {
    const std::uint32_t lowest = before(release_from_, next_ack_) ? release_from_ : next_ack_;
    window_.clear(lowest, end_);
    next_ack_ = end_ = poll_sn_ = pending_from_ = release_from_ = release_end_ = sn;
    last_sent_ = 0;
    poll_wanted_ = copy_is_gone_ = false;
    peer_answers();
    t_poll_retransmit_.stop();
  }

  // TX_Next_Ack, TX_Next, POLL_SN (TS 38.322 7.1), without the modulus.
  [[nodiscard]] std::uint32_t next_ack() const { return next_ack_; }
  [[nodiscard]] std::uint32_t next() const { return end_; }
  // The highest ACK_SN of a STATUS until now. Some SDUs below it may be reported as missing.
  [[nodiscard]] std::uint32_t highest_ack() const { return release_end_; }
  [[nodiscard]] std::uint32_t poll_sn() const { return poll_sn_; }
  [[nodiscard]] const Timer& t_poll_retransmit() const { return t_poll_retransmit_; }
  [[nodiscard]] std::uint32_t unacked() const { return window_.unacked(); }
  [[nodiscard]] std::uint32_t pending() const { return window_.pending(); }
  // Number of SDUs whose buffers are held: those not acknowledged, or not yet released.
  [[nodiscard]] std::uint32_t held() const { return window_.held(); }
  [[nodiscard]] RetxCounters counters() const { return {frequent_, rare_}; }

 private:
  static constexpr std::size_t kLine = SentWindow<B>::kLine;
  static constexpr std::uint32_t kSduIsOver = 0x10000;  // one more than the last octet that SO can name

  void peer_answers() {
    polls_in_vain_ = 0;
    peer_lost_ = false;
  }
  // Counts a poll that no acknowledgement followed. The limit is twice maxRetxThreshold, and at least 16. If each
  // direction drops a quarter of all PDUs, 16 polls in a row fail once in a million times. The polls must also last as
  // long as t-PollRetransmit would need for them.
  void count_poll(Time now) {
    const std::uint32_t most = std::max(16U, 2U * max_retx_);
    if (polls_in_vain_++ == 0) first_in_vain_ = now;
    if (peer_lost_ || polls_in_vain_ <= most || now - first_in_vain_ < most * poll_retransmit_time_) return;
    peer_lost_ = true;
    ++rare_.peer_lost;
  }

  // What a NACK block says: SDUs [sn, stop) below ACK_SN are missing, the last one up to octet `so_end`. The block says
  // nothing if sn equals stop.
  struct Nacked {
    std::uint32_t sn, stop;
    std::uint16_t so_end;
    bool is_trimmed;  // the block also named SDUs at or above ACK_SN, of which the PDU says nothing
  };
  // Places a NACK's SDUs around the window's base; it looks back over at most half of the number space. Some peers cut
  // a STATUS to the grant at ACK_SN and leave the last range as it was.
  [[nodiscard]] Nacked place(const wire::rlc::Nack& nack, std::uint32_t ack) const {
    const std::uint32_t sn = from_base(next_ack_ - window_size(sn_bits_), nack.sn, sn_bits_);
    if (!before(sn, ack)) return {sn, sn, wire::rlc::kSoEnd, true};
    if (before(ack, sn + nack.range)) return {sn, ack, wire::rlc::kSoEnd, true};
    return {sn, sn + nack.range, nack.so_end, false};
  }

  void count(StatusResult result) {
    (result == StatusResult::kTaken   ? frequent_.status
     : result == StatusResult::kStale ? rare_.status_stale
                                      : rare_.status_malformed) += 1;
  }

  // Checks TS 38.322 5.3.3.3 and that the PDU makes sense. Sets `ack` to ACK_SN without the modulus.
  [[nodiscard]] StatusResult check(const wire::rlc::Status& status, std::uint32_t& ack) const {
    ack = from_base(next_ack_, status.ack_sn, sn_bits_);
    if (ack - next_ack_ > end_ - next_ack_) {
      return ack - next_ack_ < window_size(sn_bits_) ? StatusResult::kMalformed : StatusResult::kStale;
    }
    const bool is_cut = !whole_sdus_ && end_ != next_ack_ && last_sent_ != bytes_of(end_ - 1);
    bool covers_cut = false;
    std::uint32_t last_stop = next_ack_, next_octet = kSduIsOver;  // where the block before ended
    std::uint32_t blocks = 0;
    wire::rlc::Nack nack;
    for (wire::rlc::NackCursor cursor(status); blocks != kStatusWork && cursor.next(nack); ++blocks) {
      const Nacked n = place(nack, ack);
      if (n.sn == n.stop || !before(next_ack_, n.stop)) continue;
      if (!octets_exist(nack, n)) return StatusResult::kMalformed;
      // A block may begin in the SDU in which the one before ended, with or without a range.
      const bool goes_on = n.sn + 1 == last_stop && nack.has_so && nack.so_start >= next_octet;
      const bool goes_back = before(before(n.sn, next_ack_) ? next_ack_ : n.sn, last_stop);
      if (goes_back && !goes_on) return StatusResult::kMalformed;
      covers_cut |= n.stop == end_;
      last_stop = n.stop;
      next_octet = nack.has_so && n.so_end != wire::rlc::kSoEnd ? n.so_end + 1U : kSduIsOver;
    }
    const bool acks_unsent = is_cut && !covers_cut && blocks != kStatusWork && ack == end_ && window_.is_open(end_ - 1);
    return acks_unsent ? StatusResult::kMalformed : StatusResult::kTaken;
  }

  template <class MaxRetx>
  void apply(const wire::rlc::Status& status, std::uint32_t ack, Time now, MaxRetx&& max_retx) {
    const std::uint32_t base = next_ack_;
    const std::uint64_t acked_before = frequent_.acked;
    std::uint32_t acked_up_to = base, work = kStatusWork;
    wire::rlc::Nack nack;
    for (wire::rlc::NackCursor cursor(status); cursor.next(nack);) {
      if (work == 0) {
        ack = acked_up_to;
        break;
      }
      const std::uint32_t work_before = --work;
      Nacked n = place(nack, ack);
      if (n.sn != n.stop && before(base, n.stop)) {
        const std::uint32_t first = before(n.sn, base) ? base : n.sn;
        acknowledge(acked_up_to, first, now);
        if (const std::uint32_t stop = window_.pass_open(first, n.stop, work); stop != n.stop) {
          ack = stop;
          n = {n.sn, stop, wire::rlc::kSoEnd, false};
        }
        if (first != n.stop) negative(nack, n, first, now, max_retx);
        acked_up_to = n.stop;
      }
      rare_.nacks_ignored += n.is_trimmed || (work == work_before && work != 0) ? 1 : 0;
    }
    acknowledge(acked_up_to, ack, now);
    const bool answers_poll = poll_sn_ - base < ack - base;
    if (answers_poll) t_poll_retransmit_.stop();
    if (answers_poll || frequent_.acked != acked_before) peer_answers();
    next_ack_ = window_.first_open(base, end_);
    release_end_ = before(release_end_, ack) ? ack : release_end_;
  }

  [[nodiscard]] bool octets_exist(const wire::rlc::Nack& nack, const Nacked& n) const {
    if (!nack.has_so) return true;
    const bool start_known = !before(n.sn, next_ack_) && window_.is_open(n.sn);
    if (start_known && nack.so_start >= bytes_of(n.sn)) return false;
    const bool stop_known = !before(n.stop - 1, next_ack_) && window_.is_open(n.stop - 1);
    return !stop_known || n.so_end == wire::rlc::kSoEnd || n.so_end < bytes_of(n.stop - 1);
  }
  // Length of an SDU that is held; 0 if it is not.
  [[nodiscard]] std::uint16_t bytes_of(std::uint32_t sn) const {
    const SentPage<B>* page = window_.find(sn);
    return page == nullptr ? std::uint16_t{0} : page->sdu[sn % kPageSns].bytes;
  }

  void acknowledge(std::uint32_t from, std::uint32_t to, Time now) {
    std::uint32_t lowest = 0;
    const std::uint32_t count = window_.acknowledge(
        from, to, lowest, [&](Time first_nack) { rare_.repair.add((now - first_nack) / repair_unit_); });
    frequent_.acked += count;
    if (count != 0 && before(lowest, release_from_)) release_from_ = lowest;
  }

  // Marks what a block reports as missing of SDUs [first, n.stop): octets of it that were sent wait for retransmission
  // again.
  template <class MaxRetx>
  void negative(const wire::rlc::Nack& nack, const Nacked& n, std::uint32_t first, Time now, MaxRetx&& max_retx) {
    if (!nack.has_so || whole_sdus_) return negative_range(first, n.stop, now, max_retx);
    const std::uint32_t last = n.stop - 1;
    const std::uint16_t so_start = first == n.sn ? nack.so_start : std::uint16_t{0};
    if (first == last) return negative(first, so_start, n.so_end, now, max_retx);
    negative(first, so_start, wire::rlc::kSoEnd, now, max_retx);
    negative_range(first + 1, last, now, max_retx);
    negative(last, 0, n.so_end, now, max_retx);
  }
  // Marks octets `start` to `last` of SDU `sn`, both included, as missing.
  template <class MaxRetx>
  void negative(std::uint32_t sn, std::uint16_t start, std::uint16_t last, Time now, MaxRetx&& max_retx) {
    if (window_.is_open(sn) && make_pending(sn, start, last, now, max_retx)) ++rare_.nacked;
  }

  // Marks SDUs [from, to) as missing. SDUs that already wait as a whole cost nothing.
  template <class MaxRetx>
  void negative_range(std::uint32_t from, std::uint32_t to, Time now, MaxRetx&& max_retx) {
    window_.for_each_not_wholly_pending(from, to, [&](SentPage<B>& page, std::uint32_t sn) {
      if (make_pending(page, sn, 0, wire::rlc::kSoEnd, now, max_retx)) ++rare_.nacked;
    });
  }

  // What t-PollRetransmit sends again: the last SDU that is not acknowledged, or if there is no copy of it, the last
  // one before it with a copy, because any of them can poll. Without any copy, the last one: only re-establishment
  // helps. end_ if all are acknowledged.
  [[nodiscard]] std::uint32_t last_to_send() const {
    const std::uint32_t last = window_.last_open(next_ack_, end_);
    std::uint32_t sn = last;
    for (std::uint32_t work = kStatusWork; sn != end_ && work != 0; --work) {
      if (window_.find(sn)->sdu[sn % kPageSns].sdu) return sn;
      const std::uint32_t before_it = window_.last_open(next_ack_, sn);
      if (before_it == sn) break;
      sn = before_it;
    }
    return last;
  }

  // Returns false if none of these octets was sent, or if the SDU waits already.
  template <class MaxRetx>
  bool make_pending(std::uint32_t sn, std::uint16_t start, std::uint16_t last, Time now, MaxRetx&& max_retx) {
    return make_pending(*window_.find(sn), sn, start, last, now, max_retx);
  }
  template <class MaxRetx>
  bool make_pending(SentPage<B>& page, std::uint32_t sn, std::uint16_t start, std::uint16_t last, Time now,
                    MaxRetx&& max_retx) {
    SentSdu<B>& sdu = page.sdu[sn % kPageSns];
    const std::uint16_t sent = sn + 1 == end_ ? last_sent_ : sdu.bytes;
    const auto stop = static_cast<std::uint16_t>(std::min<std::uint32_t>(last + 1U, sent));
    if (start >= stop) return false;
    const std::uint64_t bit = SentWindow<B>::bit(sn);
    const bool was_pending = (page.pending & bit) != 0;
    window_.set_pending(page, sn, start, stop);
    if (before(sn, pending_from_)) pending_from_ = sn;
    if (was_pending) return false;
    // RETX_COUNT: 0 the first time, then one more each time (TS 38.322 5.3.2).
    if ((page.considered & bit) == 0) {
      page.considered |= bit;
      sdu.retx_count = 0;
      page.first_nack[sn % kPageSns] = now;
      return true;
    }
    sdu.retx_count = static_cast<std::uint8_t>(std::min(sdu.retx_count + 1, 255));
    if (sdu.retx_count == max_retx_) {
      ++rare_.max_retx;
      max_retx(sn);
    }
    return true;
  }

  // Decides the P bit of a retransmitted PDU (TS 38.322 5.3.3.2), after the PDU was taken.
  [[nodiscard]] bool poll_after(const SenderState& sender) const {
    return poll_wanted_ || (!sender.unsent && window_.pending() == 0) || sender.stalled;
  }
  void polled(Time now) {
    poll_wanted_ = false;
    poll_sn_ = end_ - 1;
    count_poll(now);
    t_poll_retransmit_.start(now, poll_retransmit_time_);
    ++frequent_.polls;
  }

  // What each SDU needs comes first, up to the hot members of the window: hot_octets().
  std::uint32_t next_ack_ = 0, end_ = 0, poll_sn_ = 0;
  std::uint32_t release_from_ = 0, release_end_ = 0;  // acknowledged SDUs in this range may still be held
  std::uint32_t polls_in_vain_ = 0;                   // polls since the peer last acknowledged something
  Time first_in_vain_ = 0;                            // when the first of these polls was sent
  Timer t_poll_retransmit_;
  // As in AmConfig.
  Time poll_retransmit_time_;
  std::uint8_t max_retx_, sn_bits_;
  bool whole_sdus_;
  bool poll_wanted_ = false;
  bool peer_lost_ = false;
  bool copy_is_gone_ = false;
  std::uint16_t last_sent_ = 0;  // octets that were sent of the SDU before end_
  FrequentRetxCounters frequent_;
  SentWindow<B> window_;
  std::uint32_t pending_from_ = 0;  // no SN below it waits for retransmission
  Time repair_unit_;                // as in AmConfig
  RareRetxCounters rare_;
};

}  // namespace splitplane::ran::rlc
