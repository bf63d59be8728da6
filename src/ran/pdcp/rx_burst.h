// The receiving side for a burst of PDUs of different bearers: all COUNTs first, then one call of the engine for all
// deciphering and one for all MAC-Is, then delivery in the order of the burst.
//
// A PDU's COUNT depends on RX_DELIV, which PDUs before it in the burst may move. So delivery looks at the COUNT again.
// If it is another one, which takes a jump by half of the number space, the PDU is deciphered anew and alone.
//
// A worker has one. It allocates nothing, takes no lock and makes no system call.
#pragma once

#include <span>

#include "ran/pdcp/receiver.h"
#include "ran/pdcp/verification.h"

namespace splitplane::ran::pdcp {

// A PDU on its way to an SDU, data or control. It may hold any octets.
template <buf::PacketBuffer B>
struct RxItem {
  Receiver<B>* to = nullptr;
  B pdu;  // empty after receive() if it was accepted; otherwise the caller releases it
  RxOutcome outcome = RxOutcome::accepted;
};

template <buf::PacketBuffer B>
class RxBurst {
 public:
  using Item = RxItem<B>;

  explicit RxBurst(crypto::Engine& engine) : engine_(engine) {}

  // `sink` is an RxSink of Receiver<B>. `make(bytes)` returns a buffer of that size, or an empty one; it is called only
  // for a PDU whose buffer cannot be written.
  template <class Sink, class Make>
  void receive(std::span<Item> items, Time now, Sink&& sink, Make&& make) {
    while (!items.empty()) {
      const auto burst = items.first(std::min(items.size(), kBurst));
      items = items.subspan(burst.size());
      for (const Item& item : burst) item.to->prefetch();
      for (const Item& item : burst) item.to->cover().prefetch_keys();
      for (std::size_t i = 0; i < burst.size(); ++i) work_[i] = begin(burst[i], i, make);
      const bool sound = verification_.run(engine_);
      for (std::size_t i = 0; i < burst.size(); ++i) {
        Item& item = burst[i];
        item.outcome = end(item, i, sound, now, sink);
        item.to->count(item.outcome);
      }
    }
  }

 private:
  enum class Kind : std::uint8_t { kDropped, kControl, kData };
  struct Work {
    Kind kind = Kind::kDropped;
    RxOutcome outcome = RxOutcome::accepted;  // of kDropped
    bool lends = false;                       // kLentBytes before the PDU belong to the buffer until delivery
    std::uint16_t epoch = 0;                  // Receiver::epoch() before delivery of this burst began
    std::int64_t count = 0;                   // RCVD_COUNT before delivery of this burst began
    std::uint8_t* pdu = nullptr;
    std::size_t sdu_bytes = 0;
  };

  static Work drop(RxOutcome outcome) { return {.kind = Kind::kDropped, .outcome = outcome}; }
  // Whether a COUNT can be deciphered, and why not.
  static RxOutcome check(std::int64_t count) {
    if (count < 0) return RxOutcome::hfn_negative;
    return count >= kLastCount ? RxOutcome::count_out_of_range : RxOutcome::accepted;
  }

  template <class Make>
  Work begin(Item& item, std::size_t i, Make&& make) {
    const Receiver<B>& to = *item.to;
    B& buffer = item.pdu;
    if (to.suspended()) [[unlikely]]
      return drop(RxOutcome::suspended);
    if (buffer.size() == 0) [[unlikely]]
      return drop(RxOutcome::malformed);
    if (!wire::pdcp::is_data(*buffer.data())) [[unlikely]]
      return {.kind = Kind::kControl};
    Work work{.kind = Kind::kData, .epoch = to.epoch(), .sdu_bytes = to.sdu_bytes(buffer.size())};
    if (work.sdu_bytes == 0) [[unlikely]]
      return drop(RxOutcome::malformed);
    work.count = to.count_of(to.sn(buffer.data()));
    if (!make_writable(to.cover(), item, work, make)) [[unlikely]]
      return drop(RxOutcome::no_memory);
    if (check(work.count) == RxOutcome::accepted) [[likely]] {
      verification_.add(to.cover(), i, static_cast<std::uint32_t>(work.count), work.pdu, work.sdu_bytes, work.lends);
    }
    return work;
  }

  template <class Make>
  bool make_writable(const Cover& cover, Item& item, Work& work, Make&& make) {
    B& buffer = item.pdu;
    if (cover.lends && buffer.tailroom() >= kReadBehind) {
      if (std::uint8_t* const front = buffer.prepend(kLentBytes); front != nullptr) [[likely]] {
        work.lends = true;
        work.pdu = front + kLentBytes;
        return true;
      }
    }
    if (work.pdu = buffer.mutable_data(); work.pdu != nullptr) return true;
    B copy = make(buffer.size());
    if (!copy) return false;
    work.pdu = copy.mutable_data();
    std::memcpy(work.pdu, buffer.data(), buffer.size());
    buffer = std::move(copy);
    return true;
  }

  template <class Sink>
  RxOutcome end(Item& item, std::size_t i, bool sound, Time now, Sink& sink) {
    Work& work = work_[i];
    Receiver<B>& to = *item.to;
    if (work.kind != Kind::kData) [[unlikely]]
      return work.kind == Kind::kDropped ? work.outcome : control(item, sink);
    if (work.epoch != to.epoch()) [[unlikely]]
      return RxOutcome::keys_changed;
    const std::int64_t count = to.count_of(to.sn(work.pdu));
    bool is_genuine = false;
    if (count == work.count) [[likely]] {
      if (check(count) != RxOutcome::accepted) [[unlikely]]
        return check(count);
      is_genuine = verification_.is_genuine(to.cover(), i, work.pdu, work.sdu_bytes);
    } else if (sound) {
      sound = again(to, work, count);
      if (check(count) != RxOutcome::accepted) return check(count);
      is_genuine = again_.is_genuine(to.cover(), 0, work.pdu, work.sdu_bytes);
    }
    if (!sound) [[unlikely]]
      return RxOutcome::crypto_failed;
    if (!is_genuine) [[unlikely]] {
      sink.integrity_failure(to, Count{static_cast<std::uint32_t>(count)});
      return RxOutcome::integrity_failed;
    }
    B& sdu = item.pdu;
    static_cast<void>(sdu.trim_front(std::size_t{to.cover().header_bytes} + (work.lends ? kLentBytes : 0)));
    static_cast<void>(sdu.trim_back(to.cover().mac_bytes));
    return to.accept(static_cast<std::uint32_t>(count), sdu, now, sink);
  }

  // Deciphers a PDU with another COUNT than before.
  bool again(const Receiver<B>& to, Work& work, std::int64_t count) {
    bool sound = true;
    if (to.cover().ciphers && check(work.count) == RxOutcome::accepted) {  // enciphers it again
      const auto back =
          Verification::cipher_job(to.cover(), static_cast<std::uint32_t>(work.count), work.pdu, work.sdu_bytes);
      sound = engine_.cipher({&back, 1});
    }
    if (check(count) != RxOutcome::accepted) return sound;
    again_.add(to.cover(), 0, static_cast<std::uint32_t>(count), work.pdu, work.sdu_bytes, work.lends);
    return again_.run(engine_) && sound;
  }

  template <class Sink>
  RxOutcome control(Item& item, Sink& sink) {
    const Octets pdu = buf::octets(item.pdu);
    if ((pdu[0] >> 4 & 7) != static_cast<unsigned>(wire::pdcp::ControlType::kStatusReport)) {
      return RxOutcome::unknown_control;
    }
    const auto report = wire::pdcp::parse_status_report(pdu);
    if (!report) return RxOutcome::bad_status_report;
    sink.status_report(*item.to, *report);
    return RxOutcome::control;
  }

  crypto::Engine& engine_;
  Verification verification_, again_;
  std::array<Work, kBurst> work_;
};

}  // namespace splitplane::ran::pdcp
