// Compares the key table with std::unordered_map, and tests what a map does not have: a full table, keys that share a
// bucket, a burst.
#include "ran/key_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <memory>
#include <new>
#include <random>
#include <unordered_map>
#include <vector>

namespace splitplane::ran {
namespace {

struct Free {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};

// A table in a heap block of exactly the size it asked for.
template <class Key>
struct Owned {
  explicit Owned(std::size_t capacity, std::uint64_t seed = 1)
      : bytes(KeyTable<Key>::bytes_needed(capacity)),
        memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64}))),
        table(KeyTable<Key>::create({memory.get(), bytes}, capacity, seed).value()) {}
  std::size_t bytes;
  std::unique_ptr<std::byte, Free> memory;
  KeyTable<Key> table;
};

// Key number n. IPv6: one subnet's addresses, which differ in the last octets only, as an SMF gives them out.
template <class Key>
Key key_number(std::uint32_t n) {
  if constexpr (std::is_same_v<Key, Ipv4Key>) {
    return n;
  } else {
    Ipv6Key key{0x20, 0x01, 0x0d, 0xb8};
    for (unsigned i = 0; i < 4; ++i) key[15 - i] = static_cast<std::uint8_t>(n >> (8 * i));
    return key;
  }
}

// The first `count` keys whose home is `home`.
template <class Key>
std::vector<Key> keys_at_home(const KeyTable<Key>& table, std::uint32_t home, std::size_t count) {
  std::vector<Key> keys;
  for (std::uint32_t n = 0; keys.size() < count; ++n) {
    if (table.home_of(key_number<Key>(n)) == home) keys.push_back(key_number<Key>(n));
  }
  return keys;
}

template <class Key>
class KeyTableTest : public testing::Test {};
using Keys = testing::Types<Ipv4Key, Ipv6Key>;
TYPED_TEST_SUITE(KeyTableTest, Keys);

TEST(KeyHash, crc32c_gives_the_known_sums_of_rfc_3720_b4) {
  for (const auto& [word, sum] : {std::pair{std::uint64_t{0}, 0x8a9136aaU}, {~std::uint64_t{0}, 0x62a8ab43U}}) {
    std::uint32_t crc = ~0U;
    std::uint32_t plain = ~0U;
    for (int i = 0; i < 4; ++i) {
      crc = key_hash::crc32c(crc, word);
      plain = key_hash::crc32c_plain(plain, word);
    }
    EXPECT_EQ(~crc, sum);
    EXPECT_EQ(~plain, sum);
  }
}

TEST(KeyHash, the_plain_and_the_built_in_crc32c_agree) {
  EXPECT_TRUE(rc::check([](std::uint32_t crc, std::uint32_t word, std::uint64_t wide) {
    RC_ASSERT(key_hash::crc32c(crc, word) == key_hash::crc32c_plain(crc, word));
    RC_ASSERT(key_hash::crc32c(crc, wide) == key_hash::crc32c_plain(crc, wide));
  }));
}

TYPED_TEST(KeyTableTest, which_keys_share_a_bucket_depends_on_the_seed) {
  Owned<TypeParam> a(100'000, 1);
  Owned<TypeParam> b(100'000, 2);
  const auto keys = keys_at_home(a.table, 7, 40);
  std::map<std::uint32_t, int> homes;
  for (const auto& key : keys) ++homes[b.table.home_of(key)];
  EXPECT_GT(homes.size(), 30U);
}

TYPED_TEST(KeyTableTest, create_refuses_short_or_crooked_memory_and_absurd_capacity) {
  using Table = KeyTable<TypeParam>;
  const std::size_t bytes = Table::bytes_needed(100);
  const Owned<TypeParam> owned(200);
  ASSERT_GE(owned.bytes, bytes + 64);
  EXPECT_TRUE(Table::create({owned.memory.get(), bytes}, 100, 1));
  EXPECT_FALSE(Table::create({owned.memory.get(), bytes - 1}, 100, 1));
  EXPECT_FALSE(Table::create({owned.memory.get() + 8, bytes}, 100, 1));
  EXPECT_FALSE(Table::create({}, 100, 1));
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(Table::bytes_needed(kHuge), kHuge);
  EXPECT_FALSE(Table::create({owned.memory.get(), owned.bytes}, kHuge, 1));
}

TYPED_TEST(KeyTableTest, key_zero_and_all_ones_are_keys_like_any_other) {
  Owned<TypeParam> owned(10);
  auto& table = owned.table;
  const TypeParam zero{};
  TypeParam ones{};
  std::memset(&ones, 0xff, sizeof ones);
  EXPECT_FALSE(table.find(zero));
  EXPECT_FALSE(table.erase(zero));
  EXPECT_EQ(table.insert(zero, 5), KeyInsert::inserted);
  EXPECT_EQ(table.insert(ones, 0), KeyInsert::inserted);
  EXPECT_EQ(table.find(zero), 5U);
  EXPECT_EQ(table.find(ones), 0U);
  EXPECT_TRUE(table.erase(zero));
  EXPECT_FALSE(table.find(zero));
  EXPECT_EQ(table.find(ones), 0U);
}

TYPED_TEST(KeyTableTest, inserting_a_known_key_replaces_its_value) {
  Owned<TypeParam> owned(10);
  const auto key = key_number<TypeParam>(42);
  EXPECT_EQ(owned.table.insert(key, 1), KeyInsert::inserted);
  EXPECT_EQ(owned.table.insert(key, 2), KeyInsert::replaced);
  EXPECT_EQ(owned.table.find(key), 2U);
  EXPECT_EQ(owned.table.size(), 1U);
  EXPECT_TRUE(owned.table.erase(key));
  EXPECT_FALSE(owned.table.find(key)) << "it was there once only";
}

TYPED_TEST(KeyTableTest, a_single_bucket_takes_all_its_slots_and_then_refuses) {
  Owned<TypeParam> owned(1);
  auto& table = owned.table;
  ASSERT_EQ(table.bucket_count(), 1U);
  constexpr std::uint32_t kSlots = KeyTable<TypeParam>::Bucket::kSlots;
  for (std::uint32_t n = 0; n < kSlots; ++n) {
    EXPECT_EQ(table.insert(key_number<TypeParam>(n), n), KeyInsert::inserted);
  }
  EXPECT_EQ(table.insert(key_number<TypeParam>(kSlots), 0), KeyInsert::full);
  EXPECT_EQ(table.insert(key_number<TypeParam>(0), 99), KeyInsert::replaced) << "a full table still replaces";
  EXPECT_FALSE(table.find(key_number<TypeParam>(kSlots)));
  EXPECT_EQ(table.stats().refused, 1U);
  EXPECT_EQ(table.stats().entries, table.stats().slots);
}

TYPED_TEST(KeyTableTest, keys_of_one_bucket_spill_over_the_wrap_up_to_the_probe_limit) {
  Owned<TypeParam> owned(200);
  auto& table = owned.table;
  using Table = KeyTable<TypeParam>;
  constexpr std::size_t kRoom = std::size_t{Table::kMaxProbe} * Table::Bucket::kSlots;
  const auto keys = keys_at_home(table, table.bucket_count() - 3, kRoom + 2);
  for (std::uint32_t i = 0; i < kRoom; ++i) ASSERT_EQ(table.insert(keys[i], i), KeyInsert::inserted) << i;
  EXPECT_EQ(table.insert(keys[kRoom], 0), KeyInsert::full);
  for (std::uint32_t i = 0; i < kRoom; ++i) EXPECT_EQ(table.find(keys[i]), i);
  EXPECT_FALSE(table.find(keys[kRoom + 1]));
  for (const std::size_t count : table.stats().at_distance) EXPECT_EQ(count, Table::Bucket::kSlots);

  // A hole near the home is filled from behind, so that exactly the farthest bucket has room again.
  EXPECT_TRUE(table.erase(keys[0]));
  EXPECT_EQ(table.stats().at_distance.front(), Table::Bucket::kSlots);
  EXPECT_EQ(table.stats().at_distance.back(), Table::Bucket::kSlots - 1);
  for (std::uint32_t i = 1; i < kRoom; ++i) EXPECT_EQ(table.find(keys[i]), i);
  EXPECT_EQ(table.insert(keys[kRoom], 77), KeyInsert::inserted);
  EXPECT_EQ(table.find(keys[kRoom]), 77U);
}

TYPED_TEST(KeyTableTest, a_hole_is_not_filled_with_a_key_whose_home_is_behind_it) {
  Owned<TypeParam> owned(200);
  auto& table = owned.table;
  constexpr std::uint32_t kSlots = KeyTable<TypeParam>::Bucket::kSlots;
  const auto here = keys_at_home(table, 5, kSlots + 1);
  const auto behind = keys_at_home(table, 6, kSlots - 1);
  for (const auto& key : behind) ASSERT_EQ(table.insert(key, 6), KeyInsert::inserted);
  for (const auto& key : here) ASSERT_EQ(table.insert(key, 5), KeyInsert::inserted);
  ASSERT_EQ(table.stats().displaced(), 1U);
  EXPECT_TRUE(table.erase(here[0]));
  EXPECT_EQ(table.stats().displaced(), 0U);
  for (const auto& key : behind) EXPECT_EQ(table.find(key), 6U);
  for (std::size_t i = 1; i < here.size(); ++i) EXPECT_EQ(table.find(here[i]), 5U);
  EXPECT_FALSE(table.find(here[0]));
}

TYPED_TEST(KeyTableTest, a_displaced_key_is_replaced_where_it_is) {
  Owned<TypeParam> owned(200);
  auto& table = owned.table;
  const auto keys = keys_at_home(table, 5, KeyTable<TypeParam>::Bucket::kSlots + 1);
  for (std::uint32_t i = 0; i < keys.size(); ++i) ASSERT_EQ(table.insert(keys[i], i), KeyInsert::inserted);
  ASSERT_EQ(table.stats().displaced(), 1U);
  EXPECT_EQ(table.insert(keys.back(), 500), KeyInsert::replaced);
  EXPECT_EQ(table.find(keys.back()), 500U);
  EXPECT_TRUE(table.erase(keys.back()));
  EXPECT_FALSE(table.find(keys.back()));
  EXPECT_EQ(table.stats().displaced(), 0U);
}

TYPED_TEST(KeyTableTest, clear_forgets_entries_and_their_overflow) {
  Owned<TypeParam> owned(200);
  auto& table = owned.table;
  const auto keys = keys_at_home(table, 5, KeyTable<TypeParam>::Bucket::kSlots + 3);
  for (const auto& key : keys) ASSERT_EQ(table.insert(key, 1), KeyInsert::inserted);
  table.clear();
  EXPECT_EQ(table.size(), 0U);
  for (const auto& key : keys) EXPECT_FALSE(table.find(key));
  for (const auto& key : keys) EXPECT_EQ(table.insert(key, 2), KeyInsert::inserted);
  EXPECT_EQ(table.stats().displaced(), 3U);
}

TYPED_TEST(KeyTableTest, find_bulk_marks_what_it_found_and_leaves_the_rest) {
  Owned<TypeParam> owned(100);
  auto& table = owned.table;
  for (std::uint32_t n = 0; n < 64; n += 2)
    ASSERT_EQ(table.insert(key_number<TypeParam>(n), n + 1000), KeyInsert::inserted);
  std::vector<TypeParam> keys;
  for (std::uint32_t n = 0; n < 64; ++n) keys.push_back(key_number<TypeParam>(n));
  for (const std::size_t count : {0U, 1U, 31U, 32U, 64U}) {
    std::vector<std::uint32_t> values(count, 7);
    const std::uint64_t hits = table.find_bulk({keys.data(), count}, values);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ((hits >> i & 1) != 0, i < count && i % 2 == 0) << i;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(values[i], i % 2 == 0 ? i + 1000 : 7U) << i;
  }
}

// The answer of every operation, and at the end the whole content, equal those of a map.
template <class Key>
void agree_with_a_map(KeyTable<Key>& table, std::mt19937_64& random, std::uint32_t key_range, int steps) {
  std::map<Key, std::uint32_t> model;
  for (int i = 0; i < steps; ++i) {
    const Key key = key_number<Key>(static_cast<std::uint32_t>(random() % key_range));
    const auto value = static_cast<std::uint32_t>(random());
    const auto known = model.find(key);
    const std::uint64_t operation = random() % 8;
    if (operation < 3) {
      const KeyInsert outcome = table.insert(key, value);
      ASSERT_EQ(outcome == KeyInsert::replaced, known != model.end());
      if (outcome != KeyInsert::full) model[key] = value;
    } else if (operation < 6) {
      ASSERT_EQ(table.erase(key), known != model.end());
      model.erase(key);
    } else {
      ASSERT_EQ(table.find(key), known == model.end() ? std::nullopt : std::optional(known->second));
    }
    ASSERT_EQ(table.size(), model.size());
  }
  for (std::uint32_t n = 0; n < key_range; ++n) {
    const auto known = model.find(key_number<Key>(n));
    ASSERT_EQ(table.find(key_number<Key>(n)), known == model.end() ? std::nullopt : std::optional(known->second));
  }
  std::size_t placed = 0;
  for (const std::size_t count : table.stats().at_distance) placed += count;
  ASSERT_EQ(placed, model.size());
  // After all keys are erased nothing may be left, in particular no overflow count that makes misses slow for ever.
  for (const auto& [key, value] : model) ASSERT_TRUE(table.erase(key));
  ASSERT_EQ(table.size(), 0U);
  ASSERT_EQ(table.stats().displaced(), 0U);
}

TYPED_TEST(KeyTableTest, random_operations_agree_with_a_map) {
  EXPECT_TRUE(rc::check([] {
    const auto capacity = *rc::gen::inRange<std::size_t>(1, 60);  // some tables overfull, some nearly empty
    const auto range = *rc::gen::inRange<std::uint32_t>(1, 200);
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    Owned<TypeParam> owned(capacity, random());
    agree_with_a_map(owned.table, random, range, 400);
    const auto* const buckets = reinterpret_cast<const KeyBucket<TypeParam>*>(owned.memory.get());
    for (std::size_t i = 0; i < owned.table.bucket_count(); ++i) {
      RC_ASSERT(buckets[i].overflow == 0);
      RC_ASSERT(buckets[i].occupied == 0);
    }
    RC_ASSERT(!testing::Test::HasFatalFailure());
  }));
}

TYPED_TEST(KeyTableTest, a_long_run_agrees_with_a_map) {
  std::mt19937_64 random(20'240'601);
  Owned<TypeParam> owned(3'000, 5);
  agree_with_a_map(owned.table, random, 9'000, 300'000);
}

TYPED_TEST(KeyTableTest, churn_at_half_load_does_not_wear_the_table_out) {
  constexpr std::uint32_t kEntries = 20'000;
  Owned<TypeParam> owned(kEntries, 3);
  auto& table = owned.table;
  std::uint32_t newest = 0;
  for (; newest < kEntries; ++newest)
    ASSERT_EQ(table.insert(key_number<TypeParam>(newest), newest), KeyInsert::inserted);
  const std::size_t fresh = table.stats().displaced();
  EXPECT_LT(fresh, kEntries / 10) << "sequential keys spread well enough";
  for (; newest < 20 * kEntries; ++newest) {
    ASSERT_TRUE(table.erase(key_number<TypeParam>(newest - kEntries)));
    ASSERT_EQ(table.insert(key_number<TypeParam>(newest), newest), KeyInsert::inserted);
  }
  EXPECT_LT(table.stats().displaced(), fresh * 5 / 4 + 20);
}

TYPED_TEST(KeyTableTest, a_million_entries_fit_at_half_load) {
  constexpr std::uint32_t kEntries = 1'000'000;
  Owned<TypeParam> owned(kEntries, 9);
  auto& table = owned.table;
  for (std::uint32_t n = 0; n < kEntries; ++n)
    ASSERT_EQ(table.insert(key_number<TypeParam>(n), ~n), KeyInsert::inserted);
  EXPECT_EQ(table.stats().refused, 0U);
  EXPECT_LT(table.stats().displaced(), kEntries / 10);
  for (std::uint32_t n = 0; n < kEntries; ++n) ASSERT_EQ(table.find(key_number<TypeParam>(n)), ~n);
  for (std::uint32_t n = kEntries; n < kEntries + 100'000; ++n) ASSERT_FALSE(table.find(key_number<TypeParam>(n)));
}

}  // namespace
}  // namespace splitplane::ran
