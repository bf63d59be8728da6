// PDCP with security on mbufs, for the secured bearers of a gNB worker or of the UE side. The worker collects the
// packets of a burst that belong to secured bearers, and this class numbers, ciphers and signs all of them together, or
// the other way round. RLC is the worker's: a PDU goes through it once, whatever RLC sends again (arq/arq.h).
//
//   downlink of the gNB, uplink of the UE   outgoing.add()  -> protect()        -> headers of RLC -> air
//   the other direction                     RLC -> incoming.add() -> receive()  -> deliver, in order
//                                                              serve(), once per round: t-Reordering
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arq/arq.h"
#include "base/timer_wheel.h"
#include "engine/burst.h"
#include "engine/mbuf_buffer.h"
#include "ran/by_identity.h"
#include "ran/pdcp/entity.h"
#include "ran/pdcp/rx_burst.h"
#include "ran/pdcp/tx_burst.h"
#include "secured/bearer_keys.h"

namespace splitplane::datapath {

using PdcpReceiver = ran::pdcp::Receiver<MbufBuffer>;
using PdcpTransmitter = ran::pdcp::Transmitter<MbufBuffer>;

// The PDCP entity of a bearer with its keys, and its timer.
struct SecuredBearer : TimerNode {
  SecuredBearer(const ran::BearerConfig& bearer, const ran::pdcp::Config& config, BearerKeys::Pair pair,
                ran::pdcp::Memory<MbufBuffer>& memory);

  void prefetch() const {
    __builtin_prefetch(this, 1);
    entity.tx().prefetch();
  }

  BearerId id;
  BearerKeys::Pair keys;
  BearerKeys::Pair retired;  // the keys before: frames that RLC keeps need them until they are protected again
  ran::pdcp::Entity<MbufBuffer> entity;
  ran::SecurityConfig security;
  std::uint16_t kept_pdu_at;    // where the PDCP PDU begins in a frame that RLC keeps
  std::uint8_t epoch = 0;       // in airhdr of both directions: frames of another epoch may have other keys
  bool renumbers_kept = false;  // frames that RLC keeps get COUNTs from `next_kept` on
  std::uint32_t next_kept = 0;
  std::uint32_t received_until = 0;  // RX_NEXT, also after detach() began COUNTs anew
};
using SecuredBearers = ran::ByIdentity<SecuredBearer>;

// The SDUs of a burst that are to be sent.
struct SecuredOutgoing {
  void add(SecuredBearer& to, rte_mbuf* sdu) {
    bearer[size] = &to;
    item[size++] = {.from = &to.entity.tx(), .buffer = MbufBuffer(sdu)};
  }

  unsigned size = 0;
  std::array<SecuredBearer*, kBurst> bearer;
  std::array<ran::pdcp::TxItem<MbufBuffer>, kBurst> item;
};

// The PDUs of a burst that came from RLC.
struct SecuredIncoming {
  void add(SecuredBearer& from, rte_mbuf* pdu) {
    bearer[size] = &from;
    item[size++] = {.to = &from.entity.rx(), .pdu = MbufBuffer(pdu)};
  }

  unsigned size = 0;
  std::array<SecuredBearer*, kBurst> bearer;
  std::array<ran::pdcp::RxItem<MbufBuffer>, kBurst> item;
};

// Other keys for a bearer that lives.
struct NewKeys {
  BearerKeys::Pair pair;  // afterwards: keys that no frame needs any more, for the control thread to destroy
  ran::SecurityConfig security;
  std::uint8_t epoch = 0;
  bool begins_anew = false;    // COUNTs begin at `first`; otherwise they go on
  bool peer_has_them = false;  // and sends with them already
  BearerKeys::Used first;
};

class WorkerPdcp {
 public:
  struct Settings {
    Direction sends = Direction::kDownlink;
    rte_mempool* pool = nullptr;   // for PDUs whose buffers cannot be written
    std::size_t max_held = 16384;  // SDUs of all bearers that wait for SDUs before them
    std::uint64_t ticks_per_ms = 1;
    std::uint64_t now = 0;
  };

  // With the keys of the program, and an engine for this worker.
  [[nodiscard]] static Expected<std::unique_ptr<WorkerPdcp>> create(const Settings& settings,
                                                                    std::shared_ptr<BearerKeys> keys);

  // On the control thread: makes a bearer, whose COUNTs begin at these values.
  [[nodiscard]] Expected<std::unique_ptr<SecuredBearer>> make(const ran::BearerConfig& bearer, Count tx_next,
                                                              Count rx_deliv);
  [[nodiscard]] BearerKeys& keys() { return *keys_; }

  // On the owner's thread: ends a bearer, and returns how many SDUs it held. The control thread may destroy it then.
  std::uint64_t detach(SecuredBearer& bearer);
  // On the owner's thread: both directions have other keys from now on. What the bearer holds is delivered where COUNTs
  // begin anew, and stays where they go on. If it is refused, nothing changes.
  [[nodiscard]] ran::pdcp::Refusal change_keys(SecuredBearer& bearer, NewKeys& fresh, std::uint64_t now);
  // The frames that RLC keeps get the first COUNTs, where COUNTs begin anew.
  void number_kept(SecuredBearer& bearer, std::uint32_t frames);
  // Protects frames that RLC keeps again, in place: at most kBurst, which no one else holds. False: they are spoiled.
  [[nodiscard]] bool protect_again(SecuredBearer& bearer, std::span<rte_mbuf* const> frames);
  // The peer cannot send now: t-Reordering waits until it does, but no longer than RLC waits for it.
  void pause_reordering(SecuredBearer& bearer, std::uint64_t now) {
    pause_reordering(bearer, now, Arq::kPeerPatienceMs);
  }
  // The peer still sends with the keys before: a pause that lasts begins anew.
  void prolong_pause(SecuredBearer& bearer, std::uint64_t now) {
    bearer.entity.rx().prolong_pause(now + Arq::kPeerPatienceMs * settings_.ticks_per_ms);
    rearm(bearer);
  }

  // Numbers and protects what is collected. The caller looks at each item, and sets `size` to 0.
  void protect(SecuredOutgoing& out);
  // Deciphers, verifies and orders what is collected: deliver(bearer's identity, SDU) for each SDU in order. The caller
  // looks at each item afterwards, and sets `size` to 0.
  template <class Deliver>
  void receive(SecuredIncoming& in, std::uint64_t now, Deliver&& deliver) {
    if (!undelivered_.empty()) [[unlikely]]
      deliver_left(deliver);
    Delivery<Deliver> sink{*this, deliver};
    rx_.receive({in.item.data(), in.size}, now, sink, Maker{settings_.pool});
    for (unsigned i = 0; i < in.size; ++i) {
      held_ += in.item[i].outcome == ran::pdcp::RxOutcome::accepted ? 1 : 0;
      rearm(*in.bearer[i]);
    }
  }
  // Once per round: what waited long enough.
  template <class Deliver>
  void serve(std::uint64_t now, Deliver&& deliver) {
    deliver_left(deliver);
    Delivery<Deliver> sink{*this, deliver};
    wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
      auto& bearer = static_cast<SecuredBearer&>(node);
      bearer.entity.rx().advance(now, sink);
      rearm(bearer);
    });
  }
  [[nodiscard]] bool idle() const { return wheel_.armed() == 0 && undelivered_.empty(); }
  [[nodiscard]] std::uint64_t next_work() const { return undelivered_.empty() ? wheel_.next_turn() : 0; }
  // SDUs that wait now for SDUs before them.
  [[nodiscard]] std::uint64_t held() const { return static_cast<std::uint64_t>(held_); }
  // How often a bearer's COUNTs were found to near their end.
  [[nodiscard]] std::uint64_t keys_needed() const { return keys_needed_; }

  // Of the worker, for the burst that it serves. They are empty between two bursts.
  SecuredOutgoing outgoing;
  SecuredIncoming incoming;

 private:
  // Makes the buffers that PDCP asks for.
  struct Maker {
    rte_mempool* pool;
    MbufBuffer operator()(std::size_t bytes) const { return MbufBuffer::make(pool, bytes); }
  };
  static constexpr unsigned kTimersPerRound = 64;

  // As TxSink. RLC holds the only copy, and there is no discardTimer, so nothing is discarded.
  struct Sending {
    WorkerPdcp& pdcp;
    void discard(PdcpTransmitter&, Count) {}
    void key_needed(PdcpTransmitter&) { ++pdcp.keys_needed_; }
  };
  // As RxSink. Status reports are for the transmitters of bearers that store SDUs, which these do not.
  template <class Deliver>
  struct Delivery {
    WorkerPdcp& pdcp;
    Deliver& call;
    void deliver(PdcpReceiver& from, Count, MbufBuffer sdu) {
      --pdcp.held_;
      call(from.id(), std::move(sdu));
    }
    void integrity_failure(PdcpReceiver&, Count) {}  // counted by its outcome
    void key_needed(PdcpReceiver&) { ++pdcp.keys_needed_; }
    void status_report(PdcpReceiver&, const wire::pdcp::StatusReport&) {}
  };

  // An SDU that a change of keys delivered. A command has no way to deliver, so the next round does it.
  struct Undelivered {
    BearerId id;
    MbufBuffer sdu;
  };
  // As RxSink.
  struct Collected {
    WorkerPdcp& pdcp;
    void deliver(PdcpReceiver& from, Count, MbufBuffer sdu) {
      pdcp.undelivered_.push_back({from.id(), std::move(sdu)});
    }
    void integrity_failure(PdcpReceiver&, Count) {}
    void key_needed(PdcpReceiver&) {}
    void status_report(PdcpReceiver&, const wire::pdcp::StatusReport&) {}
  };

  WorkerPdcp(const Settings& settings, std::shared_ptr<BearerKeys> keys, std::unique_ptr<crypto::Engine> engine);

  template <class Deliver>
  void deliver_left(Deliver&& deliver) {
    for (Undelivered& one : std::exchange(undelivered_, {})) {
      --held_;
      deliver(one.id, std::move(one.sdu));
    }
  }

  // A peer that has the new keys already hears within this time that this end has them, too, and sends again.
  static constexpr std::uint64_t kPeerAnswersMs = 1000;

  void pause_reordering(SecuredBearer& bearer, std::uint64_t now, std::uint64_t for_ms) {
    bearer.entity.rx().pause_reordering(now + for_ms * settings_.ticks_per_ms);
    rearm(bearer);
  }
  void rearm(SecuredBearer& bearer) {
    const std::uint64_t next = bearer.entity.rx().next_deadline();
    if (next != bearer.expiry) wheel_.arm(bearer, next);
  }

  Settings settings_;
  std::shared_ptr<BearerKeys> keys_;
  std::unique_ptr<crypto::Engine> engine_;
  ran::pdcp::Memory<MbufBuffer> memory_;
  ran::pdcp::TxBurst<MbufBuffer> tx_;
  ran::pdcp::RxBurst<MbufBuffer> rx_;
  ran::pdcp::Protection again_;  // of frames that RLC keeps
  TimerWheel wheel_;
  std::vector<Undelivered> undelivered_;
  std::int64_t held_ = 0;  // with those that are undelivered
  std::uint64_t keys_needed_ = 0;
};

}  // namespace splitplane::datapath
