// Compares the histogram with sorted values: every percentile is within HdrHistogram's promise.
#include "base/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace splitplane {
namespace {

TEST(Histogram, each_value_lies_in_the_step_that_counts_it) {
  for (std::uint64_t value = 1; value < Histogram::kHighest; value = value * 9 / 8 + 1) {
    const std::size_t index = Histogram::index_of(value);
    EXPECT_GE(Histogram::highest_at(index), value);
    if (index > 0) {
      EXPECT_LT(Histogram::highest_at(index - 1), value);
    }
    EXPECT_LT(index, Histogram::kCounts);
  }
}

TEST(Histogram, values_below_2048_are_exact) {
  for (std::uint64_t value = 0; value < 2048; ++value) {
    EXPECT_EQ(Histogram::highest_at(Histogram::index_of(value)), value);
  }
}

TEST(Histogram, an_empty_one_says_zero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.percentile(50), 0U);
  EXPECT_EQ(histogram.variance(), 0);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
}

TEST(Histogram, what_is_beyond_the_range_is_kept_at_its_end_and_counted) {
  Histogram histogram;
  histogram.record(Histogram::kHighest + 5);
  EXPECT_EQ(histogram.clamped(), 1U);
  EXPECT_EQ(histogram.max(), Histogram::kHighest);
}

TEST(Histogram, mean_and_variance_are_those_of_the_values) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100'000; ++value) histogram.record(value);
  EXPECT_NEAR(histogram.mean(), 50'000.5, 1e-6);
  EXPECT_NEAR(histogram.variance(), 1e10 / 12, 1e6);
  Histogram constant;
  for (int i = 0; i < 3; ++i) constant.record(123'456'789);
  EXPECT_EQ(constant.variance(), 0);
}

RC_GTEST_PROP(Histogram, percentiles_are_those_of_the_sorted_values, ()) {
  auto values = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, Histogram::kHighest)));
  Histogram histogram;
  for (const auto value : values) histogram.record(value);
  std::sort(values.begin(), values.end());
  for (const double percent : {0.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(percent * static_cast<double>(values.size()) / 100 + 0.5);
    const std::uint64_t exact = values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
    const std::uint64_t said = histogram.percentile(percent);
    RC_ASSERT(said >= exact);
    RC_ASSERT(said - exact <= exact / 1000);
    RC_ASSERT(said <= values.back());
  }
  RC_ASSERT(histogram.max() == values.back());
  RC_ASSERT(histogram.min() == values.front());
}

}  // namespace
}  // namespace splitplane
