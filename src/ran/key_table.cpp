// The parts of the key table that are not on the packet path: making it, inserting and erasing.
#include "ran/key_table.h"

#include <limits>
#include <memory>

namespace splitplane::ran {
namespace key_hash {

// SplitMix64 (Steele, Lea, Flood 2014), which turns even small seeds into well mixed words.
Seed expand(std::uint64_t seed) {
  const auto draw = [&seed] {
    std::uint64_t word = seed += 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
  };
  const std::uint64_t multiplier = draw() | 1U;
  const std::uint64_t low = draw();
  const std::uint64_t high = draw();
  return {multiplier, low, high, static_cast<std::uint32_t>(draw())};
}

}  // namespace key_hash

namespace {

constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();

// Buckets for `capacity` entries at half load; kTooMany if a 32-bit bucket number cannot name them.
template <class Key>
std::size_t buckets_for(std::size_t capacity) {
  constexpr std::size_t kMaxBuckets = std::numeric_limits<std::uint32_t>::max();
  constexpr std::size_t kSlots = KeyBucket<Key>::kSlots;
  if (capacity > kMaxBuckets / 2 * kSlots) return kTooMany;
  return std::max<std::size_t>(1, (2 * capacity + kSlots - 1) / kSlots);
}

}  // namespace

template <class Key>
std::size_t KeyTable<Key>::bytes_needed(std::size_t capacity) {
  const std::size_t buckets = buckets_for<Key>(capacity);
  return buckets == kTooMany ? kTooMany : buckets * sizeof(Bucket);
}

template <class Key>
Expected<KeyTable<Key>> KeyTable<Key>::create(std::span<std::byte> memory, std::size_t capacity, std::uint64_t seed) {
  const std::size_t needed = bytes_needed(capacity);
  if (needed == kTooMany) return fail("key table: {} entries are more than a table can index", capacity);
  if (memory.size() < needed) {
    return fail("key table: {} entries need {} bytes, but there are {}", capacity, needed, memory.size());
  }
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(Bucket) != 0) {
    return fail("key table: the memory is not aligned to {} bytes", alignof(Bucket));
  }
  auto* const buckets = reinterpret_cast<Bucket*>(memory.data());
  const std::size_t count = needed / sizeof(Bucket);
  std::uninitialized_value_construct_n(buckets, count);
  return KeyTable(buckets, static_cast<std::uint32_t>(count), seed);
}

template <class Key>
KeyTable<Key>::KeyTable(Bucket* buckets, std::uint32_t bucket_count, std::uint64_t seed)
    : buckets_(buckets),
      bucket_count_(bucket_count),
      probe_limit_(std::min(kMaxProbe, bucket_count)),
      seed_(key_hash::expand(seed)) {
  stats_.slots = std::size_t{bucket_count} * Bucket::kSlots;
}

template <class Key>
typename KeyTable<Key>::Place KeyTable<Key>::place_of(const Key& key) const {
  Bucket* bucket = buckets_ + home_of(key);
  for (unsigned distance = 0; distance < probe_limit_; ++distance, bucket = next(bucket)) {
    if (const unsigned hit = bucket->match(key); hit != 0) return {bucket, slot_of(hit), distance};
    if (bucket->overflow == 0) break;
  }
  return {};
}

template <class Key>
KeyInsert KeyTable<Key>::insert(const Key& key, std::uint32_t value) {
  if (const Place place = place_of(key); place.bucket != nullptr) {
    place.bucket->value[place.slot] = value;
    return KeyInsert::replaced;
  }
  constexpr unsigned kAllSlots = (1U << Bucket::kSlots) - 1;
  Bucket* const home = buckets_ + home_of(key);
  Bucket* bucket = home;
  for (unsigned distance = 0; distance < probe_limit_; ++distance, bucket = next(bucket)) {
    const unsigned free = ~static_cast<unsigned>(bucket->occupied) & kAllSlots;
    if (free == 0) continue;
    const unsigned slot = slot_of(free);
    bucket->key[slot] = key;
    bucket->value[slot] = value;
    bucket->occupied = static_cast<std::uint8_t>(bucket->occupied | 1U << slot);
    for (Bucket* passed = home; passed != bucket; passed = next(passed)) ++passed->overflow;
    ++stats_.at_distance[distance];
    ++stats_.entries;
    return KeyInsert::inserted;
  }
  ++stats_.refused;
  return KeyInsert::full;
}

template <class Key>
bool KeyTable<Key>::erase(const Key& key) {
  Place hole = place_of(key);
  if (hole.bucket == nullptr) return false;
  for (Bucket* passed = buckets_ + home_of(key); passed != hole.bucket; passed = next(passed)) --passed->overflow;
  --stats_.at_distance[hole.distance];
  --stats_.entries;
  // Without this a table with many changes over a long time has three times the displaced entries of a fresh one. The
  // limit bounds the work; a hole that is left costs speed only.
  for (unsigned moves = 0; moves < probe_limit_ && hole.bucket->overflow != 0; ++moves) hole = pull_back_into(hole);
  hole.bucket->occupied = static_cast<std::uint8_t>(hole.bucket->occupied & ~(1U << hole.slot));
  return true;
}

// Moves the nearest entry that was placed behind `hole`'s full bucket into the hole. Returns the hole that the entry
// leaves.
template <class Key>
typename KeyTable<Key>::Place KeyTable<Key>::pull_back_into(const Place& hole) {
  Bucket* from = next(hole.bucket);
  for (unsigned ahead = 1; ahead < probe_limit_; ++ahead, from = next(from)) {
    for (unsigned slot = 0; slot < Bucket::kSlots; ++slot) {
      if ((from->occupied >> slot & 1U) == 0) continue;
      const unsigned distance = distance_of(from, home_of(from->key[slot]));
      if (distance < ahead) continue;  // its home is after the hole
      hole.bucket->key[hole.slot] = from->key[slot];
      hole.bucket->value[hole.slot] = from->value[slot];
      for (Bucket* passed = hole.bucket; passed != from; passed = next(passed)) --passed->overflow;
      --stats_.at_distance[distance];
      ++stats_.at_distance[distance - ahead];
      return {from, slot, distance};
    }
  }
  assert(false && "an overflow count without its entry");
  return hole;
}

template <class Key>
void KeyTable<Key>::clear() {
  std::fill_n(buckets_, bucket_count_, Bucket{});
  stats_.entries = 0;
  stats_.at_distance.fill(0);
}

template class KeyTable<Ipv4Key>;
template class KeyTable<Ipv6Key>;

}  // namespace splitplane::ran
