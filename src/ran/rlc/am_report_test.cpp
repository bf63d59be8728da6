// When the receiving side of AM reports, and what (TS 38.322 5.3.4).
#include "ran/rlc/test_receiver.h"

namespace splitplane::ran::rlc::test {
namespace {

TEST(AmReport, formats_md_example_of_5_5_5) {
  Receiver r;
  r.whole(0);
  r.part(1, 0, 20);
  EXPECT_EQ(r.state(), "1 2 1");
  r.part(1, 40, 50);
  EXPECT_EQ(r.state(), "1 2 1 T2");  // the hole in SN 1 started t-Reassembly
  r.whole(5, true);
  EXPECT_EQ(r.state(), "1 6 1 T2");
  EXPECT_EQ(r.pull_hex(100), "");  // the poll is delayed
  r.tick(34);
  EXPECT_EQ(r.pull_hex(100), "");
  r.tick(35);
  EXPECT_EQ(r.state(), "1 6 2 T6");  // restarted: SN 2 is below the highest
  EXPECT_EQ(r.pull_hex(100), tidy("00 02 80 00 14 00 14 00 27"));
  EXPECT_EQ(r.pull_hex(100), "");
  r.tick(70);
  EXPECT_EQ(r.state(), "1 6 6");
  EXPECT_EQ(r.pull_hex(100), tidy("000680 001c 0014 0027 0022 03"));  // the poll and the timer: one report
  r.tick(80);
  EXPECT_EQ(r.pull_hex(100), "");
}

TEST(AmReport, polls_in_order_are_answered_at_once) {
  Receiver r;
  r.whole(0, true);
  EXPECT_EQ(r.pull_hex(100), "000100");
  r.whole(1, true);
  EXPECT_EQ(r.pull_hex(100), "");  // t-StatusProhibit
  EXPECT_TRUE(r.receiver().triggered());
  r.tick(9);
  EXPECT_EQ(r.pull_hex(100), "");
  r.whole(2, true);
  r.tick(10);
  EXPECT_EQ(r.pull_hex(100), "000300");  // one report, of the state when it is sent
  EXPECT_EQ(r.pull_hex(100), "");
  EXPECT_EQ(r.receiver().status_counters().polls, 3U);
  EXPECT_EQ(r.receiver().status_counters().status, 2U);
}

TEST(AmReport, a_poll_above_a_hole_waits_until_rx_highest_status_passes_it) {
  Receiver r;
  r.whole(1);
  r.whole(2, true);
  r.whole(4, true);
  EXPECT_FALSE(r.receiver().triggered());
  r.whole(0);
  EXPECT_EQ(r.state(), "3 5 3 T5");
  EXPECT_TRUE(r.receiver().triggered());
  EXPECT_EQ(r.pull_hex(100), "000300");
  r.tick(10);
  EXPECT_FALSE(r.receiver().triggered());
  r.whole(3);
  EXPECT_EQ(r.pull_hex(100), "000500");  // the poll of 4
}

TEST(AmReport, the_poll_of_a_discarded_pdu_is_answered_at_once) {
  Receiver r;
  r.whole(1);
  r.whole(1, true);  // a duplicate above the hole
  EXPECT_TRUE(r.receiver().triggered());
  Receiver outside;
  outside.whole(2048, true);
  EXPECT_TRUE(outside.receiver().triggered());
  EXPECT_EQ(outside.pull_hex(100), "000000");
  Receiver contradicting;
  contradicting.part(0, 40, 50);
  contradicting.receive(amd(12, 0, pattern(80), 50, 60, true));
  EXPECT_EQ(contradicting.receiver().counters().contradictions, 1U);
  EXPECT_TRUE(contradicting.receiver().triggered());
}

TEST(AmReport, a_report_is_cut_at_the_first_block_that_does_not_fit) {
  Receiver r;
  r.part(0, 10, 20);
  r.part(0, 30, 50);
  for (const std::uint32_t sn : {3U, 5U}) r.whole(sn);
  r.tick(35);
  r.tick(70);
  // 3 fixed; SN 0: 0-9, 20-29; 1-2; 4.
  const std::string all = tidy("000680 000c 0000 0009 000c 0014 001d 001a 02 0040");
  const auto report = [&](std::size_t grant) {
    const std::string out = r.pull_hex(grant);
    r.tick(r.now + 10);
    r.whole(5, true);  // asks for the next one
    return out;
  };
  EXPECT_EQ(report(2), "");
  EXPECT_EQ(report(20), all);
  EXPECT_EQ(report(19), tidy("000480 000c 0000 0009 000c 0014 001d 0012 02"));
  EXPECT_EQ(report(17), tidy("000180 000c 0000 0009 0004 0014 001d"));
  EXPECT_EQ(report(15), tidy("000180 000c 0000 0009 0004 0014 001d"));
  // The STATUS ends between the holes of SN 0. The peer would take octets below ACK_SN that it does not name as
  // received, so the last block names them.
  EXPECT_EQ(report(14), tidy("000180 0004 0000 ffff"));
  EXPECT_EQ(report(9), tidy("000180 0004 0000 ffff"));
  EXPECT_EQ(report(8), tidy("000000"));
  EXPECT_EQ(report(3), tidy("000000"));
}

// The peer takes SDUs below ACK_SN that a STATUS does not name as received, and frees them. For every grant, the
// receiver must have every SDU that a STATUS acknowledges.
TEST(AmReport, a_cut_report_acknowledges_nothing_that_is_missing) {
  for (const AmConfig& config : {am12(), am18()}) {
    for (std::size_t grant = 3; grant < 60; ++grant) {
      Receiver r(config);
      for (const std::uint32_t sn : {0U, 2U}) {
        for (const std::size_t at : {3U, 11U, 20U, 33U}) r.part(sn, at, at + 5);
      }
      r.part(3, 0, 20);
      r.whole(6);
      r.tick(35);
      r.tick(70);
      const Bytes pdu = r.pull(grant);
      AmSide sender(config);
      for (int i = 0; i < 7; ++i) {
        ASSERT_TRUE(sender.send(pattern(Receiver::kBytes, static_cast<unsigned>(i))));
        ASSERT_FALSE(sender.pull(200).empty());
      }
      sender.receive(pdu);
      ASSERT_EQ(sender.retx().counters().status, 1U);
      // The sender needs only what it still has: everything that is missing below ACK_SN arrives by retransmission.
      const std::uint32_t ack = wire::rlc::parse_status(pdu, config.sn_bits)->ack_sn;
      while (sender.retx().pending() != 0) r.receive(sender.pull(200));
      EXPECT_GE(r.receiver().next(), ack) << "grant " << grant;
      EXPECT_TRUE(ack != 0 || grant < 14) << "no progress with a grant of " << grant;
    }
  }
}

TEST(AmReport, long_runs_are_ranges_of_at_most_255) {
  for (const AmConfig& config : {am12(), am18()}) {
    Receiver r(config);
    r.whole(600);
    r.tick(35);
    const Bytes pdu = r.pull(100);
    const auto status = wire::rlc::parse_status(pdu, config.sn_bits);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->ack_sn, 601U);
    std::string blocks;
    wire::rlc::Nack nack;
    for (wire::rlc::NackCursor cursor(*status); cursor.next(nack);) {
      blocks += std::to_string(nack.sn) + "+" + std::to_string(nack.range) + (nack.has_so ? "so " : " ");
    }
    EXPECT_EQ(blocks, "0+255 255+255 510+90 ");
    EXPECT_EQ(r.receiver().status_counters().holes, 3U);
  }
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
