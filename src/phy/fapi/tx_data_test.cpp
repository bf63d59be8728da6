#include "phy/fapi/tx_data.h"

#include <gtest/gtest.h>

#include "phy/fapi/test_messages.h"

namespace splitplane::fapi {
namespace {

using test::Bytes;
using test::Filler;

class TxData : public testing::Test {
 protected:
  // The body as one piece of exactly its size.
  Bytes written(PayloadTag tag) {
    const Reason reason = writer_->write(*message_, tag);
    EXPECT_EQ(reason, Reason::ok) << text_of(reason);
    const Bytes octets = test::joined(writer_->pieces());
    EXPECT_EQ(octets.size(), writer_->bytes());
    return octets;
  }
  void add_pdu(std::uint16_t index, std::initializer_list<Octets> parts) {
    TxDataRequest::Pdu* const pdu = message_->pdus.append();
    ASSERT_NE(pdu, nullptr);
    pdu->pdu_index = index;
    pdu->parts.clear();
    for (const Octets part : parts) pdu->parts.add({part});
  }

  std::unique_ptr<TxDataRequest> message_ = std::make_unique<TxDataRequest>(),
                                 again_ = std::make_unique<TxDataRequest>();
  std::unique_ptr<TxDataWriter> writer_ = std::make_unique<TxDataWriter>();
  const Bytes block_{0xA1, 0xA2, 0xA3, 0xA4, 0xA5};
};

TEST_F(TxData, an_inline_payload_is_padded_to_four_octets) {
  message_->sfn = 1;
  add_pdu(7, {block_});
  // SFN, slot, one PDU; PDU_Length 10 + 6 + 5, index 7, one TLV; tag 0, length 5, payload, padding.
  EXPECT_EQ(written(PayloadTag::kInline), (Bytes{0, 1, 0, 0, 0, 1, 0, 0,    0,    21,   0,    7,    0, 0, 0,
                                                 1, 0, 0, 0, 0, 0, 5, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0, 0, 0}));
}

TEST_F(TxData, an_offset_counts_from_the_end_of_the_last_tlv) {
  add_pdu(0, {block_});
  add_pdu(1, {Octets(block_).first(2)});
  const Bytes octets = written(PayloadTag::kOffset);
  ASSERT_EQ(octets.size(), 6U + 2 * (10 + 10) + 7);
  EXPECT_EQ(wire::load_be16(octets.data() + 16), 2);   // tag
  EXPECT_EQ(wire::load_be32(octets.data() + 18), 5U);  // length
  EXPECT_EQ(wire::load_be32(octets.data() + 22), 0U);  // offset
  EXPECT_EQ(wire::load_be32(octets.data() + 42), 5U);  // offset of the second
  EXPECT_EQ(octets[46], 0xA1);
}

TEST_F(TxData, no_octet_of_a_transport_block_is_copied) {
  add_pdu(0, {block_, block_});
  for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
    (void)written(tag);
    const auto whole = std::ranges::count_if(writer_->pieces(), [this](Octets o) { return o.data() == block_.data(); });
    EXPECT_EQ(whole, 2);
  }
}

TEST_F(TxData, a_message_is_read_back_as_it_was_written_with_both_tags) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Filler filler(seed, 4, 5000);
    test::fill(filler, *message_, seed % 100 == 0 ? 255 : 5, seed % 10 == 0 ? 5000 : 40);
    for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
      const Bytes octets = written(tag);
      const Reason reason = read_tx_data(octets, *again_);
      ASSERT_EQ(reason, Reason::ok) << text_of(reason) << ", seed " << seed;
      ASSERT_EQ(*again_, *message_) << "seed " << seed;
    }
  }
}

TEST_F(TxData, an_empty_part_is_read_back) {
  add_pdu(0, {Octets{}});
  for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
    const Bytes octets = written(tag);
    ASSERT_EQ(read_tx_data(octets, *again_), Reason::ok);
    EXPECT_EQ(*again_, *message_);
  }
}

TEST_F(TxData, a_block_of_160_kib_is_one_tlv) {
  const Bytes large(160 * 1024, 0x5A);
  add_pdu(0, {large});
  const Bytes octets = written(PayloadTag::kInline);
  ASSERT_EQ(read_tx_data(octets, *again_), Reason::ok);
  EXPECT_EQ(again_->pdus[0].parts[0].size(), large.size());
}

TEST_F(TxData, a_full_message_fits_the_writer) {
  for (std::uint16_t i = 0; i < kMaxPdus; ++i) add_pdu(i, {block_, block_, block_, block_});
  for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
    const Bytes octets = written(tag);
    ASSERT_EQ(read_tx_data(octets, *again_), Reason::ok);
    EXPECT_EQ(*again_, *message_);
  }
}

TEST_F(TxData, a_cut_message_has_a_reason_at_each_octet) {
  add_pdu(3, {block_, Octets(block_).first(4)});
  for (const PayloadTag tag : {PayloadTag::kInline, PayloadTag::kOffset}) {
    const Bytes octets = written(tag);
    for (std::size_t bytes = 0; bytes < octets.size(); ++bytes) {
      const Bytes cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(bytes));
      ASSERT_NE(read_tx_data(cut, *again_), Reason::ok) << bytes;
    }
  }
}

TEST_F(TxData, octets_that_no_tlv_has_are_refused) {
  add_pdu(3, {Octets(block_).first(4)});
  Bytes octets = written(PayloadTag::kInline);
  octets.push_back(0);
  EXPECT_EQ(read_tx_data(octets, *again_), Reason::trailing_octets);
  octets = written(PayloadTag::kOffset);
  octets.push_back(0);
  EXPECT_EQ(read_tx_data(octets, *again_), Reason::bad_payload_offset);
}

TEST_F(TxData, an_offset_beyond_the_message_is_refused) {
  add_pdu(3, {block_});
  Bytes octets = written(PayloadTag::kOffset);
  for (const std::uint32_t offset : {1U, 5U, 0xFFFFFFFFU, 0x80000000U}) {
    wire::store_be32(octets.data() + 22, offset);
    EXPECT_EQ(read_tx_data(octets, *again_), Reason::bad_payload_offset) << offset;
  }
}

// A hundred TLVs of one payload would name a hundred times the octets that came.
TEST_F(TxData, payloads_that_overlap_or_go_back_are_refused) {
  const Bytes eight(8, 0xB0);
  add_pdu(3, {eight, eight});
  const Bytes octets = written(PayloadTag::kOffset);
  constexpr std::size_t kFirst = 22, kSecond = 32;  // offsets of the two
  ASSERT_EQ(read_tx_data(octets, *again_), Reason::ok);
  Bytes swapped = octets;
  wire::store_be32(swapped.data() + kFirst, 8);
  wire::store_be32(swapped.data() + kSecond, 0);
  EXPECT_EQ(read_tx_data(swapped, *again_), Reason::bad_payload_offset);
  Bytes overlap = octets;
  wire::store_be32(overlap.data() + kSecond - 4, 9);
  wire::store_be32(overlap.data() + kSecond, 7);
  EXPECT_EQ(read_tx_data(overlap, *again_), Reason::bad_payload_offset);
}

TEST_F(TxData, a_pointer_does_not_cross_a_network) {
  add_pdu(3, {block_});
  EXPECT_EQ(writer_->write(*message_, PayloadTag::kPointer), Reason::payload_pointer);
  Bytes octets = written(PayloadTag::kInline);
  octets[17] = 1;
  EXPECT_EQ(read_tx_data(octets, *again_), Reason::payload_pointer);
  octets[17] = 3;
  EXPECT_EQ(read_tx_data(octets, *again_), Reason::bad_payload_tag);
}

TEST_F(TxData, pdu_length_is_not_judged) {
  add_pdu(3, {block_});
  Bytes octets = written(PayloadTag::kInline);
  wire::store_be32(octets.data() + 6, 5);
  EXPECT_EQ(read_tx_data(octets, *again_), Reason::ok);
}

}  // namespace
}  // namespace splitplane::fapi
