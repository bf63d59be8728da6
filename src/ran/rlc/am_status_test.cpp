// STATUS PDUs that a correct peer cannot have sent: each is ignored as a whole and counted, and nothing changes.
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
    const auto refused = retx().counters().status_refused;
    receive(pdu);
    EXPECT_EQ(state_of(*this), before) << what;
    EXPECT_EQ(retx().counters().status_refused, refused + 1) << what;
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
  ignored(101, {}, "one below TX_Next_Ack");
  ignored(0, {}, "far below");
  ignored(100 + (1U << (GetParam() - 1)), {}, "half the number space away");
  t_.expect_taken(status_pdu(GetParam(), 102), "TX_Next_Ack itself");
  t_.expect_taken(status_pdu(GetParam(), 120), "TX_Next");
}

TEST_P(BadStatus, nack_at_or_above_ack) {
  ignored(110, {{.sn = 110}}, "at ACK_SN");
  ignored(110, {{.sn = 103}, {.sn = 115}}, "above");
  ignored(110, {{.sn = 108, .has_range = true, .range = 3}}, "a range that reaches ACK_SN");
  ignored(120, {{.sn = 119, .has_range = true, .range = 255}}, "a range beyond the window");
  t_.expect_taken(status_pdu(GetParam(), 110, {{.sn = 108, .has_range = true, .range = 2}}), "a range up to it");
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
  EXPECT_EQ(fresh.retx().counters().status_refused, 2U);
  fresh.receive(status_pdu(GetParam(), 0));  // says nothing, and is right
  EXPECT_EQ(state_of(fresh), before);
  EXPECT_EQ(fresh.retx().counters().status, 1U);
}

TEST_P(BadStatus, an_empty_pdu_is_no_status) {
  const AmState before = state_of(t_);
  t_.receive(Bytes{});
  EXPECT_EQ(state_of(t_), before);
  EXPECT_EQ(t_.receiver().counters().refused, 1U);
}

// The largest STATUS there is: 2,000 NACKs, and the whole window by ranges.
TEST_P(BadStatus, thousands_of_nacks_are_a_matter_of_the_nacked_sdus) {
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
  nacks.clear();
  for (std::uint32_t at = 0; at < window; at += 255) {
    nacks.push_back({.sn = at, .has_range = true});
    nacks.back().range = static_cast<std::uint8_t>(std::min(255U, window - at));
  }
  s.receive(status_pdu(GetParam(), window, nacks));
  EXPECT_EQ(s.retx().pending(), window - single);  // not the acknowledged ones
  s.receive(status_pdu(GetParam(), window, nacks));
  EXPECT_EQ(s.retx().pending(), window - single);
  EXPECT_EQ(s.retx().counters().nacked, window - single);
  s.receive(status_pdu(GetParam(), window));
  EXPECT_EQ(s.retx().pending(), 0U);
  s.entity->restart_at(0);
}

INSTANTIATE_TEST_SUITE_P(widths, BadStatus, testing::Values(12U, 18U));

}  // namespace
}  // namespace splitplane::ran::rlc::test
