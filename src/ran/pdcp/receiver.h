// The receiving side of a PDCP entity (TS 38.323 5.2.2, 5.4.1): it finds COUNTs, drops what is old or came before, and
// delivers in order. RxBurst deciphers and verifies for many receivers at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "ran/pdcp/counters.h"
#include "ran/pdcp/reorder_window.h"

namespace splitplane::ran::pdcp {

// What a receiver tells its neighbours: SDAP gets SDUs, RRC learns of a wrong MAC-I and that COUNT is near its end, and
// the transmitter of the same bearer gets status reports.
//
// deliver() must not call the entity. The other three may call a procedure of it: the burst then drops what it still
// has for that bearer as `keys_changed`. None of them may call the burst, nor destroy an entity that has a PDU in it.
template <class S, class R, class B>
concept RxSink = requires(S& sink, R& from, Count count, B sdu, const wire::pdcp::StatusReport& report) {
  sink.deliver(from, count, std::move(sdu));
  sink.integrity_failure(from, count);
  sink.key_needed(from);
  sink.status_report(from, report);
};

// SN status transfer (TS 38.423 9.1.1.4): an SDU that the source got out of sequence.
template <buf::PacketBuffer B>
struct Forwarded {
  Count count{};
  B sdu;
};

template <buf::PacketBuffer B>
class alignas(64) Receiver {
 public:
  Receiver(const Config& config, const Security& security, Memory<B>& memory)
      : cover_(security, config.rx_sn_bits, config.rx_sdap_header, config.drb,
               config.sends == Direction::kDownlink ? Direction::kUplink : Direction::kDownlink),
        count_threshold_(static_cast<std::uint32_t>(config.count_threshold)),
        sn_bits_(config.rx_sn_bits),
        out_of_order_(config.out_of_order_delivery),
        is_am_(config.is_am()),
        never_asks_(config.count_threshold > kLastCount),
        window_(config.rx_sn_bits, memory),
        t_reordering_(config.t_reordering),
        max_held_(config.max_held),
        id_(config.id),
        reports_(config.is_am() && config.status_report_required) {
    static_assert(offsetof(Receiver, window_) == 64,
                  "prefetch() fetches two lines, and a PDU in sequence needs no more");
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  [[nodiscard]] BearerId id() const { return id_; }
  // TS 38.323 7.1: the COUNT after the highest one received; the first COUNT not delivered and still waited for; the
  // COUNT after the one that started t-Reordering, while that runs.
  [[nodiscard]] std::uint32_t rx_next() const { return rx_next_; }
  [[nodiscard]] std::uint32_t rx_deliv() const { return rx_deliv_; }
  [[nodiscard]] std::uint32_t rx_reord() const { return rx_reord_; }
  [[nodiscard]] bool reordering() const { return is_reordering_; }
  // When advance() next has something to do; kNever if no timer runs, or an infinite one.
  [[nodiscard]] Time next_deadline() const { return deadline_; }
  [[nodiscard]] std::uint32_t held() const { return window_.held(); }
  [[nodiscard]] bool suspended() const { return suspended_; }
  // Another number after each procedure that changes keys or COUNTs: what was computed before is void.
  [[nodiscard]] std::uint16_t epoch() const { return epoch_; }
  [[nodiscard]] const RxCounters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] const Cover& cover() const { return cover_; }

  void prefetch() const {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 64, 1);
  }
  void count(RxOutcome outcome) { counters_.add(outcome); }

  // The length of the SDU in a data PDU of `pdu_bytes` octets; 0 if there is none, or if it is too long.
  [[nodiscard]] std::size_t sdu_bytes(std::size_t pdu_bytes) const {
    const std::size_t bytes = pdu_bytes - cover_.overhead();
    return pdu_bytes <= cover_.overhead() || bytes > wire::pdcp::kMaxSduBytes ? 0 : bytes;
  }
  // The SN of a data PDU. Reserved bits are ignored.
  [[nodiscard]] std::uint32_t sn(const std::uint8_t* pdu) const {
    return (cover_.header_bytes == 3 ? wire::load_be24(pdu) : wire::load_be16(pdu)) & ((1U << sn_bits_) - 1);
  }
  // RCVD_COUNT (TS 38.323 5.2.2.1). It is negative if RCVD_HFN is.
  [[nodiscard]] std::int64_t count_of(std::uint32_t sn) const {
    const std::int64_t window = window_size(sn_bits_), at = sn, deliv = sn_of(rx_deliv_, sn_bits_);
    std::int64_t hfn = rx_deliv_ >> sn_bits_;
    if (at < deliv - window) {
      ++hfn;
    } else if (at >= deliv + window) {
      --hfn;
    }
    return (hfn << sn_bits_) + at;
  }

  [[nodiscard]] std::uint32_t window() const { return window_size(sn_bits_); }

  // Takes the SDU of a verified PDU (TS 38.323 5.2.2.1). `sdu` is untouched if the SDU is dropped.
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  RxOutcome accept(std::uint32_t count, B& sdu, Time now, Sink& sink) {
    if (count < rx_deliv_) [[unlikely]]
      return RxOutcome::too_old;
    if (count == rx_deliv_ && window_.empty()) [[likely]] {
      deliver(count, std::move(sdu), sink);
      rx_deliv_ = count + 1;
      if (rx_next_ < rx_deliv_) rx_next_ = rx_deliv_;
    } else {
      if (window_.received(count)) return RxOutcome::duplicate;
      if (count == rx_deliv_) {
        deliver(count, std::move(sdu), sink);
        rx_next_ = std::max(rx_next_, count + 1);
        rx_deliv_ = window_.take_consecutive(count + 1, deliver_to(sink));
      } else if (!hold(count, sdu, sink)) {
        return RxOutcome::no_memory;
      }
    }
    if (is_reordering_ && (is_paused_ || rx_deliv_ >= rx_reord_)) stop_reordering();
    if (!is_reordering_ && rx_deliv_ < rx_next_) start_reordering(now, sink);
    if (rx_next_ >= count_threshold_ && !asked_for_key_) [[unlikely]] {
      asked_for_key_ = true;
      sink.key_needed(*this);
    }
    return RxOutcome::accepted;
  }

  // Runs t-Reordering. A timer that starts again does so at `now`.
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  void advance(Time now, Sink& sink) {
    if (deadline_ != kNever && deadline_ <= now) reordering_ran_out(now, sink);
  }
  // TS 38.323 5.2.2.3
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  void set_t_reordering(Time value, Time now, Sink& sink) {
    t_reordering_ = value;
    if (is_reordering_) start_reordering(now, sink);
  }

  // TS 38.323 5.1.2. A UM bearer begins anew. An AM bearer keeps its COUNTs, what it holds, and t-Reordering.
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  void reestablish(const Security& security, Sink& sink) {
    ++epoch_;
    if (suspended_ || !is_am_) asked_for_key_ = never_asks_;  // COUNT begins anew
    if (!is_am_) deliver_all_and_reset(sink);
    cover_.set(security);
    suspended_ = false;
    report_is_due_ = reports_;
  }
  // Other keys, while COUNTs go on: what is held is deciphered already and stays.
  void change_keys(const Security& security) {
    ++epoch_;
    cover_.set(security);
  }
  // The peer cannot send now, as while only one end has new keys. t-Reordering begins anew with the next new PDU, so it
  // gives up nothing that the peer still brings. If none comes, what is held waits until `until`.
  void pause_reordering(Time until) {
    if (deadline_ == kNever) return;
    is_paused_ = true;
    deadline_ = until;
  }
  // A pause that no new PDU has ended yet lasts until `until`.
  void prolong_pause(Time until) {
    if (is_paused_) deadline_ = until;
  }
  // TS 38.323 5.5
  void recover() { report_is_due_ = reports_; }
  // TS 38.323 5.1.4
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  void suspend(Sink& sink) {
    ++epoch_;
    deliver_all_and_reset(sink);
    suspended_ = true;
    report_is_due_ = false;
  }
  // TS 38.323 5.1.3
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  void release(Sink& sink) {
    ++epoch_;
    deliver_all_and_reset(sink);
    report_is_due_ = false;
  }

  // True while a status report has to be sent, before data PDUs (TS 38.323 5.4.1).
  [[nodiscard]] bool report_is_due() const { return report_is_due_; }
  // Octets of the status report.
  [[nodiscard]] std::size_t report_bytes() const {
    return wire::pdcp::kStatusReportHeaderBytes + bitmap_bytes(wire::pdcp::kMaxBitmapBytes);
  }
  // Writes the status report, with a shorter bitmap if `out` ends before. Returns the octets written; 0 if not even the
  // FMC has room.
  std::size_t write_report(MutableOctets out) {
    if (out.size() < wire::pdcp::kStatusReportHeaderBytes) return 0;
    const std::size_t room = std::min(out.size(), wire::pdcp::kMaxControlPduBytes);
    const MutableOctets report = out.first(wire::pdcp::write_status_report(
        out, Count{rx_deliv_}, bitmap_bytes(room - wire::pdcp::kStatusReportHeaderBytes)));
    if (rx_deliv_ < rx_next_) {
      window_.for_each([&](std::uint32_t count) { wire::pdcp::mark_received(report, count - rx_deliv_); });
    }
    report_is_due_ = false;
    return report.size();
  }

  // SN status transfer: what is received above RX_DELIV, in ascending order.
  template <class Visit>
  void for_each_received(Visit&& visit) const {
    window_.for_each(visit);
  }
  [[nodiscard]] bool holds_nothing() const { return window_.empty(); }
  // SN status transfer at the target (TS 38.423 9.1.1.4): RX_DELIV, and the SDUs that the source got out of sequence
  // and forwarded. The caller has checked that nothing is held, that COUNTs go forward, and that each has a place in
  // the window once. t-Reordering starts at the next data PDU. Returns false and changes nothing without memory.
  template <class Sink>
    requires RxSink<Sink, Receiver, B>
  [[nodiscard]] bool set_rx_deliv(Count rx_deliv, std::span<Forwarded<B>> received, Sink& sink) {
    if (!out_of_order_ && received.size() > max_held_) return false;
    for (const Forwarded<B>& one : received) {
      B nothing;
      if (window_.add(one.count.value, nothing)) continue;
      window_.take_below(0, kLastCount, [](std::uint32_t, B) {});
      return false;
    }
    set_rx_deliv(rx_deliv);
    for (Forwarded<B>& one : received) {
      rx_next_ = std::max(rx_next_, one.count.value + 1);
      if (out_of_order_) {
        deliver(one.count.value, std::move(one.sdu), sink);
      } else {
        window_.fill(one.count.value, std::move(one.sdu));
      }
    }
    return true;
  }
  // The same, where the source forwarded no SDU.
  void set_rx_deliv(Count rx_deliv) {
    ++epoch_;
    rx_deliv_ = rx_next_ = rx_deliv.value;
  }

 private:
  template <class Sink>
  void deliver(std::uint32_t count, B sdu, Sink& sink) {
    ++delivered_;
    sink.deliver(*this, Count{count}, std::move(sdu));
  }
  template <class Sink>
  auto deliver_to(Sink& sink) {
    return [this, &sink](std::uint32_t count, B sdu) { deliver(count, std::move(sdu), sink); };
  }
  // Holds an SDU behind a missing one, or delivers it out of order and remembers that.
  template <class Sink>
  [[nodiscard]] bool hold(std::uint32_t count, B& sdu, Sink& sink) {
    if (out_of_order_) {
      B nothing;
      if (!window_.add(count, nothing)) return false;
      rx_next_ = std::max(rx_next_, count + 1);
      deliver(count, std::move(sdu), sink);
      return true;
    }
    if (window_.held() >= max_held_ || !window_.add(count, sdu)) return false;
    rx_next_ = std::max(rx_next_, count + 1);
    return true;
  }

  template <class Sink>
  void start_reordering(Time now, Sink& sink) {
    is_reordering_ = true;
    rx_reord_ = rx_next_;
    deadline_ = later(now, t_reordering_);
    if (t_reordering_ == 0) reordering_ran_out(now, sink);
  }
  void stop_reordering() {
    is_reordering_ = is_paused_ = false;
    deadline_ = kNever;
  }
  // TS 38.323 5.2.2.2
  template <class Sink>
  void reordering_ran_out(Time now, Sink& sink) {
    stop_reordering();
    window_.take_below(rx_deliv_, rx_reord_, deliver_to(sink));
    rx_deliv_ = window_.take_consecutive(rx_reord_, deliver_to(sink));
    if (rx_deliv_ < rx_next_) start_reordering(now, sink);
  }
  template <class Sink>
  void deliver_all_and_reset(Sink& sink) {
    window_.take_below(rx_deliv_, rx_next_, deliver_to(sink));
    rx_next_ = rx_deliv_ = 0;
    stop_reordering();
  }
  // Octets of the bitmap that ends with the last SDU received, at most `most`.
  [[nodiscard]] std::size_t bitmap_bytes(std::size_t most) const {
    if (window_.empty() || rx_deliv_ >= rx_next_) return 0;
    return std::min<std::size_t>((window_.highest() - rx_deliv_ + 7) / 8, most);
  }

  // The line that each PDU needs.
  Cover cover_;
  std::uint32_t rx_next_ = 0, rx_deliv_ = 0, rx_reord_ = 0;
  std::uint32_t count_threshold_;
  Time deadline_ = kNever;
  std::uint8_t sn_bits_;
  bool out_of_order_ : 1, is_am_ : 1, never_asks_ : 1;
  bool is_reordering_ : 1 = false, is_paused_ : 1 = false;
  bool suspended_ = false;
  bool asked_for_key_ = never_asks_;  // since COUNT began anew
  bool report_is_due_ = false;
  std::uint16_t epoch_ = 0;
  std::uint64_t delivered_ = 0;
  // The line that SDUs out of sequence need; of it, SDUs in sequence read that nothing is received above them.
  ReorderWindow<B> window_;
  Time t_reordering_;
  RxCounters counters_;
  std::uint32_t max_held_;
  BearerId id_;
  bool reports_;  // status reports are required
};

}  // namespace splitplane::ran::pdcp
