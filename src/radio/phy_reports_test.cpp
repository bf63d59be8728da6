#include "radio/phy_reports.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace splitplane::datapath {
namespace {

using Octets = std::vector<std::uint8_t>;

// A block whose octets say its number and length.
Octets block_of(std::uint32_t number, std::size_t bytes) {
  Octets octets(bytes);
  for (std::size_t i = 0; i < bytes; ++i) octets[i] = static_cast<std::uint8_t>(number * 31 + i);
  return octets;
}
PhyReport report_of(std::uint16_t number) {
  return {.kind = PhyReport::Kind::kBlock,
          .good = number % 2 == 0,
          .process = static_cast<std::uint8_t>(number % 16),
          .rnti = Rnti{number},
          .slot = {{1}, static_cast<std::uint16_t>(number % 1024), 7}};
}

TEST(PhyReports, they_come_in_order_with_their_octets) {
  PhyReports reports(1024);
  EXPECT_TRUE(reports.empty());
  ASSERT_TRUE(reports.put(report_of(1), block_of(1, 100)));
  ASSERT_TRUE(reports.put(report_of(2)));
  EXPECT_FALSE(reports.empty());
  std::vector<std::pair<std::uint16_t, std::size_t>> seen;
  EXPECT_EQ(reports.take(
                [&](const PhyReport& report, wire::Octets octets) {
                  seen.emplace_back(report.rnti.value, octets.size());
                  EXPECT_EQ(report.slot, report_of(report.rnti.value).slot);
                },
                1),
            1U);
  EXPECT_EQ(reports.take([&](const PhyReport& r, wire::Octets o) { seen.emplace_back(r.rnti.value, o.size()); }, 9),
            1U);
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint16_t, std::size_t>>{{1, 100}, {2, 0}}));
  EXPECT_TRUE(reports.empty());
}

TEST(PhyReports, one_that_does_not_fit_is_refused_and_the_others_stay) {
  PhyReports reports(256);
  EXPECT_FALSE(reports.put(report_of(1), block_of(1, 300)));
  unsigned put = 0;
  while (reports.put(report_of(2), block_of(2, 48))) ++put;
  EXPECT_EQ(put, 4U);
  EXPECT_EQ(reports.take(
                [](const PhyReport&, wire::Octets o) { EXPECT_EQ(Octets(o.begin(), o.end()), block_of(2, 48)); }, 100),
            put);
  EXPECT_TRUE(reports.put(report_of(3), block_of(3, 200)));
}

TEST(PhyReports, two_threads_and_every_place_of_the_end_of_the_memory) {
  constexpr unsigned kReports = 60'000;
  PhyReports reports(4096);
  std::thread producer([&] {
    std::mt19937 random(7);
    for (std::uint32_t n = 0; n < kReports; ++n) {
      const Octets octets = block_of(n & 0xFFFF, random() % 1200);
      while (!reports.put(report_of(static_cast<std::uint16_t>(n)), octets)) std::this_thread::yield();
    }
  });
  std::mt19937 random(7);
  for (std::uint32_t n = 0; n < kReports;) {
    const unsigned taken = reports.take(
        [&](const PhyReport& report, wire::Octets octets) {
          ASSERT_EQ(report.rnti.value, n & 0xFFFF);
          ASSERT_EQ(Octets(octets.begin(), octets.end()), block_of(n & 0xFFFF, random() % 1200));
          ++n;
        },
        5);
    if (taken == 0) std::this_thread::yield();
  }
  producer.join();
  EXPECT_TRUE(reports.empty());
}

}  // namespace
}  // namespace splitplane::datapath
