#include "returns/fence_frame.h"

#include <gtest/gtest.h>

#include "returns/returned_frame.h"

namespace splitplane::datapath {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kWritten = 0x0123456789abcdef;

Bytes fence(const std::vector<BearerId>& ids) {
  Bytes frame(fence_bytes(ids.size()), 0xff);
  write_fence(kWritten, ids, frame.data());
  return frame;
}

// The layout at the head of fence_frame.h, written by hand.
TEST(FenceFrame, has_its_octets_where_the_layout_says) {
  Bytes expected(12);
  for (const unsigned octet : {0x88, 0xb5, 0x22, 0,    0,    0,    0, 0, 0, 2, 0,    16,   0x01, 0x23,
                               0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 4, 0, 0, 1, 0xff, 0xfe, 0xfd, 0xfc})
    expected.push_back(static_cast<std::uint8_t>(octet));
  EXPECT_EQ(fence({BearerId{0x04000001}, BearerId{0xfffefdfc}}), expected);
}

TEST(FenceFrame, is_read_as_it_was_written) {
  for (const std::size_t bearers : {std::size_t{0}, std::size_t{1}, std::size_t{kMostFenced}}) {
    std::vector<BearerId> ids;
    for (std::uint32_t i = 0; i < bearers; ++i) ids.push_back(BearerId{0xffff0000 + i});
    Bytes frame = fence(ids);
    frame.resize(frame.size() + 20);  // the link's padding
    const auto read = parse_fence(frame);
    ASSERT_TRUE(read) << bearers;
    EXPECT_EQ(read->token, kWritten);
    ASSERT_EQ(read->bearers, bearers);
    for (std::uint32_t i = 0; i < bearers; ++i) EXPECT_EQ(read->id(i), ids[i].value);
  }
}

TEST(FenceFrame, that_is_cut_anywhere_is_none) {
  const Bytes frame = fence({BearerId{1}, BearerId{2}});
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
    EXPECT_FALSE(parse_fence(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)))) << bytes;
}

TEST(FenceFrame, whose_lengths_disagree_is_none) {
  Bytes frame = fence({BearerId{1}, BearerId{2}});
  frame[23] = 12;  // octets of one bearer
  EXPECT_FALSE(parse_fence(frame));
  frame[23] = 20;
  EXPECT_FALSE(parse_fence(frame));
  frame[21] = 3;  // bearers: both agree, and the frame is too short
  EXPECT_FALSE(parse_fence(frame));
  frame.resize(frame.size() + 4);
  EXPECT_TRUE(parse_fence(frame));
}

TEST(FenceFrame, with_too_many_bearers_is_none) {
  std::vector<BearerId> ids(kMostFenced + 1, BearerId{7});
  EXPECT_FALSE(parse_fence(fence(ids)));
  Bytes huge = fence({});
  wire::store_be32(huge.data() + 18, 0x40000000);  // its ids would have 2^32 octets: a product that is 0
  EXPECT_FALSE(parse_fence(huge));
}

TEST(FenceFrame, is_no_other_frame_of_its_ethertype) {
  Bytes frame = fence({BearerId{1}});
  for (const unsigned first : {0x20U, 0x21U, 0x23U, 0x12U, 0x32U}) {  // other kinds and versions
    frame[14] = static_cast<std::uint8_t>(first);
    EXPECT_FALSE(parse_fence(frame)) << first;
  }
  frame = fence({BearerId{1}});
  write_returned(1, 9, 12, frame.data() + 14);
  EXPECT_FALSE(parse_fence(frame));
  frame = fence({BearerId{1}});
  frame[13] = 0xb6;
  EXPECT_FALSE(parse_fence(frame));
}

}  // namespace
}  // namespace splitplane::datapath
