#include "phy/fapi/p7_checksum.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace splitplane::fapi {
namespace {

using wire::Octets;

// Bit by bit, as the polynomial's definition has it.
std::uint32_t register_after(Octets octets) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::uint8_t o : octets) {
    crc ^= o;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
  }
  return crc;
}

std::vector<std::uint8_t> consecutive(std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  std::iota(out.begin(), out.end(), std::uint8_t{7});
  return out;
}

TEST(P7Checksum, is_the_register_of_crc_32_over_ten_octets_four_zeros_and_the_body) {
  const auto header = consecutive(18);
  for (const std::size_t bytes : {0, 1, 3, 8, 15, 16, 63, 64, 65, 100, 127, 128, 1454, 9000}) {
    const auto body = consecutive(bytes);
    std::vector<std::uint8_t> covered(header.begin(), header.begin() + 10);
    covered.resize(14, 0);
    covered.insert(covered.end(), body.begin(), body.end());
    P7Checksum checksum(header.data());
    checksum.add(body);
    EXPECT_EQ(checksum.value(), register_after(covered)) << bytes;
  }
}

// The check value of CRC-32 is 0xCBF43926 for "123456789", here without its inversion.
TEST(P7Checksum, the_model_of_this_test_has_the_check_value) {
  const std::vector<std::uint8_t> digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  EXPECT_EQ(register_after(digits), ~0xCBF43926U);
}

TEST(P7Checksum, is_the_same_piece_by_piece) {
  const auto header = consecutive(18);
  const auto body = consecutive(300);
  P7Checksum whole(header.data());
  whole.add(body);
  for (std::size_t cut = 0; cut <= body.size(); ++cut) {
    P7Checksum parts(header.data());
    parts.add(Octets(body).first(cut));
    parts.add(Octets(body).subspan(cut));
    ASSERT_EQ(parts.value(), whole.value()) << cut;
  }
}

}  // namespace
}  // namespace splitplane::fapi
