#include "datapath/n3_echo.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

std::vector<std::uint8_t> octets_of(const std::string& hex) {
  std::vector<std::uint8_t> octets;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

// 10.100.0.2 port 3000 asks 10.100.0.1 with sequence number 7 (formats.md G6).
const std::string kRequest =
    "020000000001"
    "020000000002"
    "0800"
    "450000280000400040112618"
    "0a640002"
    "0a640001"
    "0bb8086800140000"
    "320100040000000000070000";

TEST(Echo, the_response_goes_back_to_address_and_port_with_the_same_sequence_number) {
  const auto answer = answer_echo(octets_of(kRequest));
  ASSERT_TRUE(answer);
  // Ethernet, IPv4 with its checksum, UDP 2152 -> 3000, and message G7 with IE Recovery 0.
  EXPECT_EQ(std::vector(answer->begin(), answer->begin() + 14), octets_of("0200000000020200000000010800"));
  EXPECT_EQ(std::vector(answer->begin() + 26, answer->begin() + 38), octets_of("0a6400010a64000208680bb8"));
  EXPECT_EQ(std::vector(answer->begin() + 42, answer->end()), octets_of("3202000600000000000700000e00"));
}

TEST(Echo, truncations_and_other_messages_are_not_answered) {
  const auto whole = octets_of(kRequest);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(answer_echo(std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)))) << n;
  }
  auto response = whole;
  response[43] = 2;
  EXPECT_FALSE(answer_echo(response));
}

}  // namespace
}  // namespace splitplane::datapath
