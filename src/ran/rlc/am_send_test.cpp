#include "ran/rlc/am_send.h"

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {
namespace {

// The sending half alone: what AmRetx would say is set by hand.
struct Sender : Home {
  explicit Sender(const AmConfig& config, const MemorySizes& sizes = kSmall) : Home(sizes), send(config, memory) {}
  ~Sender() { send.restart_at(0); }
  bool push(std::size_t bytes, unsigned salt = 0) {
    Buffer sdu = make(pattern(bytes, salt));
    return send.send(sdu);
  }
  std::string pull(std::size_t grant) {
    last = {};
    const auto pdu = send.pull(grant, retx, last);
    wire::test::HeapOctets out(grant);
    return to_hex(Octets(out).first(pdu.write(out.all())));
  }
  RetxState retx{.room = 1000};
  AmSend<Buffer> send;
  Submission<Buffer> last;
};

TEST(AmSend, one_sn_an_sdu_and_si_so_by_the_position) {
  Sender s(am18());
  ASSERT_TRUE(s.push(10));
  ASSERT_TRUE(s.push(3, 1));
  const Bytes a = pattern(10);
  EXPECT_EQ(s.pull(7), tidy("900000") + to_hex(Octets(a).first(4)));            // first
  EXPECT_EQ(s.pull(8), tidy("b00000 0004") + to_hex(Octets(a).subspan(4, 3)));  // middle
  EXPECT_EQ(s.last.sent, 7);
  EXPECT_FALSE(s.last.sdu);
  EXPECT_EQ(s.pull(100), tidy("a00000 0007") + to_hex(Octets(a).subspan(7)));  // last
  EXPECT_EQ(s.pull(6), tidy("c00001") + to_hex(pattern(3, 1)));                // complete, the last one: poll
  EXPECT_EQ(s.last.sn, 1U);
  EXPECT_TRUE(s.last.poll);
  EXPECT_TRUE(s.last.sdu);
  EXPECT_EQ(s.send.next(), 2U);
  EXPECT_EQ(s.pull(100), "");
}

TEST(AmSend, needs_a_header_and_one_octet) {
  for (const AmConfig& config : {am12(), am18()}) {
    Sender s(config);
    const unsigned header = config.sn_bits == 12 ? 2 : 3;
    ASSERT_TRUE(s.push(9));
    EXPECT_EQ(s.pull(0), "");
    EXPECT_EQ(s.pull(header), "");
    EXPECT_EQ(s.send.next(), 0U);  // no SN was spent
    EXPECT_EQ(s.pull(header + 1).size(), 2 * (header + 1));
    EXPECT_EQ(s.pull(header + 2), "");
    EXPECT_EQ(s.pull(header + 3).size(), 2 * (header + 3));
  }
}

TEST(AmSend, polls_every_poll_pdu_pdus) {
  AmConfig config = am12();
  config.poll_pdu = 3;
  Sender s(config);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(s.push(5));
  std::string polls;
  for (int i = 0; i < 9; ++i) polls += s.pull(5)[0] >= 'c' ? "P" : ".";  // segments count as PDUs
  EXPECT_EQ(polls, "..P..P..P");
  EXPECT_EQ(s.send.pdu_without_poll(), 0U);
}

TEST(AmSend, polls_every_poll_byte_octets) {
  AmConfig config = am12();
  config.poll_byte = 10;
  Sender s(config);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(s.push(4));
  std::string polls;
  for (int i = 0; i < 6; ++i) polls += s.pull(100)[0] == 'c' ? "P" : ".";
  EXPECT_EQ(polls, "..P..P");  // 4, 8, 12: headers do not count
  EXPECT_EQ(s.send.byte_without_poll(), 0U);
  EXPECT_EQ(s.pull(100)[0], '8');
  EXPECT_EQ(s.send.byte_without_poll(), 4U);
  EXPECT_EQ(s.send.pdu_without_poll(), 1U);
}

TEST(AmSend, polls_with_the_last_octet_unless_retransmissions_wait) {
  Sender s(am12());
  ASSERT_TRUE(s.push(8));
  EXPECT_EQ(s.pull(6)[0], '9');  // octets are left
  EXPECT_EQ(s.pull(100)[0], 'e');
  s.retx.pending = true;
  ASSERT_TRUE(s.push(8));
  EXPECT_EQ(s.pull(100)[0], '8');
}

TEST(AmSend, polls_when_the_window_is_full_and_sends_nothing_new_then) {
  Sender s(am12());
  s.send.restart_at(2046);  // TX_Next_Ack is 0
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(s.push(8));
  EXPECT_EQ(s.pull(100).substr(0, 4), "87fe");
  EXPECT_EQ(s.pull(6).substr(0, 4), "97ff");    // not stalled as long as the SDU is cut
  EXPECT_EQ(s.pull(100).substr(0, 4), "e7ff");  // now it is
  EXPECT_TRUE(s.send.state(s.retx).stalled);
  EXPECT_EQ(s.pull(100), "");
  EXPECT_EQ(s.send.waiting(), 3U);
  s.retx.next_ack = 1;
  EXPECT_EQ(s.pull(100).substr(0, 4), "c800");
  EXPECT_EQ(s.pull(100), "");
}

TEST(AmSend, full_memory_for_copies_is_a_stall) {
  Sender s(am12());
  s.retx.room = 2;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(s.push(8));
  EXPECT_EQ(s.pull(100)[0], '8');
  s.retx.room = 1;
  EXPECT_EQ(s.pull(6)[0], '9');
  s.retx.room = 0;
  EXPECT_EQ(s.pull(100)[0], 'e');  // the last one that may be sent asks for a STATUS
  EXPECT_EQ(s.pull(100), "");
}

TEST(AmSend, polls_when_asked_and_counts_anew) {
  Sender s(am12());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(s.push(8));
  EXPECT_EQ(s.pull(100)[0], '8');
  s.retx.poll_wanted = true;
  EXPECT_EQ(s.pull(100)[0], 'c');
  EXPECT_EQ(s.send.pdu_without_poll(), 0U);
  s.retx.poll_wanted = false;
  EXPECT_EQ(s.pull(100)[0], '8');
  s.send.polled();
  EXPECT_EQ(s.send.byte_without_poll(), 0U);
}

TEST(AmSend, discard_leaves_no_gap_and_never_takes_what_was_begun) {
  Sender s(am12());
  for (unsigned i = 0; i < 4; ++i) ASSERT_TRUE(s.push(8, i));
  EXPECT_EQ(s.pull(5).substr(0, 4), "9000");
  EXPECT_FALSE(s.send.discard(0));
  EXPECT_TRUE(s.send.discard(1));
  EXPECT_FALSE(s.send.discard(1));
  EXPECT_FALSE(s.send.discard(4));
  EXPECT_EQ(s.pull(100).substr(0, 4), "a000");
  EXPECT_EQ(s.pull(100), "8001" + to_hex(pattern(8, 2)));
  EXPECT_EQ(s.send.last_ordinal(), 2U);
  EXPECT_TRUE(s.send.discard(3));
  EXPECT_EQ(s.pull(100), "");
  EXPECT_EQ(s.send.counters().discarded, 2U);
  EXPECT_EQ(s.send.next(), 2U);
}

TEST(AmSend, volume_is_what_would_go_on_the_air) {
  Sender s(am18());
  EXPECT_EQ(s.send.volume(), 0U);
  ASSERT_TRUE(s.push(10));
  ASSERT_TRUE(s.push(20));
  EXPECT_EQ(s.send.volume(), 13U + 23U);
  s.pull(7);
  EXPECT_EQ(s.send.volume(), 6U + 5U + 23U);
  s.pull(100);
  s.pull(100);
  EXPECT_EQ(s.send.volume(), 0U);
}

TEST(AmSend, refuses_above_its_limit_before_anything_is_numbered) {
  AmConfig config = am12();
  config.max_queued = 2;
  Sender s(config);
  EXPECT_TRUE(s.push(8));
  EXPECT_TRUE(s.push(8));
  EXPECT_FALSE(s.push(8));
  EXPECT_FALSE(s.push(0));
  EXPECT_EQ(s.send.counters().refused, 2U);
  EXPECT_EQ(s.send.counters().sdus, 2U);
  EXPECT_EQ(s.pull(100).substr(0, 4), "8000");
  EXPECT_EQ(s.pull(100).substr(0, 4), "c001");
}

TEST(AmSend, sns_go_round) {
  for (const AmConfig& config : {am12(), am18()}) {
    for (const std::uint32_t begin : {(1U << config.sn_bits) - 2, 0xFFFFFFFEU}) {
      Sender s(config);
      s.send.restart_at(begin);
      s.retx.next_ack = begin;
      std::string sns;
      for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(s.push(1));
        s.retx.pending = true;  // no poll
        sns += s.pull(100).substr(1, config.sn_bits == 12 ? 3 : 5) + " ";
      }
      EXPECT_EQ(sns, config.sn_bits == 12 ? "ffe fff 000 001 " : "3fffe 3ffff 00000 00001 ");
      EXPECT_EQ(s.send.next(), begin + 4);
    }
  }
}

TEST(AmSend, restart_drops_everything) {
  Sender s(am12());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(s.push(8));
  s.pull(5);
  s.send.restart_at(0);
  s.last = {};
  EXPECT_EQ(s.pool.live(), 0U);
  EXPECT_TRUE(s.memory.unused());
  EXPECT_EQ(s.send.volume(), 0U);
  EXPECT_EQ(s.pull(100), "");
  EXPECT_EQ(s.send.pdu_without_poll(), 0U);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
