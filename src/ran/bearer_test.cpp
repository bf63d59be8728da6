// The hot lines that a configuration becomes.
#include "ran/bearer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ran/test_variants.h"

namespace splitplane::ran {
namespace {

class Bearer : public testing::TestWithParam<BearerConfig> {};

TEST_P(Bearer, header_bytes_are_those_of_the_writers) {
  const BearerConfig& config = GetParam();
  const std::size_t down = test::downlink_headers(config, 0, 0, false, false, Qfi{0}, 0).size();
  const std::size_t up = test::uplink_pdu(config, 0, 0, Qfi{0}, {}).size();
  EXPECT_EQ(make_downlink(config).header_bytes + wire::airhdr::kHeaderBytes, down);
  EXPECT_EQ(make_uplink(config, PeerId{0}).header_bytes + wire::airhdr::kHeaderBytes, up);
}

TEST_P(Bearer, airhdr_says_what_wire_would) {
  const BearerConfig& config = GetParam();
  for (const Direction direction : {Direction::kUplink, Direction::kDownlink}) {
    test::Bytes air;
    test::put_airhdr(air, config, direction);
    EXPECT_EQ(airhdr_modes(config, direction), air[1]);
    if (direction == Direction::kUplink) {
      EXPECT_EQ(make_uplink(config, PeerId{0}).airhdr_modes, air[1]);
    } else {
      const std::uint32_t word = make_downlink(config).airhdr;
      EXPECT_EQ(std::memcmp(&word, air.data(), sizeof word), 0) << "memory order";
    }
  }
}

TEST_P(Bearer, a_new_bearer_starts_at_zero_and_carries_its_configuration) {
  const BearerConfig& config = GetParam();
  const BearerDownlink down = make_downlink(config);
  EXPECT_EQ(down.id, config.id.value);
  EXPECT_EQ(down.pdcp_tx_next, 0U);
  EXPECT_EQ(down.rlc_tx_next, 0U);
  EXPECT_EQ(down.pdu_without_poll, 0U);
  EXPECT_EQ(down.received, 0U);
  EXPECT_EQ(down.bytes, 0U);
  EXPECT_EQ(down.qfi, config.qfi.value);
  EXPECT_EQ(down.poll_bit != 0, config.rlc_mode == RlcMode::kAm && config.poll_pdu != 0);

  const BearerUplink up = make_uplink(config, PeerId{0x1ff});
  EXPECT_EQ(up.id, config.id.value);
  EXPECT_EQ(up.uplink_teid, config.uplink_teid.value);
  EXPECT_EQ(up.peer, 0x1ff);
  EXPECT_EQ(up.pdcp_rx_next, 0U);
  EXPECT_EQ(up.rlc_rx_next_highest, 0U);
  EXPECT_EQ(up.received, 0U);
  EXPECT_EQ(up.control, 0U);
  EXPECT_EQ(up.constant & ~up.constant_mask, 0U) << "a bit that is not looked at could never be equal";
}

INSTANTIATE_TEST_SUITE_P(AllVariants, Bearer, testing::ValuesIn(test::all_variants()));

TEST(BearerLines, sdap_headers_are_configured_for_each_direction) {
  BearerConfig config;
  config.sdap_header_dl = true;
  config.sdap_header_ul = false;
  EXPECT_EQ(make_downlink(config).header_bytes, 7);
  EXPECT_EQ(make_uplink(config, PeerId{0}).header_bytes, 6);
  EXPECT_EQ(airhdr_modes(config, Direction::kDownlink) & 2, 2);
  EXPECT_EQ(airhdr_modes(config, Direction::kUplink) & 2, 0);
  std::swap(config.sdap_header_dl, config.sdap_header_ul);
  EXPECT_EQ(make_downlink(config).header_bytes, 6);
  EXPECT_EQ(make_uplink(config, PeerId{0}).header_bytes, 7);
}

TEST(BearerLines, the_longest_header_fills_seven_octets_and_the_shortest_two) {
  unsigned longest = 0, shortest = 99;
  for (const BearerConfig& config : test::all_variants()) {
    longest = std::max<unsigned>(longest, make_downlink(config).header_bytes);
    shortest = std::min<unsigned>(shortest, make_downlink(config).header_bytes);
  }
  EXPECT_EQ(longest, 7U);
  EXPECT_EQ(shortest, 2U);
}

TEST(Epochs, go_round_without_0_and_know_those_before) {
  EXPECT_EQ(next_epoch(0xff), 1);
  EXPECT_TRUE(is_epoch_before(4, 5));
  EXPECT_TRUE(is_epoch_before(0xff, 1));
  EXPECT_FALSE(is_epoch_before(5, 5));
  EXPECT_FALSE(is_epoch_before(6, 5));
  EXPECT_FALSE(is_epoch_before(5, 5 + 0x80));
}

}  // namespace
}  // namespace splitplane::ran
