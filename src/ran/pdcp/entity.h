// A PDCP entity of a data radio bearer (TS 38.323): both sides, and what RRC asks of them. The packet path uses the
// sides through TxBurst and RxBurst; the procedures here are rare.
#pragma once

#include <span>
#include <vector>

#include "crypto/key_store.h"
#include "ran/pdcp/receiver.h"
#include "ran/pdcp/transmitter.h"

namespace splitplane::ran::pdcp {

// The highest COUNTs in use (TS 38.331 5.3.6.3), 0 where none is. RRC compares the 25 most significant bits.
struct CountsInUse {
  Count uplink{}, downlink{};
};

template <buf::PacketBuffer B>
class Entity {
 public:
  // `config` must not be one that refuse() refuses.
  Entity(const Config& config, const Security& security, Memory<B>& memory)
      : tx_(config, security, memory), rx_(config, security, memory), sends_(config.sends) {}

  [[nodiscard]] Transmitter<B>& tx() { return tx_; }
  [[nodiscard]] const Transmitter<B>& tx() const { return tx_; }
  [[nodiscard]] Receiver<B>& rx() { return rx_; }
  [[nodiscard]] const Receiver<B>& rx() const { return rx_; }

  // Runs the timers. The sink is that of both sides.
  template <class Sink>
  void advance(Time now, Sink& sink) {
    tx_.advance(now, sink);
    rx_.advance(now, sink);
  }
  [[nodiscard]] Time next_deadline() const { return std::min(tx_.next_deadline(), rx_.next_deadline()); }

  // 5.1.2; of a suspended entity, this resumes it. Afterwards the caller sends a status report if rx().report_is_due(),
  // then calls TxBurst::send_again() until tx().sending_again() is false. Until then the old keys have to stay.
  //
  // TS 38.331 5.3.1.2 allows no COUNT twice under one key, and leaves that to the network. This entity refuses it for
  // the keys that it has. Where COUNT begins anew, each key has to be another one. An AM bearer that goes on may keep
  // both keys (the same objects), which repeats PDUs, or change both. One new key of two would put another MAC-I under
  // the same keystream. The entity does not know the keys before these. Key derivation guarantees that they do not come
  // back: each K_gNB is fresh (TS 33.501 6.9.2.3).
  template <class Sink>
  [[nodiscard]] Refusal reestablish(const Security& security, Sink& sink) {
    const bool begins_anew = tx_.suspended() || !tx_.is_am();
    if (tx_.security().protects_alike(security) && (begins_anew || tx_.security() != security)) {
      return Refusal::kKeyReused;
    }
    if (tx_.sending_again()) return Refusal::kSendingAgain;
    rx_.reestablish(security, sink);
    tx_.reestablish(security);
    return Refusal::kNone;
  }
  // 5.1.2 of an AM bearer whose PDUs the lower layer keeps, so that this entity stores nothing. COUNTs go on in both
  // directions, and the receiver keeps what it holds. The owner of the kept PDUs protects them again.
  [[nodiscard]] Refusal change_keys(const Security& security) {
    if (tx_.suspended()) return Refusal::kSuspended;
    if (!tx_.stores_nothing()) return Refusal::kNotEmpty;
    if (tx_.security().protects_alike(security)) return Refusal::kKeyReused;
    rx_.change_keys(security);
    tx_.change_keys(security);
    return Refusal::kNone;
  }
  // 5.5. The caller goes on as after reestablish().
  [[nodiscard]] Refusal data_recovery() {
    if (!tx_.is_am()) return Refusal::kNotAm;
    if (tx_.suspended()) return Refusal::kSuspended;
    if (tx_.sending_again()) return Refusal::kSendingAgain;
    rx_.recover();
    tx_.recover();
    return Refusal::kNone;
  }
  // 5.1.4. The keys have to stay until the SDUs that an AM bearer stores are sent again. SDUs that the entity has not
  // sent again yet since a change of keys are dropped and counted (`not_sent_again`).
  template <class Sink>
  [[nodiscard]] Refusal suspend(Sink& sink) {
    if (tx_.suspended()) return Refusal::kSuspended;
    tx_.suspend();
    rx_.suspend(sink);
    return Refusal::kNone;
  }
  // 5.1.3: the receiver delivers what it holds. The owner destroys the entity afterwards.
  template <class Sink>
  void release(Sink& sink) {
    tx_.release();
    rx_.release(sink);
  }

  // SN status transfer at the target, for an entity that stores nothing, and only forward. The source reads tx_next(),
  // rx_deliv() and for_each_received().
  template <class Sink>
  [[nodiscard]] Refusal set_counts(Count tx_next, Count rx_deliv, std::span<Forwarded<B>> received, Sink& sink) {
    if (tx_.suspended()) return Refusal::kSuspended;
    if (!tx_.stores_nothing() || !rx_.holds_nothing()) return Refusal::kNotEmpty;
    if (tx_next.value < tx_.tx_next() || rx_deliv.value < rx_.rx_deliv()) return Refusal::kCountGoesBack;
    const auto has_place = [&](const Forwarded<B>& one) {
      return one.count.value > rx_deliv.value && one.count.value - rx_deliv.value < rx_.window() &&
             one.count.value < kLastCount;
    };
    if (tx_next.value >= kLastCount || rx_deliv.value >= kLastCount ||
        !std::all_of(received.begin(), received.end(), has_place)) {
      return Refusal::kOutOfRange;
    }
    if (has_equal_counts(received)) return Refusal::kCountTwice;
    if (!rx_.set_rx_deliv(rx_deliv, received, sink)) return Refusal::kNoMemory;
    tx_.set_tx_next(tx_next);
    return Refusal::kNone;
  }

  [[nodiscard]] CountsInUse counts_in_use() const {
    const Count sent{std::max(tx_.tx_next(), 1U) - 1}, received{std::max(rx_.rx_next(), 1U) - 1};
    return sends_ == Direction::kDownlink ? CountsInUse{received, sent} : CountsInUse{sent, received};
  }

 private:
  static bool has_equal_counts(std::span<const Forwarded<B>> received) {
    std::vector<std::uint32_t> counts;
    for (const Forwarded<B>& one : received) counts.push_back(one.count.value);
    std::sort(counts.begin(), counts.end());
    return std::adjacent_find(counts.begin(), counts.end()) != counts.end();
  }

  Transmitter<B> tx_;
  Receiver<B> rx_;
  Direction sends_;
};

}  // namespace splitplane::ran::pdcp
