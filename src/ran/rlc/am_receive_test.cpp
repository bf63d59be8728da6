#include "ran/rlc/am_receive.h"

#include "ran/rlc/test_receiver.h"

namespace splitplane::ran::rlc::test {
namespace {

TEST(AmReceive, in_order_nothing_is_held) {
  Receiver r;
  for (std::uint32_t sn = 0; sn < 5000; ++sn) {
    r.whole(sn);
    ASSERT_EQ(r.delivered.size(), sn + 1);
    ASSERT_EQ(r.delivered.back(), pattern(50, sn));
    r.delivered.reserve(6000);
  }
  EXPECT_TRUE(r.home.memory.unused());
  EXPECT_EQ(r.state(), "5000 5000 5000");
  EXPECT_EQ(r.receiver().counters().octets, 5000U * 50);
}

TEST(AmReceive, completion_is_the_order_of_delivery) {
  Receiver r;
  for (const std::uint32_t sn : {3U, 1U, 0U, 2U}) r.whole(sn);
  EXPECT_EQ(r.delivered, (std::vector<Bytes>{pattern(50, 3), pattern(50, 1), pattern(50, 0), pattern(50, 2)}));
  EXPECT_EQ(r.state(), "4 4 4");
  EXPECT_TRUE(r.home.memory.unused());
}

TEST(AmReceive, t_reassembly_starts_with_a_hole_and_stops_with_its_repair) {
  Receiver r;
  r.part(0, 0, 20);
  EXPECT_EQ(r.state(), "0 1 0");  // a missing tail alone is no gap
  r.whole(1);
  EXPECT_EQ(r.state(), "0 2 0 T2");
  r.whole(2);
  EXPECT_EQ(r.state(), "0 3 0 T2");
  r.part(0, 20, 50);
  EXPECT_EQ(r.state(), "3 3 3");
  r.whole(5);
  EXPECT_EQ(r.state(), "3 6 3 T6");
  r.now = 10;
  r.whole(8);
  r.whole(3);
  r.whole(4);  // T = 6 = RX_Next: it starts anew for 6 and 7
  EXPECT_EQ(r.state(), "6 9 6 T9");
  EXPECT_EQ(r.receiver().t_reassembly().expiry(), 45U);
}

TEST(AmReceive, t_reassembly_stops_when_only_a_tail_is_missing_below_it) {
  Receiver r;
  r.part(0, 0, 10);
  r.part(0, 20, 30);
  EXPECT_EQ(r.state(), "0 1 0 T1");
  r.part(0, 10, 20);
  EXPECT_EQ(r.state(), "0 1 0");
}

TEST(AmReceive, expiry_of_t_reassembly_starts_it_again_only_for_what_is_beyond) {
  Receiver r;
  r.whole(1);
  r.whole(3);
  EXPECT_EQ(r.state(), "0 4 0 T2");
  r.tick(35);
  EXPECT_EQ(r.state(), "0 4 2 T4");
  r.tick(70);
  EXPECT_EQ(r.state(), "0 4 4");
  EXPECT_EQ(r.receiver().status_counters().reassembly_timeouts, 2U);
  r.tick(1000);
  EXPECT_EQ(r.state(), "0 4 4");
}

TEST(AmReceive, duplicates_and_pdus_outside_the_window_change_nothing) {
  for (const AmConfig& config : {am12(), am18()}) {
    const std::uint32_t window = window_size(config.sn_bits), begin = 7;
    Receiver r(config, begin);
    r.whole(begin + 2);
    r.part(begin, 10, 20);
    const AmState before = state_of(r);
    r.whole(begin + 2);
    r.part(begin, 12, 17);
    EXPECT_EQ(r.receiver().counters().duplicates, 2U);
    r.whole(begin - 1);
    r.whole(begin + window);
    r.whole(begin + window + 5);
    EXPECT_EQ(r.receiver().counters().outside_window, 3U);
    EXPECT_EQ(state_of(r), before);
    r.whole(begin + window - 1);  // the highest that may come
    EXPECT_EQ(r.receiver().next_highest(), begin + window);
    EXPECT_EQ(r.delivered.size(), 2U);
  }
}

TEST(AmReceive, contradicting_segments_change_nothing) {
  Receiver r;
  r.part(0, 30, 50);
  r.whole(2);
  const AmState before = state_of(r);
  const Bytes longer = pattern(90);
  r.receive(amd(12, 0, longer, 45, 60));                                      // beyond the end
  r.receive(amd(12, 0, longer, 80, 90));                                      // another end
  r.receive(amd(12, 0, Bytes(longer.begin(), longer.begin() + 40), 20, 40));  // an end before what is held
  r.receive(amd(12, 0, Bytes(longer.begin(), longer.begin() + 40), 0, 40));   // complete, and shorter
  EXPECT_EQ(r.receiver().counters().contradictions, 4U);
  EXPECT_EQ(state_of(r), before);
  Bytes too_long = amd(12, 3, Bytes(100, 1), 50, 90);
  too_long[2] = too_long[3] = 0xFF;  // SO 65535
  r.receive(too_long);
  EXPECT_EQ(r.receiver().counters().contradictions, 5U);
  EXPECT_EQ(state_of(r), before);
}

TEST(AmReceive, pdus_without_form_change_nothing) {
  for (const AmConfig& config : {am12(), am18()}) {
    Receiver r(config);
    r.whole(1);
    const AmState before = state_of(r);
    unsigned bad = 0;
    for (const Bytes& good :
         {amd(config.sn_bits, 0, pattern(50), 0, 50, true), amd(config.sn_bits, 0, pattern(50), 10, 20, true)}) {
      const std::size_t header = wire::rlc::parse_am(good, config.sn_bits)->header_bytes;
      for (std::size_t n = 1; n <= header; ++n, ++bad) {
        r.receive(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)));
      }
    }
    Bytes zero_so = amd(config.sn_bits, 0, pattern(50), 10, 20, true);
    const std::size_t so = config.sn_bits == 12 ? 2 : 3;
    zero_so[so] = zero_so[so + 1] = 0;
    r.receive(zero_so);
    EXPECT_EQ(r.receiver().counters().refused, bad + 1);
    EXPECT_EQ(state_of(r), before);
  }
}

TEST(AmReceive, without_memory_a_pdu_is_as_lost) {
  MemorySizes sizes = kSmall;
  sizes.received_pages = 1;
  sizes.segments = 4;
  sizes.assemblies = 1;
  Receiver r(am12(), 0, sizes);
  r.whole(1);
  r.part(2, 10, 20);
  AmState before = state_of(r);
  r.whole(64);        // needs a page
  r.part(3, 0, 10);   // needs an assembly
  r.part(2, 30, 40);  // fits
  before.live += 1;
  EXPECT_EQ(r.receiver().counters().no_memory, 2U);
  EXPECT_EQ(state_of(r), before);
  r.part(2, 45, 50);  // it has as many segments as are left for others
  EXPECT_EQ(r.receiver().counters().no_memory, 3U);
  EXPECT_EQ(state_of(r), before);
  r.part(2, 45, 50, true);
  EXPECT_TRUE(r.receiver().triggered());  // the poll is answered all the same
  EXPECT_EQ(r.receiver().counters().no_memory, 4U);
  r.whole(0);
  EXPECT_EQ(r.state(), "2 3 2 T3");
  r.part(2, 0, 50);  // would need three, but then it is complete
  EXPECT_EQ(r.state(), "3 3 3");
  EXPECT_EQ(r.delivered.size(), 3U);
  EXPECT_EQ(r.delivered.back(), pattern(50, 2));
}

// Two bearers share one memory, and the other bearer holds as much as it can get. RX_Next comes in segments. Later SDUs
// of the same bearer give up their segments, and the other bearer keeps its own.
TEST(AmReceive, rx_next_makes_progress_whatever_is_held) {
  MemorySizes sizes = kSmall;
  sizes.received_pages = 2;
  sizes.segments = 8;
  sizes.assemblies = 6;
  Receiver r(am12(), 0, sizes);
  AmReceive<Buffer> other(am12(), r.home.memory);
  const auto to_other = [&](std::uint32_t sn, std::size_t start, std::size_t stop) {
    return other.receive(r.home.make(amd(12, sn, pattern(50, sn), start, stop)), 0, [](auto) {});
  };
  for (std::uint32_t sn = 1; sn < 4; ++sn) r.part(sn, 10, 20);  // half of the assemblies, a page
  for (std::uint32_t sn = 1; sn < 9; ++sn) (void)to_other(sn, 0, 10);
  EXPECT_EQ(r.home.memory.assemblies.available(), 1U);
  for (std::uint32_t sn = 10; sn < 20; ++sn) (void)to_other(100 + sn, 0, 10);
  EXPECT_EQ(r.home.memory.segments.available(), 3U);
  for (const std::size_t at : {40U, 0U, 20U, 10U, 30U}) r.part(0, at, at + 10);
  EXPECT_EQ(r.receiver().counters().no_memory, 0U);
  EXPECT_EQ(r.delivered, (std::vector<Bytes>{pattern(50, 0)}));
  EXPECT_GT(r.receiver().counters().given_up, 0U);
  r.tick(35);
  r.tick(70);
  for (std::uint32_t sn = 1; sn < 4; ++sn) r.whole(sn);  // what was given up comes again
  EXPECT_EQ(r.receiver().next(), 4U);
  other.restart_at(0);
}

// The window is empty then, although an SDU before the newest one is missing.
TEST(AmReceive, what_was_given_up_is_not_passed_over_by_the_next_whole_sdu) {
  MemorySizes sizes = kSmall;
  sizes.received_pages = 1;
  sizes.segments = 4;
  sizes.assemblies = 2;
  Receiver r(am12(), 0, sizes);
  AmReceive<Buffer> other(am12(), r.home.memory);
  r.part(1, 10, 20);
  for (std::uint32_t sn = 0; r.home.memory.segments.available() > 0 && sn < 8; ++sn)
    (void)other.receive(r.home.make(amd(12, 0, pattern(50, 0), sn * 6 + 2, sn * 6 + 4)), 0, [](auto) {});
  for (const std::size_t at : {0U, 20U, 10U, 30U, 40U}) r.part(0, at, at + 10);
  if (r.receiver().next() == 0) r.whole(0);
  ASSERT_GT(r.receiver().counters().given_up, 0U);
  ASSERT_EQ(r.receiver().next(), 1U);
  r.whole(2);
  EXPECT_EQ(r.receiver().next(), 1U) << "SDU 1 has not come";
  r.whole(1);
  EXPECT_EQ(r.receiver().next(), 3U);
  EXPECT_EQ(r.delivered.size(), 3U);
  other.restart_at(0);
}

TEST(AmReceive, works_where_sns_and_counters_go_round) {
  for (const AmConfig& config : {am12(), am18()}) {
    for (const std::uint32_t begin : {(1U << config.sn_bits) - 3, 0xFFFFFFFDU}) {
      Receiver r(config, begin);
      r.whole(begin + 1);
      r.whole(begin + 5, true);
      r.part(begin + 3, 10, 20);
      r.tick(35);
      r.tick(70);
      const Bytes pdu = r.pull(100);
      EXPECT_EQ(to_hex(pdu), to_hex(status_pdu(config.sn_bits, begin + 6,
                                               {{.sn = begin},
                                                {.sn = begin + 2},
                                                {.sn = begin + 3, .has_so = true, .so_start = 0, .so_end = 9},
                                                {.sn = begin + 3, .has_so = true, .so_start = 20},
                                                {.sn = begin + 4}})));
      for (const std::uint32_t n : {0U, 2U, 3U, 4U}) r.whole(begin + n);
      EXPECT_EQ(r.receiver().next(), begin + 6);
      EXPECT_EQ(r.receiver().highest_status(), begin + 6);
      EXPECT_EQ(r.delivered.size(), 6U);
      EXPECT_TRUE(r.home.memory.unused());
    }
  }
}

// Header mode leaves the buffer with the caller; everything else must be the same.
TEST(AmReceive, complete_sdus_without_their_buffers_move_the_state_alike) {
  for (const AmConfig& config : {am12(), am18()}) {
    const std::uint32_t begin = 0xFFFFFFC0U;
    Receiver with(config, begin);
    Home home;
    AmReceive<Buffer> without(config, home.memory);
    without.restart_at(begin);
    Random random(config.sn_bits);
    for (Time now = 0; now < 20000; ++now) {
      with.tick(now);
      without.tick(now);
      const std::uint32_t near = with.receiver().next() + random() % 40 - 3;
      const std::uint32_t sn = random.percent(1) ? random() : random.percent(50) ? with.receiver().next() : near;
      const Bytes pdu = amd(config.sn_bits, sn, pattern(5), 0, 5, random.percent(20));
      const std::size_t delivered = with.delivered.size();
      with.receive(pdu);
      const Received what = without.receive_complete(*wire::rlc::parse_am(pdu, config.sn_bits), now);
      ASSERT_EQ(what == Received::kDelivered, with.delivered.size() != delivered);
      ASSERT_EQ(without.next(), with.receiver().next());
      ASSERT_EQ(without.next_highest(), with.receiver().next_highest());
      ASSERT_EQ(without.highest_status(), with.receiver().highest_status());
      ASSERT_EQ(without.t_reassembly().expiry(), with.receiver().t_reassembly().expiry());
      ASSERT_EQ(without.triggered(), with.receiver().triggered());
      if (!with.receiver().status_due()) continue;
      wire::test::HeapOctets out(100);
      const std::size_t bytes = without.write_status(out.all(), now);
      ASSERT_EQ(to_hex(Octets(out).first(bytes)), with.pull_hex(100));
    }
    EXPECT_EQ(without.counters().duplicates, with.receiver().counters().duplicates);
    EXPECT_GT(with.receiver().counters().duplicates, 0U);
    const auto segment = wire::rlc::parse_am(amd(config.sn_bits, 0, pattern(5), 0, 2), config.sn_bits);
    EXPECT_EQ(without.receive_complete(*segment, 0), Received::kRefused);
    without.restart_at(0);
  }
}

TEST(AmReceive, restart_forgets_what_it_held) {
  Receiver r;
  r.part(0, 10, 20, true);
  r.whole(700, true);
  r.whole(2047);
  r.tick(35);
  r.entity->restart_at(0);
  EXPECT_TRUE(r.home.memory.unused());
  EXPECT_EQ(r.home.pool.live(), 0U);
  EXPECT_EQ(r.state(), "0 0 0");
  EXPECT_EQ(r.pull_hex(100), "");
  r.whole(0, true);
  EXPECT_EQ(r.pull_hex(100), "000100");
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
