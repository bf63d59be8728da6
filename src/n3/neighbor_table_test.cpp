#include "n3/neighbor_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using What = NeighborTable::What;

const IpAddress kUpf = *IpAddress::parse("10.100.0.2");
constexpr MacAddress kOld{{2, 0, 0, 0, 0, 2}}, kNew{{2, 0, 0, 0, 0, 3}}, kForged{{2, 0, 0, 0, 0, 0x66}};

// A network of hosts that answer for the UPF's address; the table sees time in steps of 50 ms.
struct Net {
  NeighborTable table;
  NeighborTable::Time now{1h};
  std::vector<MacAddress> hosts{kOld};
  std::vector<NeighborTable::Event> events;
  unsigned broadcasts = 0, probes = 0;

  Net() { table.watch({kUpf}, now); }
  void take(const NeighborClaim& claim) {
    if (const auto event = table.take(claim, now)) events.push_back(*event);
  }
  void answer(const std::optional<MacAddress>& only) {
    for (const MacAddress& host : hosts) {
      if (!only || *only == host) take({kUpf, host, true});
    }
  }
  void run(std::chrono::milliseconds time) {
    for (const auto end = now + time; now < end; now += 50ms) {
      const auto turn = table.turn(now);
      events.insert(events.end(), turn.events.begin(), turn.events.end());
      for (const auto& question : turn.questions) {
        ++(question.only ? probes : broadcasts);
        answer(question.only);
      }
    }
  }
  [[nodiscard]] unsigned count(What what) const {
    return static_cast<unsigned>(std::ranges::count_if(events, [&](const auto& e) { return e.what == what; }));
  }
  [[nodiscard]] std::optional<MacAddress> mac() const { return table.mac_of(kUpf); }
};

TEST(NeighborTable, an_answer_to_a_question_is_believed) {
  Net net;
  net.run(50ms);
  EXPECT_EQ(net.mac(), kOld);
  EXPECT_EQ(net.broadcasts, 1U);
  EXPECT_EQ(net.count(What::kFound), 1U);
}

TEST(NeighborTable, what_was_not_asked_for_is_not_believed_but_is_asked_for_at_once) {
  Net net;
  net.hosts.clear();
  net.run(500ms);
  net.take({kUpf, kForged, false});
  EXPECT_FALSE(net.mac());
  net.hosts = {kOld};
  net.run(50ms);
  EXPECT_EQ(net.mac(), kOld) << "half a second before the next question was due";
}

TEST(NeighborTable, a_forged_claim_or_answer_changes_nothing_while_the_known_host_answers) {
  Net net;
  net.run(1s);
  for (int i = 0; i < 100; ++i) {
    net.take({kUpf, kForged, i % 2 != 0});
    net.run(100ms);
    ASSERT_EQ(net.mac(), kOld);
  }
  EXPECT_GE(net.count(What::kClaimRefused), 5U);
  EXPECT_EQ(net.count(What::kMoved) + net.count(What::kGone), 0U);
  EXPECT_LE(net.probes, 12U) << "a flood of claims is one check a second";
}

TEST(NeighborTable, a_host_that_moved_is_followed_within_the_bound) {
  Net net;
  net.run(1s);
  net.hosts = {kNew};
  const auto begin = net.now;
  net.take({kUpf, kNew, false});
  while (net.mac() != kNew && net.now < begin + 10s) net.run(50ms);
  EXPECT_LE(net.now - begin, NeighborTable::kMoveTakes + 100ms);
  EXPECT_EQ(net.count(What::kMoved), 1U);
}

TEST(NeighborTable, the_known_host_wins_over_a_forger_that_answers_the_broadcast_as_well) {
  Net net;
  net.run(1s);
  net.hosts.clear();
  net.take({kUpf, kForged, false});
  net.run(600ms);  // three probes unanswered
  net.hosts = {kForged, kOld};
  net.run(1s);
  EXPECT_EQ(net.mac(), kOld);
}

TEST(NeighborTable, a_host_that_moved_without_a_word_is_found_when_its_answer_is_too_old) {
  Net net;
  net.run(1s);
  net.hosts = {kNew};
  net.run(29s);
  EXPECT_EQ(net.mac(), kOld);
  net.run(2s);
  EXPECT_EQ(net.mac(), kNew);
}

TEST(NeighborTable, doubt_of_somebody_else_checks_at_once) {
  Net net;
  net.run(1s);
  net.hosts = {kNew};
  net.table.doubt(kUpf, net.now);
  net.run(1s);
  EXPECT_EQ(net.mac(), kNew);
}

TEST(NeighborTable, a_silent_host_is_given_up_and_asked_for_again) {
  Net net;
  net.run(1s);
  net.hosts.clear();
  net.table.doubt(kUpf, net.now);
  net.run(9s);
  EXPECT_EQ(net.mac(), kOld);
  net.run(2s);
  EXPECT_FALSE(net.mac());
  EXPECT_EQ(net.count(What::kGone), 1U);
  net.hosts = {kOld};
  net.run(2s);
  EXPECT_EQ(net.mac(), kOld);
}

TEST(NeighborTable, nobody_answers_is_said_once) {
  Net net;
  net.hosts.clear();
  net.run(2900ms);
  EXPECT_FALSE(net.table.is_unanswered(kUpf));
  net.run(60s);
  EXPECT_TRUE(net.table.is_unanswered(kUpf));
  EXPECT_EQ(net.count(What::kUnanswered), 1U);
  net.hosts = {kOld};
  net.run(1s);
  EXPECT_FALSE(net.table.is_unanswered(kUpf));
}

TEST(NeighborTable, claims_for_addresses_without_traffic_take_no_memory) {
  Net net;
  EXPECT_FALSE(net.table.take({*IpAddress::parse("10.100.0.77"), kForged, true}, net.now));
  EXPECT_FALSE(net.table.mac_of(*IpAddress::parse("10.100.0.77")));
}

}  // namespace
}  // namespace splitplane::datapath
