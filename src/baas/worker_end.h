// A worker's end of the buffering service: the ledger of what it gave away, and the channels to the service's cores.
// All of it is the worker's own thread's. The service may be absent, slow or killed at any point: what is not told yet
// is told later, and a new service is told everything (docs/design/baas.md).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "baas/ledger.h"
#include "baas/protocol.h"
#include "ran/intrusive_queue.h"
#include "wire/bytes.h"

namespace splitplane::baas {

using wire::Octets;

class WorkerEnd {
 public:
  struct Settings {
    std::vector<Channel> channels;  // one for each core of the service; bearers are spread over them
    std::size_t slots = 16384;      // SDUs of all bearers together
    std::size_t bearers = 65536;    // at most
  };
  struct Counters {
    std::uint64_t told = 0;         // copies that the service was told of, those told again among them
    std::uint64_t told_again = 0;   // because the service began anew, or had no memory
    std::uint64_t status_lost = 0;  // STATUS PDUs that could not be handed over: no service, or its ring is full
    std::uint64_t strays = 0;       // messages of the service that fit nothing here
    std::uint64_t no_room = 0;      // times that the service had no memory for an SDU
  };

  explicit WorkerEnd(const Settings& settings);
  WorkerEnd(const WorkerEnd&) = delete;
  WorkerEnd& operator=(const WorkerEnd&) = delete;
  ~WorkerEnd();

  // A service is there that knows nothing and reads nothing yet: empties the rings, and tells it everything. `wakes`:
  // it can wake this worker.
  void connect(bool wakes = true);
  // There is no service: frames wait in the ledger for the next one.
  void disconnect() { connected_ = false; }
  [[nodiscard]] bool is_connected() const { return connected_; }

  // True if `n` more frames can be kept.
  [[nodiscard]] bool has_room(std::size_t n) const { return ledger_.available() >= n; }
  // Keeps the frame of SDU window.next, which was sent or is about to be. Takes over one reference; the caller has
  // looked at has_room(). `flags`: kPoll, kOfCard.
  void keep(Window& window, rte_mbuf* m, std::uint16_t bytes, std::uint8_t flags);
  // SDUs [window.next, window.next + count) were sent, and there is no copy of them.
  void lost(Window& window, std::uint32_t count);
  // Hands over a STATUS PDU. False: it is lost, as on the air.
  bool status(Window& window, Octets pdu);
  void forget_attempts(Window& window);

  // The frames of a window, in the order of their SNs. visit(slot) may change the slot's frame.
  template <class Visit>
  void for_each(Window& window, Visit&& visit) {
    for (std::uint32_t i = window.first; i != kNoSlot; i = ledger_[i].next) visit(ledger_[i]);
  }
  // Gives back the frames for which drops(slot) is true.
  template <class Drops>
  void remove_if(Window& window, Drops&& drops) {
    for (std::uint32_t i = window.first; i != kNoSlot;) {
      Ledger::Slot& slot = ledger_[i];
      i = slot.next;
      if (!drops(slot)) continue;
      ledger_.revoke(slot);
      rte_pktmbuf_free(ledger_.take(slot));
    }
  }
  // RLC began anew: the frames of the window are its SDUs from 0 on. Each is told with kResend.
  void restart(Window& window);
  // Gives up every frame of the window, which goes on at window.next.
  void give_up(Window& window);
  // The bearer is gone: gives back its frames and its number.
  void close(Window& window);

  // Once per round, unless idle(): takes a bounded number of messages, tells what waits, and wakes the service.
  //   send(slot, poll)      the service wants the frame sent again
  //   changed(window, m)    TX_Next_Ack or the highest ACK_SN moved: m is the message
  //   failed(window, m)     kFailed
  //   prepare(window, frames, sns) frames that are about to be told, at most 16; false: they are spoiled, and given up
  // Returns the number of frames that were released.
  template <class Send, class Changed, class Failed, class Prepare>
  std::size_t serve(Send&& send, Changed&& changed, Failed&& failed, Prepare&& prepare);
  [[nodiscard]] bool idle() const {
    if (!connected_) return true;
    for (const Lane& lane : lanes_) {
      if (lane.staged != 0 || !lane.queued.empty() || !lane.closing.empty() || lane.scan < lane.windows.size() ||
          rte_ring_empty(lane.channel.to_worker) == 0)
        return false;
    }
    return true;
  }

  // True while messages may come and nothing wakes the worker for them: it sleeps kBlindSleepMs at most.
  [[nodiscard]] bool has_to_look() const { return connected_ && !wakes_ && (held() != 0 || awaiting_lost_ != 0); }

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::size_t held() const { return ledger_.size() - ledger_.available(); }
  [[nodiscard]] std::uint64_t octets() const { return ledger_.octets(); }
  // What wakes the cores of the service; index as in channels. Called after messages are visible.
  std::function<void(std::size_t lane)> wake;

 private:
  static constexpr unsigned kStaged = 64, kTakenPerRound = 256, kToldPerRound = 256, kScannedPerRound = 256,
                            kPreparedAtOnce = 16;

  struct Lane {
    Channel channel;
    std::vector<Window*> windows;        // by number; nullptr: free
    std::vector<std::uint16_t> life;     // by number: the incarnation of its last holder
    std::vector<std::uint32_t> numbers;  // free ones
    std::vector<std::uint32_t> closing;  // numbers whose kClose found no room
    ran::IntrusiveQueue<Window, &Window::next_queued, &Window::is_queued> queued;  // something is to be told of these
    std::size_t scan = SIZE_MAX;  // the next number that a new service is told of
    unsigned room = 0;            // elements that surely fit the ring, beside those staged
    unsigned staged = 0;
    std::array<Message, kStaged> out;
  };

  [[nodiscard]] bool fits(Lane& lane, unsigned n);
  void push(Lane& lane, const Message& m);
  void flush(Lane& lane);
  void queue(Window& window) { lanes_[window.lane].queued.push(window); }
  void begin_feed(Window& window);
  // Call it after lost_end or next_ack changed.
  void look_at_lost(Window& window) {
    const bool awaits = static_cast<std::int32_t>(window.lost_end - window.next_ack) > 0;
    if (awaits == window.awaits_lost) [[likely]]
      return;
    window.awaits_lost = awaits;
    awaits ? ++awaiting_lost_ : --awaiting_lost_;
  }
  void number(Window& window);
  [[nodiscard]] bool open(Lane& lane, Window& window);
  [[nodiscard]] bool skip(Lane& lane, Window& window, std::uint32_t to);
  void tell(Lane& lane, Window& window, std::uint32_t index, std::uint8_t flags);
  void scan(Lane& lane);
  void close_some(Lane& lane);
  // Tells of at most `budget` frames of the window. True: the service knows all of it.
  template <class Prepare>
  [[nodiscard]] bool feed(Lane& lane, Window& window, unsigned& budget, Prepare&& prepare);
  [[nodiscard]] Window* window_of(Lane& lane, const Message& m) {
    Window* const window = m.bearer < lane.windows.size() ? lane.windows[m.bearer] : nullptr;
    return window != nullptr && window->is_open && window->generation == generation_ && window->incarnation == m.bytes
               ? window
               : nullptr;
  }
  void tell_again(Window& window, std::uint32_t sn);
  std::size_t release(const Message& m);

  Ledger ledger_;
  std::vector<Lane> lanes_;
  std::uint32_t generation_ = 0;
  std::size_t next_lane_ = 0;
  std::size_t awaiting_lost_ = 0;  // windows with SDUs without a copy that are not acknowledged
  bool connected_ = false;
  bool wakes_ = true;  // the service can wake this worker
  Counters counters_;
};

template <class Prepare>
bool WorkerEnd::feed(Lane& lane, Window& window, unsigned& budget, Prepare&& prepare) {
  begin_feed(window);
  if (!window.is_open && !open(lane, window)) return false;
  if (window.forgets) {
    if (!fits(lane, 1)) return false;
    push(lane, {.kind = Kind::kForgetAttempts, .bearer = window.number});
    window.forgets = false;
  }
  while (window.unfed != kNoSlot) {
    if (budget == 0) return false;
    // Re-established frames get new numbers or other keys before the service can ask for them.
    std::array<rte_mbuf*, kPreparedAtOnce> frames;
    std::array<std::uint32_t, kPreparedAtOnce> sns;
    unsigned n = 0;
    const unsigned most = std::min(kPreparedAtOnce, budget);
    for (std::uint32_t i = window.unfed; i != kNoSlot && n < most; i = ledger_[i].next, ++n) {
      frames[n] = ledger_[i].m;
      sns[n] = ledger_[i].sn;
    }
    if (!fits(lane, 2 * n + 1)) return false;
    if (!prepare(window, std::span<rte_mbuf* const>(frames.data(), n), std::span<const std::uint32_t>(sns.data(), n)))
      return true;
    budget -= n;
    for (; n != 0; --n) {
      const std::uint32_t index = window.unfed;
      const Ledger::Slot& slot = ledger_[index];
      if (!skip(lane, window, slot.sn)) return false;
      const bool is_missing = static_cast<std::int32_t>(slot.sn - window.resend_end) < 0;
      window.unfed = slot.next;
      // What was sent before the service knew of it may have been answered already: a poll finds out.
      tell(lane, window, index,
           static_cast<std::uint8_t>((is_missing ? kResend : 0) | (slot.next == kNoSlot ? kPoll : 0) |
                                     (window.of_card ? kOfCard : 0)));
      ++counters_.told_again;
    }
  }
  return skip(lane, window, window.next);
}

template <class Send, class Changed, class Failed, class Prepare>
std::size_t WorkerEnd::serve(Send&& send, Changed&& changed, Failed&& failed, Prepare&& prepare) {
  if (!connected_) return 0;
  std::size_t released = 0;
  for (std::size_t at = 0; at < lanes_.size(); ++at) {
    Lane& lane = lanes_[at];
    std::array<Message, kStaged> in;
    for (unsigned taken = 0; taken < kTakenPerRound;) {
      const unsigned n = receive(lane.channel.to_worker, in.data(), kStaged);
      for (unsigned i = 0; i < n; ++i) {
        const Message& m = in[i];
        switch (m.kind) {
          case Kind::kSend:
            if (Ledger::Slot* const slot = ledger_.named(m.slot); slot != nullptr) {
              ++slot->window->sent_again;
              slot->window->sent_again_octets += slot->bytes;
              send(*slot, (m.flags & kPoll) != 0);
            }
            break;
          case Kind::kRelease:
            released += release(m);
            break;
          case Kind::kAcknowledged:
            if (Window* const window = window_of(lane, m); window != nullptr) {
              // A new service knows less than the one before.
              if (static_cast<std::int32_t>(m.sn - window->next_ack) > 0) window->next_ack = m.sn;
              if (static_cast<std::int32_t>(m.slot - window->highest_ack) > 0) window->highest_ack = m.slot;
              look_at_lost(*window);
              changed(*window, m);
            }
            break;
          case Kind::kFailed:
            if (Window* const window = window_of(lane, m); window != nullptr) failed(*window, m);
            break;
          case Kind::kTellAgain:
            if (Window* const window = window_of(lane, m); window != nullptr) tell_again(*window, m.sn);
            break;
          default:
            ++counters_.strays;
        }
      }
      taken += n;
      if (n < kStaged) break;
    }
    close_some(lane);
    scan(lane);
    unsigned budget = kToldPerRound;
    while (!lane.queued.empty() && budget != 0) {
      Window& window = *lane.queued.front();
      if (!feed(lane, window, budget, prepare)) break;
      if (!window.is_open) continue;  // it was given up meanwhile: the service is to forget it
      lane.queued.pop();
    }
    if (lane.staged == 0) continue;
    flush(lane);
    if (wake) wake(at);
  }
  return released;
}

}  // namespace splitplane::baas
