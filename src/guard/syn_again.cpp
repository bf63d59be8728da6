#include "guard/syn_again.h"

#include <algorithm>

namespace splitplane::guard {

SynAgain::SynAgain(std::uint64_t ticks_per_ms) : places_(std::make_unique<Place[]>(kPlaces + 1)) {
  for (std::size_t i = 0; i < kDelaysMs.size(); ++i) delays_[i] = kDelaysMs[i] * ticks_per_ms;
  for (Handle handle = kPlaces; handle != kNone; --handle) {
    places_[handle].behind = free_;
    free_ = handle;
  }
}

SynAgain::Handle SynAgain::keep(const FourTuple& tuple, wire::Octets frame, rte_mempool* pool, std::uint64_t now) {
  const Handle handle = free_;
  if (handle == kNone || frame.size() > kMaxFrameBytes) return kNone;
  Place& place = places_[handle];
  free_ = place.behind;
  place.syn.tuple = tuple;
  place.syn.pool = pool;
  place.syn.frame_bytes = static_cast<std::uint8_t>(frame.size());
  wire::copy_octets(place.syn.frame.data(), frame.data(), frame.size());
  enter(handle, 0, now);
  ++kept_;
  return handle;
}

void SynAgain::forget(Handle handle, const FourTuple& tuple) {
  if (handle == kNone || handle > kPlaces) return;
  const Place& place = places_[handle];
  if (place.queue == kFree || place.syn.tuple != tuple) return;
  leave(handle);
  free(handle);
}

SynAgain::Handle SynAgain::due(std::uint64_t now) const {
  Handle found = kNone;
  for (const Queue& queue : queues_) {
    if (queue.first == kNone || places_[queue.first].due > now) continue;
    if (found == kNone || places_[queue.first].due < places_[found].due) found = queue.first;
  }
  return found;
}

void SynAgain::again(Handle handle, std::uint64_t now) {
  const auto next = static_cast<std::uint8_t>(places_[handle].queue + 1);
  leave(handle);
  if (next == kFree) {
    free(handle);
  } else {
    enter(handle, next, now);
  }
}

std::uint64_t SynAgain::next() const {
  std::uint64_t next = kNever;
  for (const Queue& queue : queues_) {
    if (queue.first != kNone) next = std::min(next, places_[queue.first].due);
  }
  return next;
}

void SynAgain::enter(Handle handle, std::uint8_t queue, std::uint64_t now) {
  Place& place = places_[handle];
  Queue& q = queues_[queue];
  place.queue = queue;
  place.due = now + delays_[queue];
  place.before = q.last;
  place.behind = kNone;
  (q.last == kNone ? q.first : places_[q.last].behind) = handle;
  q.last = handle;
}

void SynAgain::leave(Handle handle) {
  const Place& place = places_[handle];
  Queue& q = queues_[place.queue];
  (place.before == kNone ? q.first : places_[place.before].behind) = place.behind;
  (place.behind == kNone ? q.last : places_[place.behind].before) = place.before;
}

void SynAgain::free(Handle handle) {
  Place& place = places_[handle];
  place.queue = kFree;
  place.behind = free_;
  free_ = handle;
  --kept_;
}

}  // namespace splitplane::guard
