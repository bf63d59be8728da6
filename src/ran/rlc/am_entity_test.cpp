#include "ran/rlc/am_entity.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

void carry(AmSide& from, AmSide& to, std::size_t grant = 3000) {
  for (Bytes pdu; !(pdu = from.pull(grant)).empty();) to.receive(pdu);
}

TEST(AmEntity, status_goes_before_retransmission_before_new_data) {
  AmSide a(am12());
  a.submit(3, 20);
  ASSERT_TRUE(a.send(pattern(20)));
  a.receive("000380 0010");  // NACK 1
  a.receive("c000 aabb");    // a PDU with a poll
  EXPECT_EQ(a.pull_hex(100), "000100");
  EXPECT_EQ(a.pull_hex(100).substr(0, 4), "8001");
  EXPECT_EQ(a.pull_hex(100).substr(0, 4), "c003");
  EXPECT_EQ(a.pull_hex(100), "");
}

TEST(AmEntity, a_status_needs_three_octets) {
  AmSide a(am18());
  a.receive("c00000 aabb");
  EXPECT_EQ(a.pull_hex(2), "");
  EXPECT_TRUE(a.receiver().triggered());
  EXPECT_EQ(a.pull_hex(3), to_hex(status_pdu(18, 1)));
}

TEST(AmEntity, a_poll_on_a_retransmission_resets_the_counters_of_new_data) {
  AmConfig config = am12();
  config.poll_pdu = 10;
  AmSide a(config);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(a.send(pattern(5)));
  for (int i = 0; i < 3; ++i) a.pull(100);
  EXPECT_EQ(a.sender().pdu_without_poll(), 3U);
  a.pull(100);  // the last one: poll
  EXPECT_EQ(a.sender().pdu_without_poll(), 0U);
  ASSERT_TRUE(a.send(pattern(5)));
  ASSERT_TRUE(a.send(pattern(5)));
  a.pull(100);
  EXPECT_EQ(a.sender().pdu_without_poll(), 1U);
  a.tick(45);
  a.receive("000480 0000");
  EXPECT_EQ(a.pull_hex(100).substr(0, 4), "c000");
  EXPECT_EQ(a.sender().pdu_without_poll(), 0U);
  EXPECT_EQ(a.retx().poll_sn(), 4U);
}

TEST(AmEntity, an_exchange_ends_with_nothing_held) {
  AmSide a(am18()), b(am18());
  for (unsigned i = 0; i < 500; ++i) ASSERT_TRUE(a.send(pattern(1 + i * 3 % 200, i)));
  for (Time now = 0; now < 200; ++now) {
    a.tick(now);
    b.tick(now);
    carry(a, b, 50);
    carry(b, a, 50);
    a.release(100);
  }
  ASSERT_EQ(b.delivered.size(), 500U);
  for (unsigned i = 0; i < 500; ++i) ASSERT_EQ(b.delivered[i], pattern(1 + i * 3 % 200, i));
  EXPECT_TRUE(a.home.memory.unused());
  EXPECT_TRUE(b.home.memory.unused());
  EXPECT_EQ(a.home.pool.live() + b.home.pool.live(), 0U);
  EXPECT_EQ(a.retx().counters().acked, 500U);
}

TEST(AmEntity, re_establishment_drops_everything_and_begins_at_zero) {
  AmSide a(am12());
  a.submit(100, 30);
  a.receive("000a80 0030");
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.send(pattern(30)));
  a.pull(10);
  a.receive("8005 aabb");
  a.receive("9007 aabb");
  a.receive("c005 aabb");
  a.tick(1);
  a.entity->restart_at(0);
  AmSide fresh(am12());
  fresh.now = 1;
  AmState expected = state_of(fresh);
  expected.delivered = a.delivered.size();
  EXPECT_EQ(state_of(a), expected);
  EXPECT_TRUE(a.home.memory.unused());
  EXPECT_EQ(a.release(), 0U);
  EXPECT_EQ(a.pull_hex(100), "");
  EXPECT_EQ(a.entity->next_expiry(), kNever);
  ASSERT_TRUE(a.send(pattern(2)));
  EXPECT_EQ(a.pull_hex(100).substr(0, 4), "c000");
}

TEST(AmEntity, the_volume_is_what_pulling_everything_gives) {
  for (const std::uint8_t sn_bits : {std::uint8_t{12}, std::uint8_t{18}}) {
    AmSide side({.sn_bits = sn_bits, .poll_pdu = 0, .t_poll_retransmit = 50, .t_reassembly = 0});
    EXPECT_EQ(side.entity->volume(), 0U);
    (void)side.submit(6, 100);
    // New ones: one cut, two waiting.
    for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(side.send(pattern(200, i)));
    EXPECT_EQ(side.pull(60).size(), 60U);
    // Whole, one run, two runs; nothing of the rest.
    side.receive(status_pdu(sn_bits, 6,
                            {{.sn = 1},
                             {.sn = 3, .has_so = true, .so_start = 0, .so_end = 9},
                             {.sn = 4, .has_so = true, .so_start = 10, .so_end = 19},
                             {.sn = 4, .has_so = true, .so_start = 50, .so_end = 99}}));
    // A hole, reported.
    side.receive(sn_bits == 12 ? "8000 aa" : "800000 aa");
    side.receive(sn_bits == 12 ? "8002 aa" : "800002 aa");
    side.tick(1);
    const std::uint64_t volume = side.entity->volume();
    std::uint64_t pulled = 0;
    for (Bytes pdu = side.pull(9000); !pdu.empty(); pdu = side.pull(9000)) pulled += pdu.size();
    EXPECT_EQ(volume, pulled);
    EXPECT_GT(volume, 540U + 100 + 10 + 10 + 50);
    EXPECT_EQ(side.entity->volume(), 0U);
  }
}

TEST(AmEntity, next_expiry_is_that_of_the_first_timer) {
  AmSide a(am12());
  EXPECT_EQ(a.entity->next_expiry(), kNever);
  a.submit(1);
  EXPECT_EQ(a.entity->next_expiry(), 45U);
  a.receive("8001 aa");
  EXPECT_EQ(a.entity->next_expiry(), 35U);
  a.receive("c000 aa");
  a.pull(100);
  EXPECT_EQ(a.entity->next_expiry(), 10U);
}

TEST(AmEntity, goes_without_a_leak_wherever_it_stands) {
  AmSide a(am18());
  a.submit(200, 300);
  a.receive(status_pdu(
      18, 150,
      {{.sn = 3, .has_so = true, .so_start = 1, .so_end = 2}, {.sn = 3, .has_so = true, .so_start = 9}, {.sn = 70}}));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.send(pattern(30)));
  a.pull(5);
  a.receive("900007 aabb");
  a.receive("810007 aabb");
}  // AmSide judges

}  // namespace
}  // namespace splitplane::ran::rlc::test
