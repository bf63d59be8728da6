#include "wire/bytes.h"

#include <gtest/gtest.h>

#include <array>

#include "wire/checksum.h"
#include "wire/test_octets.h"

namespace splitplane::wire {
namespace {

constexpr std::array<std::uint8_t, 9> kOctets{0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09};

template <class Word>
constexpr std::array<std::uint8_t, 8> stored(void (*store)(std::uint8_t*, Word), Word v) {
  std::array<std::uint8_t, 8> out{};
  store(out.data(), v);
  return out;
}

TEST(Bytes, loads_are_big_endian_and_unaligned) {
  EXPECT_EQ(load_be16(kOctets.data() + 1), 0x0203);
  EXPECT_EQ(load_be24(kOctets.data() + 1), 0x020304U);
  EXPECT_EQ(load_be32(kOctets.data() + 1), 0x02030405U);
  EXPECT_EQ(load_be64(kOctets.data() + 1), 0x0203040506070809U);
}

TEST(Bytes, constant_expressions_agree_with_run_time) {
  static_assert(load_be16(kOctets.data() + 1) == 0x0203);
  static_assert(load_be24(kOctets.data() + 1) == 0x020304);
  static_assert(load_be64(kOctets.data() + 1) == 0x0203040506070809);
  constexpr auto kStored = stored<std::uint64_t>(store_be64, 0x0203040506070809);
  EXPECT_EQ(kStored, (stored<std::uint64_t>(store_be64, 0x0203040506070809)));
  EXPECT_EQ(test::to_hex(kStored), "0203040506070809");
}

TEST(Bytes, stores_take_the_low_bits) {
  EXPECT_EQ(test::to_hex(stored<std::uint32_t>(store_be16, 0x12345678)).substr(0, 6), "567800");
  EXPECT_EQ(test::to_hex(stored<std::uint32_t>(store_be24, 0x12345678)).substr(0, 8), "34567800");
  EXPECT_EQ(test::to_hex(stored<std::uint32_t>(store_be32, 0x12345678)).substr(0, 10), "1234567800");
}

TEST(Checksum, equals_the_example_of_rfc_1071) {
  const auto octets = test::from_hex("0001 f203 f4f5 f6f7");
  EXPECT_EQ(checksum_finish(checksum_add(0, octets)), static_cast<std::uint16_t>(~0xddf2));
}

TEST(Checksum, pads_an_odd_octet_with_zero_and_does_not_depend_on_the_cut) {
  const auto odd = test::from_hex("0102030405060708ff");
  const auto even = test::from_hex("0102030405060708ff00");
  EXPECT_EQ(checksum_finish(checksum_add(0, odd)), checksum_finish(checksum_add(0, even)));
  for (std::size_t cut = 0; cut <= odd.size(); cut += 2) {
    const Octets all(odd);
    EXPECT_EQ(checksum_finish(checksum_add(checksum_add(0, all.first(cut)), all.subspan(cut))),
              checksum_finish(checksum_add(0, even)));
  }
}

}  // namespace
}  // namespace splitplane::wire
