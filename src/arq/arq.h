// RLC AM of header mode, for a gNB worker and for the UE side. Each SDU is one PDU. Arq keeps it until the peer
// acknowledges it and sends it again when it does not arrive. Arq also reports the peer's PDUs to the peer. With `baas:
// inline`, and at the UE side, the windows are here. With `baas: process` they are in the buffering service, which says
// what to send again, and here is only the ledger of the frames (baas/worker_end.h).
// The bearer's owner numbers and writes the PDUs (ran/header_mode.h, ue/ue_uplink.h). Arq keeps frames whole: Ethernet,
// airhdr, RLC PDU.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "baas/worker_end.h"
#include "base/timer_wheel.h"
#include "engine/burst.h"
#include "engine/mbuf_buffer.h"
#include "ran/bearer_view.h"
#include "ran/ecn/marker.h"
#include "ran/intrusive_queue.h"
#include "ran/rlc/am_receive.h"
#include "ran/rlc/am_retx.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"
#include "wire/rlc.h"

namespace splitplane::datapath {

using ran::rlc::Time;
using wire::Octets;

inline constexpr unsigned kAirRlcOffset = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes;
inline constexpr std::uint8_t kPollBit = 0x40;  // in the first octet of an AMD PDU
inline constexpr unsigned kEpochOffset = wire::ethernet::kHeaderBytes + 3;

// Protects kept frames again, in the order of their RLC numbers, at most kBurst at once. False: the frames are spoiled.
using ProtectAgain = std::function<bool(std::span<rte_mbuf* const> frames)>;

struct ArqBearer;

// The window of a bearer that is in the buffering service.
struct AwayWindow : baas::Window {
  explicit AwayWindow(ArqBearer& of) : bearer(of) {}
  ArqBearer& bearer;
};

// One AM bearer with both directions of one end.
struct ArqBearer : TimerNode {
  ArqBearer(const ran::BearerConfig& bearer, std::uint8_t epoch, Direction sends, const ran::rlc::AmConfig& am,
            std::uint32_t unacked, std::uint32_t longest_sdu, ran::rlc::Memory<MbufBuffer>& memory);

  // Begins a new epoch, which has PDUs other than those of the epoch before.
  void set_epoch(std::uint8_t to) {
    epoch = to;
    air = (air & ~(std::uint64_t{0xff} << 32)) | std::uint64_t{to} << 32;
  }

  // TX_Next, TX_Next_Ack and the lowest number whose buffer may still be held, without the modulus.
  [[nodiscard]] std::uint32_t next() const { return away ? away->next : retx.next(); }
  [[nodiscard]] std::uint32_t next_ack() const { return away ? away->next_ack : retx.next_ack(); }
  [[nodiscard]] std::uint32_t oldest() const { return away ? away->oldest() : retx.oldest(); }

  ran::rlc::AmRetx<MbufBuffer> retx;  // empty if the window is away
  std::unique_ptr<AwayWindow> away;
  ran::rlc::AmReceive<MbufBuffer> receive;
  std::uint64_t air;              // the airhdr of the frames that this end sends, without the length
  std::uint32_t id;               // of the bearer
  std::uint32_t max_unacked;      // SDUs that may wait for their acknowledgement
  std::uint64_t max_octets;       // octets of SDUs that may be kept; 0: no limit
  std::uint32_t longest_sdu;      // octets
  std::uint64_t octets_here = 0;  // of the SDUs in `retx`
  std::uint8_t sn_bits;
  std::uint8_t epoch;    // in the airhdr of both directions: PDUs of another epoch are not for these entities
  bool working = false;  // the bearer is in the list of bearers with work
  bool of_card = false;  // a card sends its PDUs, and their clones are kept
  bool gone = false;     // the peer misses an SDU that has no copy: take_gone() has named the bearer
  bool failed = false;   // an SDU reached maxRetxThreshold: the bearer sends nothing until re-establishment
  // The peer is not known to be in this epoch, so silence is no radio link failure until then.
  bool peer_is_elsewhere = false;
  Time elsewhere_until = 0;
  std::uint64_t burst = 0;  // the burst in which poll_last() saw the bearer last
  // After a change of keys: frames from here to below the end are protected again before they are sent.
  ProtectAgain protect_again;
  std::uint32_t to_protect = 0, to_protect_end = 0;
  ArqBearer* next_working = nullptr;
  std::unique_ptr<ran::ecn::Marker> marker;  // of the sender of a bearer with the key `ecn`

  // Octets of the SDUs that are kept.
  [[nodiscard]] std::uint64_t octets() const { return away ? away->octets : octets_here; }
  // How many SDUs of any length surely stay within the limit of octets.
  [[nodiscard]] std::uint32_t sdus_by_octets() const {
    return static_cast<std::uint32_t>((max_octets - std::min(max_octets, octets())) / longest_sdu);
  }
  // The first RLC number, without the modulus, that may not be sent yet.
  [[nodiscard]] std::uint32_t limit() const {
    if (failed) return next();
    if (max_octets != 0) [[unlikely]] {
      const std::uint32_t by_octets = next() + sdus_by_octets(), by_sdus = limit_by_sdus();
      return ran::rlc::before(by_octets, by_sdus) ? by_octets : by_sdus;
    }
    return limit_by_sdus();
  }

 private:
  [[nodiscard]] std::uint32_t limit_by_sdus() const {
    const std::uint32_t window = next_ack() + max_unacked;
    // There the SNs would reach buffers that are not given back yet.
    const std::uint32_t round = oldest() + ran::rlc::sn_mask(sn_bits) - ran::rlc::kPageSns;
    return ran::rlc::before(round, window) ? round : window;
  }
};

// The counters and the state of a bearer's entities.
[[nodiscard]] ArqView view_of(const ArqBearer& bearer);

class Arq {
 public:
  struct Settings {
    Direction sends = Direction::kDownlink;
    std::array<std::uint8_t, wire::ethernet::kHeaderBytes> ethernet{};  // of the frames that this end sends
    rte_mempool* pool = nullptr;                                        // for STATUS PDUs and copies
    std::size_t max_unacked = 16384;                                    // SDUs of all bearers together
    std::uint64_t max_octets = 0;                                       // octets of these SDUs; 0: no limit
    unsigned longest_frame = 1514;                                      // the longest that the port ever sends
    std::uint64_t ticks_per_ms = 1;
    std::uint64_t now = 0;
    std::vector<baas::Channel> service;  // the channels to the buffering service; none: windows are kept here
    std::size_t max_bearers = 0;         // with a service
  };
  struct Counters {
    std::uint64_t peer_lost = 0;  // bearers whose peer no longer answered polls
    std::uint64_t retransmitted = 0, status_sent = 0;
    std::uint64_t status_stale = 0, status_malformed = 0;  // received and ignored
    std::uint64_t sent = 0;                                // retransmissions and STATUS PDUs that the port took
    std::uint64_t lost = 0;      // frames that the port did not take, and retransmissions for which there was no buffer
    std::uint64_t max_retx = 0;  // SDUs that reached maxRetxThreshold
    std::uint64_t no_copy = 0;   // SDUs of which no copy came
    std::uint64_t gone = 0;      // times that a peer missed one of these
  };

  static constexpr std::uint64_t kPeerPatienceMs = 10'000;

  explicit Arq(const Settings& settings);

  // Makes a bearer that attach() takes. The control thread makes bearers, and destroys them after detach().
  [[nodiscard]] std::unique_ptr<ArqBearer> make(const ran::BearerConfig& bearer, std::uint8_t epoch);
  // On the owner's thread: gives all buffers back. The control thread may destroy the bearer then.
  void detach(ArqBearer& bearer);

  // On the owner's thread: the port sends no frame with more than `longest` octets from now on. STATUS PDUs stay within
  // that. The limits of octets count with settings.longest_frame as before: no SDU is ever longer, so they hold.
  void set_status_frame(unsigned longest) { status_frame_ = std::min(longest, settings_.longest_frame); }

  // On the owner's thread: RLC re-establishment (TS 38.322 5.1.3) with PDCP data recovery. Both directions begin with
  // number 0 again. SDUs that the peer has not acknowledged get new numbers and are sent again. With `protect_again`
  // each of them is protected again first: a few in each round, in serve(). The caller has called protect_rest().
  void reestablish(ArqBearer& bearer, std::uint8_t epoch, Time now, ProtectAgain protect_again = {});
  // Protects at once what still needs the keys before, because these change or frames get other numbers.
  void protect_rest(ArqBearer& bearer);
  // The peer is in another epoch, until it sends a PDU of this one. It has kPeerPatienceMs, so that a peer that is gone
  // does not keep SDUs here for ever.
  void await_peer(ArqBearer& bearer, Time now) {
    if (bearer.peer_is_elsewhere) return;
    bearer.peer_is_elsewhere = true;
    bearer.elsewhere_until = now + kPeerPatienceMs * settings_.ticks_per_ms;
    rearm(bearer);
  }
  // Sends a STATUS PDU soon, which shows the peer the epoch of this end.
  void show_epoch(ArqBearer& bearer) {
    bearer.receive.want_status();
    set_working(bearer);
  }

  // True if a burst of new PDUs of any bearers can be kept.
  [[nodiscard]] bool has_room() const {
    if (unacked_ + kBurst > settings_.max_unacked) return false;
    if (settings_.max_octets != 0 && kept_octets() + kBurst * std::uint64_t{longest_sdu()} > settings_.max_octets)
      return false;
    if (service_) return service_->has_room(kBurst);
    return memory_.sent_pages.available() >= kBurst && memory_.directories.available() >= 2 * kBurst;
  }

  // Takes new PDUs in the order of their numbers, with nullptr for PDUs of other bearers. The last PDU of each bearer
  // polls, because nothing of that bearer waits after it (TS 38.322 5.3.3.2). Calls polled(i) for each of these.
  template <class Polled>
  void poll_last(std::span<ArqBearer* const> bearers, std::span<rte_mbuf* const> frames, Polled&& polled) {
    ++bursts_;
    for (std::size_t i = frames.size(); i-- != 0;) {
      if (bearers[i] == nullptr || std::exchange(bearers[i]->burst, bursts_) == bursts_) continue;
      octets(frames[i])[kAirRlcOffset] |= kPollBit;
      polled(i);
    }
  }
  // Keeps the frame of the bearer's next new PDU, which the caller is about to send. It takes over one
  // reference.
  void keep(ArqBearer& bearer, rte_mbuf* frame, Time now);
  // Keeps a clone of a PDU that a card sent, with its number as it is on the air. SDUs between the last one and this
  // one have no copy. False: it is not kept, and the caller has the frame.
  enum class Clone : std::uint8_t { kKept, kKnown, kNoRoom };
  [[nodiscard]] Clone keep_clone(ArqBearer& bearer, rte_mbuf* frame, Time now);
  // A card sent the next `count` PDUs, and no clone of them came or will come. False: the window has no room for them.
  // The caller calls keep() or watch() next.
  [[nodiscard]] bool note_missing(ArqBearer& bearer, std::uint32_t count);
  // What was sent last is asked for by t-PollRetransmit, if nothing else is. It may have no copy.
  void watch(ArqBearer& bearer, Time now) {
    if (bearer.away) return;  // the service does so with each clone, and with SDUs without a copy
    bearer.retx.watch_last(now);
    rearm(bearer);
  }
  // Who sends the bearer's PDUs from now on: a card, or the owner.
  static void set_of_card(ArqBearer& bearer, bool of_card) {
    bearer.of_card = of_card;
    if (bearer.away) bearer.away->of_card = of_card;
  }
  // Bearers whose peer misses an SDU that has no copy. They need re-establishment; each is named once.
  [[nodiscard]] std::vector<std::uint32_t> take_gone() { return std::exchange(gone_, {}); }

  // Takes an AMD PDU of the peer, which begins at `rlc`. On kDelivered the PDU is new, and the caller delivers it.
  ran::rlc::Received receive(ArqBearer& bearer, Octets rlc, Time now);
  // Takes a STATUS PDU of the peer.
  ran::rlc::StatusResult receive_status(ArqBearer& bearer, Octets rlc, Time now);

  // The owner calls it once per round, unless idle(). It does bounded amounts of work: timers, STATUS PDUs,
  // retransmissions, and release of acknowledged buffers. send(mbufs, n) returns how many mbufs were taken, counted
  // from the first. It calls changed(bearer) when limit() may have moved.
  template <class Send, class Changed>
  void serve(Time now, bool passes_mbufs, Send&& send, Changed&& changed);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t unacked() const { return unacked_; }
  // Octets of the SDUs that are kept.
  [[nodiscard]] std::uint64_t kept_octets() const { return service_ ? service_->octets() : octets_; }
  // The time at which serve() next has something to do, or a little earlier.
  [[nodiscard]] Time next_work(Time now) const {
    if (!working_.empty() || (service_ && !service_->idle())) return now;
    const Time next = wheel_.next_turn();
    const bool looks = service_ && service_->has_to_look();
    return looks ? std::min(next, now + baas::kBlindSleepMs * settings_.ticks_per_ms) : next;
  }
  // True if serve() has nothing to do.
  [[nodiscard]] bool idle() const { return working_.empty() && wheel_.armed() == 0 && (!service_ || service_->idle()); }
  // The end of the buffering service here; nullptr: windows are kept here.
  [[nodiscard]] baas::WorkerEnd* service() { return service_.get(); }

 private:
  static constexpr unsigned kTimersPerRound = 64, kBearersPerRound = 32, kReleasedPerVisit = 64, kSentPerVisit = 16;

  void rearm(ArqBearer& bearer) {
    Time expiry = std::min(bearer.retx.next_expiry(), bearer.receive.next_expiry());
    // With the window away no other timer ends the patience.
    if (bearer.peer_is_elsewhere && bearer.away) expiry = std::min(expiry, bearer.elsewhere_until);
    if (expiry < bearer.expiry) wheel_.arm(bearer, expiry);
  }
  // Octets of an SDU with which the port's longest frame is full.
  [[nodiscard]] std::uint32_t longest_sdu() const { return settings_.longest_frame - kAirRlcOffset; }
  // Of a kept frame.
  [[nodiscard]] static std::uint16_t sdu_bytes(const ArqBearer& bearer, const rte_mbuf* frame) {
    const unsigned header = wire::rlc::am_header_bytes(bearer.sn_bits, wire::rlc::Segment::kComplete);
    return static_cast<std::uint16_t>(frame->data_len - kAirRlcOffset - header);
  }
  // The windows here gave these octets back.
  void give_back(ArqBearer& bearer, std::uint64_t octets) {
    bearer.octets_here -= octets;
    octets_ -= octets;
  }
  void set_working(ArqBearer& bearer) { working_.push(bearer); }
  // Fails a bearer at maxRetxThreshold, which is a radio link failure (TS 38.322 5.3.2). It gives up the SDUs that the
  // peer did not acknowledge.
  void fail(ArqBearer& bearer) {
    if (bearer.peer_is_elsewhere) return;
    ++counters_.max_retx;
    bearer.failed = true;
  }
  // The same as the buffering service says it.
  void fail(ArqBearer& bearer, bool peer_lost) {
    if (bearer.peer_is_elsewhere || bearer.failed) return;
    ++(peer_lost ? counters_.peer_lost : counters_.max_retx);
    bearer.failed = true;
    give_up(bearer);
  }
  // Fails a bearer whose peer answers no poll: both ends have to begin anew.
  void look_for_peer(ArqBearer& bearer) {
    if (!bearer.retx.peer_lost() || bearer.failed || bearer.peer_is_elsewhere) [[likely]]
      return;
    ++counters_.peer_lost;
    bearer.failed = true;
    set_working(bearer);
  }
  void give_up(ArqBearer& bearer);
  void note_gone(ArqBearer& bearer) {
    if (std::exchange(bearer.gone, true)) return;
    ++counters_.gone;
    gone_.push_back(bearer.id);
  }
  void protect_some(ArqBearer& bearer);
  void protect_some_away(ArqBearer& bearer);
  void see_peer(ArqBearer& bearer) {
    if (!bearer.peer_is_elsewhere) [[likely]]
      return;
    bearer.peer_is_elsewhere = false;
    if (bearer.away) {
      service_->forget_attempts(*bearer.away);
    } else {
      bearer.retx.forget_attempts();
    }
  }
  [[nodiscard]] rte_mbuf* status_frame(ArqBearer& bearer, Time now);
  [[nodiscard]] rte_mbuf* retransmission(ArqBearer& bearer, bool passes_mbufs, Time now);
  // A frame to send: the kept one, or a copy if its P bit changes or the receiver would write to it.
  [[nodiscard]] rte_mbuf* again(rte_mbuf* kept, bool poll, bool passes_mbufs);
  // Protects those frames of a window that is away which still have the keys before, so that the service can ask for
  // them. At most kSentPerVisit, in order. False: they are spoiled, and the bearer has failed.
  [[nodiscard]] bool prepare(ArqBearer& bearer, std::span<rte_mbuf* const> frames, std::span<const std::uint32_t> sns);
  void acknowledged(ArqBearer& bearer, std::uint32_t up_to, bool is_everything, Time now);
  void reestablish_away(ArqBearer& bearer, std::uint8_t epoch);
  [[nodiscard]] rte_mbuf* own(rte_mbuf* frame);
  void renumber(const ArqBearer& bearer, rte_mbuf* frame, std::uint32_t sn) const;
  void keep(ArqBearer& bearer, rte_mbuf* frame, Time now, std::uint8_t flags);
  template <class Send, class Changed>
  void serve_service(Time now, bool passes_mbufs, Send&& send, Changed&& changed);
  // Collects at most `room` frames that this bearer has to send now into `frames` and returns their number.
  unsigned collect(ArqBearer& bearer, bool passes_mbufs, Time now, rte_mbuf** frames, unsigned room);

  Settings settings_;
  unsigned status_frame_;  // octets of the longest frame with a STATUS PDU
  std::unique_ptr<baas::WorkerEnd> service_;
  ran::rlc::Memory<MbufBuffer> memory_;
  TimerWheel wheel_;
  ran::IntrusiveQueue<ArqBearer, &ArqBearer::next_working, &ArqBearer::working> working_;
  std::uint64_t unacked_ = 0;  // SDUs whose frames are kept
  std::uint64_t octets_ = 0;   // of those whose windows are here
  std::uint64_t bursts_ = 0;   // bursts that poll_last() saw
  std::vector<std::uint32_t> gone_;
  Counters counters_;
};

// What the service says: the frames that it wants sent go out in bursts.
template <class Send, class Changed>
void Arq::serve_service(Time now, bool passes_mbufs, Send&& send, Changed&& changed) {
  Burst out;
  const auto send_all = [&] {
    const unsigned sent = send(out.mbuf.data(), out.size);
    counters_.sent += sent;
    counters_.lost += out.size - sent;
    rte_pktmbuf_free_bulk(out.mbuf.data() + sent, out.size - sent);
    out.size = 0;
  };
  const auto bearer_of = [](baas::Window& window) -> ArqBearer& { return static_cast<AwayWindow&>(window).bearer; };
  unacked_ -= service_->serve(
      [&](baas::Ledger::Slot& slot, bool poll) {
        if (rte_mbuf* const m = again(slot.m, poll, passes_mbufs); m != nullptr) {
          ++counters_.retransmitted;
          out.mbuf[out.size++] = m;
        } else {
          ++counters_.lost;
        }
        if (out.size == kBurst) send_all();
      },
      [&](baas::Window& window, const baas::Message& m) {
        ArqBearer& bearer = bearer_of(window);
        acknowledged(bearer, window.highest_ack, (m.flags & baas::kNothingUnacked) != 0, now);
        changed(bearer);
      },
      [&](baas::Window& window, const baas::Message& m) {
        if ((m.flags & baas::kCopyGone) != 0) return note_gone(bearer_of(window));
        fail(bearer_of(window), (m.flags & baas::kPeerLost) != 0);
        changed(bearer_of(window));
      },
      [&](baas::Window& window, std::span<rte_mbuf* const> frames, std::span<const std::uint32_t> sns) {
        ArqBearer& bearer = bearer_of(window);
        const bool good = prepare(bearer, frames, sns);
        if (!good) changed(bearer);
        return good;
      });
  if (out.size != 0) send_all();
}

template <class Send, class Changed>
void Arq::serve(Time now, bool passes_mbufs, Send&& send, Changed&& changed) {
  if (service_) serve_service(now, passes_mbufs, send, changed);
  wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
    auto& bearer = static_cast<ArqBearer&>(node);
    if (bearer.peer_is_elsewhere && now >= bearer.elsewhere_until) [[unlikely]]
      see_peer(bearer);
    bearer.receive.tick(now);
    bearer.retx.tick(now, {.unsent = false, .stalled = false}, [this, &bearer](std::uint32_t) { fail(bearer); });
    rearm(bearer);
    set_working(bearer);
  });
  Burst out;
  ArqBearer* const last = working_.back();  // bearers that come back to the list wait for the next round
  for (unsigned visits = 0; visits < kBearersPerRound; ++visits) {
    ArqBearer* const bearer = working_.pop();
    if (bearer == nullptr) break;
    if (bearer->protect_again && !bearer->away) [[unlikely]]
      protect_some(*bearer);
    if (bearer->failed) give_up(*bearer);
    out.size += collect(*bearer, passes_mbufs, now, out.mbuf.data() + out.size, kBurst - out.size);
    unacked_ -= bearer->retx.release(kReleasedPerVisit, [this, bearer](std::uint32_t, MbufBuffer frame) {
      if (frame) give_back(*bearer, sdu_bytes(*bearer, frame.get()));
    });
    look_for_peer(*bearer);
    if (bearer->retx.copy_is_gone()) [[unlikely]]
      note_gone(*bearer);
    changed(*bearer);
    rearm(*bearer);
    if (bearer->retx.has_pending() || bearer->retx.releasable() || bearer->receive.status_due()) set_working(*bearer);
    if (bearer == last || out.size == kBurst) break;
  }
  if (out.size == 0) return;
  const unsigned sent = send(out.mbuf.data(), out.size);
  counters_.sent += sent;
  counters_.lost += out.size - sent;
  rte_pktmbuf_free_bulk(out.mbuf.data() + sent, out.size - sent);
}

}  // namespace splitplane::datapath
