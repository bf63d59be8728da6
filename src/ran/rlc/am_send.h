// The half of AM transmission on the bearer's owner thread (TS 38.322 5.2.3.1, 5.3.3.2). It keeps the waiting SDUs,
// assigns SNs, segments to the grant, and counts PDU_WITHOUT_POLL and BYTE_WITHOUT_POLL. It is for full mode: in
// header mode each SDU becomes one PDU at once, and ran/header_mode.h does this work on the bearer's hot line.
#pragma once

#include "ran/rlc/am_messages.h"
#include "ran/rlc/counters.h"
#include "ran/rlc/sdu_queue.h"

namespace splitplane::ran::rlc {

template <buf::PacketBuffer B>
class AmSend {
 public:
  AmSend(const AmConfig& config, Memory<B>& memory) : config_(config), queue_(memory, config.max_queued) {}

  // Takes an SDU from PDCP. On false the SDU stays with the caller; SduQueue::push says why.
  [[nodiscard]] bool send(B& sdu) { return queue_.push(sdu, counters_); }
  // Takes back SDU `ordinal` if none of its octets was sent. Ordinals count the SDUs taken since the start, from 0.
  bool discard(std::uint64_t ordinal) {
    const bool done = queue_.discard(ordinal);
    counters_.discarded += done ? 1 : 0;
    return done;
  }

  [[nodiscard]] SenderState state(const RetxState& retx) const {
    const bool cut = static_cast<bool>(current_);
    const bool full = retx.room == 0 || next_ - retx.next_ack >= window_size(config_.sn_bits);
    return {cut || queue_.size() != 0, !cut && full};
  }

  // Returns a PDU with at most `grant` octets that were never sent before, and fills `submission` for AmRetx. It
  // returns none if no SDU waits, or if the window or the memory for copies is full. It also returns none if a header
  // with one octet does not fit.
  [[nodiscard]] Pdu<B> pull(std::size_t grant, RetxState retx, Submission<B>& submission) {
    Pdu<B> pdu;
    const bool is_new = !current_;
    if (is_new && state(retx).stalled) return pdu;
    const B* const sdu = is_new ? queue_.front() : &current_;
    if (sdu == nullptr) return pdu;
    const auto bytes = static_cast<std::uint16_t>(sdu->size());
    const unsigned header =
        wire::rlc::am_header_bytes(config_.sn_bits, is_new ? wire::rlc::Segment::kFirst : wire::rlc::Segment::kMiddle);
    if (grant <= header) return pdu;

    pdu.offset = is_new ? std::uint16_t{0} : sent_;
    pdu.length = static_cast<std::uint16_t>(std::min<std::size_t>(grant - header, bytes - pdu.offset));
    sent_ = static_cast<std::uint16_t>(pdu.offset + pdu.length);
    submission.sn = is_new ? next_++ : next_ - 1;
    submission.bytes = bytes;
    submission.sent = sent_;
    const bool whole_now = sent_ == bytes;
    if (is_new) {
      --retx.room;
      submission.sdu = queue_.take();
      last_ordinal_ = queue_.taken();
      pdu.sdu = submission.sdu.share();
      if (!whole_now) current_ = submission.sdu.share();
    } else {
      pdu.sdu = whole_now ? std::move(current_) : current_.share();
    }
    submission.poll = poll_after(pdu.length, retx);

    wire::rlc::AmHeader h{.poll = submission.poll, .so = pdu.offset};
    h.si = wire::rlc::segment_of(pdu.offset, pdu.length, bytes);
    h.sn = submission.sn & sn_mask(config_.sn_bits);
    pdu.header_bytes = static_cast<std::uint8_t>(wire::rlc::write_am(pdu.header, config_.sn_bits, h));
    ++counters_.pdus;
    counters_.segments += h.si == wire::rlc::Segment::kComplete ? 0 : 1;
    return pdu;
  }

  // pollPDU from the next PDU on; 0: infinity.
  void set_poll_pdu(std::uint16_t poll_pdu) { config_.poll_pdu = poll_pdu; }
  // A PDU of either half carried a poll.
  void polled() { pdu_without_poll_ = byte_without_poll_ = 0; }

  // Re-establishes this half (TS 38.322 5.1.3): it drops all waiting SDUs and sets TX_Next to `sn`.
  void restart_at(std::uint32_t sn) {
    queue_.clear();
    current_.release();
    sent_ = 0;
    next_ = sn;
    polled();
  }

  [[nodiscard]] const SduQueue<B>& queue() const { return queue_; }
  [[nodiscard]] std::uint32_t next() const { return next_; }  // TX_Next (TS 38.322 7.1), without the modulus
  [[nodiscard]] std::uint32_t pdu_without_poll() const { return pdu_without_poll_; }
  [[nodiscard]] std::uint32_t byte_without_poll() const { return byte_without_poll_; }
  // Number of SDUs with octets that were never sent.
  [[nodiscard]] std::uint32_t waiting() const { return queue_.size() + (current_ ? 1 : 0); }
  // The ordinal of the SDU that has TX_Next - 1.
  [[nodiscard]] std::uint64_t last_ordinal() const { return last_ordinal_; }
  // Octets of the PDUs that would carry everything that waits: the data volume of TS 38.322 5.5, with one header for
  // each SDU.
  [[nodiscard]] std::uint64_t volume() const {
    const std::uint64_t header = wire::rlc::am_header_bytes(config_.sn_bits, wire::rlc::Segment::kComplete);
    const std::uint64_t cut = current_ ? current_.size() - sent_ + header + wire::rlc::kSegmentOffsetBytes : 0;
    return queue_.octets() + queue_.size() * header + cut;
  }
  [[nodiscard]] const SendCounters& counters() const { return counters_; }

 private:
  // Counts a PDU with `octets` new octets and decides whether it carries a poll (TS 38.322 5.3.3.2).
  [[nodiscard]] bool poll_after(std::uint16_t octets, const RetxState& retx) {
    ++pdu_without_poll_;
    byte_without_poll_ += octets;
    const SenderState now = state(retx);
    const bool poll = retx.poll_wanted || (config_.poll_pdu != 0 && pdu_without_poll_ >= config_.poll_pdu) ||
                      (config_.poll_byte != 0 && byte_without_poll_ >= config_.poll_byte) ||
                      (!now.unsent && !retx.pending) || now.stalled;
    if (poll) polled();
    return poll;
  }

  AmConfig config_;
  SduQueue<B> queue_;
  B current_;               // the SDU of TX_Next - 1, until all of it was sent
  std::uint16_t sent_ = 0;  // octets of current_ that were sent
  std::uint32_t next_ = 0;
  std::uint32_t pdu_without_poll_ = 0, byte_without_poll_ = 0;
  std::uint64_t last_ordinal_ = 0;
  SendCounters counters_;
};

}  // namespace splitplane::ran::rlc
