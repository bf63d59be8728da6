// The encoding octet by octet; tests/e2e/test_traffic_pair.py lets the PyPI decoder read whole logs.
#include "traffic/hdr_log.h"

#include <gmock/gmock.h>

#include "wire/bytes.h"

namespace splitplane::traffic {
namespace {

std::vector<std::uint8_t> counts_of(const Histogram& histogram) {
  const auto all = encode_hdr(histogram);
  return {all.begin() + 40, all.end()};
}

TEST(HdrLog, an_empty_histogram_is_its_header) {
  const auto octets = encode_hdr({});
  ASSERT_EQ(octets.size(), 40U);
  EXPECT_EQ(wire::load_be32(octets.data()), 0x1c849313U);
  EXPECT_EQ(wire::load_be32(octets.data() + 4), 0U);
  EXPECT_EQ(wire::load_be32(octets.data() + 12), 3U);
  EXPECT_EQ(wire::load_be64(octets.data() + 24), Histogram::kHighest);
}

TEST(HdrLog, a_run_of_zeros_is_one_negative_number) {
  Histogram histogram;
  histogram.record(3);
  EXPECT_THAT(counts_of(histogram), testing::ElementsAre(5, 2));  // -3, 1
}

TEST(HdrLog, a_count_of_many_bits_takes_several_octets) {
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.record(0);
  EXPECT_THAT(counts_of(histogram), testing::ElementsAre(0xC8, 0x01));  // 200 in steps of seven bits
}

TEST(HdrLog, the_log_has_a_legend_and_one_interval) {
  Histogram histogram;
  histogram.record(1'500'000);
  const auto log = hdr_log(histogram, std::chrono::system_clock::time_point{std::chrono::seconds{12}},
                           std::chrono::milliseconds{2500});
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, testing::StartsWith("#[Histogram log format version 1.3]\n"));
  EXPECT_THAT(*log, testing::HasSubstr("#[StartTime: 12.000 (seconds since epoch)]"));
  EXPECT_THAT(*log, testing::HasSubstr("\n0.000,2.500,1.500,HISTF"));
}

}  // namespace
}  // namespace splitplane::traffic
