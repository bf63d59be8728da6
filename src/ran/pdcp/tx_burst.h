// The transmitting side for a burst of SDUs of different bearers: all headers first, then one call of the engine for
// all MAC-Is and one for all ciphering. So the cipher library fills its lanes whatever the bearers are.
//
//   1. protect(): SDUs become PDUs in their buffers, or are dropped before they have a number
//   2. the caller writes the headers of lower layers before the PDUs
//   3. keep(): AM bearers store a second handle to each buffer
//   4. the caller sends the buffers
//
// A worker has one. It allocates nothing, takes no lock and makes no system call.
#pragma once

#include <span>

#include "ran/pdcp/transmitter.h"

namespace splitplane::ran::pdcp {

// An SDU on its way to a PDU.
template <buf::PacketBuffer B>
struct TxItem {
  Transmitter<B>* from = nullptr;
  B buffer;  // the SDU; after protect() the PDU if `outcome` is `sent`, empty if the SDU waits, the SDU if it is
             // dropped
  Count count{};
  TxOutcome outcome = TxOutcome::sent;
  std::uint8_t lower_bytes = 0;  // octets that the caller wrote before the PDU between protect() and keep()
};

template <buf::PacketBuffer B>
class TxBurst {
 public:
  using Item = TxItem<B>;

  explicit TxBurst(crypto::Engine& engine) : engine_(engine) {}

  // `sink` is a TxSink of Transmitter<B>. `make(bytes)` returns a buffer of that size with headroom for the lower
  // layers, or an empty one; it is called only for an SDU whose buffer cannot be written or has too little room.
  template <class Sink, class Make>
  void protect(std::span<Item> items, Time now, Sink&& sink, Make&& make) {
    while (!items.empty()) {
      const auto burst = items.first(std::min(items.size(), kBurst));
      items = items.subspan(burst.size());
      for (const Item& item : burst) item.from->prefetch();
      for (const Item& item : burst) item.from->prefetch_more();
      for (std::size_t i = 0; i < burst.size(); ++i) {
        Item& item = burst[i];
        admit(item, i, item.from->number(item.buffer, now, make));
      }
      run(burst);
      for (const Item& item : burst) {
        if (item.outcome == TxOutcome::sent) item.from->check_threshold(sink);
      }
    }
  }

  // Stores the PDUs that an AM bearer may have to send again. From here on no octet of them may change.
  void keep(std::span<Item> items) {
    for (Item& item : items) {
      if (item.outcome == TxOutcome::sent) item.from->keep(item.count.value, item.buffer, item.lower_bytes);
    }
  }

  // Sends SDUs again that `from` stores, then numbers SDUs that waited behind them: at most one for each of `items`. It
  // fills the first of them and returns their number; they go the same way as those of protect(). The caller calls it
  // until from.sending_again() is false. It ends early without credit, page or buffer (`make`): what is left waits, and
  // the caller calls again later.
  template <class Sink, class Make>
  std::size_t send_again(Transmitter<B>& from, std::span<Item> items, Sink&& sink, Make&& make) {
    items = items.first(std::min(items.size(), kBurst));
    std::size_t count = 0;
    bool complete = false;
    for (; count < items.size(); ++count) {
      const auto again = from.next_again();
      complete = again.pdu == nullptr && !again.is_blocked;
      if (again.pdu == nullptr || !reopen(from, again, items[count], count, make)) break;
    }
    const bool deciphered = decipher();
    if (complete) {
      while (count < items.size() && from.waiting() != 0) {
        Item& item = items[count];
        item = Item{.from = &from};
        admit(item, count, from.number_waiting(item.buffer, make));
        if (item.outcome == TxOutcome::no_credit || item.outcome == TxOutcome::no_memory) break;
        if (item.outcome == TxOutcome::sent) ++count;
      }
      from.end_again();
    }
    const auto burst = items.first(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (as_it_was_[i]) continue;
      const Item& item = burst[i];
      protection_.add(from.cover(), item.count.value, pdu_[i], sdu_bytes_[i], lends_[i]);
    }
    finish(burst, deciphered);
    if (count != 0) from.check_threshold(sink);
    return count;
  }

 private:
  // Notes what number() says of item i of the burst.
  void admit(Item& item, std::size_t i, const Numbered& numbered) {
    item.outcome = numbered.outcome;
    item.count = Count{numbered.count};
    item.lower_bytes = 0;
    pdu_[i] = numbered.pdu;
    sdu_bytes_[i] = numbered.sdu_bytes;
    lends_[i] = numbered.lends;
    as_it_was_[i] = false;
  }

  void run(std::span<Item> burst) {
    for (std::size_t i = 0; i < burst.size(); ++i) {
      const Item& item = burst[i];
      if (item.outcome != TxOutcome::sent) continue;
      protection_.add(item.from->cover(), item.count.value, pdu_[i], sdu_bytes_[i], lends_[i]);
    }
    finish(burst, true);
  }
  void finish(std::span<Item> burst, bool deciphered) {
    const bool sound = protection_.run(engine_) && deciphered;
    for (std::size_t i = 0; i < burst.size(); ++i) {
      Item& item = burst[i];
      if (item.outcome != TxOutcome::sent) continue;
      if (lends_[i]) static_cast<void>(item.buffer.trim_front(kLentBytes));
      if (sound) [[likely]]
        continue;
      item.from->give_up(item.count.value, sdu_bytes_[i]);
      item.outcome = TxOutcome::crypto_failed;
      item.buffer.release();
    }
  }

  using Again = typename Transmitter<B>::Again;

  // Prepares a stored SDU: in its buffer if RLC has released it, otherwise in a new one.
  template <class Make>
  bool reopen(Transmitter<B>& from, const Again& again, Item& item, std::size_t i, Make&& make) {
    const Cover& cover = from.cover();
    const Cover& retired = from.retired();
    const std::uint8_t* stored = again.pdu->data() + again.skip;
    const bool in_place = again.pdu->writable() && again.pdu->tailroom() + retired.mac_bytes >= cover.mac_bytes;
    B buffer;
    if (in_place) {
      buffer = from.sent_again(again);
      static_cast<void>(buffer.trim_front(again.skip));
      if (!again.as_it_was) {
        static_cast<void>(buffer.trim_back(retired.mac_bytes));
        static_cast<void>(buffer.append(cover.mac_bytes));
      }
    } else if (buffer = make(cover.overhead() + again.sdu_bytes); buffer) {
      const std::size_t clear_bytes = std::size_t{cover.header_bytes} + cover.clear_bytes;
      const std::size_t sdu_end = cover.header_bytes + again.sdu_bytes;
      const bool is_copied = again.as_it_was || !retired.ciphers;
      std::memcpy(buffer.mutable_data(), stored,
                  again.as_it_was ? cover.overhead() + again.sdu_bytes
                  : is_copied     ? sdu_end
                                  : clear_bytes);
      old_[i] = from.sent_again(again);  // until decipher()
    } else {
      from.not_sent_again(again);
      return false;
    }
    std::uint8_t* const pdu = buffer.mutable_data();
    if (!again.as_it_was) {
      if (retired.ciphers) add_decipher_job(retired, again, in_place ? pdu : stored, pdu);
      from.write_header(pdu, again.count);
    }
    item.from = &from;
    item.buffer = std::move(buffer);
    admit(item, i, {.count = again.count, .pdu = pdu, .sdu_bytes = again.sdu_bytes});
    as_it_was_[i] = again.as_it_was;
    return true;
  }
  void add_decipher_job(const Cover& retired, const Again& again, const std::uint8_t* from, std::uint8_t* to) {
    const std::size_t front = std::size_t{retired.header_bytes} + retired.clear_bytes;
    ciphers_[cipher_jobs_++] = {.key = retired.keys.cipher,
                                .count = Count{again.old_count},
                                .bearer = retired.bearer,
                                .direction = retired.direction,
                                .in = from + front,
                                .out = to + front,
                                .length = again.sdu_bytes - retired.clear_bytes};
  }
  bool decipher() {
    const bool sound = cipher_jobs_ == 0 || engine_.cipher({ciphers_.data(), cipher_jobs_});
    cipher_jobs_ = 0;
    for (B& old : old_) old.release();
    return sound;
  }

  crypto::Engine& engine_;
  Protection protection_;
  std::array<std::uint8_t*, kBurst> pdu_{};
  std::array<std::uint32_t, kBurst> sdu_bytes_{};
  std::array<bool, kBurst> lends_{}, as_it_was_{};
  // Of send_again():
  std::size_t cipher_jobs_ = 0;
  std::array<crypto::CipherJob, kBurst> ciphers_{};
  std::array<B, kBurst> old_;
};

}  // namespace splitplane::ran::pdcp
