#include "guard/state/flow_table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "guard/state/recount.h"
#include "guard/state/test_memory.h"

namespace splitplane::guard {
namespace {

using test::numbered_tuple;

struct Flows {
  explicit Flows(const FlowTable::Settings& settings = {}, std::uint64_t secret = 11)
      : memory(FlowTable::memory_bytes(settings)), table(settings, memory.span(), secret) {}
  Flow* insert(std::uint64_t number, std::uint32_t now, FlowState state = FlowState::kConnecting) {
    const FourTuple tuple = numbered_tuple(number, number % 3 == 0);
    Flow* const flow = table.insert(tuple, table.hash_of(tuple), now);
    if (flow != nullptr) flow->state = state;
    return flow;
  }
  Flow* find(std::uint64_t number, std::uint32_t now) {
    const FourTuple tuple = numbered_tuple(number, number % 3 == 0);
    return table.find(tuple, table.hash_of(tuple), now);
  }
  test::TableMemory memory;
  FlowTable table;
};

// What on_gone() heard.
struct Gone {
  std::vector<Flow> flows;
  static void hear(void* with, const Flow& flow) { static_cast<Gone*>(with)->flows.push_back(flow); }
};

TEST(FlowTable, takes_66_octets_a_flow) {
  EXPECT_EQ(FlowTable::memory_bytes({.entries = 1 << 20}), std::size_t{66} << 20);
  EXPECT_EQ(FlowTable::memory_bytes({.entries = 3}), 66U * 64);
}

TEST(FlowTable, a_new_flow_has_its_tuple_and_is_connecting) {
  Flows f;
  for (const std::uint64_t number : {70001ULL, 3ULL}) {
    Flow* const flow = f.insert(number, 50);
    ASSERT_NE(flow, nullptr);
    EXPECT_EQ(tuple_of(*flow), numbered_tuple(number, number % 3 == 0));
    EXPECT_EQ(flow->state, FlowState::kConnecting);
    EXPECT_EQ(flow->seen, 50U);
    EXPECT_EQ(f.find(number, 50), flow);
    EXPECT_EQ(f.find(number + 6, 50), nullptr);
  }
  EXPECT_EQ(f.table.counts().used, 2U);
  f.table.remove(f.find(3, 50));
  EXPECT_EQ(f.find(3, 50), nullptr);
  EXPECT_EQ(f.table.counts().used, 1U);
}

TEST(FlowTable, every_field_of_a_tuple_tells_flows_apart) {
  Flows f;
  const FourTuple tuple = numbered_tuple(3, true);
  ASSERT_NE(f.table.insert(tuple, f.table.hash_of(tuple), 1), nullptr);
  for (std::size_t octet = 0; octet < 38; ++octet) {
    FourTuple other = tuple;
    reinterpret_cast<std::uint8_t*>(&other)[octet] ^= 1;
    EXPECT_EQ(f.table.find(other, f.table.hash_of(tuple), 1), nullptr) << "under the same hash, octet " << octet;
  }
  FourTuple other = tuple;
  other.is_v6 = 0;
  EXPECT_EQ(f.table.find(other, f.table.hash_of(tuple), 1), nullptr);
}

TEST(FlowTable, each_state_has_its_time) {
  Flows f(
      {.entries = 64, .connecting_seconds = 5, .established_seconds = 100, .closing_seconds = 20, .closed_seconds = 2});
  const std::map<FlowState, std::uint32_t> holds{
      {FlowState::kConnecting, 5}, {FlowState::kEstablished, 100}, {FlowState::kClosing, 20}, {FlowState::kClosed, 2}};
  for (const auto& [state, seconds] : holds) {
    for (const std::uint32_t at : {1000U, 0xfffffffeU}) {
      Flow* const flow = f.insert(4, at, state);
      EXPECT_EQ(f.find(4, at + seconds), flow);
      EXPECT_EQ(f.find(4, at + seconds + 1), nullptr);
      EXPECT_EQ(f.find(4, at - 3), flow) << "a clock slightly behind";
      flow->seen = at + seconds;
      EXPECT_EQ(f.find(4, at + 2 * seconds), flow);
      EXPECT_EQ(f.find(4, at + 2 * seconds + 1), nullptr);
    }
  }
}

TEST(FlowTable, whoever_leaves_is_said) {
  Flows f({.entries = 64, .connecting_seconds = 5});
  Gone gone;
  f.table.on_gone(Gone::hear, &gone);
  Flow* const flow = f.insert(1, 10);
  flow->client_next = 77;
  f.table.remove(flow);
  ASSERT_EQ(gone.flows.size(), 1U);
  EXPECT_EQ(gone.flows[0].client_next, 77U);
  EXPECT_EQ(tuple_of(gone.flows[0]), numbered_tuple(1));
  (void)f.insert(2, 10);
  (void)f.insert(4, 12);
  f.table.sweep(16, f.table.buckets());
  ASSERT_EQ(gone.flows.size(), 2U);
  EXPECT_EQ(tuple_of(gone.flows[1]), numbered_tuple(2));
  EXPECT_EQ(f.table.counts().expired, 1U);
  f.insert(4, 17)->client_next = 5;
  ASSERT_EQ(gone.flows.size(), 3U) << "an earlier flow of the same tuple leaves";
  EXPECT_EQ(f.find(4, 17)->client_next, 5U);
  EXPECT_EQ(f.table.counts().used, 1U);
}

TEST(FlowTable, nine_tenths_are_full_before_the_first_flow_is_refused) {
  for (std::uint64_t secret = 1; secret <= 5; ++secret) {
    for (const std::uint32_t entries : {1U << 12, 1U << 17}) {
      Flows f({.entries = entries}, secret);
      std::uint64_t number = 0;
      while (f.insert(number, 0, FlowState::kEstablished) != nullptr) ++number;
      const FlowTable::Counts counts = f.table.counts();
      EXPECT_EQ(counts.used, number);
      EXPECT_EQ(counts.refused, 1U);
      EXPECT_GT(static_cast<double>(number) / entries, 0.9) << secret << ' ' << entries;
      for (std::uint64_t n = 0; n < number; ++n) ASSERT_NE(f.find(n, 0), nullptr) << "moved, not lost";
    }
  }
}

TEST(FlowTable, no_established_flow_is_pushed_out_before_its_time) {
  Flows f({.entries = 1 << 12});
  Gone gone;
  f.table.on_gone(Gone::hear, &gone);
  std::uint64_t kept = 0;
  for (; kept < 2000; ++kept) ASSERT_NE(f.insert(kept, 100, FlowState::kEstablished), nullptr);
  // An attacker with real addresses, whose connections the server does not answer, or closes.
  for (std::uint64_t number = 1 << 20; number < (1 << 20) + 300'000; ++number)
    (void)f.insert(number, 100 + static_cast<std::uint32_t>(number & 0xff),
                   number % 2 == 0 ? FlowState::kConnecting : FlowState::kClosed);
  for (std::uint64_t number = 0; number < kept; ++number) ASSERT_NE(f.find(number, 500), nullptr);
  for (const Flow& flow : gone.flows) ASSERT_NE(flow.state, FlowState::kEstablished);
  EXPECT_GT(f.table.counts().refused, 0U);
  EXPECT_EQ(f.table.counts().inserted, gone.flows.size() + f.table.counts().used);
}

TEST(FlowTable, connections_that_have_ended_make_room_before_a_new_one_is_refused) {
  Flows f({.entries = 1 << 12});
  Gone gone;
  f.table.on_gone(Gone::hear, &gone);
  std::uint64_t kept = 0;
  for (; kept < 1000; ++kept) ASSERT_NE(f.insert(kept, 100, FlowState::kEstablished), nullptr);
  for (std::uint64_t number = 1 << 20; number < (1 << 20) + 100'000; ++number)
    ASSERT_NE(f.insert(number, 100 + static_cast<std::uint32_t>(number & 7), FlowState::kClosing), nullptr);
  for (std::uint64_t number = 0; number < kept; ++number) ASSERT_NE(f.find(number, 110), nullptr);
  for (const Flow& flow : gone.flows) ASSERT_EQ(flow.state, FlowState::kClosing);
  EXPECT_EQ(f.table.counts().refused, 0U);
}

TEST(FlowTable, those_whose_time_is_over_make_room_before_the_closed_do) {
  Flows f({.entries = 64, .connecting_seconds = 5, .closed_seconds = 100});
  Gone gone;
  f.table.on_gone(Gone::hear, &gone);
  std::uint64_t number = 0;
  while (f.table.counts().used < 64 && number < 100'000) {  // fills every slot
    (void)f.insert(number, 10, number % 2 == 0 ? FlowState::kConnecting : FlowState::kEstablished);
    ++number;
  }
  ASSERT_EQ(f.table.counts().used, 64U);
  EXPECT_TRUE(gone.flows.empty());
  for (std::uint64_t n = number; n < number + 20; ++n) (void)f.insert(n, 16, FlowState::kEstablished);
  EXPECT_EQ(gone.flows.size(), f.table.counts().expired);
  EXPECT_GT(gone.flows.size(), 5U);
  for (const Flow& flow : gone.flows) EXPECT_EQ(flow.state, FlowState::kConnecting);
}

TEST(FlowTable, goes_on_where_an_earlier_one_in_its_memory_ended) {
  const FlowTable::Settings settings{.entries = 1 << 12};
  test::TableMemory memory(FlowTable::memory_bytes(settings));
  {
    FlowTable table(settings, memory.span(), 5);
    for (std::uint64_t n = 0; n < 3700; ++n) {
      const FourTuple tuple = numbered_tuple(n);
      Flow* const flow = table.insert(tuple, table.hash_of(tuple), 9);
      ASSERT_NE(flow, nullptr);
      flow->sequence_delta = static_cast<std::uint32_t>(n);
      flow->state = FlowState::kEstablished;
    }
  }
  FlowTable table(settings, memory.span(), 5);
  EXPECT_EQ(table.counts().used, 3700U);
  for (std::uint64_t n = 0; n < 3700; ++n) {
    const FourTuple tuple = numbered_tuple(n);
    const Flow* const flow = table.find(tuple, table.hash_of(tuple), 10);
    ASSERT_NE(flow, nullptr);
    EXPECT_EQ(flow->sequence_delta, n);
  }
  const FlowTable other(settings, memory.span(), 6);
  EXPECT_LT(other.counts().used, 5U);
}

// A sound table in which single octets are wrong: what is left is sound, and nothing is there twice.
TEST(FlowTable, garbage_in_its_memory_is_taken_out) {
  const FlowTable::Settings settings{.entries = 512};
  std::mt19937_64 random(4);
  for (int round = 0; round < 200; ++round) {
    test::TableMemory memory(FlowTable::memory_bytes(settings));
    const auto octets = memory.span();
    const bool all_garbage = round % 4 == 0;
    if (all_garbage) {
      for (std::uint8_t& octet : octets) octet = static_cast<std::uint8_t>(random());
    } else {
      FlowTable table(settings, octets, 5);
      for (std::uint64_t n = 0; n < 400; ++n) {
        const FourTuple tuple = numbered_tuple(n, n % 2 == 0);
        ASSERT_NE(table.insert(tuple, table.hash_of(tuple), 9), nullptr);
      }
      for (int i = 0; i < 300; ++i) octets[random() % octets.size()] = static_cast<std::uint8_t>(random());
    }
    FlowTable table(settings, octets, 5);
    std::set<std::vector<std::uint8_t>> tuples;
    std::vector<FourTuple> all;
    table.for_each([&](const Flow& flow) {
      const auto* const head = reinterpret_cast<const std::uint8_t*>(&flow);
      EXPECT_TRUE(tuples.insert({head, head + 39}).second);
      EXPECT_TRUE(flow.state >= FlowState::kConnecting && flow.state <= FlowState::kClosed);
      all.push_back(tuple_of(flow));
    });
    EXPECT_EQ(table.counts().used, all.size());
    if (all_garbage) {
      EXPECT_LT(all.size(), 3U);
    }
    for (const FourTuple& tuple : all) {  // each can be found and removed
      Flow* const again = table.insert(tuple, table.hash_of(tuple), 9);
      ASSERT_NE(again, nullptr);
      table.remove(again);
      EXPECT_EQ(table.find(tuple, table.hash_of(tuple), 9), nullptr);
    }
    EXPECT_EQ(table.counts().used, 0U);
  }
}

TEST(FlowTable, a_flow_that_lay_in_both_buckets_is_there_once) {
  const FlowTable::Settings settings{.entries = 64};
  test::TableMemory memory(FlowTable::memory_bytes(settings));
  const FourTuple tuple = numbered_tuple(8);
  std::uint16_t tag = 0;
  Flow flow;
  {
    FlowTable table(settings, memory.span(), 5);
    flow = *table.insert(tuple, table.hash_of(tuple), 9);
    auto* const tags = reinterpret_cast<std::uint16_t*>(memory.span().data());
    for (unsigned i = 0; i < 64; ++i) tag = tags[i] != 0 ? tags[i] : tag;
  }
  auto* const tags = reinterpret_cast<std::uint16_t*>(memory.span().data());
  auto* const flows = reinterpret_cast<Flow*>(memory.span().data() + 64 * sizeof(std::uint16_t));
  for (unsigned i = 0; i < 64; ++i) {  // everywhere, so also in both of its buckets
    tags[i] = tag;
    flows[i] = flow;
  }
  FlowTable table(settings, memory.span(), 5);
  EXPECT_EQ(table.counts().used, 1U);
  table.remove(table.find(tuple, table.hash_of(tuple), 9));
  EXPECT_EQ(table.find(tuple, table.hash_of(tuple), 9), nullptr);
}

TEST(FlowTable, flows_of_sources_are_counted_anew_after_a_restart) {
  Flows f;
  const SourceTable::Settings settings{.entries = 64, .flows_each = 3};
  test::TableMemory memory(SourceTable::memory_bytes(settings));
  SourceTable sources(settings, memory.span(), 3);
  const SourceTable::Key key = SourceTable::key_of(numbered_tuple(1));
  ASSERT_TRUE(sources.put(key, Proof::kVouched, 1));
  ASSERT_TRUE(sources.take_flow(key, 1));  // whose flow came never into the table
  ASSERT_TRUE(sources.take_flow(key, 1));
  (void)f.insert(1, 1);
  recount_flows(sources, f.table);
  EXPECT_TRUE(sources.take_flow(key, 1));
  EXPECT_TRUE(sources.take_flow(key, 1));
  EXPECT_FALSE(sources.take_flow(key, 1));
}

// What std::map says of the same calls, in a table so small that flows have to move and are refused.
struct FlowModel {
  std::map<std::uint64_t, Flow> flows;
  FlowTable::Settings settings;
  [[nodiscard]] bool is_over(const Flow& flow, std::uint32_t now) const {
    const std::uint32_t holds = flow.state == FlowState::kConnecting    ? settings.connecting_seconds
                                : flow.state == FlowState::kEstablished ? settings.established_seconds
                                : flow.state == FlowState::kClosing     ? settings.closing_seconds
                                                                        : settings.closed_seconds;
    return now - flow.seen > holds;
  }
  [[nodiscard]] const Flow* find(std::uint64_t number, std::uint32_t now) const {
    const auto at = flows.find(number);
    return at == flows.end() || is_over(at->second, now) ? nullptr : &at->second;
  }
  static std::uint64_t number_of(const Flow& flow) { return flow.client_next; }
  static void hear(void* with, const Flow& flow) {
    auto& model = *static_cast<FlowModel*>(with);
    const auto at = model.flows.find(number_of(flow));
    RC_ASSERT(at != model.flows.end());
    RC_ASSERT(at->second.sequence_delta == flow.sequence_delta && at->second.state == flow.state);
    model.flows.erase(at);
  }
};

RC_GTEST_PROP(FlowTable, says_what_a_map_says, ()) {
  std::mt19937_64 random(*rc::gen::inRange(0U, 1U << 30));
  const FlowTable::Settings settings{
      .entries = 128, .connecting_seconds = 3, .established_seconds = 40, .closing_seconds = 10, .closed_seconds = 6};
  Flows f(settings, random());
  FlowModel model{.flows = {}, .settings = settings};
  f.table.on_gone(FlowModel::hear, &model);
  std::uint32_t now = random() % 2 == 0 ? 0xffffffe0 : static_cast<std::uint32_t>(random());
  std::uint64_t inserted = 0;
  const std::uint64_t numbers = random() % 2 == 0 ? 100 : 400;
  for (int step = 0; step < 4000; ++step) {
    const std::uint64_t number = random() % numbers;
    Flow* const flow = f.find(number, now);
    const Flow* const modelled = model.find(number, now);
    RC_ASSERT((flow == nullptr) == (modelled == nullptr));
    if (flow != nullptr) {
      RC_ASSERT(flow->client_next == number && flow->sequence_delta == modelled->sequence_delta);
      RC_ASSERT(flow->state == modelled->state);
    }
    switch (random() % 8) {
      case 0:
        if (flow != nullptr) f.table.remove(flow);
        break;
      case 1:
      case 2:
        if (flow != nullptr) {
          flow->state = static_cast<FlowState>(1 + random() % 4);
          flow->seen = now;
          model.flows[number] = *flow;
        }
        break;
      case 3:
        if (random() % 4 == 0) now += static_cast<std::uint32_t>(random() % 3);
        break;
      case 4:
        f.table.sweep(now, 1);
        break;
      default: {
        if (flow != nullptr && random() % 8 != 0) break;
        const std::uint64_t refused = f.table.counts().refused;
        Flow* const made = f.insert(number, now);
        RC_ASSERT((made == nullptr) == (f.table.counts().refused == refused + 1));
        if (made == nullptr) break;
        ++inserted;
        RC_ASSERT(made->state == FlowState::kConnecting);
        RC_ASSERT(made->client_next == 0U && made->sequence_delta == 0U && made->flags == 0);
        made->client_next = static_cast<std::uint32_t>(number);
        made->sequence_delta = static_cast<std::uint32_t>(random());
        RC_ASSERT(model.flows.emplace(number, *made).second);
      }
    }
    RC_ASSERT(f.table.counts().used == model.flows.size());
    RC_ASSERT(f.table.counts().inserted == inserted);
  }
  std::size_t seen = 0;
  f.table.for_each([&](const Flow& flow) {
    ++seen;
    RC_ASSERT(model.flows.contains(flow.client_next));
  });
  RC_ASSERT(seen == model.flows.size());
  f.table.sweep(now + 100, f.table.buckets());
  RC_ASSERT(model.flows.empty());
}

}  // namespace
}  // namespace splitplane::guard
