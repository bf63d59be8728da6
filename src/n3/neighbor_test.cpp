#include "n3/neighbor.h"

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
  ASSERT_TRUE(result.claim);
  EXPECT_EQ(result.claim->ip.to_string(), "10.100.0.2");
  EXPECT_EQ(result.claim->mac.to_string(), "02:00:00:00:00:02");
}

TEST(Neighbor, arp_request_for_somebody_else_is_a_claim_only) {
  auto frame = from_hex(kArpRequestFrame);
  frame.back() = 9;
  const auto result = handle_neighbor_frame(frame, own());
  EXPECT_FALSE(result.answer);
  EXPECT_TRUE(result.claim);
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
    ASSERT_TRUE(told.claim) << target;
    EXPECT_EQ(told.claim->ip.to_string(), target);
    EXPECT_EQ(told.claim->mac, upf.mac);
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

TEST(Neighbor, only_a_reply_to_us_alone_has_the_form_of_an_answer) {
  const OwnAddresses upf{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"),
                         *MacAddress::parse("02:00:00:00:00:02")};
  for (const char* target : {"10.100.0.2", "fd00:100::2"}) {
    const auto asked = handle_neighbor_frame(*make_neighbor_request(*IpAddress::parse(target), own()), upf);
    EXPECT_FALSE(asked.claim->is_answer) << "a question";
    auto answer = *asked.answer;
    EXPECT_TRUE(handle_neighbor_frame(answer, own()).claim->is_answer);
    std::fill_n(answer.begin(), 6, std::uint8_t{0xff});  // as a broadcast, like a gratuitous one
    EXPECT_FALSE(handle_neighbor_frame(answer, own()).claim->is_answer);
  }
}

TEST(Neighbor, an_advertisement_without_its_address_is_from_its_sender) {
  const OwnAddresses upf{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"),
                         *MacAddress::parse("02:00:00:00:00:02")};
  auto answer = *handle_neighbor_frame(*make_neighbor_request(*IpAddress::parse("fd00:100::2"), own()), upf).answer;
  answer.resize(answer.size() - 8);  // as Linux answers a unicast question
  answer[19] = 24;
  // the checksum without the option, its length and its octets
  std::uint32_t sum = 0;
  answer[56] = answer[57] = 0;
  for (std::size_t i = 22; i < answer.size(); i += 2) sum += static_cast<std::uint32_t>(answer[i] << 8 | answer[i + 1]);
  sum += 24 + 58;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  answer[56] = static_cast<std::uint8_t>(~sum >> 8);
  answer[57] = static_cast<std::uint8_t>(~sum);
  const auto result = handle_neighbor_frame(answer, own());
  ASSERT_TRUE(result.claim);
  EXPECT_EQ(result.claim->mac, upf.mac);
  EXPECT_TRUE(result.claim->is_answer);
}

TEST(Neighbor, a_mac_address_that_no_host_has_is_refused) {
  EXPECT_FALSE(is_host_mac(own().mac, own()));
  for (const char* mac : {"ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "33:33:00:00:00:01", "00:00:00:00:00:00"}) {
    const OwnAddresses liar{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"), *MacAddress::parse(mac)};
    for (const char* target : {"10.100.0.2", "fd00:100::2"}) {
      const auto answer = *handle_neighbor_frame(*make_neighbor_request(*IpAddress::parse(target), own()), liar).answer;
      const auto question =
          *make_neighbor_request(target == std::string("10.100.0.2") ? *own().ipv4 : *own().ipv6, liar);
      for (const auto& frame : {answer, question}) {
        const auto result = handle_neighbor_frame(frame, own());
        EXPECT_FALSE(result.claim) << mac;
        EXPECT_FALSE(result.answer) << mac;
        EXPECT_TRUE(result.refused_mac) << mac;
      }
    }
  }
}

TEST(Neighbor, frames_of_ours_are_in_our_vlan) {
  OwnAddresses in_vlan = own();
  in_vlan.vlan = 100;
  const OwnAddresses upf{*IpAddress::parse("10.100.0.2"), *IpAddress::parse("fd00:100::2"),
                         *MacAddress::parse("02:00:00:00:00:02"), 100};
  for (const char* target : {"10.100.0.2", "fd00:100::2"}) {
    for (const auto& only : {std::optional<MacAddress>{}, std::optional(upf.mac)}) {
      auto tagged = *make_neighbor_request(*IpAddress::parse(target), in_vlan, only);
      EXPECT_EQ(std::vector<std::uint8_t>(tagged.begin() + 12, tagged.begin() + 16), from_hex("81000064"));
      EXPECT_EQ(handle_neighbor_frame(tagged, upf).answer->at(12), 0x81);
      tagged.erase(tagged.begin() + 12, tagged.begin() + 16);
      EXPECT_EQ(tagged, *make_neighbor_request(*IpAddress::parse(target), own(), only));
    }
  }
}

TEST(Neighbor, without_an_address_of_the_family_nothing_is_asked) {
  OwnAddresses only_v4 = own();
  only_v4.ipv6.reset();
  EXPECT_FALSE(make_neighbor_request(*IpAddress::parse("fd00::2"), only_v4));
  EXPECT_TRUE(make_neighbor_request(*IpAddress::parse("10.0.0.2"), only_v4));
}

}  // namespace
}  // namespace splitplane::datapath
