#include "guard/state/source_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "guard/state/test_memory.h"

namespace splitplane::guard {
namespace {

using Key = SourceTable::Key;
using test::TableMemory;

struct Sources {
  explicit Sources(const SourceTable::Settings& settings = {}, std::uint64_t secret = 11)
      : memory(SourceTable::memory_bytes(settings)), table(settings, memory.span(), secret) {}
  TableMemory memory;
  SourceTable table;
};

TEST(SourceTable, a_source_is_an_ipv4_address_or_the_upper_half_of_an_ipv6_address) {
  FourTuple v4;
  v4.client = {192, 0, 2, 1};
  EXPECT_EQ(SourceTable::key_of(v4), 0xffffffff'c0000201ULL);
  FourTuple v6;
  v6.is_v6 = 1;
  v6.client = {0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2, 9, 9, 9, 9, 9, 9, 9, 9};
  EXPECT_EQ(SourceTable::key_of(v6), 0x20010db8'00010002ULL);
}

TEST(SourceTable, takes_16_octets_an_entry_and_rounds_up) {
  EXPECT_EQ(SourceTable::memory_bytes({.entries = 1 << 20}), std::size_t{16} << 20);
  EXPECT_EQ(SourceTable::memory_bytes({.entries = (1 << 20) + 1}), std::size_t{32} << 20);
  EXPECT_EQ(SourceTable::memory_bytes({.entries = 1}), 64U * 16);
  EXPECT_EQ(Sources({.entries = 1}).table.counts().entries, 64U);
}

TEST(SourceTable, a_proof_holds_for_its_time_and_begins_anew_with_touch) {
  Sources s({.entries = 64, .cookie_seconds = 10, .vouched_seconds = 100});
  EXPECT_EQ(s.table.find(5, 0), Proof::kNone);
  EXPECT_EQ(s.table.touch(5, 0), Proof::kNone) << "touch() proves nothing";
  ASSERT_TRUE(s.table.put(5, Proof::kCookie, 1000));
  ASSERT_TRUE(s.table.put(6, Proof::kVouched, 1000));
  EXPECT_EQ(s.table.find(5, 1010), Proof::kCookie);
  EXPECT_EQ(s.table.find(5, 1011), Proof::kNone);
  EXPECT_EQ(s.table.touch(5, 1010), Proof::kCookie);
  EXPECT_EQ(s.table.find(5, 1020), Proof::kCookie);
  EXPECT_EQ(s.table.touch(5, 1021), Proof::kNone) << "what is over does not come back";
  EXPECT_EQ(s.table.find(5, 1021), Proof::kNone);
  EXPECT_EQ(s.table.find(6, 1100), Proof::kVouched);
  EXPECT_EQ(s.table.find(6, 1101), Proof::kNone);
}

TEST(SourceTable, a_weaker_proof_does_not_take_a_stronger_one_away_unless_that_is_over) {
  Sources s({.entries = 64, .cookie_seconds = 10, .vouched_seconds = 100});
  ASSERT_TRUE(s.table.put(5, Proof::kCookie, 0));
  ASSERT_TRUE(s.table.put(5, Proof::kVouched, 1));
  ASSERT_TRUE(s.table.put(5, Proof::kCookie, 2));
  EXPECT_EQ(s.table.find(5, 102), Proof::kVouched);
  ASSERT_TRUE(s.table.put(5, Proof::kCookie, 103));
  EXPECT_EQ(s.table.find(5, 103), Proof::kCookie);
}

TEST(SourceTable, no_source_has_the_key_0) {
  Sources s;
  EXPECT_FALSE(s.table.put(0, Proof::kVouched, 1));
  EXPECT_EQ(s.table.find(0, 1), Proof::kNone);
  EXPECT_FALSE(s.table.take_syn(0, 1));
  EXPECT_FALSE(s.table.take_flow(0, 1));
  EXPECT_FALSE(s.table.remove(0));
  s.table.give_flow(0);
}

TEST(SourceTable, syns_of_a_source_are_counted_by_the_second_and_prove_nothing) {
  Sources s({.entries = 64, .cookie_seconds = 5, .syn_per_second = 3});
  EXPECT_FALSE(s.table.take_syn(7, 9));
  ASSERT_TRUE(s.table.put(7, Proof::kCookie, 10));
  for (std::uint32_t second = 10; second <= 15; ++second) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(s.table.take_syn(7, second));
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(s.table.take_syn(7, second));
    (void)s.table.find(7, second);
  }
  EXPECT_FALSE(s.table.take_syn(7, 16)) << "the proof is over: SYNs do not prolong it";
  EXPECT_EQ(s.table.find(7, 16), Proof::kNone);
}

TEST(SourceTable, proof_again_in_the_same_second_gives_no_more_syns) {
  Sources s({.entries = 64, .syn_per_second = 1});
  ASSERT_TRUE(s.table.put(7, Proof::kCookie, 10));
  EXPECT_TRUE(s.table.take_syn(7, 10));
  ASSERT_TRUE(s.table.put(7, Proof::kVouched, 10));
  (void)s.table.touch(7, 10);
  EXPECT_FALSE(s.table.take_syn(7, 10));
}

TEST(SourceTable, flows_of_a_source_have_a_limit_and_outlive_its_proof) {
  Sources s({.entries = 64, .cookie_seconds = 5, .flows_each = 2});
  EXPECT_FALSE(s.table.take_flow(7, 10));
  ASSERT_TRUE(s.table.put(7, Proof::kCookie, 10));
  EXPECT_TRUE(s.table.take_flow(7, 10));
  EXPECT_TRUE(s.table.take_flow(7, 11));
  EXPECT_FALSE(s.table.take_flow(7, 11));
  s.table.sweep(100, s.table.buckets());
  EXPECT_EQ(s.table.find(7, 100), Proof::kNone);
  ASSERT_TRUE(s.table.put(7, Proof::kCookie, 100));
  EXPECT_FALSE(s.table.take_flow(7, 100)) << "it still has both";
  s.table.give_flow(7);
  EXPECT_TRUE(s.table.take_flow(7, 100));
  for (int i = 0; i < 5; ++i) s.table.give_flow(7);
  EXPECT_TRUE(s.table.take_flow(7, 100));
  EXPECT_TRUE(s.table.take_flow(7, 100));
  EXPECT_FALSE(s.table.take_flow(7, 100)) << "giving back too much gives nothing";
}

TEST(SourceTable, remove_and_clear_forget) {
  Sources s;
  ASSERT_TRUE(s.table.put(7, Proof::kCookie, 10));
  ASSERT_TRUE(s.table.put(8, Proof::kVouched, 10));
  EXPECT_TRUE(s.table.remove(7));
  EXPECT_FALSE(s.table.remove(7));
  EXPECT_EQ(s.table.find(7, 10), Proof::kNone);
  EXPECT_EQ(s.table.find(8, 10), Proof::kVouched);
  s.table.clear();
  EXPECT_EQ(s.table.find(8, 10), Proof::kNone);
}

TEST(SourceTable, time_may_wrap_and_be_slightly_behind_the_stamps) {
  Sources s({.entries = 64, .cookie_seconds = 10});
  for (const std::uint32_t at : {0xfffffffaU, 0x00fffffaU, 0x7ffffffaU, 0x80000000U}) {
    ASSERT_TRUE(s.table.put(7, Proof::kCookie, at));
    EXPECT_EQ(s.table.find(7, at + 10), Proof::kCookie) << at;
    EXPECT_EQ(s.table.find(7, at + 11), Proof::kNone) << at;
    EXPECT_EQ(s.table.find(7, at - 5), Proof::kCookie) << "a new process may be a little behind";
    EXPECT_EQ(s.table.find(7, at - 10000), Proof::kNone);
    s.table.clear();
  }
}

TEST(SourceTable, sweep_counts_the_live_and_frees_the_others) {
  Sources s({.entries = 1024, .cookie_seconds = 10, .vouched_seconds = 100});
  for (Key key = 1; key <= 100; ++key) ASSERT_TRUE(s.table.put(key, Proof::kCookie, 0));
  for (Key key = 101; key <= 150; ++key) ASSERT_TRUE(s.table.put(key, Proof::kVouched, 0));
  s.table.sweep(5, s.table.buckets());
  EXPECT_EQ(s.table.counts().live, 150U);
  for (unsigned i = 0; i < s.table.buckets(); i += 8) s.table.sweep(50, 8);
  EXPECT_EQ(s.table.counts().live, 50U);
  EXPECT_EQ(s.table.counts().evicted, 0U);
  EXPECT_EQ(s.table.counts().inserted, 150U);
}

TEST(SourceTable, the_oldest_that_a_cookie_proved_makes_room) {
  Sources s({.entries = 64, .cookie_seconds = 1000});
  Key key = 0;
  while (s.table.counts().evicted == 0) {
    ++key;
    ASSERT_TRUE(s.table.put(key, Proof::kCookie, static_cast<std::uint32_t>(key)));
  }
  unsigned lost = 0;
  Key first_lost = 0;
  for (Key k = 1; k <= key; ++k) {
    if (s.table.find(k, static_cast<std::uint32_t>(key)) != Proof::kNone) continue;
    ++lost;
    first_lost = k;
  }
  EXPECT_EQ(lost, 1U);
  EXPECT_LT(first_lost, key / 2) << "of eight, the oldest";
  EXPECT_EQ(s.table.find(key, static_cast<std::uint32_t>(key)), Proof::kCookie);
}

// A botnet of a million real addresses returns cookies, many times what the table has room for.
TEST(SourceTable, a_million_sources_with_cookies_push_out_none_that_a_server_vouched_for) {
  Sources s({.entries = 1 << 14, .cookie_seconds = 120, .vouched_seconds = 3600});
  constexpr Key kKnown = 1 << 12;
  for (Key key = 1; key <= kKnown; ++key) ASSERT_TRUE(s.table.put(key, Proof::kVouched, 100));
  std::uint64_t refused = 0;
  for (Key key = 0; key < 1'000'000; ++key) {
    refused +=
        s.table.put(0xffffffff'00000000ULL | key, Proof::kCookie, 100 + static_cast<std::uint32_t>(key >> 14)) ? 0 : 1;
  }
  for (Key key = 1; key <= kKnown; ++key) ASSERT_EQ(s.table.find(key, 200), Proof::kVouched) << key;
  const SourceTable::Counts counts = s.table.counts();
  EXPECT_EQ(counts.refused, refused);
  EXPECT_EQ(counts.inserted, kKnown + 1'000'000 - refused);
  EXPECT_GT(counts.evicted, 900'000U);
}

TEST(SourceTable, the_vouched_fill_most_of_it_before_one_is_refused) {
  for (std::uint64_t secret = 1; secret <= 5; ++secret) {
    Sources s({.entries = 1 << 16}, secret);
    Key key = 1;
    while (s.table.put(key << 13, Proof::kVouched, 0)) ++key;
    EXPECT_GT(static_cast<double>(key - 1) / (1 << 16), 0.85) << secret;
    EXPECT_EQ(s.table.counts().evicted, 0U);
    EXPECT_EQ(s.table.counts().refused, 1U);
    for (Key k = 1; k < key; ++k) ASSERT_EQ(s.table.find(k << 13, 0), Proof::kVouched) << "moved, not lost";
  }
}

TEST(SourceTable, a_table_goes_on_where_an_earlier_one_in_its_memory_ended) {
  const SourceTable::Settings settings{.entries = 1 << 10};
  TableMemory memory(SourceTable::memory_bytes(settings));
  {
    SourceTable table(settings, memory.span(), 5);
    for (Key key = 1; key <= 300; ++key) ASSERT_TRUE(table.put(key, Proof::kVouched, 9));
    ASSERT_TRUE(table.take_flow(1, 9));
  }
  SourceTable table(settings, memory.span(), 5);
  for (Key key = 1; key <= 300; ++key) EXPECT_EQ(table.find(key, 10), Proof::kVouched);
  EXPECT_EQ(table.counts().live, 300U);
  SourceTable other(settings, memory.span(), 6);  // another secret: next to nothing is in its place
  EXPECT_LT(other.counts().live, 30U);
}

TEST(SourceTable, garbage_in_its_memory_is_taken_out) {
  const SourceTable::Settings settings{.entries = 1 << 10};
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    TableMemory memory(SourceTable::memory_bytes(settings));
    for (std::uint8_t& octet : memory.span()) octet = static_cast<std::uint8_t>(random());
    SourceTable table(settings, memory.span(), 5);
    EXPECT_LT(table.counts().live, 40U) << "an entry is in its place by chance: one of 128";
    for (Key key = 1; key <= 300; ++key) {
      ASSERT_TRUE(table.put(key, Proof::kVouched, 9));
      ASSERT_EQ(table.find(key, 9), Proof::kVouched);
    }
  }
}

TEST(SourceTable, of_two_entries_of_one_source_one_stays) {
  const SourceTable::Settings settings{.entries = 64};
  TableMemory memory(SourceTable::memory_bytes(settings));
  auto* const buckets = reinterpret_cast<SourceBucket*>(memory.span().data());
  for (int b = 0; b < 16; ++b) buckets[b].key.fill(77);
  SourceTable table(settings, memory.span(), 5);
  EXPECT_EQ(table.counts().live, 1U);
  EXPECT_TRUE(table.remove(77));
  EXPECT_FALSE(table.remove(77));
}

// What std::map says of the same calls.
struct ModelSource {
  Proof proof = Proof::kNone;
  std::uint32_t seen = 0;
  std::uint32_t second = 0, syns = 0, flows = 0;
};

class SourceModel {
 public:
  explicit SourceModel(const SourceTable::Settings& settings) : settings_(settings) {}
  std::map<Key, ModelSource> sources;

  [[nodiscard]] Proof find(Key key, std::uint32_t now) const {
    const auto at = sources.find(key);
    if (at == sources.end()) return Proof::kNone;
    const ModelSource& source = at->second;
    const std::uint32_t holds = source.proof == Proof::kVouched ? settings_.vouched_seconds : settings_.cookie_seconds;
    return now - source.seen > holds ? Proof::kNone : source.proof;
  }
  Proof touch(Key key, std::uint32_t now) {
    const Proof proof = find(key, now);
    if (proof != Proof::kNone) sources[key].seen = now;
    return proof;
  }
  void put(Key key, Proof proof, std::uint32_t now) {
    const Proof before = find(key, now);
    const bool is_new = !sources.contains(key);
    ModelSource& source = sources[key];
    if (is_new) source.second = now;
    source.proof = std::max(before, proof);
    source.seen = now;
  }
  bool take_syn(Key key, std::uint32_t now) {
    if (find(key, now) == Proof::kNone) return false;
    ModelSource& source = sources[key];
    if ((source.second & 0xff) != (now & 0xff)) source.syns = 0;
    source.second = now;
    return source.syns < settings_.syn_per_second && ++source.syns != 0;
  }
  bool take_flow(Key key, std::uint32_t now) {
    return find(key, now) != Proof::kNone && sources[key].flows < settings_.flows_each && ++sources[key].flows != 0;
  }
  void give_flow(Key key) {
    const auto at = sources.find(key);
    if (at != sources.end() && at->second.flows != 0) --at->second.flows;
  }
  void sweep(std::uint32_t now) {
    std::erase_if(sources,
                  [&](const auto& one) { return find(one.first, now) == Proof::kNone && one.second.flows == 0; });
  }

 private:
  SourceTable::Settings settings_;
};

RC_GTEST_PROP(SourceTable, says_what_a_map_says_while_there_is_room, ()) {
  std::mt19937_64 random(*rc::gen::inRange(0U, 1U << 30));
  const SourceTable::Settings settings{
      .entries = 1024, .cookie_seconds = 7, .vouched_seconds = 30, .syn_per_second = 3, .flows_each = 4};
  Sources s(settings, random());
  SourceModel model(settings);
  std::uint32_t now = static_cast<std::uint32_t>(random());
  if (random() % 2 == 0) now |= 0xffffff00;
  for (int step = 0; step < 3000; ++step) {
    const Key key = 1 + random() % 100;
    switch (random() % 9) {
      case 0:
        RC_ASSERT(s.table.put(key, Proof::kCookie, now));
        model.put(key, Proof::kCookie, now);
        break;
      case 1:
        RC_ASSERT(s.table.put(key, Proof::kVouched, now));
        model.put(key, Proof::kVouched, now);
        break;
      case 2:
        RC_ASSERT(s.table.touch(key, now) == model.touch(key, now));
        break;
      case 3:
        RC_ASSERT(s.table.take_syn(key, now) == model.take_syn(key, now));
        break;
      case 4:
        RC_ASSERT(s.table.take_flow(key, now) == model.take_flow(key, now));
        break;
      case 5:
        s.table.give_flow(key);
        model.give_flow(key);
        break;
      case 6:
        if (random() % 8 == 0) RC_ASSERT(s.table.remove(key) == (model.sources.erase(key) == 1));
        break;
      case 7:
        if (random() % 16 == 0) {
          s.table.sweep(now, s.table.buckets());
          model.sweep(now);
        }
        break;
      default:
        if (random() % 4 == 0) now += static_cast<std::uint32_t>(random() % 4);
        break;
    }
    RC_ASSERT(s.table.find(key, now) == model.find(key, now));
  }
  for (Key key = 1; key <= 100; ++key) RC_ASSERT(s.table.find(key, now) == model.find(key, now));
  RC_ASSERT(s.table.counts().evicted == 0U);
}

// Far more keys than room: who is proven according to the table has proven it, and who was vouched for stays.
RC_GTEST_PROP(SourceTable, when_full_it_never_proves_too_much_and_keeps_the_vouched, ()) {
  std::mt19937_64 random(*rc::gen::inRange(0U, 1U << 30));
  const SourceTable::Settings settings{.entries = 64, .cookie_seconds = 20, .vouched_seconds = 40};
  Sources s(settings, random());
  SourceModel model(settings);
  std::uint32_t now = 0xffffffd0;
  for (int step = 0; step < 3000; ++step) {
    const Key key = 1 + random() % 400;
    const Proof proof = random() % 8 == 0 ? Proof::kVouched : Proof::kCookie;
    if (random() % 4 == 0) {
      RC_ASSERT(s.table.touch(key, now) <= model.find(key, now));
      if (s.table.find(key, now) != Proof::kNone) model.touch(key, now);
    } else if (s.table.put(key, proof, now)) {
      model.put(key, proof, now);
      RC_ASSERT(s.table.find(key, now) != Proof::kNone);
    }
    if (random() % 8 == 0) ++now;
    if (step % 16 == 0) s.table.sweep(now, 4);
    if (step % 10 != 0) continue;
    for (const auto& [each, source] : model.sources) {
      const Proof said = s.table.find(each, now), true_one = model.find(each, now);
      const bool may_forget = true_one != Proof::kVouched && said == Proof::kNone;
      RC_ASSERT(said == true_one || may_forget);
    }
    // The model forgets what the table gave up, so that a later proof begins as in the table.
    std::erase_if(model.sources, [&](const auto& one) { return s.table.find(one.first, now) == Proof::kNone; });
  }
}

}  // namespace
}  // namespace splitplane::guard
