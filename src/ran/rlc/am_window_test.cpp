// The transmitting window of AM at its limits: full, not released, without memory.
#include "ran/rlc/am_retx.h"
#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

// As many SDUs as the window takes, acknowledged in halves, from below 2^32 to above it.
TEST(AmWindow, full_windows_at_both_widths) {
  for (const AmConfig& config : {am12(), am18()}) {
    const std::uint32_t window = window_size(config.sn_bits);
    MemorySizes sizes = kSmall;
    sizes.sent_pages = 2 * window / 64 + 2;
    sizes.directories = 80;
    AmSide s(config, sizes);
    s.entity->restart_at(0xFFFFFFFFU - window - 100);
    const Bytes one = pattern(1);
    for (int round = 0; round < 5; ++round) {
      Bytes last;
      while (s.send(one)) {
        const Bytes pdu = s.pull(100);
        if (pdu.empty()) break;
        last = pdu;
      }
      ASSERT_EQ(s.retx().unacked(), window);
      ASSERT_EQ(last[0] & 0x40, 0x40);  // stalled: it asked
      s.receive(status_pdu(config.sn_bits, s.sender().next() - window / 2));
      ASSERT_EQ(s.retx().unacked(), window / 2);
      s.release();
    }
    EXPECT_EQ(s.retx().counters().status_stale + s.retx().counters().status_malformed, 0U);
    s.receive(status_pdu(config.sn_bits, s.sender().next()));
    s.release();
    EXPECT_EQ(s.released.size(), window + 4 * window / 2);
    s.entity->restart_at(0);
  }
}

TEST(AmWindow, buffers_that_nobody_releases_hold_the_window_before_sns_come_round) {
  MemorySizes sizes = kSmall;
  sizes.sent_pages = 200;
  AmSide s(am12(), sizes);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 1000 && s.send(pattern(1)) && !s.pull(100).empty(); ++i) {
    }
    s.receive(status_pdu(12, s.sender().next()));
  }
  EXPECT_LT(s.sender().next(), 4096U);
  EXPECT_EQ(s.retx().unacked(), 0U);
  EXPECT_EQ(s.release(), s.sender().next());
  for (std::uint32_t i = 0; i < s.released.size(); ++i) ASSERT_EQ(s.released[i], i);
  EXPECT_FALSE(s.pull(100).empty());
}

TEST(AmWindow, without_memory_for_copies_nothing_is_lost_and_a_status_ends_it) {
  MemorySizes sizes = kSmall;
  sizes.sent_pages = 2;
  AmSide s(am12(), sizes);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(s.send(pattern(1)));
  Bytes last;
  for (Bytes pdu; !(pdu = s.pull(100)).empty();) last = pdu;
  EXPECT_EQ(to_hex(Octets(last).first(2)), "c07f");  // the poll that frees it
  s.receive("008000");
  EXPECT_EQ(s.release(), 128U);
  EXPECT_EQ(s.pull_hex(100).substr(0, 4), "8080");
}

TEST(AmWindow, what_is_not_acknowledged_can_be_taken_out_for_data_recovery) {
  Home home;
  AmRetx<Buffer> retx(am12(), home.memory);
  for (std::uint32_t sn = 0; sn < 100; ++sn) {
    retx.submitted({.sdu = home.make(pattern(4, sn)), .sn = sn, .bytes = 4, .sent = 4}, 0);
  }
  retx.receive_status(status_pdu(12, 90, {{.sn = 3, .has_so = true, .so_start = 1, .so_end = 2}, {.sn = 70}}), 0,
                      [](std::uint32_t) {});
  std::vector<std::string> taken;
  retx.take_unacked([&](Buffer sdu) { taken.push_back(to_hex(buf::octets(sdu))); });
  ASSERT_EQ(taken.size(), 12U);
  EXPECT_EQ(taken[0], to_hex(pattern(4, 3)));
  EXPECT_EQ(taken[1], to_hex(pattern(4, 70)));
  EXPECT_EQ(taken[2], to_hex(pattern(4, 90)));
  retx.restart_at(0);
  EXPECT_TRUE(home.memory.unused());
  EXPECT_EQ(home.pool.live(), 0U);
}

TEST(AmWindow, all_that_is_not_acknowledged_can_be_sent_again) {
  Home home;
  AmRetx<Buffer> retx(am12(), home.memory);
  for (std::uint32_t sn = 0; sn < 10; ++sn) {
    retx.submitted({.sdu = home.make(pattern(20)), .sn = sn, .bytes = 20, .sent = 20}, 0);
  }
  retx.receive_status(status_pdu(12, 8, {{.sn = 2}}), 0, [](std::uint32_t) {});
  retx.resend_all(5);
  EXPECT_EQ(retx.pending(), 3U);
  std::string sns;
  while (retx.has_pending()) sns += to_hex(Octets(retx.pull(100, {}, 5).header).first(2)) + " ";
  EXPECT_EQ(sns, "8002 8008 c009 ");
  retx.restart_at(0);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
