// The stamp: it is read as it was written, and a changed octet is noticed.
#include "traffic/stamp.h"

#include <gtest/gtest.h>

#include <array>

#include "wire/checksum.h"

namespace splitplane::traffic {
namespace {

constexpr Stamp kStamp{
    .run = 0xA1B2C3D4, .flow = 65535, .sequence = 0x1234567890ULL, .intended_ns = 987654321012345ULL};

TEST(Stamp, what_is_written_is_read_back) {
  std::array<std::uint8_t, kStampBytes> octets{};
  write_stamp(octets.data(), kStamp);
  Stamp read;
  EXPECT_EQ(read_stamp(octets, read), StampVerdict::kGood);
  EXPECT_EQ(read, kStamp);
}

TEST(Stamp, any_flipped_bit_is_noticed) {
  for (std::size_t bit = 0; bit < kStampBytes * 8; ++bit) {
    std::array<std::uint8_t, kStampBytes> octets{};
    write_stamp(octets.data(), kStamp);
    octets[bit / 8] = static_cast<std::uint8_t>(octets[bit / 8] ^ 1U << bit % 8);
    Stamp read;
    EXPECT_EQ(read_stamp(octets, read), bit < 32 ? StampVerdict::kAbsent : StampVerdict::kDamaged) << bit;
  }
}

TEST(Stamp, a_payload_that_ends_inside_it_has_none) {
  std::array<std::uint8_t, kStampBytes> octets{};
  write_stamp(octets.data(), kStamp);
  Stamp read;
  for (std::size_t n = 0; n < kStampBytes; ++n)
    EXPECT_EQ(read_stamp(Octets(octets).first(n), read), StampVerdict::kAbsent);
}

TEST(Stamp, its_sum_is_that_of_its_octets) {
  std::array<std::uint8_t, kStampBytes> octets{};
  const std::uint64_t sum = write_stamp(octets.data(), kStamp);
  EXPECT_EQ(wire::checksum_finish(sum), wire::checksum_finish(wire::checksum_add(0, octets)));
}

}  // namespace
}  // namespace splitplane::traffic
