#include "baas/buffering.h"

#include <rte_cycles.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <utility>

namespace splitplane::baas {
namespace {

// Two pages of 64 SDUs for each bearer that sends, up to a limit, and some for SDUs that stay alone on theirs.
ran::rlc::MemorySizes memory_for(std::size_t max_copies) {
  constexpr std::size_t kBearersThatSend = 65536;
  const std::size_t pages = 64 + std::min(max_copies, 2 * kBearersThatSend) + max_copies / 32;
  return {.sent_pages = pages,
          .received_pages = 0,
          .queue_pages = 0,
          .directories = 2 * pages + 128,
          .segments = 0,
          .assemblies = 0,
          .intervals = 1024};
}

}  // namespace

Buffering::Buffering(const Settings& settings, datapath::WorkerStats& stats)
    : memory_(memory_for(settings.max_copies)),
      wheel_(std::max<std::uint64_t>(1, settings.ticks_per_ms / 4), settings.now),
      ticks_per_ms_(settings.ticks_per_ms),
      stats_(stats) {
  // The members before `retx` fill most of the first line, so retx.prefetch() fetches them, too.
  static_assert(sizeof(Bearer) - sizeof(Bearer::retx) + decltype(Bearer::retx)::hot_octets() <= 64 * kHotLines);
  queues_.reserve(settings.channels.size());
  for (const Channel& channel : settings.channels) {
    queues_.emplace_back(channel);
    lanes_.emplace_back().ring = channel.to_worker;
  }
}

void Buffering::nobody_wakes() {
  for (Queue& queue : queues_) queue.wakes_ = false;
  longest_sleep_ = kBlindSleepMs * ticks_per_ms_;
}

void Buffering::process(Queue& queue, datapath::Burst& burst) {
  const auto lane = static_cast<std::size_t>(&queue - queues_.data());
  const unsigned n = burst.size;
  probe_.begin(stats_);
  const Time now = rte_rdtsc();
  // Each message is of another bearer, as a rule: what it needs arrives while the others are looked up.
  std::array<Bearer*, Queue::kAtOnce> bearers;
  std::array<std::uint32_t, Queue::kAtOnce> sns;
  for (unsigned i = 0; i < n; ++i) {
    bearers[i] = find(lane, queue.in_[i].bearer);
    if (bearers[i] != nullptr) bearers[i]->retx.prefetch();
  }
  unsigned far = 0, copies = 0;  // of those whose pages are not found at once
  for (unsigned i = 0; i < n; ++i) {
    if (bearers[i] == nullptr) continue;
    const ran::rlc::AmRetx<Kept>& retx = bearers[i]->retx;
    const bool is_status = queue.in_[i].kind == Kind::kStatus;
    const std::uint32_t sn = is_status ? retx.next_ack() : queue.in_[i].sn;
    if (is_status ? retx.prefetch_open() : retx.prefetch_sdu(sn)) continue;
    if (!is_status) retx.prefetch_new(sn, copies++);
    bearers[far] = bearers[i];
    sns[far++] = sn;
  }
  for (unsigned i = 0; i < far; ++i) bearers[i]->retx.prefetch_root(sns[i]);
  for (unsigned i = 0; i < far; ++i) bearers[i]->retx.prefetch_directory(sns[i]);
  for (unsigned i = 0; i < far; ++i) bearers[i]->retx.prefetch_page(sns[i]);
  for (unsigned i = 0; i < n;) i += take(lane, queue, i, now);
  probe_.stage(datapath::Stage::copies, n);
}

// Serves the message at `i` and returns how many elements it took.
unsigned Buffering::take(std::size_t lane, Queue& queue, unsigned i, Time now) {
  const Message& m = queue.in_[i];
  if (m.kind == Kind::kOpen) {
    open(lane, m);
    return 1;
  }
  Bearer* const bearer = find(lane, m.bearer);
  if (m.kind == Kind::kStatus) {
    const unsigned elements = status_elements(m.bytes);
    if (m.bytes > kLongestStatus) {
      counters_.strays.add(1);
      return 1;
    }
    // The worker put all elements there together.
    for (unsigned have = queue.count_; have < i + elements;) {
      const unsigned more = baas::receive(queue.channel_.to_service, &queue.in_[have], i + elements - have);
      if (more == 0) {
        counters_.strays.add(1);
        return elements;
      }
      have += more;
      queue.count_ = have;
    }
    std::array<std::uint8_t, kMostElements * sizeof(Message)> pdu;
    const std::size_t here = std::min<std::size_t>(m.bytes, kInlineOctets);
    std::memcpy(pdu.data(), &m.sn, here);
    if (m.bytes > here) std::memcpy(pdu.data() + here, &queue.in_[i + 1], m.bytes - here);
    counters_.statuses.add(1);
    stats_.rlc_control.add(1);
    if (bearer == nullptr) {
      counters_.strays.add(1);
      return elements;
    }
    using ran::rlc::StatusResult;
    const StatusResult result =
        bearer->retx.receive_status({pdu.data(), m.bytes}, now, [&](std::uint32_t) { bearer->says_max_retx = true; });
    stats_.rlc_status_stale.add(result == StatusResult::kStale ? 1 : 0);
    stats_.rlc_status_malformed.add(result == StatusResult::kMalformed ? 1 : 0);
    if (result != StatusResult::kTaken) return elements;
    if (bearer->of_card) bearer->retx.watch_last(now);
    bearer->retx.prefetch_released();
    rearm(*bearer);
    set_working(*bearer);
    return elements;
  }
  if (bearer == nullptr) {
    counters_.strays.add(1);
    return 1;
  }
  switch (m.kind) {
    case Kind::kCopy:
      copy(*bearer, m, now);
      break;
    case Kind::kSkip:
      if (m.sn == bearer->retx.next()) {
        bearer->retx.skip(m.slot);
        counters_.skipped.add(m.slot);
      } else {
        counters_.strays.add(bearer->refused ? 0 : 1);
      }
      break;
    case Kind::kLost: {
      const std::uint32_t held = bearer->retx.held();
      for (std::uint32_t n = 0; n < m.slot && m.sn + n == bearer->retx.next(); ++n) {
        if (bearer->retx.room() == 0) {
          refuse(*bearer);
          break;
        }
        bearer->retx.lost();
        counters_.without_copy.add(1);
      }
      follow_window(*bearer, held);
      // They may be the last ones, and no frame of them can poll.
      bearer->retx.watch_last(now);
      rearm(*bearer);
      break;
    }
    case Kind::kClose:
      close(lane, m.bearer);
      break;
    case Kind::kForgetAttempts:
      bearer->retx.forget_attempts();
      bearer->failed = bearer->says_max_retx = false;
      break;
    default:
      counters_.strays.add(1);
  }
  return 1;
}

void Buffering::open(std::size_t lane, const Message& m) {
  const Opening opening = Opening::of(m);
  if ((opening.sn_bits != 12 && opening.sn_bits != 18) || m.bearer >= kMostBearers) {
    counters_.strays.add(1);
    return;
  }
  close(lane, m.bearer);
  const ran::rlc::AmConfig config{.sn_bits = opening.sn_bits,
                                  .max_retx = opening.max_retx,
                                  .t_poll_retransmit = opening.t_poll_retransmit_ms * ticks_per_ms_,
                                  .repair_unit = std::max<std::uint64_t>(1, ticks_per_ms_ / 8),
                                  .whole_sdus = true};
  Bearer& bearer = lanes_[lane].bearers.emplace(m.bearer, config, memory_);
  bearer.number = m.bearer;
  bearer.lane = static_cast<std::uint16_t>(lane);
  bearer.incarnation = m.bytes;
  bearer.retx.restart_at(m.sn);
  bearer.next_ack = bearer.highest_ack = m.sn;
  counters_.opened.add(1);
}

void Buffering::close(std::size_t lane, std::uint32_t number) {
  Bearer* const bearer = find(lane, number);
  if (bearer == nullptr) return;
  wheel_.disarm(*bearer);
  working_.remove(*bearer);
  if (bearer->refused) std::erase(refused_, bearer);
  held_ -= bearer->retx.held();
  counters_.withdrawn.add(bearer->retx.held());
  stats_.rlc_unacked.set(held_);
  lanes_[lane].bearers.erase(number);
  counters_.closed.add(1);
}

void Buffering::copy(Bearer& bearer, const Message& m, Time now) {
  if (m.sn != bearer.retx.next()) {  // the worker tells it again, when it is asked for
    counters_.strays.add(bearer.refused ? 0 : 1);
    return;
  }
  if (bearer.retx.room() == 0) [[unlikely]] {
    refuse(bearer);
    return;
  }
  const std::uint32_t held = bearer.retx.held();
  bearer.retx.submitted(
      {.sdu = Kept(m.slot), .sn = m.sn, .bytes = m.bytes, .sent = m.bytes, .poll = (m.flags & kPoll) != 0}, now);
  if ((m.flags & kOfCard) != 0) {
    bearer.of_card = true;
    bearer.retx.watch_last(now);
  }
  follow_window(bearer, held);
  counters_.copies.add(1);
  if ((m.flags & kResend) != 0) [[unlikely]] {
    bearer.retx.resend(m.sn, now);
    set_working(bearer);
  }
  if (bearer.retx.peer_lost()) [[unlikely]]
    set_working(bearer);
  rearm(bearer);
}

std::uint64_t Buffering::held_in_windows() const {
  std::uint64_t held = 0;
  for (const Lane& lane : lanes_) {
    lane.bearers.for_each([&held](const Bearer& bearer) { held += bearer.retx.held(); });
  }
  return held;
}

void Buffering::refuse(Bearer& bearer) {
  if (!std::exchange(bearer.refused, true)) refused_.push_back(&bearer);
  counters_.no_room.add(1);
}

void Buffering::ask_refused() {
  while (has_refused()) {
    Bearer& bearer = *refused_.back();
    const bool said =
        say(lanes_[bearer.lane],
            {.kind = Kind::kTellAgain, .bytes = bearer.incarnation, .bearer = bearer.number, .sn = bearer.retx.next()});
    if (!said) return;
    bearer.refused = false;
    refused_.pop_back();
  }
}

bool Buffering::serve(Bearer& bearer, Time now) {
  Lane& lane = lanes_[bearer.lane];
  const auto to = [&](Kind kind, std::uint8_t flags, std::uint32_t sn, std::uint32_t slot) {
    return say(
        lane,
        {.kind = kind, .flags = flags, .bytes = bearer.incarnation, .bearer = bearer.number, .sn = sn, .slot = slot});
  };
  bearer.says_peer_lost = bearer.retx.peer_lost();
  if ((bearer.says_max_retx || bearer.says_peer_lost) && !bearer.failed) {
    if (!to(Kind::kFailed, bearer.says_max_retx ? 0 : kPeerLost, 0, 0)) return false;
    // The worker opens the bearer anew, or says that the peer could not answer.
    bearer.failed = true;
    stats_.rlc_max_retx.add(bearer.says_max_retx ? 1 : 0);
    stats_.rlc_peer_lost.add(bearer.says_max_retx ? 0 : 1);
  }
  for (unsigned n = 0; n < kSentPerVisit && bearer.retx.has_pending(); ++n) {
    if (rte_ring_full(lane.ring) != 0) return false;
    auto pdu = bearer.retx.pull(ran::rlc::kMaxSduBytes, {.unsent = false, .stalled = false}, now);
    if (!pdu) break;
    const bool poll = (pdu.header[0] & 0x40) != 0;
    (void)say(lane, {.kind = Kind::kSend, .flags = poll ? kPoll : std::uint8_t{0}, .slot = pdu.sdu.slot()});
    counters_.sent_again.add(1);
    stats_.rlc_retransmitted.add(1);
  }
  if (bearer.retx.copy_is_gone() && !bearer.failed) [[unlikely]] {
    if (!to(Kind::kFailed, kCopyGone, 0, 0)) return false;
    bearer.failed = true;  // until the worker opens it anew
  }
  // Before the slots: a worker that has all of them back knows that the window is empty.
  const std::uint32_t next_ack = bearer.retx.next_ack(), highest = bearer.retx.highest_ack();
  if (next_ack != bearer.next_ack || highest != bearer.highest_ack) {
    const auto flags = static_cast<std::uint8_t>((bearer.retx.unacked() == 0 ? kNothingUnacked : 0) |
                                                 (next_ack != highest ? kHasHoles : 0));
    if (!to(Kind::kAcknowledged, flags, next_ack, highest)) return false;
    counters_.acknowledged.add(1);
    bearer.next_ack = next_ack;
    bearer.highest_ack = highest;
  }
  // Slots go back three in a message; their number is known before any is taken out.
  for (std::size_t all = 0; bearer.retx.releasable() && all < kReleasedPerVisit;) {
    if (rte_ring_free_count(lane.ring) < 2) return false;
    std::array<std::uint32_t, 3> slots{};
    std::uint8_t n = 0;
    const std::uint32_t held = bearer.retx.held();
    const std::size_t released = bearer.retx.release(slots.size(), [&](std::uint32_t, Kept kept) {
      counters_.released.add(1);
      if (kept) slots[n++] = kept.slot();
    });
    follow_window(bearer, held);
    if (released == 0) break;
    if (n != 0)
      (void)say(lane, {.kind = Kind::kRelease, .flags = n, .bearer = slots[0], .sn = slots[1], .slot = slots[2]});
    all += released;
  }
  return true;
}

void Buffering::flush() {
  const Time now = rte_rdtsc();
  wheel_.run(now, kTimersPerRound, [&](TimerNode& node) {
    auto& bearer = static_cast<Bearer&>(node);
    bearer.retx.tick(now, {.unsent = false, .stalled = false},
                     [&bearer](std::uint32_t) { bearer.says_max_retx = true; });
    rearm(bearer);
    if (bearer.retx.has_pending() || bearer.says_max_retx || bearer.retx.peer_lost()) set_working(bearer);
  });
  Bearer* const last = working_.back();  // bearers that come back to the list wait for the next round
  for (unsigned visits = 0; visits < kBearersPerRound && !working_.empty(); ++visits) {
    Bearer& bearer = *working_.pop();
    const bool is_last = &bearer == last;
    const bool done = serve(bearer, now);
    rearm(bearer);
    if (!done || bearer.retx.has_pending() || bearer.retx.releasable()) set_working(bearer);
    if (is_last) break;
  }
  stats_.rlc_unacked.set(held_);
  if (!refused_.empty()) [[unlikely]]
    ask_refused();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (!std::exchange(lanes_[i].said, false)) continue;
    if (wake) wake(i);
  }
}

}  // namespace splitplane::baas
