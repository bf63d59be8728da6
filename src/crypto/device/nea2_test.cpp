#include "crypto/device/nea2.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace splitplane::gpu {
namespace {

std::vector<std::uint8_t> octets(std::string_view hex) {
  const auto digit = [](char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return out;
}

TEST(Aes128, enciphers_the_example_of_fips_197_appendix_b) {
  const Aes128Key key = expand_key(kAesTable, octets("2b7e151628aed2a6abf7158809cf4f3c").data());
  EXPECT_EQ(key.round[43], 0xb6630ca6U);  // appendix A.1
  const AesBlock out = encrypt(kAesTable, key, {{0x3243f6a8, 0x885a308d, 0x313198a2, 0xe0370734}});
  EXPECT_EQ(out.word[0], 0x3925841dU);
  EXPECT_EQ(out.word[1], 0x02dc09fbU);
  EXPECT_EQ(out.word[2], 0xdc118597U);
  EXPECT_EQ(out.word[3], 0x196a0b32U);
}

TEST(Aes128, enciphers_the_example_of_fips_197_appendix_c_1) {
  const Aes128Key key = expand_key(kAesTable, octets("000102030405060708090a0b0c0d0e0f").data());
  const AesBlock out = encrypt(kAesTable, key, {{0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff}});
  EXPECT_EQ(out.word[0], 0x69c4e0d8U);
  EXPECT_EQ(out.word[3], 0x70b4c55aU);
}

struct Set {
  const char* key;
  Nea2Message message;
  unsigned bits;
  const char *plain, *cipher;
};
// TS 33.401 C.1, test sets 1 and 2 of 128-EEA2.
const Set kSets[] = {
    {"d3c5d592327fb11c4035c6680af8c6d1",
     {0x398a59b4, 0x15, Direction::kDownlink},
     253,
     "981ba6824c1bfb1ab485472029b71d808ce33e2cc3c0b5fc1f3de8a6dc66b1f0",
     "e9fed8a63d155304d71df20bf3e82214b20ed7dad2f233dc3c22d7bdeeed8e78"},
    {"2bd6459f82c440e0952c49104805ff48",
     {0xc675a64b, 0x0c, Direction::kDownlink},
     798,
     "7ec61272743bf1614726446a6c38ced166f6ca76eb5430044286346cef130f92922b03450d3a9975e5bd2ea0eb55ad8e1b199e3ec4316020"
     "e9a1b285e762795359b7bdfd39bef4b2484583d5afe082aee638bf5fd5a606193901a08f4ab41aab9b134880",
     "5961605353c64bdca15b195e288553a910632506d6200aa790c4c806c99904cf2445cc50bb1cf168a49673734e081b57e324ce5259c0e78d"
     "4cd97b870976503c0943f2cb5ae8f052c7b7d392239587b8956086bcab18836042e2e6ce42432a17105c53d0"}};

TEST(Nea2, enciphers_the_test_sets_of_ts_33_401) {
  for (const Set& set : kSets) {
    auto data = octets(set.plain);
    const Aes128Key key = expand_key(kAesTable, octets(set.key).data());
    nea2(0, 1, kAesTable, key, set.message, data.data(), static_cast<std::uint32_t>(data.size()));
    if (set.bits % 8 != 0) data.back() = static_cast<std::uint8_t>(data.back() & 0xFF00 >> set.bits % 8);
    EXPECT_EQ(data, octets(set.cipher)) << set.bits << " bits";
  }
}

TEST(Nea2, lanes_of_a_warp_make_what_one_lane_makes_and_twice_is_plain_again) {
  const Aes128Key key = expand_key(kAesTable, octets(kSets[0].key).data());
  for (const std::uint32_t bytes : {0U, 1U, 15U, 16U, 17U, 511U, 512U, 513U, 1500U}) {
    std::vector<std::uint8_t> plain(bytes);
    for (std::uint32_t i = 0; i < bytes; ++i) plain[i] = static_cast<std::uint8_t>(i * 7);
    auto alone = plain, together = plain;
    nea2(0, 1, kAesTable, key, {7, 3, Direction::kUplink}, alone.data(), bytes);
    for (unsigned lane = 0; lane < 32; ++lane) {
      nea2(lane, 32, kAesTable, key, {7, 3, Direction::kUplink}, together.data(), bytes);
    }
    EXPECT_EQ(alone, together) << bytes;
    nea2(0, 1, kAesTable, key, {7, 3, Direction::kUplink}, alone.data(), bytes);
    EXPECT_EQ(alone, plain) << bytes;
  }
}

}  // namespace
}  // namespace splitplane::gpu
