#include "ran/rlc/um_entity.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

constexpr UmConfig kUm6{.sn_bits = 6, .t_reassembly = 35, .max_queued = 100};
constexpr UmConfig kUm12{.sn_bits = 12, .t_reassembly = 35, .max_queued = 100};

struct Um : Home {
  explicit Um(const UmConfig& config, const MemorySizes& sizes = kSmall)
      : Home(sizes), bits(config.sn_bits), sender(config, memory), receiver(config, memory) {}
  ~Um() { restart(); }
  void restart(std::uint32_t sn = 0) {
    sender.restart_at(sn);
    receiver.restart_at(sn);
  }
  bool send(const Bytes& sdu) {
    Buffer buffer = make(sdu);
    return sender.send(buffer);
  }
  std::string pull(std::size_t grant) {
    wire::test::HeapOctets out(grant);
    return to_hex(Octets(out).first(sender.pull(grant).write(out.all())));
  }
  Received receive(std::string_view hex) {
    return receiver.receive(make(from_hex(hex)), now,
                            [this](auto parts) { delivered.push_back(to_hex(joined(parts))); });
  }
  // Octets [start, stop) of the SDU 00 01 02 .. 09.
  Received part(std::uint32_t sn, unsigned start, unsigned stop) {
    Bytes pdu(4);
    wire::rlc::UmHeader h{.si = wire::rlc::segment_of(start, stop - start, 10),
                          .so = static_cast<std::uint16_t>(start)};
    h.sn = sn & sn_mask(bits);
    pdu.resize(wire::rlc::write_um(pdu, bits, h));
    for (unsigned i = start; i < stop; ++i) pdu.push_back(static_cast<std::uint8_t>(i));
    return receive(to_hex(pdu));
  }
  // Reassembly, highest, and the trigger while the timer runs.
  std::string state() const {
    return std::to_string(receiver.next_reassembly()) + " " + std::to_string(receiver.next_highest()) +
           (receiver.t_reassembly().running() ? " T" + std::to_string(receiver.timer_trigger()) : "");
  }
  unsigned bits;
  UmSend<Buffer> sender;
  UmReceive<Buffer> receiver;
  Time now = 0;
  std::vector<std::string> delivered;
};

TEST(UmSend, complete_sdus_have_no_sn) {
  Um u(kUm12);
  ASSERT_TRUE(u.send(from_hex("aabbccddee")));
  EXPECT_EQ(u.pull(6), "00aabbccddee");  // formats.md R1
  EXPECT_EQ(u.sender.next(), 0U);
}

TEST(UmSend, segments_share_an_sn_that_grows_with_the_last) {
  Um u(kUm6);
  u.restart(33);
  ASSERT_TRUE(u.send(from_hex("000102030405060708")));
  ASSERT_TRUE(u.send(from_hex("ff")));
  EXPECT_EQ(u.pull(1), "");
  EXPECT_EQ(u.pull(4), "61000102");
  EXPECT_EQ(u.pull(3), "");
  EXPECT_EQ(u.pull(5), "e100030304");
  EXPECT_EQ(u.sender.next(), 33U);
  EXPECT_EQ(u.pull(100), "a1000505060708");
  EXPECT_EQ(u.sender.next(), 34U);
  EXPECT_EQ(u.pull(2), "00ff");
  EXPECT_EQ(u.pull(2), "");
  EXPECT_EQ(u.sender.counters().segments, 3U);
  EXPECT_EQ(u.sender.counters().pdus, 4U);
}

TEST(UmSend, an_sdu_that_misses_the_grant_by_one_octet_is_cut) {
  Um u(kUm12);
  u.restart(0xabc);
  ASSERT_TRUE(u.send(from_hex("0001020304")));
  EXPECT_EQ(u.pull(5), "4abc000102");
  EXPECT_EQ(u.pull(6), "8abc00030304");
  ASSERT_TRUE(u.send(from_hex("00")));
  EXPECT_EQ(u.pull(1), "");
  EXPECT_EQ(u.pull(2), "0000");
}

TEST(UmSend, discards_what_was_not_begun_and_counts_its_volume) {
  Um u(kUm12);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(u.send(pattern(10)));
  EXPECT_EQ(u.sender.volume(), 33U);
  u.pull(6);  // 4 octets
  EXPECT_EQ(u.sender.volume(), 4U + 6U + 22U);
  EXPECT_FALSE(u.sender.discard(0));
  EXPECT_TRUE(u.sender.discard(1));
  EXPECT_FALSE(u.sender.discard(1));
  EXPECT_EQ(u.sender.waiting(), 2U);
  EXPECT_EQ(u.sender.counters().discarded, 1U);
}

TEST(UmReceive, complete_sdus_are_delivered_at_once) {
  Um u(kUm6);
  EXPECT_EQ(u.receive("00aabb"), Received::kDelivered);
  EXPECT_EQ(u.delivered, std::vector<std::string>{"aabb"});
  EXPECT_EQ(u.state(), "0 0");
  EXPECT_TRUE(u.memory.unused());
}

TEST(UmReceive, segments_in_any_order) {
  for (const UmConfig& config : {kUm6, kUm12}) {
    Um u(config);
    EXPECT_EQ(u.part(0, 4, 7), Received::kStored);
    EXPECT_EQ(u.state(), "0 1 T1");  // a gap before the last octet
    EXPECT_EQ(u.part(0, 7, 10), Received::kStored);
    EXPECT_EQ(u.part(0, 0, 4), Received::kDelivered);
    EXPECT_EQ(u.state(), "1 1");
    EXPECT_EQ(u.delivered, std::vector<std::string>{"00010203040506070809"});
    EXPECT_TRUE(u.memory.unused());
  }
}

TEST(UmReceive, a_missing_tail_starts_no_timer_until_something_follows) {
  Um u(kUm6);
  u.part(0, 0, 4);
  EXPECT_EQ(u.state(), "0 1");
  u.part(1, 0, 4);
  EXPECT_EQ(u.state(), "0 2 T2");
  EXPECT_EQ(u.receiver.held(), 2U);
  u.receiver.tick(34);
  EXPECT_EQ(u.receiver.held(), 2U);
  u.receiver.tick(35);
  EXPECT_EQ(u.state(), "2 2");
  EXPECT_EQ(u.receiver.held(), 0U);
  EXPECT_EQ(u.receiver.counters().given_up, 2U);
  EXPECT_TRUE(u.memory.unused());
}

TEST(UmReceive, expiry_gives_up_below_the_trigger_and_starts_again_for_the_rest) {
  Um u(kUm12);
  u.part(0, 4, 7);  // T1
  u.part(2, 0, 4);
  EXPECT_EQ(u.state(), "0 3 T1");
  u.receiver.tick(35);
  EXPECT_EQ(u.state(), "1 3 T3");
  u.receiver.tick(70);
  EXPECT_EQ(u.state(), "3 3");
  EXPECT_EQ(u.part(2, 4, 10), Received::kOutsideWindow);
}

TEST(UmReceive, delivered_and_given_up_sdus_inside_the_window_are_discarded) {
  Um u(kUm6);
  u.part(1, 0, 4);
  u.part(0, 0, 4);
  u.part(0, 4, 10);
  EXPECT_EQ(u.state(), "1 2");
  EXPECT_EQ(u.part(0, 0, 4), Received::kOutsideWindow);
  u.part(3, 0, 4);
  u.part(3, 4, 10);
  EXPECT_EQ(u.delivered.size(), 2U);
  EXPECT_EQ(u.part(3, 0, 4), Received::kDuplicate);
  EXPECT_EQ(u.delivered.size(), 2U);
}

TEST(UmReceive, a_segment_beyond_the_window_moves_it) {
  Um u(kUm6);
  u.part(0, 0, 4);
  u.part(5, 0, 4);
  EXPECT_EQ(u.state(), "0 6 T6");
  u.part(36, 0, 4);  // 5..36 is the window
  EXPECT_EQ(u.state(), "5 37 T6");
  EXPECT_EQ(u.receiver.held(), 2U);
  EXPECT_EQ(u.part(5, 4, 10), Received::kDelivered);
  EXPECT_EQ(u.state(), "6 37 T37");
}

TEST(UmReceive, numbers_go_round) {
  for (const UmConfig& config : {kUm6, kUm12}) {
    for (const std::uint32_t begin : {(1U << config.sn_bits) - 2, 0xFFFFFFFEU}) {
      Um u(config);
      u.restart(begin);
      for (std::uint32_t sn = begin; sn != begin + 200; ++sn) {
        ASSERT_EQ(u.part(sn, 5, 10), Received::kStored);
        ASSERT_EQ(u.part(sn, 0, 5), Received::kDelivered);
      }
      EXPECT_EQ(u.receiver.next_reassembly(), begin + 200);
      EXPECT_FALSE(u.receiver.t_reassembly().running());
      EXPECT_TRUE(u.memory.unused());
    }
  }
}

TEST(UmReceive, contradictions_and_bad_form_change_nothing) {
  Um u(kUm12);
  u.part(0, 4, 10);
  const std::string before = u.state();
  EXPECT_EQ(u.receive("8000 0002 0002"), Received::kContradiction);  // ends before what is held
  EXPECT_EQ(u.receive("c000 0009 0002"), Received::kContradiction);  // beyond the end
  EXPECT_EQ(u.receive("c001 ffff 0001"), Received::kContradiction);  // SO + length above 65535
  for (const char* const bad : {"", "00", "40", "4000", "8000", "800000", "80000004", "8000000011"}) {
    EXPECT_EQ(u.receive(bad), Received::kRefused) << bad;
  }
  EXPECT_EQ(u.state(), before);
  EXPECT_EQ(u.receiver.held(), 1U);
}

TEST(UmReceive, without_memory_a_segment_is_as_lost) {
  MemorySizes sizes = kSmall;
  sizes.assemblies = 1;
  Um u(kUm12, sizes);
  u.part(0, 0, 4);
  const std::string before = u.state();
  EXPECT_EQ(u.part(200, 0, 4), Received::kNoMemory);
  EXPECT_EQ(u.part(1, 0, 4), Received::kNoMemory);
  EXPECT_EQ(u.state(), before);
  EXPECT_EQ(u.receive("00aa"), Received::kDelivered);
  EXPECT_EQ(u.receiver.counters().no_memory, 2U);
}

TEST(UmReceive, re_establishment_forgets_everything) {
  Um u(kUm12);
  for (const std::uint32_t sn : {0U, 3U, 900U, 2000U, 2047U}) u.part(sn, 2, 4);
  ASSERT_TRUE(u.send(pattern(10)));
  u.pull(5);
  u.restart();
  EXPECT_TRUE(u.memory.unused());
  EXPECT_EQ(u.pool.live(), 0U);
  EXPECT_EQ(u.state(), "0 0");
  EXPECT_EQ(u.receiver.held(), 0U);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
