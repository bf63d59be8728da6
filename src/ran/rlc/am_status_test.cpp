// STATUS PDUs that a correct peer cannot have sent: the entity ignores and counts each as a whole, and nothing changes.
// Also STATUS PDUs that a correct peer can have sent, though our own writer would write them in another way.
#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

// SNs 100..119 of 50 octets were sent; 100, 101 and 105 are acknowledged, 102-104 were sent twice.
struct Target : AmSide {
  explicit Target(const AmConfig& config) : AmSide(config), bits(config.sn_bits) {
    entity->restart_at(100);
    submit(20, 50);
    receive(status_pdu(bits, 106, {{.sn = 102, .has_range = true, .range = 3}}));
    while (retx().pending() != 0) pull(100);
  }
  void expect_ignored(const Bytes& pdu, const std::string& what) {
    const AmState before = state_of(*this);
    const auto refused = retx().counters().status_malformed;
    receive(pdu);
    EXPECT_EQ(state_of(*this), before) << what;
    EXPECT_EQ(retx().counters().status_malformed, refused + 1) << what;
  }
  void expect_taken(const Bytes& pdu, const std::string& what) {
    const auto taken = retx().counters().status;
    receive(pdu);
    EXPECT_EQ(retx().counters().status, taken + 1) << what;
  }
  unsigned bits;
};

class BadStatus : public testing::TestWithParam<unsigned> {
 protected:
  BadStatus() : t_(GetParam() == 12 ? am12() : am18()) {}
  void ignored(std::uint32_t ack, std::vector<wire::rlc::Nack> nacks, const std::string& what) {
    t_.expect_ignored(status_pdu(GetParam(), ack, std::move(nacks)), what);
  }
  Target t_;
};

TEST_P(BadStatus, ack_outside_the_window) {
  ignored(121, {}, "one beyond TX_Next");
  ignored(100 + (1U << (GetParam() - 1)), {}, "just short of half the number space away");
  t_.expect_taken(status_pdu(GetParam(), 102), "TX_Next_Ack itself");
  t_.expect_taken(status_pdu(GetParam(), 120), "TX_Next");
}

TEST_P(BadStatus, a_stale_one_is_counted_apart) {
  const AmState before = state_of(t_);
  t_.receive(status_pdu(GetParam(), 101));  // TX_Next_Ack is 102
  t_.receive(status_pdu(GetParam(), 0, {{.sn = 99}}));
  EXPECT_EQ(state_of(t_), before);
  EXPECT_EQ(t_.retx().counters().status_stale, 2U);
  EXPECT_EQ(t_.retx().counters().status_malformed, 0U);
}

// Other implementations cut a STATUS to the grant at ACK_SN and leave the last range as it was.
TEST_P(BadStatus, nacks_at_or_above_ack_say_nothing_and_spoil_nothing) {
  t_.expect_taken(status_pdu(GetParam(), 110, {{.sn = 108, .has_range = true, .range = 2}}), "a range up to it");
  EXPECT_EQ(t_.retx().counters().nacks_ignored, 0U);
  t_.expect_taken(status_pdu(GetParam(), 112, {{.sn = 110, .has_range = true, .range = 9}}), "a range beyond it");
  EXPECT_EQ(t_.retx().counters().nacks_ignored, 1U);
  EXPECT_EQ(t_.retx().pending(), 2U);  // 110 and 111
  EXPECT_EQ(t_.retx().next_ack(), 110U);
  t_.expect_taken(status_pdu(GetParam(), 113, {{.sn = 108}, {.sn = 113}, {.sn = 118}}), "at ACK_SN and above");
  EXPECT_EQ(t_.retx().counters().nacks_ignored, 4U);
  EXPECT_EQ(t_.retx().unacked(), 7U);  // 113 to 119
  t_.expect_taken(
      status_pdu(GetParam(), 120,
                 {{.sn = 118, .has_so = true, .has_range = true, .range = 255, .so_start = 40, .so_end = 900}}),
      "a range beyond the window");
  EXPECT_EQ(t_.retx().unacked(), 2U);
  while (t_.retx().pending() != 0) t_.pull(100);
  t_.expect_taken(status_pdu(GetParam(), 120, {{.sn = 118}, {.sn = 105}, {.sn = 110}}), "of what was acknowledged");
}

// The example of issue 13: 12 SDUs from octet 14 of the first one to octet 9 of the last, and 20 to 29 of that one.
TEST(LegalStatus, a_range_with_so_may_touch_the_block_before_it) {
  AmSide s(am12());
  s.submit(3, 50);
  s.receive("00 03 80 00 0e 00 14 00 09 02 00 14 00 14 00 1d");
  EXPECT_EQ(s.retx().counters().status, 1U);
  EXPECT_EQ(s.retx().counters().status_malformed, 0U);
  std::string pdus;
  while (s.retx().pending() != 0) {
    const Bytes pdu = s.pull(300);
    pdus += to_hex(Octets(pdu).first(2)) + "+" + std::to_string(pdu.size()) + " ";
  }
  // SDU 0 from 20; SDU 1 to 9, and 20 to 29. 2 is acknowledged.
  EXPECT_EQ(pdus, "a000+34 9001+12 f001+14 ");
  EXPECT_EQ(s.retx().unacked(), 2U);
}

TEST_P(BadStatus, a_range_may_begin_where_a_hole_ended) {
  t_.expect_taken(status_pdu(GetParam(), 114,
                             {{.sn = 110, .has_so = true, .so_start = 5, .so_end = 9},
                              {.sn = 110, .has_so = true, .has_range = true, .range = 3, .so_start = 10, .so_end = 4},
                              {.sn = 112, .has_so = true, .has_range = true, .range = 2, .so_start = 5, .so_end = 6}}),
                  "holes that touch");
  EXPECT_EQ(t_.retx().pending(), 4U);
  std::string pdus;
  while (t_.retx().pending() != 0) pdus += std::to_string(t_.pull(100).size() - (GetParam() == 12 ? 2 : 3)) + " ";
  EXPECT_EQ(pdus, "47 50 50 7 ");  // 110 with SO: 5 to 49; 111, 112; 113 to octet 6
}

TEST_P(BadStatus, nacks_not_ascending) {
  ignored(120, {{.sn = 110}, {.sn = 109}}, "descending");
  ignored(120, {{.sn = 110}, {.sn = 110}}, "twice");
  ignored(120, {{.sn = 110, .has_range = true, .range = 3}, {.sn = 112}}, "into the range before");
  ignored(120, {{.sn = 110, .has_so = true, .so_start = 5, .so_end = 9}, {.sn = 110}}, "octets, then the whole");
  ignored(120,
          {{.sn = 110, .has_so = true, .so_start = 5, .so_end = 9},
           {.sn = 110, .has_so = true, .so_start = 9, .so_end = 12}},
          "octets overlap");
  ignored(120,
          {{.sn = 110, .has_so = true, .so_start = 20, .so_end = 29},
           {.sn = 110, .has_so = true, .so_start = 0, .so_end = 5}},
          "octets descend");
  ignored(120, {{.sn = 110, .has_so = true, .so_start = 20}, {.sn = 110, .has_so = true, .so_start = 30}},
          "after the end");
  t_.expect_taken(status_pdu(GetParam(), 120,
                             {{.sn = 110, .has_so = true, .so_start = 5, .so_end = 9},
                              {.sn = 110, .has_so = true, .so_start = 10, .so_end = 12}}),
                  "octets ascend");
}

TEST_P(BadStatus, octets_that_the_sdu_does_not_have) {
  ignored(120, {{.sn = 110, .has_so = true, .so_start = 50, .so_end = 50}}, "SOstart behind the last octet");
  ignored(120, {{.sn = 110, .has_so = true, .so_start = 50}}, "SOstart behind the last octet, to the end");
  ignored(120, {{.sn = 110, .has_so = true, .so_start = 0, .so_end = 50}}, "SOend behind the last octet");
  ignored(120, {{.sn = 110, .has_so = true, .has_range = true, .range = 2, .so_start = 50, .so_end = 3}},
          "of the first");
  ignored(120, {{.sn = 110, .has_so = true, .has_range = true, .range = 2, .so_start = 3, .so_end = 50}},
          "of the last");
  t_.expect_taken(status_pdu(GetParam(), 120, {{.sn = 110, .has_so = true, .so_start = 49, .so_end = 49}}),
                  "the last octet");
  t_.expect_taken(status_pdu(GetParam(), 120, {{.sn = 105, .has_so = true, .so_start = 900}}),
                  "of an acknowledged one");
}

TEST_P(BadStatus, form) {
  const unsigned fixed = GetParam() == 12 ? 2 : 3;
  const Bytes good =
      status_pdu(GetParam(), 120,
                 {{.sn = 103, .has_so = true, .so_start = 5, .so_end = 9},
                  {.sn = 107, .has_range = true, .range = 4},
                  {.sn = 112, .has_so = true, .has_range = true, .range = 2, .so_start = 7, .so_end = 3}});
  for (std::size_t n = 1; n < good.size(); ++n) {
    t_.expect_ignored(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)),
                      "cut to " + std::to_string(n));
  }
  Bytes bad = good;
  bad.push_back(0);
  t_.expect_ignored(bad, "an octet behind the last block");
  bad = good;
  bad.back() = 0;
  t_.expect_ignored(bad, "range 0 with SO");
  bad = good;
  bad[3 + (fixed + 4) + fixed] = 0;
  t_.expect_ignored(bad, "range 0");
  bad = good;
  bad[3 + fixed + 3] = 4;  // SOend 4, SOstart 5
  t_.expect_ignored(bad, "SOend below SOstart");
  for (int cpt = 1; cpt < 8; ++cpt) {
    bad = good;
    bad[0] = static_cast<std::uint8_t>(bad[0] | cpt << 4);
    t_.expect_ignored(bad, "control PDU type " + std::to_string(cpt));
  }
  t_.expect_taken(good, "all of it");
}

TEST_P(BadStatus, nothing_was_ever_sent) {
  AmSide fresh(GetParam() == 12 ? am12() : am18());
  const AmState before = state_of(fresh);
  fresh.receive(status_pdu(GetParam(), 1));
  fresh.receive(status_pdu(GetParam(), 0, {{.sn = 0}}));
  EXPECT_EQ(state_of(fresh), before);
  EXPECT_EQ(fresh.retx().counters().status_malformed, 1U);
  EXPECT_EQ(fresh.retx().counters().status, 1U);
  fresh.receive(status_pdu(GetParam(), 0));  // says nothing, and is right
  EXPECT_EQ(state_of(fresh), before);
  EXPECT_EQ(fresh.retx().counters().status, 2U);
}

TEST_P(BadStatus, an_empty_pdu_is_no_status) {
  const AmState before = state_of(t_);
  t_.receive(Bytes{});
  EXPECT_EQ(state_of(t_), before);
  EXPECT_EQ(t_.receiver().counters().refused, 1U);
}

// The largest STATUS there is: 2,000 NACKs, and the whole window by ranges, of which one call takes a part.
TEST_P(BadStatus, thousands_of_nacks_are_taken_in_bounded_steps) {
  const std::uint32_t window = window_size(GetParam());
  MemorySizes sizes = kSmall;
  sizes.sent_pages = window / 64 + 2;
  sizes.directories = 80;
  AmSide s(GetParam() == 12 ? am12() : am18(), sizes);
  for (std::uint32_t i = 0; i < window; ++i) {
    ASSERT_TRUE(s.send(pattern(2)));
    ASSERT_FALSE(s.pull(20).empty());
  }
  std::vector<wire::rlc::Nack> nacks;
  const std::uint32_t single = std::min<std::uint32_t>(2000, window / 2);
  for (std::uint32_t i = 0; i < single; ++i) nacks.push_back({.sn = 2 * i});
  s.receive(status_pdu(GetParam(), 2 * single, nacks));
  EXPECT_EQ(s.retx().pending(), single);
  EXPECT_EQ(s.retx().unacked(), window - single);
  const auto whole_window_from = [&](std::uint32_t from) {
    nacks.clear();
    for (std::uint32_t at = from; at < window; at += 255) {
      nacks.push_back({.sn = at, .has_range = true});
      nacks.back().range = static_cast<std::uint8_t>(std::min(255U, window - at));
    }
    return status_pdu(GetParam(), window, nacks);
  };
  for (std::uint32_t from = 0; s.retx().unacked() != 0;) {
    const Bytes pdu = whole_window_from(from);
    const std::uint64_t nacked = s.retx().counters().nacked;
    s.receive(pdu);
    EXPECT_LE(s.retx().counters().nacked - nacked, AmRetx<Buffer>::kStatusWork);
    ASSERT_GE(s.retx().next_ack(), from);
    const std::uint32_t pending = s.retx().pending();
    s.receive(pdu);
    ASSERT_EQ(s.retx().pending(), pending);  // those that wait already come first
    while (s.retx().pending() != 0) from = wire::rlc::parse_am(s.pull(20), GetParam())->sn + 1;
  }
  EXPECT_EQ(s.retx().counters().nacked, window - single);  // not the acknowledged ones, and each once
  s.receive(status_pdu(GetParam(), window));
  EXPECT_EQ(s.retx().pending(), 0U);
  s.entity->restart_at(0);
}

INSTANTIATE_TEST_SUITE_P(widths, BadStatus, testing::Values(12U, 18U));

}  // namespace
}  // namespace splitplane::ran::rlc::test
