#include "guard/state/source_table.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace splitplane::guard {
namespace {

constexpr std::uint32_t kMostSources = 1U << 28;

std::uint32_t source_entries(const SourceTable::Settings& settings) {
  return std::bit_ceil(std::clamp<std::uint32_t>(settings.entries, 64, kMostSources));
}

// Memory may outlive this process at any instant (state_file.h): an entry is written before its key, and its key is
// taken away before anything else of it. A processor keeps the order of stores as another process sees them later.
void in_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

std::size_t SourceTable::memory_bytes(const Settings& settings) {
  return std::size_t{source_entries(settings)} * sizeof(SourceBucket) / SourceBucket::kEntries;
}

SourceTable::SourceTable(const Settings& settings, std::span<std::uint8_t> memory, std::uint64_t secret)
    : settings_(settings),
      hash_(secret),
      buckets_(reinterpret_cast<SourceBucket*>(memory.data())),
      mask_(source_entries(settings) / SourceBucket::kEntries - 1),
      syn_per_second_(std::min<std::uint32_t>(settings.syn_per_second, SourceBucket::kVouchedBit - 1)) {
  assert(memory.size() >= memory_bytes(settings));
  assert(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(SourceBucket) == 0);
  take_out_unsound();
}

void SourceTable::take_out_unsound() {
  std::uint64_t live = 0;
  for (std::uint32_t n = 0; n <= mask_; ++n) {
    SourceBucket& bucket = buckets_[n];
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) {
      const Key key = bucket.key[i];
      if (key == 0) continue;
      const std::uint64_t hash = hash_.of(key);
      const Place found = place_of(key);  // the first entry of this key, if there are two
      const bool belongs = n == first(hash) || n == second(hash);
      if (!belongs || found.bucket != &bucket || found.entry != i)
        free_entry(bucket, i);
      else
        ++live;
    }
  }
  live_.set(live);
}

void SourceTable::free_entry(SourceBucket& bucket, unsigned entry) {
  bucket.key[entry] = 0;
  in_order();
  bucket.seen[entry] = 0;
  bucket.syns[entry] = 0;
  bucket.flows[entry] = 0;
}

SourceTable::Place SourceTable::free_in(std::uint32_t bucket) const {
  const unsigned free = buckets_[bucket].match(0);
  if (free == 0) return {};
  return {buckets_ + bucket, static_cast<unsigned>(std::countr_zero(free))};
}

std::uint32_t SourceTable::other(const SourceBucket& bucket, unsigned entry) const {
  const std::uint64_t hash = hash_.of(bucket.key[entry]);
  const std::uint32_t one = first(hash);
  return buckets_ + one == &bucket ? second(hash) : one;
}

// The copy is whole before the original goes.
void SourceTable::move(Place from, Place to) {
  to.bucket->seen[to.entry] = from.bucket->seen[from.entry];
  to.bucket->syns[to.entry] = from.bucket->syns[from.entry];
  to.bucket->flows[to.entry] = from.bucket->flows[from.entry];
  in_order();
  to.bucket->key[to.entry] = from.bucket->key[from.entry];
  in_order();
  free_entry(*from.bucket, from.entry);
}

// Of two full buckets: moves a source to its other bucket. `far`: also where another has to make room there first. It
// reads 8 more buckets, and 24 more with `far`.
SourceTable::Place SourceTable::by_moving(SourceBucket* one, SourceBucket* two, bool far) {
  for (SourceBucket* const bucket : {one, two}) {
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) {
      const Place to = free_in(other(*bucket, i));
      if (to.bucket == nullptr) continue;
      move({bucket, i}, to);
      return {bucket, i};
    }
  }
  if (!far) return {};
  for (SourceBucket* const bucket : {one, two}) {
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) {
      SourceBucket* const next = buckets_ + other(*bucket, i);
      if (next == one || next == two) continue;
      for (unsigned j = 0; j < SourceBucket::kEntries; ++j) {
        const Place to = free_in(other(*next, j));
        if (to.bucket == nullptr) continue;
        move({next, j}, to);
        move({bucket, i}, {next, j});
        return {bucket, i};
      }
    }
  }
  return {};
}

// The best entry of two full buckets for a new source: one whose time is over, without flows if there is such a one;
// one that can move; the oldest that a cookie proved. Its place is free then.
SourceTable::Place SourceTable::make_room(SourceBucket* one, SourceBucket* two, Proof proof, std::uint32_t now) {
  Place over, oldest;
  std::uint32_t oldest_age = 0;
  for (SourceBucket* const bucket : {one, two}) {
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) {
      const std::uint32_t old = age<24>(now, bucket->seen[i]);
      switch (live_proof(*bucket, i, now)) {
        case Proof::kNone:
          if (over.bucket == nullptr || (over.bucket->flows[over.entry] != 0 && bucket->flows[i] == 0))
            over = {bucket, i};
          break;
        case Proof::kCookie:
          if (oldest.bucket == nullptr || old > oldest_age) {
            oldest = {bucket, i};
            oldest_age = old;
          }
          break;
        case Proof::kVouched:
          break;
      }
    }
  }
  if (over.bucket != nullptr) {
    free_entry(*over.bucket, over.entry);
    return over;
  }
  if (const Place moved = by_moving(one, two, proof == Proof::kVouched); moved.bucket != nullptr) return moved;
  if (oldest.bucket != nullptr) {
    free_entry(*oldest.bucket, oldest.entry);
    evicted_.add(1);
  }
  return oldest;
}

SourceTable::Place SourceTable::room_for(std::uint64_t hash, Proof proof, std::uint32_t now) {
  const std::uint32_t one = first(hash), two = second(hash);
  const bool second_is_emptier = std::popcount(buckets_[two].match(0)) > std::popcount(buckets_[one].match(0));
  const Place free = free_in(second_is_emptier ? two : one);
  return free.bucket != nullptr ? free : make_room(buckets_ + one, buckets_ + two, proof, now);
}

bool SourceTable::put(Key key, Proof proof, std::uint32_t now) {
  if (key == 0 || proof == Proof::kNone) return false;
  const std::uint16_t vouched = proof == Proof::kVouched ? SourceBucket::kVouchedBit : 0;
  if (const Place at = place_of(key); at.bucket != nullptr) {
    std::uint16_t& syns = at.bucket->syns[at.entry];
    if (live_proof(*at.bucket, at.entry, now) == Proof::kNone) {
      inserted_.add(1);
      syns &= static_cast<std::uint16_t>(~SourceBucket::kVouchedBit);  // what it was is over
    }
    if ((syns & vouched) != vouched) syns |= vouched;
    see(*at.bucket, at.entry, now);
    return true;
  }
  const Place at = room_for(hash_.of(key), proof, now);
  if (at.bucket == nullptr) {
    refused_.add(1);
    return false;
  }
  at.bucket->seen[at.entry] = now << 24 | (now & SourceBucket::kSeenMask);
  at.bucket->syns[at.entry] = vouched;
  at.bucket->flows[at.entry] = 0;
  in_order();
  at.bucket->key[at.entry] = key;
  inserted_.add(1);
  return true;
}

void SourceTable::forget_flows() {
  for (std::uint32_t n = 0; n <= mask_; ++n) buckets_[n].flows.fill(0);
}

void SourceTable::add_flow(Key key) {
  const Place at = place_of(key);
  if (at.bucket != nullptr && at.bucket->flows[at.entry] != UINT16_MAX) ++at.bucket->flows[at.entry];
}

bool SourceTable::remove(Key key) {
  const Place at = place_of(key);
  if (at.bucket == nullptr) return false;
  free_entry(*at.bucket, at.entry);
  return true;
}

void SourceTable::clear() {
  for (std::uint32_t n = 0; n <= mask_; ++n) {
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) free_entry(buckets_[n], i);
  }
  live_.set(0);
  live_of_round_ = 0;
  swept_ = 0;
}

void SourceTable::sweep(std::uint32_t now, unsigned buckets) {
  for (; buckets != 0; --buckets) {
    SourceBucket& bucket = buckets_[swept_];
    for (unsigned i = 0; i < SourceBucket::kEntries; ++i) {
      if (bucket.key[i] == 0) continue;
      if (live_proof(bucket, i, now) != Proof::kNone)
        ++live_of_round_;
      else if (bucket.flows[i] == 0)
        free_entry(bucket, i);
    }
    if (swept_++ == mask_) {
      swept_ = 0;
      live_.set(live_of_round_);
      live_of_round_ = 0;
    }
  }
}

SourceTable::Counts SourceTable::counts() const {
  return {.entries = std::uint64_t{buckets()} * SourceBucket::kEntries,
          .live = live_.get(),
          .inserted = inserted_.get(),
          .evicted = evicted_.get(),
          .refused = refused_.get()};
}

}  // namespace splitplane::guard
