// Compares descriptor formats with words written by hand from the datasheet's bit tables.
#include "gpu/rings/descriptor.h"

#include <gtest/gtest.h>

namespace splitplane::gpu {
namespace {

TEST(Descriptor, a_receive_descriptor_is_an_address_and_a_word_of_zero) {
  const Descriptor d = make_rx_read(0x123456789ab0);
  EXPECT_EQ(d.lo, 0x123456789ab0U);
  EXPECT_EQ(d.hi, 0U) << "DD would be there";
  EXPECT_FALSE(rx_is_done(d.hi));
}

TEST(Descriptor, a_receive_write_back_has_length_and_flags_in_one_word) {
  const Descriptor d = make_rx_write_back({.length = 0x05dc, .rss_hash = 0xcafef00d});
  EXPECT_EQ(d.hi, 0x000005dc00000003U);
  EXPECT_EQ(d.lo, 0xcafef00d00000001U);
  EXPECT_TRUE(rx_is_done(d.hi));
  EXPECT_TRUE(rx_is_whole(d.hi));
  EXPECT_EQ(rx_length(d.hi), 1500U);
  EXPECT_EQ(rx_rss_hash(d.lo), 0xcafef00dU);
}

TEST(Descriptor, a_vlan_tag_is_no_part_of_the_length) {
  EXPECT_EQ(rx_length(0xffff004000000003U), 64U);
}

TEST(Descriptor, a_frame_with_a_mac_error_or_a_further_part_is_not_whole) {
  EXPECT_FALSE(rx_is_whole(make_rx_write_back({.length = 64, .errors = kRxErrorMac}).hi));
  EXPECT_FALSE(rx_is_whole(make_rx_write_back({.length = 2048, .end_of_packet = false}).hi));
  EXPECT_TRUE(rx_is_whole(make_rx_write_back({.length = 64, .errors = kRxErrorL4}).hi)) << "checksums are the host's";
}

TEST(Descriptor, a_transmit_descriptor_asks_for_fcs_and_a_report) {
  const Descriptor d = make_tx_data(0xabc000, 0x40);
  EXPECT_EQ(d.lo, 0xabc000U);
  EXPECT_EQ(d.hi, (0x40ULL << 46) | 0x2b300040U);  // DEXT, RS, IFCS, EOP, DTYP 3, DTALEN
  EXPECT_EQ(tx_length(d.hi), 64U);
  EXPECT_EQ(tx_payload_length(d.hi), 64U);
  EXPECT_TRUE(tx_wants_report(d.hi));
  EXPECT_FALSE(tx_is_done(d.hi));
}

TEST(Descriptor, no_length_of_a_frame_looks_like_a_report) {
  for (std::uint32_t length = 0; length < 0x4000; ++length) ASSERT_FALSE(tx_is_done(make_tx_data(0, length).hi));
  EXPECT_TRUE(tx_is_done(make_tx_write_back().hi));
}

}  // namespace
}  // namespace splitplane::gpu
