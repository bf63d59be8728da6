#include "datapath/neighbor.h"

#include <gtest/gtest.h>

#include <string>

namespace splitplane::datapath {
namespace {

std::vector<std::uint8_t> from_hex(const std::string& text) {
  std::vector<std::uint8_t> octets;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    octets.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return octets;
}

OwnAddresses own() {
  return {*IpAddress::parse("10.100.0.1"), *IpAddress::parse("fd00:100::1"), *MacAddress::parse("02:00:00:00:00:01")};
}

// As a Linux kernel sends it.
const char* const kArpRequestFrame =
    "ffffffffffff02000000000208060001080006040001020000000002"
    "0a640002"
    "000000000000"
    "0a640001";

TEST(Neighbor, arp_request_for_our_address_is_answered_to_the_asker) {
  const auto result = handle_neighbor_frame(from_hex(kArpRequestFrame), own());
  ASSERT_TRUE(result.answer);
  EXPECT_EQ(*result.answer, from_hex("020000000002020000000001080600010800060400020200000000010a640001"
                                     "0200000000020a640002"));
  ASSERT_TRUE(result.news);
  EXPECT_EQ(result.news->ip.to_string(), "10.100.0.2");
  EXPECT_EQ(result.news->mac.to_string(), "02:00:00:00:00:02");
}

TEST(Neighbor, arp_request_for_somebody_else_is_news_only) {
  auto frame = from_hex(kArpRequestFrame);
  frame.back() = 9;
  const auto result = handle_neighbor_frame(frame, own());
  EXPECT_FALSE(result.answer);
  EXPECT_TRUE(result.news);
}

TEST(Neighbor, our_own_questions_are_answered_by_our_own_answers) {
  const OwnAddresses upf{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"),
                         *MacAddress::parse("02:00:00:00:00:02")};
  for (const char* target : {"10.100.0.2", "fd00:100::2"}) {
    const auto request = make_neighbor_request(*IpAddress::parse(target), own());
    ASSERT_TRUE(request);
    const auto asked = handle_neighbor_frame(*request, upf);
    ASSERT_TRUE(asked.answer) << target;
    const auto told = handle_neighbor_frame(*asked.answer, own());
    ASSERT_TRUE(told.news) << target;
    EXPECT_EQ(told.news->ip.to_string(), target);
    EXPECT_EQ(told.news->mac, upf.mac);
  }
}

TEST(Neighbor, truncated_and_damaged_frames_are_ignored) {
  const OwnAddresses upf{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"),
                         *MacAddress::parse("02:00:00:00:00:02")};
  for (const char* target : {"10.100.0.2", "fd00:100::2"}) {
    const auto whole = *make_neighbor_request(*IpAddress::parse(target), own());
    for (std::size_t n = 0; n < whole.size(); ++n) {
      const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_FALSE(handle_neighbor_frame(cut, upf).answer) << target << " cut to " << n;
    }
  }
  auto solicitation = *make_neighbor_request(*IpAddress::parse("fd00:100::2"), own());
  solicitation.back() ^= 1;  // checksum no longer right
  EXPECT_FALSE(handle_neighbor_frame(solicitation, upf).answer);
}

TEST(Neighbor, without_an_address_of_the_family_nothing_is_asked) {
  OwnAddresses only_v4 = own();
  only_v4.ipv6.reset();
  EXPECT_FALSE(make_neighbor_request(*IpAddress::parse("fd00::2"), only_v4));
  EXPECT_TRUE(make_neighbor_request(*IpAddress::parse("10.0.0.2"), only_v4));
}

}  // namespace
}  // namespace splitplane::datapath
