#include "guard/state/keyed_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "base/random.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard {
namespace {

// How far the loads of 2^12 buckets are from those of a random function: chi squared, in standard deviations.
double unevenness(std::size_t count, const std::function<std::uint64_t(std::uint64_t)>& hash_of_number,
                  unsigned shift) {
  constexpr std::size_t kBuckets = 1 << 12;
  std::vector<std::size_t> load(kBuckets);
  for (std::uint64_t n = 0; n < count; ++n) ++load[hash_of_number(n) >> shift & (kBuckets - 1)];
  const double mean = static_cast<double>(count) / kBuckets;
  double chi = 0;
  for (const std::size_t in : load) chi += (static_cast<double>(in) - mean) * (static_cast<double>(in) - mean) / mean;
  return (chi - (kBuckets - 1)) / std::sqrt(2.0 * (kBuckets - 1));
}

TEST(KeyedHash, spreads_keys_that_differ_in_any_two_octets_over_buckets_and_tags) {
  for (std::uint64_t secret = 1; secret <= 3; ++secret) {
    const KeyedHash hash(secret);
    for (unsigned a = 0; a < 8; ++a) {
      for (unsigned b = a + 1; b < 8; ++b) {
        const auto of = [&](std::uint64_t n) { return hash.of((n & 0xff) << 8 * a | (n >> 8) << 8 * b); };
        for (const unsigned shift : {0U, 32U, 48U}) EXPECT_LT(std::abs(unevenness(1 << 16, of, shift)), 6) << a << b;
      }
    }
  }
}

TEST(KeyedHash, spreads_tuples_that_differ_in_any_two_octets) {
  const KeyedHash hash(7);
  for (const bool v6 : {false, true}) {
    std::vector<unsigned> places{32, 33, 34, 35, 36, 37};  // ports and VLAN, then addresses
    for (unsigned i = 0; i < 32; ++i) {
      if (v6 || i % 16 < 4) places.push_back(i);
    }
    for (std::size_t a = 0; a < places.size(); ++a) {
      for (std::size_t b = a + 1; b < places.size(); b += 3) {
        const auto of = [&](std::uint64_t n) {
          FourTuple tuple;
          tuple.is_v6 = v6 ? 1 : 0;
          auto* const octets = reinterpret_cast<std::uint8_t*>(&tuple);
          octets[places[a]] = static_cast<std::uint8_t>(n);
          octets[places[b]] = static_cast<std::uint8_t>(n >> 8);
          return hash.of(tuple);
        };
        EXPECT_LT(std::abs(unevenness(1 << 14, of, 0)), 6) << v6 << ' ' << places[a] << ' ' << places[b];
      }
    }
  }
}

TEST(KeyedHash, changes_half_of_its_bits_with_one_bit_of_the_key) {
  const KeyedHash hash(3);
  Random random(1);
  double changed = 0;
  constexpr unsigned kTries = 2000;
  for (unsigned n = 0; n < kTries; ++n) {
    const std::uint64_t key = random.next();
    changed += std::popcount(hash.of(key) ^ hash.of(key ^ std::uint64_t{1} << n % 64));
  }
  EXPECT_NEAR(changed / kTries, 32, 0.5);
}

// What collides under one secret does not under another: no choice of keys is bad for every guard.
TEST(KeyedHash, collisions_are_the_secret_s) {
  const KeyedHash one(1), two(2);
  constexpr std::uint64_t kBucket = 0xff;
  std::vector<std::uint64_t> meet;
  for (std::uint64_t key = 1; meet.size() < 1024; ++key) {
    if ((one.of(key) & kBucket) == 0) meet.push_back(key);
  }
  std::vector<std::size_t> load(kBucket + 1);
  for (const std::uint64_t key : meet) ++load[two.of(key) & kBucket];
  EXPECT_LT(*std::max_element(load.begin(), load.end()), 20U);  // 4 each
}

TEST(KeyedHash, takes_every_field_of_a_tuple_and_not_what_is_spare) {
  const KeyedHash hash(9);
  for (const bool v6 : {false, true}) {
    const FourTuple tuple = test::numbered_tuple(0x1234567, v6);
    std::set<std::uint64_t> seen{hash.of(tuple)};
    for (std::size_t octet = 0; octet < 38; ++octet) {
      if (!v6 && octet < 32 && octet % 16 >= 4) continue;
      FourTuple other = tuple;
      reinterpret_cast<std::uint8_t*>(&other)[octet] ^= 1;
      EXPECT_TRUE(seen.insert(hash.of(other)).second) << octet;
    }
    FourTuple other = tuple;
    other.is_v6 ^= 1;
    EXPECT_TRUE(seen.insert(hash.of(other)).second);
    other = tuple;
    other.spare[3] = 1;
    EXPECT_EQ(hash.of(other), hash.of(tuple));
  }
}

}  // namespace
}  // namespace splitplane::guard
