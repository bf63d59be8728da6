// Tests of cookie_jar.h: what is good, what is not, and how often a guess succeeds.
#include "guard/cookie/cookie_jar.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sodium.h>

#include <cmath>
#include <random>
#include <vector>

namespace splitplane::guard {
namespace {

FourTuple v4_tuple() {
  FourTuple t;
  t.client = {192, 0, 2, 1};
  t.server = {198, 51, 100, 7};
  t.client_port = 40000;
  t.server_port = 443;
  t.vlan = 100;
  return t;
}

FourTuple v6_tuple() {
  FourTuple t = v4_tuple();
  t.is_v6 = 1;
  for (std::size_t i = 0; i < 16; ++i) {
    t.client[i] = static_cast<std::uint8_t>(0x20 + i);
    t.server[i] = static_cast<std::uint8_t>(0x40 + i);
  }
  return t;
}

CookieKeys fixed_keys() {
  CookieKeys keys;
  for (std::size_t i = 0; i < 16; ++i) {
    keys.key[0][i] = static_cast<std::uint8_t>(i);
    keys.key[1][i] = static_cast<std::uint8_t>(0xF0 - i);
  }
  return keys;
}

CookieOptions all_options() {
  return {
      .mss = 1460, .window_scale = 7, .sack_permitted = true, .has_timestamps = true, .ecn = true, .told_scale = 10};
}

// Every tuple that differs from `t` in one bit of what identifies a connection.
std::vector<FourTuple> neighbors_of(const FourTuple& t) {
  std::vector<FourTuple> all;
  const auto add = [&](auto&& change) {
    all.push_back(t);
    change(all.back());
  };
  const std::size_t address_bits = t.is_v6 != 0 ? 128 : 32;
  for (std::size_t bit = 0; bit < address_bits; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
    add([&](FourTuple& o) { o.client[bit / 8] ^= mask; });
    add([&](FourTuple& o) { o.server[bit / 8] ^= mask; });
  }
  for (unsigned bit = 0; bit < 16; ++bit) {
    const auto mask = static_cast<std::uint16_t>(1U << bit);
    add([&](FourTuple& o) { o.client_port ^= mask; });
    add([&](FourTuple& o) { o.server_port ^= mask; });
    add([&](FourTuple& o) { o.vlan ^= mask; });
  }
  add([](FourTuple& o) { o.is_v6 ^= 1; });
  add([](FourTuple& o) {
    std::swap(o.client, o.server);
    std::swap(o.client_port, o.server_port);
  });
  return all;
}

class CookieJarOf : public testing::TestWithParam<bool> {
 public:
  [[nodiscard]] static FourTuple tuple() { return GetParam() ? v6_tuple() : v4_tuple(); }
};
INSTANTIATE_TEST_SUITE_P(Version, CookieJarOf, testing::Bool(),
                         [](const auto& version) { return version.param ? "ipv6" : "ipv4"; });

TEST_P(CookieJarOf, a_rst_cookie_is_good_for_its_connection_alone) {
  const CookieJar jar(fixed_keys());
  const std::uint32_t cookie = jar.rst_cookie(tuple());
  EXPECT_TRUE(jar.is_rst_cookie(tuple(), cookie));
  for (unsigned bit = 0; bit < 32; ++bit) EXPECT_FALSE(jar.is_rst_cookie(tuple(), cookie ^ 1U << bit)) << bit;
  for (const FourTuple& other : neighbors_of(tuple())) EXPECT_FALSE(jar.is_rst_cookie(other, cookie));
}

TEST_P(CookieJarOf, a_syn_cookie_returns_the_options_of_the_syn) {
  const CookieJar jar(fixed_keys());
  const auto cookie = jar.syn_cookie(tuple(), 1000, all_options(), 123'456'789);
  EXPECT_EQ(jar.open(tuple(), 1000, cookie.sequence, cookie.ts_value), all_options());
  const auto plain = jar.syn_cookie(tuple(), 1000, {.mss = 1220}, 5);
  EXPECT_EQ(plain.ts_value, 0U);
  EXPECT_EQ(jar.open(tuple(), 1000, plain.sequence, std::nullopt), CookieOptions{.mss = 1220});
}

TEST_P(CookieJarOf, a_syn_cookie_with_any_changed_bit_is_refused) {
  const CookieJar jar(fixed_keys());
  const auto cookie = jar.syn_cookie(tuple(), 1000, all_options(), 123'456'789);
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_FALSE(jar.open(tuple(), 1000, cookie.sequence ^ 1U << bit, cookie.ts_value)) << "sequence number, " << bit;
    EXPECT_FALSE(jar.open(tuple(), 1000 ^ 1U << bit, cookie.sequence, cookie.ts_value)) << "client's ISN, " << bit;
  }
  for (unsigned bit = 0; bit < CookieJar::kTimestampBits; ++bit) {
    EXPECT_FALSE(jar.open(tuple(), 1000, cookie.sequence, cookie.ts_value ^ 1U << bit)) << "options, " << bit;
  }
  EXPECT_FALSE(jar.open(tuple(), 1000, cookie.sequence, std::nullopt)) << "timestamps left out";
  for (const FourTuple& other : neighbors_of(tuple())) {
    EXPECT_FALSE(jar.open(other, 1000, cookie.sequence, cookie.ts_value));
  }
  const auto plain = jar.syn_cookie(tuple(), 1000, {}, 0);
  for (std::uint32_t echo = 0; echo < 1024; ++echo) {
    EXPECT_FALSE(jar.open(tuple(), 1000, plain.sequence, echo)) << "timestamps added";
  }
}

TEST_P(CookieJarOf, kinds_of_cookies_are_not_exchangeable) {
  const CookieJar jar(fixed_keys());
  std::mt19937 random(1);
  FourTuple t = tuple();
  for (unsigned i = 0; i < 1000; ++i) {
    t.client_port = static_cast<std::uint16_t>(random());
    const auto isn = static_cast<std::uint32_t>(random());
    EXPECT_FALSE(jar.open(t, isn, jar.rst_cookie(t), std::nullopt));
    EXPECT_FALSE(jar.is_rst_cookie(t, jar.syn_cookie(t, isn, {}, 0).sequence));
  }
}

TEST_P(CookieJarOf, cookies_outlive_one_rotation_and_not_two) {
  CookieJar jar(CookieJar::random_keys());
  for (unsigned round = 0; round < 4; ++round) {
    const std::uint32_t rst = jar.rst_cookie(tuple());
    const auto syn = jar.syn_cookie(tuple(), 7, all_options(), 1 << 20);
    jar.rotate();
    EXPECT_TRUE(jar.is_rst_cookie(tuple(), rst));
    EXPECT_TRUE(jar.open(tuple(), 7, syn.sequence, syn.ts_value));
    EXPECT_NE(jar.rst_cookie(tuple()), rst) << "the newer key makes the cookies";
    EXPECT_NE(jar.rst_cookie(tuple()) >> 31, rst >> 31);
    CookieJar later = jar;
    later.rotate();
    EXPECT_FALSE(later.is_rst_cookie(tuple(), rst));
    EXPECT_FALSE(later.open(tuple(), 7, syn.sequence, syn.ts_value));
  }
}

TEST_P(CookieJarOf, keys_that_are_kept_make_the_same_jar) {
  CookieJar jar(CookieJar::random_keys());
  jar.rotate();
  const CookieJar again(jar.keys());
  EXPECT_EQ(again.rst_cookie(tuple()), jar.rst_cookie(tuple()));
  const CookieJar other(CookieJar::random_keys());
  EXPECT_NE(other.rst_cookie(tuple()) & 0x7FFFFFFF, jar.rst_cookie(tuple()) & 0x7FFFFFFF);
}

TEST(CookieJar, is_siphash_of_libsodium_over_the_octets_of_the_connection) {
  const CookieJar jar(fixed_keys());
  const auto hash = [](const std::vector<std::uint8_t>& octets) {
    std::uint64_t value = 0;
    crypto_shorthash(reinterpret_cast<unsigned char*>(&value), octets.data(), octets.size(),
                     fixed_keys().key[0].data());
    return value;
  };
  const std::vector<std::uint8_t> rst{192, 0, 2, 1, 198, 51, 100, 7, 0x40, 0x9C, 0xBB, 0x01, 100, 0, 1};
  EXPECT_EQ(jar.rst_cookie(v4_tuple()), hash(rst) & 0x7FFFFFFF);
  const std::vector<std::uint8_t> syn{192,  0,    2,    1,    198,  51,  100, 7, 0x40, 0x9C, 0xBB,
                                      0x01, 0x44, 0x33, 0x22, 0x11, 100, 0,   2, 6,    0xB7, 0x06};
  EXPECT_EQ(jar.syn_cookie(v4_tuple(), 0x11223344, all_options(), 0).sequence, 6U << 28 | (hash(syn) & 0xFFFFFFF));
  std::vector<std::uint8_t> v6;
  for (std::uint8_t i = 0; i < 16; ++i) v6.push_back(static_cast<std::uint8_t>(0x20 + i));
  for (std::uint8_t i = 0; i < 16; ++i) v6.push_back(static_cast<std::uint8_t>(0x40 + i));
  for (const int octet : {0x40, 0x9C, 0xBB, 0x01, 100, 0, 0x81}) v6.push_back(static_cast<std::uint8_t>(octet));
  EXPECT_EQ(jar.rst_cookie(v6_tuple()), hash(v6) & 0x7FFFFFFF);
}

RC_GTEST_PROP(CookieJar, any_options_come_back_as_near_as_a_cookie_keeps_them, (bool v6, std::uint32_t isn)) {
  CookieJar jar(CookieJar::random_keys());
  if (*rc::gen::arbitrary<bool>()) jar.rotate();
  CookieOptions o;
  o.mss = *rc::gen::arbitrary<std::uint16_t>();
  o.has_timestamps = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) o.window_scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 15));
  o.sack_permitted = *rc::gen::arbitrary<bool>();
  o.ecn = *rc::gen::arbitrary<bool>();
  o.told_scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 15));
  const auto t = v6 ? v6_tuple() : v4_tuple();
  const auto cookie = jar.syn_cookie(t, isn, o, *rc::gen::arbitrary<std::uint32_t>());
  const auto back = jar.open(t, isn, cookie.sequence,
                             o.has_timestamps ? std::optional<std::uint32_t>(cookie.ts_value) : std::nullopt);
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->mss <= std::max<std::uint16_t>(o.mss, kCookieMss[0]));
  RC_ASSERT(back->has_timestamps == o.has_timestamps);
  if (!o.has_timestamps) {
    RC_ASSERT(!back->window_scale && !back->sack_permitted && !back->ecn && back->told_scale == 0);
  } else {
    RC_ASSERT(back->window_scale == o.window_scale && back->sack_permitted == o.sack_permitted && back->ecn == o.ecn);
    RC_ASSERT(back->told_scale == o.told_scale);
  }
}

template <bool kV6>
void expect_the_same_at_once() {
  CookieJar jar(CookieJar::random_keys());
  std::mt19937 random(5);
  for (unsigned count = 1; count <= CookieJar::kAsksAtOnce; ++count) {
    std::array<FourTuple, CookieJar::kAsksAtOnce> tuples;
    std::array<CookieOptions, CookieJar::kAsksAtOnce> options;
    std::array<CookieJar::RstAsk, CookieJar::kAsksAtOnce> rst;
    std::array<CookieJar::SynAsk, CookieJar::kAsksAtOnce> syn;
    std::array<std::uint32_t, CookieJar::kAsksAtOnce> cookies{}, sequences{};
    for (unsigned i = 0; i < count; ++i) {
      tuples[i] = kV6 ? v6_tuple() : v4_tuple();
      tuples[i].client_port = static_cast<std::uint16_t>(random());
      options[i] = {.mss = static_cast<std::uint16_t>(random()), .has_timestamps = i % 2 == 0};
      rst[i] = {&tuples[i], jar.newest_key(), &cookies[i]};
      syn[i] = {&tuples[i], i, &options[i], &sequences[i]};
    }
    jar.make_rst_cookies<kV6>(rst, count);
    jar.make_syn_cookies<kV6>(syn, count);
    for (unsigned i = 0; i < count; ++i) {
      EXPECT_EQ(cookies[i], jar.rst_cookie(tuples[i]));
      const auto alone = jar.syn_cookie(tuples[i], i, options[i], 77'777);
      EXPECT_EQ(sequences[i], alone.sequence);
      EXPECT_EQ(CookieJar::syn_ts_value(options[i], 77'777), alone.ts_value);
    }
    // The older key, which a RST may name.
    const std::uint32_t before = cookies[0];
    jar.rotate();
    rst[0].key = CookieJar::key_named_by(before);
    jar.make_rst_cookies<kV6>(rst, 1);
    EXPECT_TRUE(CookieJar::are_same_rst_cookies(cookies[0], before));
    EXPECT_FALSE(CookieJar::are_same_rst_cookies(cookies[0], before ^ 1U << 31));
  }
}

TEST(CookieJar, cookies_made_at_once_are_the_same_as_one_by_one) {
  expect_the_same_at_once<false>();
  expect_the_same_at_once<true>();
}

TEST(CookieJar, mss_is_rounded_down_to_one_that_a_cookie_can_name) {
  EXPECT_EQ(cookie_mss_index(0), 0U);
  EXPECT_EQ(cookie_mss_index(535), 0U);
  EXPECT_EQ(cookie_mss_index(536), 1U);
  EXPECT_EQ(cookie_mss_index(1459), 5U);
  EXPECT_EQ(cookie_mss_index(1460), 6U);
  EXPECT_EQ(cookie_mss_index(65535), 7U);
}

TEST(CookieJar, a_window_scale_above_14_counts_as_14_and_not_as_none) {
  const CookieJar jar(fixed_keys());
  const auto cookie = jar.syn_cookie(v4_tuple(), 1, {.window_scale = 15, .has_timestamps = true}, 9999);
  EXPECT_EQ(jar.open(v4_tuple(), 1, cookie.sequence, cookie.ts_value)->window_scale, 14);
}

// PAWS (RFC 7323 5): the TSval of later segments, which is the clock's, is never before that of the SYN-ACK.
RC_GTEST_PROP(CookieJar, tsval_is_at_most_1023_ms_old_and_never_ahead, (std::uint32_t clock)) {
  const CookieJar jar(fixed_keys());
  CookieOptions o{.has_timestamps = true};
  if (*rc::gen::arbitrary<bool>()) o.window_scale = static_cast<std::uint8_t>(*rc::gen::inRange(0, 15));
  o.sack_permitted = *rc::gen::arbitrary<bool>();
  const std::uint32_t now = jar.syn_cookie(v4_tuple(), 1, o, clock).ts_value;
  RC_ASSERT(clock - now < 1024);
  const auto later = *rc::gen::inRange<std::uint32_t>(0, 100'000);
  const std::uint32_t then = jar.syn_cookie(v4_tuple(), 1, o, clock + later).ts_value;
  RC_ASSERT(static_cast<std::int32_t>(then - now) >= 0);
}

// Random numbers in the place of cookies, with 16 bits of the hash compared: as many are taken as theory says, within
// four standard deviations. The product compares 31 and 28 bits: one guess in 2^31 and 2^28.
TEST(CookieJar, guesses_succeed_as_often_as_theory_says) {
#if defined(SPLITPLANE_ASAN) || defined(SPLITPLANE_TSAN)
  constexpr double kGuesses = 1 << 20;
#else
  constexpr double kGuesses = 1 << 23;
#endif
  const double expected = kGuesses / 65536;
  const double allowed = 4 * std::sqrt(expected);
  const NarrowCookieJar jar(fixed_keys());
  std::mt19937_64 random(20260101);
  unsigned rst = 0;
  unsigned syn = 0;
  unsigned with_timestamps = 0;
  FourTuple t = v4_tuple();
  for (unsigned i = 0; i < static_cast<unsigned>(kGuesses); ++i) {
    const std::uint64_t guess = random();
    const auto sequence = static_cast<std::uint32_t>(guess);
    t.client_port = static_cast<std::uint16_t>(i);
    rst += jar.is_rst_cookie(t, sequence) ? 1 : 0;
    syn += jar.open(t, i, sequence, std::nullopt) ? 1 : 0;
    with_timestamps += jar.open(t, i, sequence, static_cast<std::uint32_t>(guess >> 32)) ? 1 : 0;
  }
  EXPECT_NEAR(rst, expected, allowed);
  EXPECT_NEAR(syn, expected, allowed);
  EXPECT_NEAR(with_timestamps, expected, allowed);
  EXPECT_EQ(CookieJar::kRstCookieBits, 31U);
  EXPECT_EQ(CookieJar::kSynCookieBits, 28U);
}

// Cookies of different connections under one key look like random numbers: no value of 16 bits is frequent.
TEST(CookieJar, cookies_are_spread_evenly) {
  const NarrowCookieJar jar(fixed_keys());
  std::vector<unsigned> seen(65536);
  FourTuple t = v4_tuple();
  for (unsigned i = 0; i < 65536 * 16; ++i) {
    t.client[2] = static_cast<std::uint8_t>(i >> 16);
    t.client_port = static_cast<std::uint16_t>(i);
    ++seen[jar.rst_cookie(t) & 0xFFFF];
  }
  double chi = 0;
  for (const unsigned n : seen) chi += (n - 16.0) * (n - 16.0) / 16.0;
  EXPECT_NEAR(chi, 65535, 4 * std::sqrt(2 * 65535.0));
}

}  // namespace
}  // namespace splitplane::guard
