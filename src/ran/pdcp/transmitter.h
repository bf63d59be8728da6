// The transmitting side of a PDCP entity (TS 38.323 5.2.1, 5.3, 5.4.2): it numbers SDUs, stores what may have to be
// sent again, and discards. TxBurst ciphers for many transmitters at once.
//
//   SDU -> number() -> Protection -> lower layers write their headers -> keep()
//          drops before numbering                                        AM: a second handle to the buffer
//
// An AM bearer stores its PDUs as they went to RLC, in the buffer that RLC holds as well: no octet is copied. They are
// deciphered with the retired keys if they have to be sent again under other keys.
#pragma once

#include <algorithm>

#include "ran/pdcp/counters.h"
#include "ran/pdcp/protection.h"
#include "ran/pdcp/sent_pdus.h"
#include "ran/pdcp/waiting_queue.h"

namespace splitplane::ran::pdcp {

// What a transmitter tells its neighbours: lower layers about an SDU that they may drop (5.3), and RRC that COUNT is
// near its end. A new key helps only where COUNT begins anew with it. So RRC re-establishes a UM bearer; it suspends
// and resumes an AM bearer, or releases and adds it (TS 38.331 5.3.1.2).
//
// discard() must not call the entity. key_needed() comes when the burst has no more work with the entity, so it may
// call a procedure. PDUs of the burst that are not sent yet are then of the keys before.
template <class S, class T>
concept TxSink = requires(S& sink, T& from, Count count) {
  sink.discard(from, count);
  sink.key_needed(from);
};

// How much the lower layer takes: the room of RLC, or a DU's flow control (TS 38.425). SDUs beyond it are dropped
// before they get a number.
struct Credit {
  std::uint32_t sdus = 0;
  std::uint64_t octets = 0;
};

// A numbered SDU, in a buffer that has room for the MAC-I.
struct Numbered {
  TxOutcome outcome = TxOutcome::sent;
  std::uint32_t count = 0;
  std::uint8_t* pdu = nullptr;
  std::uint32_t sdu_bytes = 0;
  bool lends = false;  // kLentBytes before the PDU belong to the buffer until it is protected
};

template <buf::PacketBuffer B>
class alignas(64) Transmitter {
 public:
  Transmitter(const Config& config, const Security& security, Memory<B>& memory)
      : cover_(security, config.tx_sn_bits, config.tx_sdap_header, config.drb, config.sends),
        count_stop_(config.count_stop),
        count_threshold_(static_cast<std::uint32_t>(config.count_threshold)),
        max_in_flight_(config.max_in_flight == 0 ? window_size(config.tx_sn_bits)
                                                 : std::min(config.max_in_flight, window_size(config.tx_sn_bits))),
        sn_bits_(config.tx_sn_bits),
        is_am_(config.is_am()),
        stores_(config.is_am() || config.discard_timer != kNever),
        never_asks_(config.count_threshold > kLastCount),
        sent_(config.tx_sn_bits, memory),
        discard_timer_(config.discard_timer),
        id_(config.id),
        renumbered_(config.tx_sn_bits, memory),
        waiting_(config.max_waiting, memory),
        retired_(cover_) {}
  Transmitter(const Transmitter&) = delete;
  Transmitter& operator=(const Transmitter&) = delete;

  [[nodiscard]] BearerId id() const { return id_; }
  [[nodiscard]] const Security& security() const { return cover_.keys; }
  [[nodiscard]] bool is_am() const { return is_am_; }
  // True while SDUs beyond those in flight are dropped. In flight are COUNTs from the lowest one that may still arrive
  // at the peer as the next one. See may_number().
  [[nodiscard]] bool window_is_full() const { return is_am_ && tx_next_ - in_flight_from() >= max_in_flight_; }
  // TX_NEXT (TS 38.323 7.1): the COUNT of the next SDU.
  [[nodiscard]] std::uint32_t tx_next() const { return tx_next_; }
  // SDUs of an AM bearer that are neither confirmed nor discarded.
  [[nodiscard]] std::uint32_t unconfirmed() const { return is_am_ ? sent_.size() + renumbered_.size() : 0; }
  [[nodiscard]] std::uint32_t waiting() const { return waiting_.size(); }
  [[nodiscard]] bool stores_nothing() const { return sent_.empty() && renumbered_.empty() && waiting_.empty(); }
  [[nodiscard]] bool suspended() const { return suspended_; }
  [[nodiscard]] const TxCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t octets() const { return octets_; }  // of SDUs that were numbered

  void prefetch() const {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 64, 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 128, 1);
  }
  // Fetches what numbering a next SDU needs beside the lines of prefetch().
  void prefetch_more() const {
    cover_.prefetch_keys();
    if (is_am_) sent_.prefetch_tail();
  }

  // Without a call there is no limit.
  void set_credit(Credit credit) {
    is_limited_ = true;
    credit_ = credit;
  }

  // The first COUNT that is never sent, from now on: the end of a lease, which moves on.
  void set_count_stop(Count stop) { count_stop_ = stop.value; }

  // Takes an SDU at `now`. It numbers the SDU, writes the header before it and makes room for the MAC-I; or it keeps
  // the SDU until it can be numbered; or it drops the SDU, which then is still in `sdu`. `make(bytes)` gives another
  // buffer if this one cannot be written or has too little room.
  template <class Make>
  [[nodiscard]] Numbered number(B& sdu, Time now, Make&& make) {
    Numbered out;
    const std::size_t bytes = sdu.size();
    const Time deadline = later(now, discard_timer_);
    if (bytes - 1 >= wire::pdcp::kMaxSduBytes) [[unlikely]] {
      out.outcome = bytes == 0 ? TxOutcome::sdu_empty : TxOutcome::sdu_too_large;
    } else if (holds_back_) [[unlikely]] {
      out.outcome = hold(sdu, deadline);
    } else {
      out = number_at(sdu, deadline, make);
    }
    counters_.add(out.outcome);
    return out;
  }
  // The library failed after the SDU was numbered: the PDU must not be sent. Its COUNT is not used again.
  void give_up(std::uint32_t count, std::uint32_t sdu_bytes) {
    if (stores_) sent_.remove(count);
    counters_.move(TxOutcome::sent, TxOutcome::crypto_failed);
    octets_ -= sdu_bytes;
    if (!is_limited_) return;
    ++credit_.sdus;
    credit_.octets += sdu_bytes;
  }
  // Tells RRC once that COUNT is near its end. The owner calls it after SDUs were numbered.
  template <class Sink>
    requires TxSink<Sink, Transmitter>
  void check_threshold(Sink& sink) {
    if (tx_next_ < count_threshold_ || asked_for_key_) [[likely]]
      return;
    asked_for_key_ = true;
    sink.key_needed(*this);
  }

  // Stores the PDU of `count` of an AM bearer. The lower layers have written `lower_bytes` octets before it.
  void keep(std::uint32_t count, B& pdu, std::size_t lower_bytes) {
    if (is_am_) sent_.put(count, pdu.share(), static_cast<std::uint8_t>(lower_bytes));
  }

  // RLC AM: the SDU was delivered, maybe after its discard. A confirmation that comes while suspended is too late.
  void confirm(Count count) {
    if (!is_am_ || suspended_ || count.value >= tx_next_) return;
    sent_.remove(count.value);
    settled_ = std::max(settled_, count.value + 1);
  }
  // TS 38.323 5.4.2. A report on a UM bearer, and an FMC beyond TX_NEXT, is an invalid value (5.10).
  template <class Sink>
    requires TxSink<Sink, Transmitter>
  void receive_status_report(const wire::pdcp::StatusReport& report, Sink& sink) {
    if (!is_am_ || report.fmc.value > tx_next_) return counters_.add(TxOutcome::bad_status_report);
    settled_ = std::max(settled_, report.fmc.value);
    sent_.remove_confirmed(report, [&](std::uint32_t count) {
      settled_ = std::max(settled_, count + 1);
      counters_.add(TxOutcome::confirmed_by_status);
      sink.discard(*this, Count{count});
    });
  }

  // Runs discardTimer (TS 38.323 5.3). All SDUs have the same, so the oldest runs out first. Lower layers hold no PDU
  // of an SDU that has no COUNT any more. One SDU stays in a full window: its confirmation alone opens the window
  // again.
  template <class Sink>
    requires TxSink<Sink, Transmitter>
  void advance(Time now, Sink& sink) {
    while (!renumbered_.empty() && renumbered_.deadline(renumbered_.first()) <= now) {
      renumbered_.remove(renumbered_.first());
      counters_.add(TxOutcome::discarded_by_timer);
    }
    while (!sent_.empty() && sent_.deadline(sent_.first()) <= now && !stays()) {
      const std::uint32_t count = sent_.first();
      sent_.remove(count);
      counters_.add(TxOutcome::discarded_by_timer);
      sink.discard(*this, Count{count});
    }
    while (!waiting_.empty() && waiting_.deadline() <= now) {
      waiting_.pop().release();
      counters_.add(TxOutcome::discarded_by_timer);
    }
  }
  // When advance() next has something to do; kNever if no timer runs.
  [[nodiscard]] Time next_deadline() const {
    Time next = kNever;
    if (!stores_ || discard_timer_ == kNever) return next;
    if (!sent_.empty() && !stays()) next = sent_.deadline(sent_.first());
    if (!renumbered_.empty()) next = std::min(next, renumbered_.deadline(renumbered_.first()));
    if (!waiting_.empty()) next = std::min(next, waiting_.deadline());
    return next;
  }

  // TS 38.323 5.1.2; of a suspended transmitter, this resumes it. The caller has checked the keys. Until
  // sending_again() is false, TxBurst::send_again() has to be called, and new SDUs wait.
  void reestablish(const Security& security) {
    retired_ = cover_;
    cover_.set(security);
    if (suspended_ || !is_am_) asked_for_key_ = never_asks_;  // COUNT begins anew
    if (!is_am_) {
      tx_next_ = 0;
      sent_.clear();
    }
    suspended_ = false;
    begin_again();
  }
  // Other keys, while COUNTs go on. For a transmitter that stores nothing.
  void change_keys(const Security& security) { cover_.set(security); }
  // TS 38.323 5.5. The PDUs are sent again as they were.
  void recover() {
    retired_ = cover_;
    begin_again();
  }
  // TS 38.323 5.1.4. SDUs of an AM bearer stay until reestablish(), without COUNT. It drops those that were to be sent
  // again and still need the retired keys: an entity keeps the keys of one change.
  void suspend() {
    if (sending_again()) drop_unsent();
    tx_next_ = settled_ = 0;
    suspended_ = holds_back_ = true;
    if (is_am_) {
      renumbered_.swap(sent_);
    } else {
      sent_.clear();
    }
  }
  // TS 38.323 5.1.3
  void release() {
    sent_.clear();
    renumbered_.clear();
    waiting_.clear();
    holds_back_ = suspended_;
  }
  // SN status transfer at the target (TS 38.423 9.1.1.4). The caller has checked that nothing is stored.
  void set_tx_next(Count count) { tx_next_ = settled_ = count.value; }

  // True while stored SDUs have to be sent again, or SDUs wait behind them.
  [[nodiscard]] bool sending_again() const { return holds_back_ && !suspended_; }
  // True while PDUs are stored that only the keys before the last reestablish() decipher.
  [[nodiscard]] bool needs_retired_keys() const {
    if (!sending_again() || !retired_.ciphers || retired_.keys == cover_.keys) return false;
    return !renumbered_.empty() || (again_ < again_end_ && sent_.next(again_) < again_end_);
  }

  // The next SDU to send again, as it is stored.
  struct Again {
    const B* pdu = nullptr;  // nullptr: there is none now
    std::uint32_t old_count = 0;
    std::uint32_t count = 0;
    std::uint32_t sdu_bytes = 0;
    std::uint8_t skip = 0;
    bool as_it_was = false;   // the same octets; otherwise `retired` deciphers them
    bool is_blocked = false;  // there is one, but no credit or no page for it
  };
  // Prepares the next SDU to be sent again. Each call needs sent_again() or
  // not_sent_again() before the next call.
  [[nodiscard]] Again next_again() {
    while (!renumbered_.empty()) {  // "as received from upper layer", but discardTimer goes on (5.1.2)
      const std::uint32_t old = renumbered_.first();
      const TxOutcome outcome = renumbered_.pdu(old) ? may_number() : TxOutcome::crypto_failed;
      if (outcome == TxOutcome::sent) {
        const Again again = stored(renumbered_, old, tx_next_);
        if (!has_credit(again.sdu_bytes) || !sent_.add(tx_next_, renumbered_.deadline(old), Claim::kMoves)) {
          return {.is_blocked = true};
        }
        ++tx_next_;
        return again;
      }
      counters_.add(outcome);
      renumbered_.remove(old);
    }
    while (again_ < again_end_) {
      again_ = sent_.next(again_);
      if (again_ >= again_end_) break;
      if (sent_.pdu(again_)) {
        const Again again = stored(sent_, again_, again_);
        return has_credit(again.sdu_bytes) ? again : Again{.is_blocked = true};
      }
      sent_.remove(again_);  // it was never kept, so there are no octets to send
    }
    again_ = again_end_;
    return {};
  }
  // The SDU of next_again() is sent in a buffer that keep() will store. Returns the one that was stored.
  [[nodiscard]] B sent_again(const Again& again) {
    charge(again.sdu_bytes);
    if (renumbered_.empty()) {
      again_ = again.count + 1;
      return sent_.take_pdu(again.count);
    }
    counters_.add(TxOutcome::sent);
    B old = renumbered_.take_pdu(again.old_count);
    renumbered_.remove(again.old_count);
    return old;
  }
  // There was no buffer for the SDU of next_again(): a later call tries again.
  void not_sent_again(const Again& again) {
    if (renumbered_.empty()) return;
    sent_.remove(again.count);
    tx_next_ = again.count;
  }
  // Numbers the oldest SDU that waits, once next_again() has none, and moves it to `sdu`. Without credit or memory it
  // goes on waiting. It is dropped where no time helps.
  template <class Make>
  [[nodiscard]] Numbered number_waiting(B& sdu, Make&& make) {
    const Numbered out = number_at(waiting_.front(), waiting_.deadline(), make);
    if (out.outcome == TxOutcome::no_credit || out.outcome == TxOutcome::no_memory) return out;
    counters_.add(out.outcome);
    sdu = waiting_.pop();
    if (out.outcome != TxOutcome::sent) sdu.release();
    return out;
  }
  void end_again() {
    if (waiting_.empty()) holds_back_ = suspended_;
  }
  void write_header(std::uint8_t* pdu, std::uint32_t count) const {
    wire::pdcp::write_data({pdu, wire::pdcp::kMaxHeaderBytes}, sn_bits_, sn_of(count, sn_bits_));
  }
  [[nodiscard]] const Cover& cover() const { return cover_; }
  [[nodiscard]] const Cover& retired() const { return retired_; }

 private:
  // The lowest COUNT in flight. COUNTs below settled_ are delivered, or were discarded and RLC has delivered a later
  // one.
  [[nodiscard]] std::uint32_t in_flight_from() const {
    return sent_.empty() ? settled_ : std::min(settled_, sent_.first());
  }
  // True if the SDU that runs out next has to stay with RLC (see advance()).
  [[nodiscard]] bool stays() const { return sent_.size() == 1 && window_is_full(); }
  [[nodiscard]] bool has_credit(std::uint32_t sdu_bytes) const {
    return !is_limited_ || (credit_.sdus != 0 && credit_.octets >= sdu_bytes);
  }
  void charge(std::uint32_t sdu_bytes) {
    if (!is_limited_) return;
    --credit_.sdus;
    credit_.octets -= sdu_bytes;
  }
  [[nodiscard]] Again stored(const SentPdus<B>& where, std::uint32_t old_count, std::uint32_t count) const {
    const B& pdu = where.pdu(old_count);
    const std::uint8_t skip = where.skip(old_count);
    return {.pdu = &pdu,
            .old_count = old_count,
            .count = count,
            .sdu_bytes = static_cast<std::uint32_t>(pdu.size() - skip - retired_.overhead()),
            .skip = skip,
            .as_it_was = retired_.keys == cover_.keys && count == old_count};
  }
  // Drops what has to be sent again and is not protected by the keys of now.
  void drop_unsent() {
    for (; !renumbered_.empty(); renumbered_.remove(renumbered_.first())) counters_.add(TxOutcome::not_sent_again);
    if (retired_.keys == cover_.keys) return;
    while (again_ < again_end_) {
      again_ = sent_.next(again_);
      if (again_ < again_end_ && sent_.remove(again_)) counters_.add(TxOutcome::not_sent_again);
    }
  }
  // Whether TX_NEXT may be given to an SDU.
  [[nodiscard]] TxOutcome may_number() const {
    if (tx_next_ >= count_stop_) [[unlikely]]
      return TxOutcome::count_exhausted;  // TS 38.331 5.3.1.2: no COUNT twice under one key
    // 5.2.1 NOTE: half of the SN space in flight may desynchronize the HFN, also by discarded SDUs. Discarded COUNTs
    // stay in flight until RLC confirms a later one: then the peer passes them when its t-Reordering has run out. A UM
    // bearer does not know what arrives, so its credit has to bound what RLC may discard.
    if (window_is_full()) [[unlikely]]
      return TxOutcome::window_full;
    return TxOutcome::sent;
  }

  template <class Make>
  [[nodiscard]] Numbered number_at(B& sdu, Time deadline, Make&& make) {
    Numbered out{.outcome = may_number(), .count = tx_next_, .sdu_bytes = static_cast<std::uint32_t>(sdu.size())};
    if (out.outcome != TxOutcome::sent) [[unlikely]]
      return out;
    if (!has_credit(out.sdu_bytes)) [[unlikely]] {
      out.outcome = TxOutcome::no_credit;
      return out;
    }
    if (stores_ && !store(deadline)) [[unlikely]] {
      out.outcome = TxOutcome::no_memory;
      return out;
    }
    if (!make_room(sdu, out, make)) [[unlikely]] {
      if (stores_) sent_.remove(tx_next_);
      out.outcome = TxOutcome::no_memory;
      return out;
    }
    write_header(out.pdu, tx_next_);
    charge(out.sdu_bytes);
    octets_ += out.sdu_bytes;
    ++tx_next_;
    return out;
  }

  // A UM bearer stores deadlines only. It forgets the oldest ones if they are more than half of the number space, or if
  // memory is short: RLC has sent these SDUs long ago. Each is counted.
  [[nodiscard]] bool store(Time deadline) {
    if (is_am_) [[likely]]
      return sent_.add(tx_next_, deadline);
    if (!sent_.empty() && tx_next_ - sent_.first() >= window_size(sn_bits_)) forget_oldest();
    while (!sent_.add(tx_next_, deadline)) {
      if (sent_.empty()) {
        counters_.add(TxOutcome::timer_forgotten);  // its own
        break;
      }
      forget_oldest();
    }
    return true;
  }
  void forget_oldest() {
    sent_.remove(sent_.first());
    counters_.add(TxOutcome::timer_forgotten);
  }

  // Makes room for header and MAC-I, in place if possible.
  template <class Make>
  [[nodiscard]] bool make_room(B& sdu, Numbered& out, Make&& make) {
    const bool fits_behind = cover_.mac_bytes == 0 || sdu.append(cover_.mac_bytes) != nullptr;
    if (fits_behind) [[likely]] {
      const std::size_t lent = cover_.lends && sdu.tailroom() >= kReadBehind ? kLentBytes : 0;
      if (std::uint8_t* const front = sdu.prepend(cover_.header_bytes + lent); front != nullptr) [[likely]] {
        out.pdu = front + lent;
        out.lends = lent != 0;
        return true;
      }
      if (out.pdu = sdu.prepend(cover_.header_bytes); out.pdu != nullptr) return true;
      static_cast<void>(sdu.trim_back(cover_.mac_bytes));
    }
    B other = make(cover_.overhead() + sdu.size());
    if (!other) return false;
    out.pdu = other.mutable_data();
    std::memcpy(out.pdu + cover_.header_bytes, sdu.data(), sdu.size());
    sdu = std::move(other);
    return true;
  }

  [[nodiscard]] TxOutcome hold(B& sdu, Time deadline) {
    if (waiting_.full()) return TxOutcome::queue_full;
    return waiting_.push(sdu, deadline) ? TxOutcome::waiting : TxOutcome::no_memory;
  }
  void begin_again() {
    again_ = sent_.empty() ? sent_.end() : sent_.first();
    again_end_ = sent_.end();
    holds_back_ = !stores_nothing();
  }

  // The line that each SDU needs.
  Cover cover_;
  std::uint32_t tx_next_ = 0;
  std::uint32_t settled_ = 0;
  std::uint32_t count_stop_, count_threshold_;
  std::uint32_t max_in_flight_;
  std::uint8_t sn_bits_;
  bool is_am_;
  bool stores_;              // AM, or UM with discardTimer
  bool holds_back_ = false;  // new SDUs wait
  bool suspended_ = false;
  bool never_asks_;
  bool asked_for_key_ = never_asks_;  // since COUNT began anew
  bool is_limited_ = false;           // by credit_
  Credit credit_;
  // The line that stored SDUs need.
  SentPdus<B> sent_;
  Time discard_timer_;
  std::uint64_t octets_ = 0;
  // What is seldom needed, but for counters of SDUs that were sent.
  TxCounters counters_;
  BearerId id_;
  SentPdus<B> renumbered_;  // of a suspended bearer: SDUs whose COUNT is void, by that COUNT
  WaitingQueue<B> waiting_;
  Cover retired_;  // protects what renumbered_ has, and what sent_ has from again_ to below again_end_
  std::uint32_t again_ = 0, again_end_ = 0;
};

}  // namespace splitplane::ran::pdcp
