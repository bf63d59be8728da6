#include "phy/fapi/p7_sender.h"

#include <gtest/gtest.h>

#include "phy/fapi/test_messages.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;

constexpr MessageId kId = MessageId::kTxDataRequest;

Bytes counting(std::size_t bytes) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return out;
}

TEST(P7Sender, cuts_a_message_into_datagrams_of_the_largest_size) {
  P7Sender sender(9, 118, ChecksumMode::kIfThere);  // 100 octets of body
  const Bytes body = counting(250);
  ASSERT_EQ(sender.cut(kId, body, 77), Reason::ok);
  ASSERT_EQ(sender.datagrams().size(), 3U);
  Bytes together;
  for (std::size_t i = 0; i < 3; ++i) {
    const Bytes datagram = test::joined(sender.datagrams()[i]);
    const auto parsed = parse_p7(datagram, ChecksumMode::kRequired);
    ASSERT_EQ(parsed.reason, Reason::ok) << text_of(parsed.reason);
    EXPECT_EQ(parsed.header.phy_id, 9);
    EXPECT_EQ(parsed.header.message_id, 0x84);
    EXPECT_EQ(parsed.header.segment, i);
    EXPECT_EQ(parsed.header.more, i != 2);
    EXPECT_EQ(parsed.header.sequence, 0);
    EXPECT_EQ(parsed.header.transmit_timestamp, 77U);
    EXPECT_EQ(parsed.body.size(), i == 2 ? 50U : 100U);
    together.insert(together.end(), parsed.body.begin(), parsed.body.end());
  }
  EXPECT_EQ(together, body);
}

TEST(P7Sender, a_body_that_just_fits_is_one_datagram_and_one_more_octet_two) {
  P7Sender sender(1, 118, ChecksumMode::kIgnored);
  ASSERT_EQ(sender.cut(kId, counting(100), 0), Reason::ok);
  EXPECT_EQ(sender.datagrams().size(), 1U);
  ASSERT_EQ(sender.cut(kId, counting(101), 0), Reason::ok);
  EXPECT_EQ(sender.datagrams().size(), 2U);
}

TEST(P7Sender, an_empty_body_is_a_datagram) {
  P7Sender sender(1, 118, ChecksumMode::kIfThere);
  ASSERT_EQ(sender.cut(kId, Octets{}, 0), Reason::ok);
  ASSERT_EQ(sender.datagrams().size(), 1U);
  EXPECT_EQ(test::joined(sender.datagrams()[0]).size(), kP7HeaderBytes);
}

TEST(P7Sender, numbers_its_messages_modulo_256) {
  P7Sender sender(1, 64, ChecksumMode::kIgnored);
  const Bytes body(200);
  for (unsigned i = 0; i < 600; ++i) {
    ASSERT_EQ(sender.cut(kId, body, 0), Reason::ok);
    for (const auto datagram : sender.datagrams()) ASSERT_EQ(test::joined(datagram)[9], i % 256);
  }
}

TEST(P7Sender, a_message_beyond_128_segments_is_refused_and_takes_no_number) {
  P7Sender sender(1, 118, ChecksumMode::kIgnored);
  EXPECT_EQ(sender.max_body_bytes(), 12800U);
  EXPECT_EQ(sender.cut(kId, counting(12801), 0), Reason::too_long);
  EXPECT_EQ(sender.next_sequence(), 0);
  EXPECT_TRUE(sender.datagrams().empty());
  EXPECT_EQ(sender.cut(kId, counting(12800), 0), Reason::ok);
  EXPECT_EQ(sender.datagrams().size(), 128U);
}

TEST(P7Sender, a_block_of_160_kib_fits_an_mtu_of_1500) {
  auto message = std::make_unique<TxDataRequest>();
  auto writer = std::make_unique<TxDataWriter>();
  auto sender = std::make_unique<P7Sender>(1, 1472, ChecksumMode::kIfThere);
  const Bytes block = counting(160 * 1024);
  message->pdus.append()->parts.add({block});
  ASSERT_EQ(writer->write(*message, PayloadTag::kInline), Reason::ok);
  ASSERT_EQ(sender->cut(kId, writer->pieces(), 0), Reason::ok);
  EXPECT_EQ(sender->datagrams().size(), 113U);
  // The block's octets go from where they are.
  std::size_t uncopied = 0;
  for (const auto datagram : sender->datagrams()) {
    for (const Octets piece : datagram) {
      const bool inside = piece.data() >= block.data() && piece.data() < block.data() + block.size();
      uncopied += inside ? piece.size() : 0;
    }
  }
  EXPECT_EQ(uncopied, block.size());
}

TEST(P7Sender, a_full_message_fits_its_lists) {
  auto message = std::make_unique<TxDataRequest>();
  auto writer = std::make_unique<TxDataWriter>();
  auto sender = std::make_unique<P7Sender>(1, 1472, ChecksumMode::kIfThere);
  const Bytes block = counting(101);
  for (std::size_t i = 0; i < kMaxPdus; ++i) {
    TxDataRequest::Pdu* const pdu = message->pdus.append();
    while (pdu->parts.add({block})) {
    }
  }
  for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
    ASSERT_EQ(writer->write(*message, tag), Reason::ok);
    ASSERT_EQ(sender->cut(kId, writer->pieces(), 0), Reason::ok);
    std::size_t bodies = 0;
    for (const auto datagram : sender->datagrams()) bodies += test::joined(datagram).size() - kP7HeaderBytes;
    EXPECT_EQ(bodies, writer->bytes());
  }
}

}  // namespace
}  // namespace splitplane::fapi
