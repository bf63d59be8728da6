#include "phy/mapping/tx_blocks.h"

#include <gtest/gtest.h>

namespace splitplane::phy {
namespace {

using Bytes = std::vector<std::uint8_t>;

class TxBlocksTest : public testing::Test {
 protected:
  void add(std::uint16_t index, std::initializer_list<const Bytes*> parts) {
    auto& pdu = *message_->pdus.append();
    pdu.pdu_index = index;
    pdu.parts.clear();
    for (const Bytes* part : parts) pdu.parts.add({*part});
  }
  [[nodiscard]] Bytes taken(std::uint16_t index) {
    const auto block = blocks_.take(index);
    return block ? Bytes(block->begin(), block->end()) : Bytes{0xEE};
  }

  std::unique_ptr<fapi::TxDataRequest> message_ = std::make_unique<fapi::TxDataRequest>();
  TxBlocks blocks_{10};
  Bytes one_{1, 2, 3}, two_{4, 5}, six_{6, 7, 8, 9, 10, 11};
};

TEST_F(TxBlocksTest, a_block_outlives_its_message_and_is_given_once) {
  add(7, {&one_, &two_});
  add(3, {&two_});
  EXPECT_EQ(blocks_.fill(*message_), 0U);
  one_.assign(3, 0);
  EXPECT_EQ(blocks_.left(), 2U);
  EXPECT_EQ(taken(7), (Bytes{1, 2, 3, 4, 5}));
  EXPECT_EQ(blocks_.left(), 1U);
  EXPECT_FALSE(blocks_.take(7));
  EXPECT_FALSE(blocks_.take(4));
  EXPECT_EQ(taken(3), (Bytes{4, 5}));
  EXPECT_EQ(blocks_.left(), 0U);
}

TEST_F(TxBlocksTest, what_does_not_fit_or_comes_twice_is_left_out) {
  add(1, {&six_});
  add(1, {&two_});
  add(2, {&six_});
  add(3, {&two_});
  EXPECT_EQ(blocks_.fill(*message_), 2U);
  EXPECT_EQ(taken(1), six_);
  EXPECT_FALSE(blocks_.take(2));
  EXPECT_EQ(taken(3), two_);
  message_->pdus.clear();
  EXPECT_EQ(blocks_.fill(*message_), 0U);
  EXPECT_FALSE(blocks_.take(1));
}

}  // namespace
}  // namespace splitplane::phy
