#include "phy/fapi/p7_receiver.h"

#include <gtest/gtest.h>

#include "phy/fapi/test_messages.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;

constexpr P7Receiver::Time kTimeout = 100;

std::vector<Bytes> datagrams_of(P7Sender& sender, const Bytes& body, MessageId id = MessageId::kTxDataRequest) {
  EXPECT_EQ(sender.cut(id, body, 0), Reason::ok);
  std::vector<Bytes> out;
  for (const auto datagram : sender.datagrams()) out.push_back(test::joined(datagram));
  return out;
}

Bytes body_of(std::size_t bytes, std::uint8_t first) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(first + i * 3);
  return out;
}

// A datagram with fields of the test's choice, and without checksum.
Bytes forged(bool more, std::uint8_t segment, std::uint8_t sequence, std::size_t body, std::uint16_t id = 0x84) {
  Bytes out(kP7HeaderBytes + body, 0x11);
  write_p7_header(out.data(), {.phy_id = 1,
                               .message_id = id,
                               .message_length = static_cast<std::uint32_t>(out.size()),
                               .more = more,
                               .segment = segment,
                               .sequence = sequence});
  return out;
}

class P7Receiving : public testing::Test {
 protected:
  P7Outcome give(const Bytes& datagram) {
    last_ = receiver_.receive(datagram, now_);
    if (last_.outcome == P7Outcome::message) delivered_.emplace_back(last_.body.begin(), last_.body.end());
    return last_.outcome;
  }
  [[nodiscard]] std::uint64_t count(P7Outcome outcome) const { return receiver_.counters().of(outcome); }

  P7Sender sender_{1, 118, ChecksumMode::kIfThere};  // 100 octets of body
  P7Receiver receiver_{{.phy_id = 1, .max_message_bytes = 2000, .messages_at_once = 2, .timeout = kTimeout}};
  P7Receiver::Time now_ = 1000;
  P7Receiver::Event last_;
  std::vector<Bytes> delivered_;
};

TEST_F(P7Receiving, a_message_of_one_datagram_is_not_copied) {
  const Bytes datagram = datagrams_of(sender_, body_of(50, 1))[0];
  ASSERT_EQ(give(datagram), P7Outcome::message);
  EXPECT_EQ(last_.body.data(), datagram.data() + kP7HeaderBytes);
  EXPECT_EQ(last_.header.message_id, 0x84);
}

TEST_F(P7Receiving, segments_are_put_together_in_any_order) {
  const Bytes body = body_of(451, 9);
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  do {
    const auto datagrams = datagrams_of(sender_, body);
    ASSERT_EQ(datagrams.size(), 5U);
    for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(give(datagrams[order[i]]), P7Outcome::segment);
    ASSERT_EQ(give(datagrams[order[4]]), P7Outcome::message);
    ASSERT_EQ(delivered_.back(), body);
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(delivered_.size(), 120U);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
}

TEST_F(P7Receiving, segments_of_two_messages_may_mix) {
  const Bytes a = body_of(250, 1), b = body_of(150, 2);
  const auto of_a = datagrams_of(sender_, a), of_b = datagrams_of(sender_, b);
  EXPECT_EQ(give(of_a[0]), P7Outcome::segment);
  EXPECT_EQ(give(of_b[1]), P7Outcome::segment);
  EXPECT_EQ(give(of_a[2]), P7Outcome::segment);
  EXPECT_EQ(give(of_b[0]), P7Outcome::message);
  EXPECT_EQ(give(of_a[1]), P7Outcome::message);
  EXPECT_EQ(delivered_, (std::vector<Bytes>{b, a}));
}

TEST_F(P7Receiving, what_comes_twice_is_dropped) {
  const auto one = datagrams_of(sender_, body_of(50, 1)), two = datagrams_of(sender_, body_of(150, 2));
  EXPECT_EQ(give(one[0]), P7Outcome::message);
  EXPECT_EQ(give(one[0]), P7Outcome::stale);
  EXPECT_EQ(give(two[0]), P7Outcome::segment);
  EXPECT_EQ(give(two[0]), P7Outcome::stale);
  EXPECT_EQ(give(two[1]), P7Outcome::message);
  EXPECT_EQ(give(two[1]), P7Outcome::stale);
  EXPECT_EQ(give(two[0]), P7Outcome::stale);
  EXPECT_EQ(delivered_.size(), 2U);
}

TEST_F(P7Receiving, gaps_are_counted_and_what_fills_them_is_taken) {
  std::vector<Bytes> messages;
  for (std::uint8_t i = 0; i < 6; ++i) messages.push_back(datagrams_of(sender_, body_of(10, i))[0]);
  for (const std::size_t i : {0, 1, 5, 3, 2}) EXPECT_EQ(give(messages[i]), P7Outcome::message);
  EXPECT_EQ(receiver_.counters().sequence_gaps, 3U);
  EXPECT_EQ(receiver_.counters().reordered, 2U);  // so one is missing
  EXPECT_EQ(give(messages[3]), P7Outcome::stale);
}

TEST_F(P7Receiving, sequence_numbers_come_round) {
  for (unsigned i = 0; i < 700; ++i) {
    const auto datagrams = datagrams_of(sender_, body_of(20, 1));
    ASSERT_EQ(give(datagrams[0]), P7Outcome::message) << i;
  }
  EXPECT_EQ(receiver_.counters().sequence_gaps, 0U);
}

// The numbers come round within the timeout: without a limit, halves of two messages would become one.
TEST_F(P7Receiving, a_kept_message_is_given_up_when_its_number_is_far_behind) {
  const auto early = datagrams_of(sender_, body_of(150, 1));
  EXPECT_EQ(give(early[0]), P7Outcome::segment);
  for (unsigned i = 1; i < P7Receiver::kHistory; ++i) {
    EXPECT_EQ(give(datagrams_of(sender_, body_of(20, 1))[0]), P7Outcome::message);
    EXPECT_EQ(receiver_.kept_messages(), 1U);
  }
  for (unsigned i = P7Receiver::kHistory; i < 256; ++i) (void)give(datagrams_of(sender_, body_of(20, 1))[0]);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
  EXPECT_EQ(receiver_.counters().outpaced, 1U);
  const Bytes body = body_of(150, 2);
  const auto late = datagrams_of(sender_, body);
  EXPECT_EQ(give(late[1]), P7Outcome::segment);
  EXPECT_EQ(give(late[0]), P7Outcome::message);
  EXPECT_EQ(delivered_.back(), body);
}

TEST_F(P7Receiving, a_peer_that_begins_again_is_taken_after_a_silence) {
  for (unsigned i = 0; i < 80; ++i) (void)give(datagrams_of(sender_, body_of(20, 1))[0]);
  P7Sender again(1, 118, ChecksumMode::kIfThere);
  EXPECT_EQ(give(datagrams_of(again, body_of(20, 2))[0]), P7Outcome::stale);
  now_ += kTimeout;
  EXPECT_EQ(give(datagrams_of(again, body_of(20, 2))[0]), P7Outcome::message);
  EXPECT_EQ(receiver_.counters().resynchronized, 1U);
}

TEST_F(P7Receiving, a_restart_gives_up_what_is_kept_and_takes_any_number) {
  for (unsigned i = 0; i < 80; ++i) (void)give(datagrams_of(sender_, body_of(20, 1))[0]);
  EXPECT_EQ(give(datagrams_of(sender_, body_of(150, 1))[0]), P7Outcome::segment);
  receiver_.restart();
  EXPECT_EQ(receiver_.kept_messages(), 0U);
  EXPECT_EQ(receiver_.counters().evicted, 1U);
  P7Sender again(1, 118, ChecksumMode::kIfThere);
  EXPECT_EQ(give(datagrams_of(again, body_of(20, 2))[0]), P7Outcome::message);
  EXPECT_EQ(receiver_.counters().sequence_gaps, 0U);
}

TEST_F(P7Receiving, what_is_stale_does_not_put_the_end_of_a_silence_off) {
  for (unsigned i = 0; i < 80; ++i) (void)give(datagrams_of(sender_, body_of(20, 1))[0]);
  const Bytes far = forged(false, 0, 0, 20);
  for (unsigned i = 0; i + 1 < kTimeout; ++i) {
    ++now_;
    ASSERT_EQ(give(far), P7Outcome::stale);
  }
  ++now_;
  EXPECT_EQ(give(far), P7Outcome::message);
}

TEST_F(P7Receiving, after_an_outage_of_half_the_numbers_a_run_in_order_is_taken) {
  for (const unsigned outage : {127U, 150U, 180U}) {
    const auto half = datagrams_of(sender_, body_of(150, 1));
    ASSERT_EQ(give(half[0]), P7Outcome::segment);
    for (unsigned i = 0; i < outage; ++i) (void)datagrams_of(sender_, body_of(20, 1));
    const std::uint64_t before = receiver_.counters().resynchronized;
    for (unsigned i = 1; i < P7Receiver::kFarRun; ++i) {
      const Bytes late = datagrams_of(sender_, body_of(20, 1))[0];
      ASSERT_EQ(give(late), P7Outcome::stale) << outage;
      ASSERT_EQ(give(late), P7Outcome::stale) << outage;
    }
    ASSERT_EQ(receiver_.counters().resynchronized, before);
    ASSERT_EQ(receiver_.kept_messages(), 1U);
    ASSERT_EQ(give(datagrams_of(sender_, body_of(20, 1))[0]), P7Outcome::message) << outage;
    EXPECT_EQ(receiver_.counters().resynchronized, before + 1);
    EXPECT_EQ(receiver_.kept_messages(), 0U);
    ASSERT_EQ(give(datagrams_of(sender_, body_of(20, 1))[0]), P7Outcome::message) << outage;
  }
}

// A datagram of the stream between them shows that the numbers are right as they are.
TEST_F(P7Receiving, old_numbers_between_new_ones_change_nothing) {
  for (unsigned i = 0; i < 100; ++i) (void)give(datagrams_of(sender_, body_of(20, 1))[0]);
  for (std::uint8_t i = 0; i < 30; ++i) {
    ASSERT_EQ(give(forged(false, 0, i, 20)), P7Outcome::stale);
    ASSERT_EQ(give(datagrams_of(sender_, body_of(20, 1))[0]), P7Outcome::message);
  }
  EXPECT_EQ(receiver_.counters().resynchronized, 0U);
}

TEST_F(P7Receiving, a_message_with_a_hole_is_given_up_after_the_timeout) {
  const auto datagrams = datagrams_of(sender_, body_of(250, 1));
  EXPECT_EQ(give(datagrams[0]), P7Outcome::segment);
  now_ += kTimeout - 1;
  EXPECT_EQ(give(datagrams[1]), P7Outcome::segment);
  EXPECT_EQ(receiver_.kept_messages(), 1U);
  ++now_;
  receiver_.expire(now_);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
  EXPECT_EQ(receiver_.counters().timed_out, 1U);
}

TEST_F(P7Receiving, the_oldest_message_makes_room_for_a_new_one) {
  const auto a = datagrams_of(sender_, body_of(150, 1)), b = datagrams_of(sender_, body_of(150, 2)),
             c = datagrams_of(sender_, body_of(150, 3));
  EXPECT_EQ(give(a[0]), P7Outcome::segment);
  ++now_;
  EXPECT_EQ(give(b[0]), P7Outcome::segment);
  EXPECT_EQ(give(c[0]), P7Outcome::segment);
  EXPECT_EQ(receiver_.counters().evicted, 1U);
  EXPECT_EQ(give(a[1]), P7Outcome::stale);
  EXPECT_EQ(give(b[1]), P7Outcome::message);
  EXPECT_EQ(give(c[1]), P7Outcome::message);
}

TEST_F(P7Receiving, a_message_beyond_the_memory_is_given_up) {
  const auto datagrams = datagrams_of(sender_, body_of(2001, 1));
  for (std::size_t i = 0; i < 20; ++i) ASSERT_EQ(give(datagrams[i]), P7Outcome::segment);
  EXPECT_EQ(give(datagrams[20]), P7Outcome::overflow);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
  P7Sender large(1, 4000, ChecksumMode::kIfThere);
  now_ += kTimeout;
  EXPECT_EQ(give(datagrams_of(large, body_of(2001, 1))[0]), P7Outcome::overflow);
}

TEST_F(P7Receiving, segments_that_contradict_each_other_end_their_message) {
  const struct {
    Bytes first, second;
  } cases[] = {
      {forged(false, 3, 1, 10), forged(true, 4, 1, 10)},       // behind the last
      {forged(false, 3, 2, 10), forged(false, 2, 2, 10)},      // another last one
      {forged(true, 5, 3, 10), forged(false, 3, 3, 10)},       // the last before others
      {forged(true, 0, 4, 10), forged(true, 1, 4, 10, 0x85)},  // another message
      {forged(true, 0, 5, 10), forged(false, 1, 5, 0)},        // without octets
      {forged(false, 127, 6, 10), forged(false, 0, 6, 10)},
  };
  for (const auto& c : cases) {
    ASSERT_EQ(give(c.first), P7Outcome::segment);
    ASSERT_EQ(give(c.second), P7Outcome::contradiction);
    ASSERT_EQ(receiver_.kept_messages(), 0U);
    ASSERT_EQ(give(c.first), P7Outcome::stale);
  }
}

TEST_F(P7Receiving, nothing_follows_the_last_possible_segment) {
  EXPECT_EQ(give(forged(true, 127, 1, 10)), P7Outcome::contradiction);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
  EXPECT_EQ(give(forged(true, 126, 2, 10)), P7Outcome::segment);
  EXPECT_EQ(give(forged(true, 127, 2, 10)), P7Outcome::contradiction);
  EXPECT_EQ(receiver_.kept_messages(), 0U);
}

TEST_F(P7Receiving, refusals_are_counted_by_reason) {
  const Bytes good = datagrams_of(sender_, body_of(30, 1))[0];
  P7Sender other(2, 118, ChecksumMode::kIfThere);
  Bytes wrong = good;
  wrong.back() ^= 1;
  EXPECT_EQ(give(wrong), P7Outcome::refused);
  EXPECT_EQ(give(Bytes(good.begin(), good.begin() + 17)), P7Outcome::refused);
  EXPECT_EQ(give(Bytes(good.begin(), good.end() - 1)), P7Outcome::refused);
  EXPECT_EQ(give(datagrams_of(other, body_of(5, 1))[0]), P7Outcome::refused);
  const auto& counters = receiver_.counters();
  EXPECT_EQ(counters.of(Reason::bad_checksum), 1U);
  EXPECT_EQ(counters.of(Reason::header_truncated), 1U);
  EXPECT_EQ(counters.of(Reason::bad_message_length), 1U);
  EXPECT_EQ(counters.of(Reason::other_phy), 1U);
  EXPECT_EQ(give(good), P7Outcome::message);  // none of them took its number
  EXPECT_EQ(count(P7Outcome::refused), 4U);
}

}  // namespace
}  // namespace splitplane::fapi
