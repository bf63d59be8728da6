// Compares downlink headers octet by octet with the writers of wire/ and with literals, for every variant of a bearer.
// header_mode_uplink_test.cpp tests the uplink.
#include "ran/header_mode.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>

#include "ran/test_variants.h"
#include "wire/test_octets.h"

namespace splitplane::ran {
namespace {

using test::Bytes;

constexpr std::uint32_t kSduBytes = 3;

// What write_downlink writes, on heap memory with exactly the room that downlink_overhead() names.
Bytes headers_of_next(BearerDownlink& bearer, std::uint8_t sdap) {
  const std::size_t overhead = downlink_overhead(bearer);
  const auto memory = std::make_unique<std::uint8_t[]>(overhead + kSduBytes);
  std::fill_n(memory.get(), overhead + kSduBytes, std::uint8_t{0xee});
  write_downlink(bearer, sdap, memory.get() + overhead, kSduBytes);
  EXPECT_TRUE(std::all_of(memory.get() + overhead, memory.get() + overhead + kSduBytes, [](std::uint8_t octet) {
    return octet == 0xee;
  })) << "the SDU was touched";
  return {memory.get(), memory.get() + overhead};
}

// Whether the n-th SDU of a bearer (from 0) carries P: each pollPDU-th (TS 38.322 5.3.3.2).
bool polls(const BearerConfig& config, std::uint32_t n) {
  return config.rlc_mode == RlcMode::kAm && config.poll_pdu != 0 && n % config.poll_pdu == config.poll_pdu - 1U;
}

class Downlink : public testing::TestWithParam<BearerConfig> {};
class DownlinkNumberSpace : public Downlink {};

TEST_P(Downlink, a_hundred_sdus_carry_the_headers_that_wire_would_write) {
  const BearerConfig& config = GetParam();
  BearerDownlink bearer = make_downlink(config);
  for (std::uint32_t n = 0; n < 100; ++n) {
    const Qfi qfi{static_cast<std::uint8_t>(n % 64)};
    const bool rqi = n % 3 == 0;
    const auto sdap = static_cast<std::uint8_t>((rqi ? 0x40 : 0) | qfi.value);
    ASSERT_EQ(wire::test::to_hex(headers_of_next(bearer, sdap)),
              wire::test::to_hex(test::downlink_headers(config, n, n, polls(config, n), rqi, qfi, kSduBytes)))
        << "SDU " << n;
  }
}

TEST_P(Downlink, numbers_wrap_while_count_goes_on) {
  const BearerConfig& config = GetParam();
  BearerDownlink bearer = make_downlink(config);
  const std::uint32_t first_count = (1U << config.pdcp_sn_bits) - 3;
  const std::uint32_t first_rlc = (1U << config.rlc_sn_bits) - 2;
  bearer.pdcp_tx_next = first_count;
  bearer.rlc_tx_next = first_rlc;
  for (std::uint32_t n = 0; n < 6; ++n) {
    ASSERT_EQ(wire::test::to_hex(headers_of_next(bearer, 5)),
              wire::test::to_hex(test::downlink_headers(config, first_count + n, first_rlc + n, polls(config, n), false,
                                                        Qfi{5}, kSduBytes)));
  }
  EXPECT_EQ(bearer.pdcp_tx_next, (1U << config.pdcp_sn_bits) + 3) << "the HFN is one more";
}

TEST_P(DownlinkNumberSpace, a_whole_number_space_is_written_without_a_gap) {
  const BearerConfig& config = GetParam();
  BearerDownlink bearer = make_downlink(config);
  Bytes memory(32, 0);
  std::uint8_t* const sdu = memory.data() + 24;
  for (std::uint32_t n = 0; n < 5000; ++n) {
    write_downlink(bearer, 1, sdu, kSduBytes);
    const auto want = test::downlink_headers(config, n, n, polls(config, n), false, Qfi{1}, kSduBytes);
    ASSERT_TRUE(std::equal(want.begin(), want.end(), sdu - want.size())) << "SDU " << n;
  }
}

TEST_P(Downlink, octets_before_the_headers_stay_as_they_were) {
  BearerDownlink bearer = make_downlink(GetParam());
  Bytes memory(64, 0x5a);
  std::uint8_t* const sdu = memory.data() + 40;
  write_downlink(bearer, 0x7f, sdu, kSduBytes);
  const auto first = static_cast<std::ptrdiff_t>(40 - downlink_overhead(bearer));
  EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + first, [](std::uint8_t octet) { return octet == 0x5a; }));
  EXPECT_TRUE(std::all_of(memory.begin() + 40, memory.end(), [](std::uint8_t octet) { return octet == 0x5a; }));
}

TEST_P(Downlink, writing_changes_the_numbers_and_nothing_else) {
  BearerDownlink bearer = make_downlink(GetParam());
  const BearerDownlink before = bearer;
  (void)headers_of_next(bearer, 9);
  EXPECT_EQ(bearer.pdcp_tx_next, 1U);
  EXPECT_EQ(bearer.rlc_tx_next, 1U);
  bearer.pdcp_tx_next = bearer.rlc_tx_next = 0;
  bearer.pdu_without_poll = 0;
  EXPECT_EQ(std::memcmp(&bearer, &before, sizeof bearer), 0);
}

INSTANTIATE_TEST_SUITE_P(AllVariants, Downlink, testing::ValuesIn(test::all_variants()));
INSTANTIATE_TEST_SUITE_P(Variants, DownlinkNumberSpace,
                         testing::ValuesIn(test::variants_where([](const BearerConfig& c) {
                           return c.poll_pdu == 32;
                         })));

struct Literal {
  const char* rlc;
  unsigned pdcp_sn_bits;
  bool sdap;
  unsigned poll_pdu;
  std::uint32_t number;
  const char* hex;
};

// Written by hand from TS 38.322 6.2.2, TS 38.323 6.2.2, TS 37.324 6.2.2 and airhdr.h; RQI set, QFI 9, bearer
// 0x01020304, an SDU of 3 octets.
constexpr Literal kLiterals[] = {
    {"am18", 18, true, 0, 5, "20de000001020304 000a 800005 800005 49"},
    {"am18", 18, true, 1, 5, "20de000001020304 000a c00005 800005 49"},
    {"am18", 18, false, 0, 0x2abcd, "20dc000001020304 0009 82abcd 82abcd"},
    {"am12", 12, true, 1, 0xabc, "20d2000001020304 0008 cabc 8abc 49"},
    {"am12", 18, false, 0, 0x2abcd, "20d4000001020304 0008 8bcd 82abcd"},
    {"um12", 18, true, 1, 7, "20b6000001020304 0008 00 800007 49"},
    {"um6", 12, false, 1, 7, "20a8000001020304 0006 00 8007"},
    {"tm", 12, false, 1, 0xfff, "2080000001020304 0005 8fff"},
    {"tm", 18, true, 1, 0x3ffff, "2086000001020304 0007 83ffff 49"},
};

TEST(DownlinkLiterals, are_what_the_specs_say) {
  for (const Literal& literal : kLiterals) {
    BearerConfig config;
    config.id = BearerId{0x01020304};
    ASSERT_TRUE(parse_rlc_name(literal.rlc, config.rlc_mode, config.rlc_sn_bits));
    config.pdcp_sn_bits = static_cast<std::uint8_t>(literal.pdcp_sn_bits);
    config.sdap_header_dl = literal.sdap;
    config.poll_pdu = static_cast<std::uint16_t>(literal.poll_pdu);
    BearerDownlink bearer = make_downlink(config);
    bearer.pdcp_tx_next = bearer.rlc_tx_next = literal.number;
    EXPECT_EQ(wire::test::to_hex(headers_of_next(bearer, 0x49)), wire::test::tidy(literal.hex)) << literal.hex;
  }
}

TEST(DownlinkNumbers, count_itself_wraps_after_32_bits) {
  BearerDownlink bearer = make_downlink(BearerConfig{});
  bearer.pdcp_tx_next = bearer.rlc_tx_next = 0xffffffff;
  (void)headers_of_next(bearer, 0);
  EXPECT_EQ(bearer.pdcp_tx_next, 0U);
  EXPECT_EQ(bearer.rlc_tx_next, 0U);
}

TEST(DownlinkPoll, is_set_on_each_poll_pdu_th_sdu_and_starts_over) {
  EXPECT_TRUE(rc::check([] {
    BearerConfig config;
    config.rlc_sn_bits = *rc::gen::element<std::uint8_t>(12, 18);
    config.poll_pdu = *rc::gen::element<std::uint16_t>(1, 2, 3, 4, 8, 256, 1000);
    BearerDownlink bearer = make_downlink(config);
    const auto sdus = *rc::gen::inRange<std::uint32_t>(1, 3000);
    for (std::uint32_t n = 0; n < sdus; ++n) {
      std::uint8_t memory[32];
      write_downlink(bearer, 0, memory + 24, 8);
      const auto pdu = wire::rlc::parse_am({memory + 24 - bearer.header_bytes, std::size_t{8} + bearer.header_bytes},
                                           config.rlc_sn_bits);
      RC_ASSERT(static_cast<bool>(pdu));
      RC_ASSERT(pdu->poll == polls(config, n));
    }
  }));
}

TEST(DownlinkPoll, the_largest_poll_pdu_still_polls) {
  BearerConfig config;
  config.poll_pdu = 65535;
  BearerDownlink bearer = make_downlink(config);
  std::uint8_t memory[32];
  unsigned seen = 0;
  for (unsigned n = 0; n < 2 * 65535; ++n) {
    write_downlink(bearer, 0, memory + 24, 8);
    seen += (memory[24 - bearer.header_bytes] & 0x40) != 0 ? 1 : 0;
  }
  EXPECT_EQ(seen, 2U);
}

}  // namespace
}  // namespace splitplane::ran
