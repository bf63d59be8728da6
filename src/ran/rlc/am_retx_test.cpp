#include "ran/rlc/am_retx.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

// 10 SDUs of 100 octets were sent, SNs 0..9; the poll is on the last one.
struct Sent : AmSide {
  explicit Sent(const AmConfig& config = am12(), std::uint32_t begin = 0) : AmSide(config) {
    entity->restart_at(begin);
    submit(10, 100);
  }
};

TEST(AmRetx, a_positive_acknowledgement_moves_the_window_and_gives_notice_later) {
  Sent s;
  EXPECT_EQ(s.retx().unacked(), 10U);
  EXPECT_TRUE(s.retx().t_poll_retransmit().running());
  EXPECT_EQ(s.retx().poll_sn(), 9U);
  s.receive("000400");
  EXPECT_EQ(s.retx().next_ack(), 4U);
  EXPECT_EQ(s.retx().highest_ack(), 4U);
  EXPECT_TRUE(s.retx().t_poll_retransmit().running());  // POLL_SN is not covered
  EXPECT_EQ(s.home.pool.live(), 10U);
  EXPECT_EQ(s.release(3), 3U);
  EXPECT_TRUE(s.retx().releasable());
  EXPECT_EQ(s.release(3), 1U);
  EXPECT_FALSE(s.retx().releasable());
  EXPECT_EQ(s.released, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  s.receive("000a00");
  EXPECT_EQ(s.retx().next_ack(), 10U);
  EXPECT_FALSE(s.retx().t_poll_retransmit().running());
  s.release();
  EXPECT_EQ(s.home.pool.live(), 0U);
  EXPECT_TRUE(s.home.memory.unused());  // an idle bearer holds nothing
  EXPECT_EQ(s.retx().counters().acked, 10U);
}

TEST(AmRetx, attempts_that_the_peer_could_not_answer_are_forgotten) {
  Home home(kSmall);
  AmConfig config = am12();
  config.max_retx = 2;
  AmRetx<Buffer> retx(config, home.memory);
  for (std::uint32_t sn = 0; sn < 3; ++sn) {
    retx.submitted({.sdu = home.make(pattern(10, sn)), .sn = sn, .bytes = 10, .sent = 10}, 0);
  }
  unsigned failures = 0;
  const Bytes status = status_pdu(12, 3, {{.sn = 1}});
  const auto lose = [&] {
    EXPECT_EQ(retx.receive_status(status, 0, [&](std::uint32_t) { ++failures; }), StatusResult::kTaken);
    while (retx.has_pending()) (void)retx.pull(100, {.unsent = false, .stalled = false}, 0);
  };
  lose();
  lose();
  retx.forget_attempts();
  lose();
  EXPECT_EQ(failures, 0U);
  lose();
  EXPECT_EQ(failures, 1U);
  EXPECT_EQ(retx.kept(0), nullptr) << "it is acknowledged";
  ASSERT_NE(retx.kept(1), nullptr);
  EXPECT_EQ(retx.kept(1)->size(), 10U);
  EXPECT_EQ(retx.kept(3), nullptr) << "it was never sent";
}

TEST(AmRetx, formats_md_examples_r13_and_r14) {
  Sent s;
  s.receive("000a80 0070");  // ACK 10, NACK 7
  EXPECT_EQ(s.retx().next_ack(), 7U);
  EXPECT_EQ(s.retx().highest_ack(), 10U);
  EXPECT_EQ(s.retx().pending(), 1U);
  EXPECT_EQ(s.retx().unacked(), 1U);
  EXPECT_EQ(s.pull_hex(200), "c007" + to_hex(pattern(100, 7)));  // all that waits: a poll
  Sent t;
  t.receive("000280 0014 0014 0027");  // ACK 2, NACK 1 SO 20-39
  EXPECT_EQ(t.retx().next_ack(), 1U);
  const Bytes sdu = pattern(100, 1);
  EXPECT_EQ(t.pull_hex(200), "f0010014" + to_hex(Octets(sdu).subspan(20, 20)));
}

TEST(AmRetx, formats_md_example_r15_so_with_range) {
  AmSide s(am12());
  s.submit(20, 200);
  s.receive("001480 007c 0014 0027 009a 03 00f6 0064 ffff 02");
  EXPECT_EQ(s.retx().next_ack(), 7U);
  EXPECT_EQ(s.retx().unacked(), 1U + 3 + 2);
  std::string pdus;
  while (s.retx().pending() != 0) {
    const Bytes pdu = s.pull(300);
    pdus += to_hex(Octets(pdu).first(2)) + "+" + std::to_string(pdu.size()) + " ";
  }
  // An SO of 7; 9-11 whole; 15 from 100 to its end, and 16.
  EXPECT_EQ(pdus, "b007+24 8009+202 800a+202 800b+202 a00f+104 c010+202 ");
}

TEST(AmRetx, intervals_of_one_sdu_add_up) {
  Sent s;
  s.receive("000a80 005c 000a 0013 0054 0032 ffff");  // NACK 5: 10-19, 50-
  s.receive("000a80 0054 0012 001d");                 // 18-29: the first one grows
  EXPECT_EQ(s.retx().pending(), 1U);
  const Bytes sdu = pattern(100, 5);
  EXPECT_EQ(s.pull_hex(14), "b005000a" + to_hex(Octets(sdu).subspan(10, 10)));
  EXPECT_EQ(s.pull_hex(4), "");  // no octet fits
  EXPECT_EQ(s.pull_hex(200), "b0050014" + to_hex(Octets(sdu).subspan(20, 10)));
  EXPECT_EQ(s.pull_hex(53), "b0050032" + to_hex(Octets(sdu).subspan(50, 49)));
  EXPECT_EQ(s.pull_hex(200), "e0050063" + to_hex(Octets(sdu).subspan(99)));
  EXPECT_EQ(s.pull_hex(200), "");
}

TEST(AmRetx, a_whole_sdu_is_cut_and_si_follows_the_position) {
  Sent s;
  s.receive("000a80 0020");
  EXPECT_EQ(s.pull_hex(42).substr(0, 4), "9002");
  EXPECT_EQ(s.pull_hex(34).substr(0, 8), "b0020028");
  EXPECT_EQ(s.pull_hex(200).substr(0, 8), "e0020046");
}

TEST(AmRetx, retransmissions_go_before_new_data_even_if_they_do_not_fit) {
  Sent s;
  s.receive("000a80 0024 0032 ffff");
  ASSERT_TRUE(s.send(pattern(1)));
  EXPECT_EQ(s.pull_hex(4), "");                         // a header of 4 and an octet do not fit; the new one would
  EXPECT_EQ(s.pull_hex(200).substr(0, 8), "a0020032");  // more waits: no poll
  EXPECT_EQ(s.pull_hex(200).substr(0, 4), "c00a");
}

TEST(AmRetx, octets_never_sent_are_not_retransmitted) {
  AmSide s(am12());
  ASSERT_TRUE(s.send(pattern(100)));
  EXPECT_EQ(s.pull(32).size(), 32U);  // octets 0-29
  s.receive("000180 0004 000a ffff");
  EXPECT_EQ(s.retx().pending(), 1U);
  const Bytes pdu = s.pull(200);
  EXPECT_EQ(to_hex(Octets(pdu).first(4)), "b000000a");  // 10-29: SI says that this is not the end
  EXPECT_EQ(pdu.size(), 24U);
  s.receive("000180 0004 0032 ffff");  // 50-: nothing of it was sent
  EXPECT_EQ(s.retx().pending(), 0U);
  EXPECT_EQ(s.pull_hex(200).substr(0, 8), "e000001e");
  s.receive("000100");
  EXPECT_EQ(s.release(), 1U);
}

TEST(AmRetx, an_sdu_of_which_octets_were_never_sent_cannot_be_acknowledged) {
  AmSide s(am12());
  ASSERT_TRUE(s.send(pattern(100)));
  EXPECT_EQ(s.pull(32).size(), 32U);
  const AmState before = state_of(s);
  s.receive("000100");
  EXPECT_EQ(state_of(s), before);
  EXPECT_EQ(s.retx().counters().status_malformed, 1U);
}

TEST(AmRetx, retx_count_grows_once_a_retransmission_and_tells_at_the_threshold) {
  Sent s;  // maxRetxThreshold 4
  const char* const nack3 = "000a80 0030";
  for (int n = 0; n < 4; ++n) {
    s.receive(nack3);
    s.receive(nack3);  // still pending: does not count
    s.receive("000a80 003c 0000 0004 0034 0006 000a");
    EXPECT_TRUE(s.max_retx.empty());
    while (s.retx().pending() != 0) ASSERT_FALSE(s.pull(200).empty());
  }
  s.receive(nack3);  // RETX_COUNT: 0 1 2 3 4
  EXPECT_EQ(s.max_retx, std::vector<std::uint32_t>{3});
  EXPECT_EQ(s.retx().counters().max_retx, 1U);
  EXPECT_FALSE(s.pull(200).empty());  // goes on
  s.receive(nack3);
  EXPECT_EQ(s.max_retx.size(), 1U);
  s.receive("000a00");
  EXPECT_EQ(s.retx().next_ack(), 10U);
}

TEST(AmRetx, one_status_counts_an_sdu_once) {
  AmConfig config = am12();
  config.max_retx = 1;
  Sent s(config);
  const char* const three_holes = "000a80 003c 0000 0004 003c 0006 000a 0034 0014 0016";
  s.receive(three_holes);
  EXPECT_EQ(s.retx().counters().nacked, 1U);
  EXPECT_TRUE(s.max_retx.empty());
  while (s.retx().pending() != 0) s.pull(200);
  s.receive(three_holes);
  EXPECT_EQ(s.max_retx, std::vector<std::uint32_t>{3});
}

TEST(AmRetx, t_poll_retransmit_sends_the_highest_sdu_again_with_a_poll) {
  Sent s;
  s.receive("000980 0020");
  while (s.retx().pending() != 0) s.pull(200);  // SN 2: nothing else waits: polls at time 0
  s.tick(44);
  EXPECT_FALSE(s.retx().poll_wanted());
  s.tick(45);
  EXPECT_TRUE(s.retx().poll_wanted());
  EXPECT_FALSE(s.retx().t_poll_retransmit().running());
  EXPECT_EQ(s.pull_hex(200).substr(0, 4), "c009");
  EXPECT_EQ(s.retx().t_poll_retransmit().expiry(), 90U);
  EXPECT_FALSE(s.retx().poll_wanted());
  EXPECT_EQ(s.retx().counters().poll_timeouts, 1U);
}

TEST(AmRetx, t_poll_retransmit_with_data_waiting_only_asks_for_a_poll) {
  AmConfig config = am12();
  config.poll_pdu = 2;
  AmSide s(config);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(s.send(pattern(10)));
  EXPECT_EQ(s.pull_hex(100).substr(0, 4), "8000");
  EXPECT_EQ(s.pull_hex(100).substr(0, 4), "c001");
  s.tick(45);
  EXPECT_EQ(s.retx().pending(), 0U);
  EXPECT_EQ(s.pull_hex(100).substr(0, 4), "c002");
  EXPECT_EQ(s.sender().pdu_without_poll(), 0U);
}

TEST(AmRetx, acknowledgement_or_nack_of_poll_sn_stops_t_poll_retransmit) {
  for (const char* const status : {"000a00", "000a80 0090"}) {
    Sent s;
    s.receive(status);
    EXPECT_FALSE(s.retx().t_poll_retransmit().running()) << status;
  }
  Sent s;
  s.receive("000900");  // up to POLL_SN, without it
  EXPECT_TRUE(s.retx().t_poll_retransmit().running());
}

// Each new SDU polls and restarts t-PollRetransmit, so it never expires and no SDU is sent again.
TEST(AmRetx, a_peer_that_acknowledges_nothing_for_many_polls_is_lost) {
  AmConfig config = am12();
  config.poll_pdu = 1;
  AmSide s(config);
  for (Time now = 0; now < 16 * 45; now += 40) {
    s.tick(now);
    EXPECT_FALSE(s.retx().peer_lost());
    s.submit(1);
    s.receive(status_pdu(12, s.sender().next() + 5));  // no answer
  }
  EXPECT_EQ(s.retx().counters().poll_timeouts, 0U);
  s.tick(16 * 45);
  s.submit(1);
  EXPECT_TRUE(s.retx().peer_lost());
  EXPECT_EQ(s.retx().counters().peer_lost, 1U);
  s.receive(status_pdu(12, 3));  // late, but it acknowledges something
  EXPECT_FALSE(s.retx().peer_lost());
  EXPECT_EQ(s.retx().polls_in_vain(), 0U);
  s.entity->restart_at(0);
}

TEST(AmRetx, nacks_below_the_window_or_of_acknowledged_sdus_are_passed_over) {
  Sent s;
  s.receive("000580 0030");  // 3 is open; 0-2, 4 acknowledged
  s.pull(200);
  const auto nacked = s.retx().counters().nacked;
  s.receive("000580 0018 0040");  // NACK 1 and 4
  EXPECT_EQ(s.retx().counters().status, 2U);
  EXPECT_EQ(s.retx().counters().nacked, nacked);
  EXPECT_EQ(s.retx().next_ack(), 5U);  // 3 is positive now
  s.receive("000a80 0032 04");         // 3-6, begins below the window: 5 and 6
  EXPECT_EQ(s.retx().pending(), 2U);
  EXPECT_EQ(s.pull_hex(200).substr(0, 4), "8005");
}

TEST(AmRetx, so_with_range_cuts_the_first_and_the_last) {
  Sent s;
  s.receive(
      status_pdu(12, 10, {{.sn = 2, .has_so = true, .has_range = true, .range = 4, .so_start = 60, .so_end = 9}}));
  std::string pdus;
  while (s.retx().pending() != 0) {
    const Bytes pdu = s.pull(300);
    pdus += to_hex(Octets(pdu).first(4)) + "+" + std::to_string(pdu.size()) + " ";
  }
  const std::string first = to_hex(pattern(2, 3)), second = to_hex(pattern(2, 4));
  EXPECT_EQ(pdus, "a002003c+44 8003" + first + "+102 8004" + second + "+102 d005" + to_hex(pattern(2, 5)) + "+12 ");
}

TEST(AmRetx, time_to_repair_is_counted_from_the_first_nack) {
  Sent s;
  s.receive("000a80 0030");
  s.pull(200);
  s.now = 5;
  s.receive("000a80 0030");
  s.pull(200);
  s.now = 12;
  s.receive("000a00");
  EXPECT_EQ(s.retx().counters().repair.counts()[4], 1U);  // 8..15
}

TEST(AmRetx, works_where_sns_and_counters_go_round) {
  for (const AmConfig& config : {am12(), am18()}) {
    for (const std::uint32_t begin : {(1U << config.sn_bits) - 5, 0xFFFFFFFBU}) {
      Sent s(config, begin);
      s.receive(status_pdu(config.sn_bits, begin + 10,
                           {{.sn = begin + 3}, {.sn = begin + 4, .has_range = true, .range = 3}}));
      EXPECT_EQ(s.retx().next_ack(), begin + 3);
      EXPECT_EQ(s.retx().pending(), 4U);
      for (std::uint32_t sn = begin + 3; sn != begin + 7; ++sn) {
        const Bytes pdu = s.pull(200);
        EXPECT_EQ(wire::rlc::parse_am(pdu, config.sn_bits)->sn, sn & sn_mask(config.sn_bits));
      }
      s.receive(status_pdu(config.sn_bits, begin + 10));
      EXPECT_EQ(s.retx().next_ack(), begin + 10);
      s.release();
      EXPECT_EQ(s.released.size(), 10U);
      EXPECT_TRUE(s.home.memory.unused());
    }
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
