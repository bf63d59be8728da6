#include "phy/fapi/nfapi.h"

#include <gtest/gtest.h>

#include "phy/fapi/test_messages.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;

TEST(NfapiP5, the_header_has_ten_octets_and_the_length_of_the_body) {
  Bytes room(100);
  const Written w = write_p5(room, 0x0102, ErrorIndication{.sfn = 3, .slot = 4, .message_id = 4});
  ASSERT_EQ(w.bytes, 16U);
  room.resize(w.bytes);
  EXPECT_EQ(room, (Bytes{1, 2, 0, 7, 0, 0, 0, 6, 0, 0, 0, 3, 0, 4, 4, 0}));
  const auto parsed = parse_p5(room);
  EXPECT_EQ(parsed.reason, Reason::ok);
  EXPECT_EQ(parsed.header, (P5Header{.phy_id = 0x0102, .message_id = 7}));
  EXPECT_EQ(parsed.body.size(), 6U);
}

TEST(NfapiP5, a_message_without_body_is_its_header) {
  Bytes room(kP5HeaderBytes);
  EXPECT_EQ(write_p5(room, 1, StartRequest{}).bytes, kP5HeaderBytes);
  EXPECT_EQ(parse_p5(room).reason, Reason::ok);
  EXPECT_TRUE(parse_p5(room).body.empty());
}

TEST(NfapiP5, wrong_lengths_have_reasons) {
  Bytes room(16);
  ASSERT_EQ(write_p5(room, 1, ErrorIndication{}).bytes, 16U);
  EXPECT_EQ(parse_p5(Octets(room).first(9)).reason, Reason::header_truncated);
  EXPECT_EQ(parse_p5(Octets(room).first(15)).reason, Reason::bad_message_length);
  room.push_back(0);
  EXPECT_EQ(parse_p5(room).reason, Reason::bad_message_length);
  for (std::size_t bytes = 0; bytes < 16; ++bytes) {
    Bytes less(bytes);
    EXPECT_EQ(write_p5(less, 1, ErrorIndication{}).reason, Reason::no_room);
  }
}

TEST(NfapiP7, the_header_has_eighteen_octets) {
  Bytes room(kP7HeaderBytes);
  write_p7_header(room.data(), {.phy_id = 0x0102,
                                .message_id = 0x84,
                                .message_length = 18,
                                .more = true,
                                .segment = 5,
                                .sequence = 0x77,
                                .checksum = 0x01020304,
                                .transmit_timestamp = 0x0A0B0C0D});
  EXPECT_EQ(room, (Bytes{1, 2, 0, 0x84, 0, 0, 0, 18, 0x85, 0x77, 1, 2, 3, 4, 0x0A, 0x0B, 0x0C, 0x0D}));
}

class NfapiP7Checksum : public testing::Test {
 protected:
  NfapiP7Checksum() {
    P7Sender sender(1, 1472, ChecksumMode::kRequired);
    EXPECT_EQ(sender.cut(MessageId::kSlotIndication, Octets(body_), 5), Reason::ok);
    datagram_ = test::joined(sender.datagrams()[0]);
  }
  const Bytes body_{0, 1, 0, 2};
  Bytes datagram_;
};

TEST_F(NfapiP7Checksum, finds_each_bit_that_changed_but_for_the_timestamp) {
  ASSERT_EQ(parse_p7(datagram_, ChecksumMode::kRequired).reason, Reason::ok);
  for (std::size_t bit = 0; bit < datagram_.size() * 8; ++bit) {
    Bytes wrong = datagram_;
    wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ 1U << bit % 8);
    const Reason reason = parse_p7(wrong, ChecksumMode::kRequired).reason;
    const bool in_timestamp = bit / 8 >= kTimestampAt && bit / 8 < kP7HeaderBytes;
    const bool found = reason == Reason::bad_checksum || reason == Reason::bad_message_length;
    EXPECT_EQ(found, !in_timestamp) << bit;
  }
}

TEST_F(NfapiP7Checksum, of_zero_is_none) {
  wire::store_be32(datagram_.data() + kChecksumAt, 0);
  EXPECT_EQ(parse_p7(datagram_, ChecksumMode::kIfThere).reason, Reason::ok);
  EXPECT_EQ(parse_p7(datagram_, ChecksumMode::kRequired).reason, Reason::checksum_missing);
}

TEST_F(NfapiP7Checksum, is_ignored_where_asked) {
  datagram_[12] = static_cast<std::uint8_t>(~datagram_[12]);
  EXPECT_EQ(parse_p7(datagram_, ChecksumMode::kIgnored).reason, Reason::ok);
  EXPECT_EQ(parse_p7(datagram_, ChecksumMode::kIfThere).reason, Reason::bad_checksum);
}

}  // namespace
}  // namespace splitplane::fapi
