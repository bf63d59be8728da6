#include "baas/worker_end.h"

#include <rte_mbuf.h>

#include <cstddef>
#include <utility>

namespace splitplane::baas {

WorkerEnd::WorkerEnd(const Settings& settings) : ledger_(settings.slots) {
  lanes_.reserve(settings.channels.size());
  for (const Channel& channel : settings.channels) {
    Lane& lane = lanes_.emplace_back();
    lane.channel = channel;
    // Nothing is allocated while packets flow.
    const std::size_t most = settings.bearers / settings.channels.size() + 1;
    lane.windows.reserve(most);
    lane.life.reserve(most);
    lane.numbers.reserve(most);
    lane.closing.reserve(most);
  }
}

WorkerEnd::~WorkerEnd() {
  for (std::uint32_t i = 0; i < ledger_.size(); ++i) {
    if (ledger_[i].m != nullptr) rte_pktmbuf_free(ledger_[i].m);
  }
}

void WorkerEnd::connect(bool wakes) {
  wakes_ = wakes;
  for (Lane& lane : lanes_) {
    rte_ring_reset(lane.channel.to_service);
    rte_ring_reset(lane.channel.to_worker);
    lane.staged = 0;
    lane.room = rte_ring_free_count(lane.channel.to_service);
    lane.numbers.insert(lane.numbers.end(), lane.closing.begin(), lane.closing.end());
    lane.closing.clear();
    lane.queued.clear();
    lane.scan = 0;
  }
  ++generation_;
  connected_ = true;
}

bool WorkerEnd::fits(Lane& lane, unsigned n) {
  if (lane.room >= n) [[likely]]
    return true;
  lane.room = rte_ring_free_count(lane.channel.to_service) - lane.staged;
  return lane.room >= n;
}

void WorkerEnd::push(Lane& lane, const Message& m) {
  if (lane.staged == kStaged) flush(lane);
  lane.out[lane.staged++] = m;
  --lane.room;
}

void WorkerEnd::flush(Lane& lane) {
  if (lane.staged != 0)
    (void)send(lane.channel.to_service, lane.out.data(), std::exchange(lane.staged, 0));  // fits() has looked
}

// On the worker's thread; a bearer gets its number with its first frame or STATUS.
void WorkerEnd::number(Window& window) {
  window.lane = static_cast<std::uint16_t>(next_lane_);
  next_lane_ = (next_lane_ + 1) % lanes_.size();
  Lane& lane = lanes_[window.lane];
  if (lane.numbers.empty()) {
    window.number = static_cast<std::uint32_t>(lane.windows.size());
    lane.windows.push_back(&window);
    lane.life.push_back(0);
  } else {
    window.number = lane.numbers.back();
    lane.numbers.pop_back();
    lane.windows[window.number] = &window;
  }
  window.incarnation = lane.life[window.number];
  window.is_open = false;
}

// A service of another generation knows nothing of the window.
void WorkerEnd::begin_feed(Window& window) {
  if (window.generation == generation_) [[likely]]
    return;
  window.generation = generation_;
  window.is_open = false;
  window.unfed = window.first;
}

bool WorkerEnd::open(Lane& lane, Window& window) {
  if (!fits(lane, 1)) return false;
  window.told = window.oldest();
  const bool has_lost = static_cast<std::int32_t>(window.lost_end - window.next_ack) > 0;
  if (has_lost && static_cast<std::int32_t>(window.lost_from - window.told) < 0) window.told = window.lost_from;
  if (static_cast<std::int32_t>(window.told - window.next_ack) > 0) window.next_ack = window.told;
  window.unfed = window.first;
  window.is_open = true;
  window.incarnation = ++lane.life[window.number];
  Message m{.kind = Kind::kOpen, .bytes = window.incarnation, .bearer = window.number, .sn = window.told};
  Opening{window.sn_bits, window.max_retx, window.t_poll_retransmit_ms}.put(m);
  push(lane, m);
  return true;
}

// What lies between two frames of the ledger was acknowledged, or has no copy.
bool WorkerEnd::skip(Lane& lane, Window& window, std::uint32_t to) {
  while (window.told != to) {
    if (!fits(lane, 1)) return false;
    const auto until = [&](std::uint32_t sn) { return static_cast<std::int32_t>(sn - to) < 0 ? sn : to; };
    const bool is_lost = window.told - window.lost_from < window.lost_end - window.lost_from;
    const bool is_before = static_cast<std::int32_t>(window.told - window.lost_from) < 0;
    const std::uint32_t end = is_lost                                            ? until(window.lost_end)
                              : is_before && window.lost_from != window.lost_end ? until(window.lost_from)
                                                                                 : to;
    push(lane, {.kind = is_lost ? Kind::kLost : Kind::kSkip,
                .bearer = window.number,
                .sn = window.told,
                .slot = end - window.told});
    window.told = end;
  }
  return true;
}

void WorkerEnd::lost(Window& window, std::uint32_t count) {
  if (static_cast<std::int32_t>(window.next_ack - window.lost_end) >= 0) window.lost_from = window.next;
  window.next += count;
  window.lost_end = window.next;
  look_at_lost(window);
  if (window.number == kNoSlot) number(window);
  if (connected_) queue(window);  // no frame may follow, and the service has to ask the peer for them
}

void WorkerEnd::tell(Lane& lane, Window& window, std::uint32_t index, std::uint8_t flags) {
  const Ledger::Slot& slot = ledger_[index];
  push(lane, {.kind = Kind::kCopy,
              .flags = flags,
              .bytes = slot.bytes,
              .bearer = window.number,
              .sn = slot.sn,
              .slot = ledger_.name_of(index)});
  window.told = slot.sn + 1;
  ++counters_.told;
}

void WorkerEnd::keep(Window& window, rte_mbuf* m, std::uint16_t bytes, std::uint8_t flags) {
  if (window.number == kNoSlot) number(window);
  window.of_card = window.of_card || (flags & kOfCard) != 0;
  const std::uint32_t index = ledger_.add(window, m, window.next++, bytes);
  if (!connected_) return;
  Lane& lane = lanes_[window.lane];
  begin_feed(window);
  // A bearer of which nothing else is held can begin at once.
  if (!window.is_open && window.first == index && fits(lane, 2) && open(lane, window)) window.unfed = kNoSlot;
  const bool is_known = window.is_open && window.unfed == kNoSlot && window.told == ledger_[index].sn;
  if (is_known && fits(lane, 1)) [[likely]]
    return tell(lane, window, index, flags);
  if (window.unfed == kNoSlot) window.unfed = index;
  queue(window);
}

bool WorkerEnd::status(Window& window, Octets pdu) {
  const unsigned n = status_elements(pdu.size());
  const bool can_be = connected_ && window.is_open && window.generation == generation_ && pdu.size() <= kLongestStatus;
  Lane* const lane = can_be ? &lanes_[window.lane] : nullptr;
  if (lane == nullptr || !fits(*lane, n)) {
    ++counters_.status_lost;
    return false;
  }
  // The elements come one behind the other in the ring, so they go there together.
  flush(*lane);
  alignas(Message) std::array<std::uint8_t, kMostElements * sizeof(Message)> all;  // written as far as it is needed
  const Message first{.kind = Kind::kStatus, .bytes = static_cast<std::uint16_t>(pdu.size()), .bearer = window.number};
  std::memcpy(all.data(), &first, sizeof first);
  const std::size_t here = std::min<std::size_t>(pdu.size(), kInlineOctets);
  std::memcpy(all.data() + offsetof(Message, sn), pdu.data(), here);
  std::memcpy(all.data() + sizeof first, pdu.data() + here, pdu.size() - here);
  (void)send(lane->channel.to_service, reinterpret_cast<const Message*>(all.data()), n);
  lane->room -= n;
  if (wake) wake(window.lane);
  return true;
}

void WorkerEnd::forget_attempts(Window& window) {
  if (!connected_ || !window.is_open || window.generation != generation_) return;
  window.forgets = true;
  queue(window);
}

void WorkerEnd::restart(Window& window) {
  window.next = 0;
  for_each(window, [&](Ledger::Slot& slot) {
    ledger_.revoke(slot);
    slot.sn = window.next++;
  });
  window.first_sn = 0;
  window.next_ack = window.highest_ack = 0;
  window.lost_from = window.lost_end = 0;
  look_at_lost(window);
  window.resend_end = window.next;
  window.unfed = window.first;
  window.is_open = false;
  if (connected_ && window.number != kNoSlot) queue(window);
}

void WorkerEnd::give_up(Window& window) {
  while (window.first != kNoSlot) {
    Ledger::Slot& slot = ledger_[window.first];
    ledger_.revoke(slot);
    rte_pktmbuf_free(ledger_.take(slot));
  }
  window.next_ack = window.highest_ack = window.lost_from = window.lost_end = window.next;
  look_at_lost(window);
  window.resend_end = window.next;
  // The service is to forget it, too.
  if (std::exchange(window.is_open, false) && connected_) queue(window);
}

void WorkerEnd::close(Window& window) {
  const bool was_open = window.incarnation != 0;
  give_up(window);
  window.next = window.next_ack = window.highest_ack = window.resend_end = window.lost_from = window.lost_end = 0;
  if (window.number == kNoSlot) return;
  Lane& lane = lanes_[window.lane];
  lane.queued.remove(window);
  lane.windows[window.number] = nullptr;
  const bool is_known = connected_ && was_open && window.generation == generation_;
  (is_known ? lane.closing : lane.numbers).push_back(std::exchange(window.number, kNoSlot));
}

void WorkerEnd::close_some(Lane& lane) {
  while (!lane.closing.empty() && fits(lane, 1)) {
    push(lane, {.kind = Kind::kClose, .bearer = lane.closing.back()});
    lane.numbers.push_back(lane.closing.back());
    lane.closing.pop_back();
  }
}

void WorkerEnd::scan(Lane& lane) {
  for (unsigned n = 0; n < kScannedPerRound && lane.scan < lane.windows.size(); ++n, ++lane.scan) {
    Window* const window = lane.windows[lane.scan];
    if (window == nullptr || window->generation == generation_) continue;
    if (window->first != kNoSlot || static_cast<std::int32_t>(window->lost_end - window->next_ack) > 0) {
      queue(*window);
    } else {
      window->next_ack = window->next;  // all came back; the service died before it said so
    }
  }
}

void WorkerEnd::tell_again(Window& window, std::uint32_t sn) {
  ++counters_.no_room;
  // Those after it were refused as well: the service takes SDUs in order only.
  std::uint32_t index = window.first;
  while (index != kNoSlot && static_cast<std::int32_t>(ledger_[index].sn - sn) < 0) index = ledger_[index].next;
  // Without one, what it misses is SDUs without a copy, at the end: feed() tells these.
  if (index == kNoSlot && static_cast<std::int32_t>(sn - window.next) >= 0) return;
  window.unfed = index;
  window.told = sn;
  queue(window);
}

std::size_t WorkerEnd::release(const Message& m) {
  const std::array names{m.bearer, m.sn, m.slot};
  std::array<rte_mbuf*, names.size()> frames;
  unsigned n = 0;
  for (std::size_t i = 0; i < names.size() && i < m.flags; ++i) {
    Ledger::Slot* const slot = ledger_.named(names[i]);
    if (slot == nullptr) continue;
    ++slot->window->released;
    frames[n++] = ledger_.take(*slot);
  }
  rte_pktmbuf_free_bulk(frames.data(), n);
  return n;
}

}  // namespace splitplane::baas
