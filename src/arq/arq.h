// RLC AM of header mode in one place (`baas: inline`), for a gNB worker and for the UE side: each SDU is one PDU, which
// is kept until the peer acknowledges it and sent again when it does not arrive; PDUs of the peer are reported. The
// bearer's owner numbers and writes the PDUs (ran/header_mode.h, ue/ue_uplink.h), and frames stay whole: Ethernet,
// airhdr, RLC PDU.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/timer_wheel.h"
#include "engine/burst.h"
#include "engine/mbuf_buffer.h"
#include "ran/bearer_view.h"
#include "ran/rlc/am_receive.h"
#include "ran/rlc/am_retx.h"
#include "wire/airhdr.h"
#include "wire/ethernet.h"

namespace splitplane::datapath {

using ran::rlc::Time;
using wire::Octets;

inline constexpr unsigned kAirRlcOffset = wire::ethernet::kHeaderBytes + wire::airhdr::kHeaderBytes;
inline constexpr std::uint8_t kPollBit = 0x40;  // in an AMD PDU's first octet
inline constexpr unsigned kEpochOffset = wire::ethernet::kHeaderBytes + 3;

// One AM bearer: both directions of one end.
struct ArqBearer : TimerNode {
  ArqBearer(const ran::BearerConfig& bearer, std::uint8_t epoch, Direction sends, const ran::rlc::AmConfig& am,
            std::uint32_t unacked, ran::rlc::Memory<MbufBuffer>& memory);

  // Begins with other PDUs than those of the epoch before.
  void set_epoch(std::uint8_t to) {
    epoch = to;
    air = (air & ~(std::uint64_t{0xff} << 32)) | std::uint64_t{to} << 32;
  }

  ran::rlc::AmRetx<MbufBuffer> retx;
  ran::rlc::AmReceive<MbufBuffer> receive;
  std::uint64_t air;          // airhdr of the frames that this end sends
  std::uint32_t id;           // of the bearer
  std::uint32_t max_unacked;  // SDUs that may wait for their acknowledgement
  std::uint8_t sn_bits;
  std::uint8_t epoch;       // in airhdr of both directions: PDUs of another one are not for these entities
  bool working = false;     // in the list of bearers with work
  bool failed = false;      // an SDU reached maxRetxThreshold: nothing is sent until re-establishment
  std::uint64_t burst = 0;  // the last one that poll_last() saw it in
  ArqBearer* next_working = nullptr;

  // The first RLC number, without the modulus, that may not be sent yet.
  [[nodiscard]] std::uint32_t limit() const {
    if (failed) return retx.next();
    const std::uint32_t window = retx.next_ack() + max_unacked;
    // Where the SNs would come round to buffers that are not given back yet.
    const std::uint32_t round = retx.oldest() + ran::rlc::sn_mask(sn_bits) - ran::rlc::kPageSns;
    return ran::rlc::before(round, window) ? round : window;
  }
};

// What its entities count and where they stand.
[[nodiscard]] ArqView view_of(const ArqBearer& bearer);

class Arq {
 public:
  struct Settings {
    Direction sends = Direction::kDownlink;
    std::array<std::uint8_t, wire::ethernet::kHeaderBytes> ethernet{};  // of the frames that this end sends
    rte_mempool* pool = nullptr;                                        // for STATUS PDUs and copies
    std::size_t max_unacked = 16384;                                    // SDUs of all bearers together
    unsigned longest_frame = 1514;                                      // that the port sends
    std::uint64_t ticks_per_ms = 1;
    std::uint64_t now = 0;
  };
  struct Counters {
    std::uint64_t peer_lost = 0;  // bearers whose peer answered no poll any more
    std::uint64_t retransmitted = 0, status_sent = 0;
    std::uint64_t status_stale = 0, status_malformed = 0;  // received and ignored
    std::uint64_t sent = 0;                                // of retransmissions and STATUS PDUs: taken by the port
    std::uint64_t lost = 0;      // ... not taken; retransmissions for which there was no buffer
    std::uint64_t max_retx = 0;  // SDUs that reached maxRetxThreshold
  };

  explicit Arq(const Settings& settings);

  // Control side: a bearer to be attached, and one that was detached, made and destroyed off the packet path.
  [[nodiscard]] std::unique_ptr<ArqBearer> make(const ran::BearerConfig& bearer, std::uint8_t epoch);
  // The owner's thread: gives all buffers back; the bearer may be destroyed then.
  void detach(ArqBearer& bearer);

  // The owner's thread: RLC re-establishment (TS 38.322 5.1.3) with PDCP data recovery: both directions begin with
  // number 0 again, and what the peer has not acknowledged is numbered anew and sent again.
  void reestablish(ArqBearer& bearer, std::uint8_t epoch, Time now);

  // A burst of new PDUs can be kept, whatever their bearers.
  [[nodiscard]] bool has_room() const {
    return unacked_ + kBurst <= settings_.max_unacked && memory_.sent_pages.available() >= kBurst &&
           memory_.directories.available() >= 2 * kBurst;
  }

  // New PDUs in the order of their numbers, nullptr beside those of other bearers: the last of each bearer polls, since
  // nothing of that bearer waits behind it (TS 38.322 5.3.3.2). polled(i) for each.
  template <class Polled>
  void poll_last(std::span<ArqBearer* const> bearers, std::span<rte_mbuf* const> frames, Polled&& polled) {
    ++bursts_;
    for (std::size_t i = frames.size(); i-- != 0;) {
      if (bearers[i] == nullptr || std::exchange(bearers[i]->burst, bursts_) == bursts_) continue;
      octets(frames[i])[kAirRlcOffset] |= kPollBit;
      polled(i);
    }
  }
  // Keeps the frame of the next new PDU of `bearer` (retx.next()), which is about to be sent; takes over one reference.
  void keep(ArqBearer& bearer, rte_mbuf* frame, Time now);

  // An AMD PDU of the peer, at `rlc`. kDelivered: it is new, and the caller's to deliver.
  ran::rlc::Received receive(ArqBearer& bearer, Octets rlc, Time now);
  // A STATUS PDU of the peer.
  ran::rlc::StatusResult receive_status(ArqBearer& bearer, Octets rlc, Time now);

  // Once per round, unless idle(): timers, STATUS PDUs, retransmissions, buffers that were acknowledged; all bounded.
  // send(mbufs, n) returns how many were taken, the first ones; changed(bearer): limit() may have moved.
  template <class Send, class Changed>
  void serve(Time now, bool passes_mbufs, Send&& send, Changed&& changed);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t unacked() const { return unacked_; }
  // When serve() next has something to do, or a little earlier.
  [[nodiscard]] Time next_work(Time now) const { return first_working_ != nullptr ? now : wheel_.next_turn(); }
  // serve() has nothing to do.
  [[nodiscard]] bool idle() const { return first_working_ == nullptr && wheel_.armed() == 0; }

 private:
  static constexpr unsigned kTimersPerRound = 64, kBearersPerRound = 32, kReleasedPerVisit = 64, kSentPerVisit = 16;

  void rearm(ArqBearer& bearer) {
    const Time expiry = std::min(bearer.retx.next_expiry(), bearer.receive.next_expiry());
    if (expiry < bearer.expiry) wheel_.arm(bearer, expiry);
  }
  void set_working(ArqBearer& bearer);
  [[nodiscard]] ArqBearer* take_working();
  // maxRetxThreshold: a radio link failure (TS 38.322 5.3.2). What the peer did not take is given up.
  void fail(ArqBearer& bearer) {
    ++counters_.max_retx;
    bearer.failed = true;
  }
  // A peer that answers no poll is one, too: both ends have to begin anew.
  void look_for_peer(ArqBearer& bearer) {
    if (!bearer.retx.peer_lost() || bearer.failed) [[likely]]
      return;
    ++counters_.peer_lost;
    bearer.failed = true;
    set_working(bearer);
  }
  void give_up(ArqBearer& bearer);
  void stop_working(ArqBearer& bearer);
  [[nodiscard]] rte_mbuf* status_frame(ArqBearer& bearer, Time now);
  [[nodiscard]] rte_mbuf* retransmission(ArqBearer& bearer, bool passes_mbufs, Time now);
  // At most `room` frames that this bearer has to send now, into `frames`; how many.
  unsigned collect(ArqBearer& bearer, bool passes_mbufs, Time now, rte_mbuf** frames, unsigned room);

  Settings settings_;
  ran::rlc::Memory<MbufBuffer> memory_;
  TimerWheel wheel_;
  ArqBearer* first_working_ = nullptr;
  ArqBearer* last_working_ = nullptr;
  std::uint64_t unacked_ = 0;  // SDUs whose frames are kept
  std::uint64_t bursts_ = 0;   // that poll_last() saw
  Counters counters_;
};

template <class Send, class Changed>
void Arq::serve(Time now, bool passes_mbufs, Send&& send, Changed&& changed) {
  wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
    auto& bearer = static_cast<ArqBearer&>(node);
    bearer.receive.tick(now);
    bearer.retx.tick(now, {.unsent = false, .stalled = false}, [this, &bearer](std::uint32_t) { fail(bearer); });
    rearm(bearer);
    set_working(bearer);
  });
  Burst out;
  ArqBearer* const last = last_working_;  // those that come back to the list wait for the next round
  for (unsigned visits = 0; visits < kBearersPerRound; ++visits) {
    ArqBearer* const bearer = take_working();
    if (bearer == nullptr) break;
    if (bearer->failed) give_up(*bearer);
    out.size += collect(*bearer, passes_mbufs, now, out.mbuf.data() + out.size, kBurst - out.size);
    unacked_ -= bearer->retx.release(kReleasedPerVisit, [](std::uint32_t, MbufBuffer) {});
    look_for_peer(*bearer);
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
