// Compares arrival processes with their definition: exact times if they are exact, moments if they are random.
#include "traffic/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace splitplane::traffic {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t packets_in_first_second(Schedule schedule) {
  std::uint64_t n = 0;
  while (schedule.next() < kSecond) ++n;
  return n;
}

TEST(Schedule, constant_arrivals_do_not_drift) {
  Schedule schedule(Constant{}, 3'000'000, 1);  // a gap of 333.3 ns
  std::uint64_t last = 0;
  for (int i = 0; i <= 3'000'000; ++i) last = schedule.next();
  EXPECT_EQ(last, kSecond);
}

TEST(Schedule, each_process_keeps_its_rate) {
  EXPECT_EQ(packets_in_first_second({Constant{}, 123'456, 1}), 123'456U);
  EXPECT_NEAR(static_cast<double>(packets_in_first_second({Poisson{}, 1'000'000, 1})), 1e6, 4e3);  // 4 sigma
  EXPECT_EQ(packets_in_first_second({Bursts{100}, 50'000, 1}), 50'000U);
  EXPECT_NEAR(static_cast<double>(packets_in_first_second({Ramp{300'000, 1}, 100'000, 1})), 200'000, 1);
}

TEST(Schedule, poisson_gaps_have_mean_and_deviation_alike) {
  Schedule schedule(Poisson{}, 10'000, 7);
  double sum = 0, squares = 0;
  std::uint64_t before = schedule.next();
  constexpr int kGaps = 1'000'000;
  for (int i = 0; i < kGaps; ++i) {
    const std::uint64_t at = schedule.next();
    const auto gap = static_cast<double>(at - before);
    before = at;
    sum += gap;
    squares += gap * gap;
  }
  const double mean = sum / kGaps;
  EXPECT_NEAR(mean, 1e5, 500);
  EXPECT_NEAR(std::sqrt(squares / kGaps - mean * mean), 1e5, 700);
}

TEST(Schedule, a_burst_leaves_at_once) {
  Schedule schedule(Bursts{3}, 1000, 1);
  for (const std::uint64_t at : {0, 0, 0, 3'000'000, 3'000'000, 3'000'000, 6'000'000}) EXPECT_EQ(schedule.next(), at);
}

TEST(Schedule, a_ramp_goes_on_at_its_last_rate) {
  Schedule schedule(Ramp{.to_rate = 1000, .over_s = 2}, 3000, 1);  // downwards: 4,000 packets in two seconds
  std::uint64_t before = 0, at = 0;
  for (int i = 0; i <= 4001; ++i) {
    before = at;
    at = schedule.next();
    EXPECT_GE(at, before);
  }
  EXPECT_NEAR(static_cast<double>(before), 2e9, 1e3);
  EXPECT_EQ(at - before, 1'000'000U);
}

TEST(Schedule, a_recording_is_played_in_its_own_time_or_faster_and_goes_round) {
  const std::vector<std::uint64_t> times{0, 100, 300};
  Schedule original(Recorded{times, 1}, 1, 1);
  for (const std::uint64_t at : {0, 100, 300, 450, 550, 750}) EXPECT_EQ(original.next(), at);
  Schedule faster(Recorded{times, 2}, 1, 1);
  for (const std::uint64_t at : {0, 50, 150, 225}) EXPECT_EQ(faster.next(), at);
}

TEST(Schedule, skipping_leaves_out_what_walking_would_find_due) {
  const std::vector<Arrivals> kinds{Constant{}, Bursts{7}, Ramp{.to_rate = 300, .over_s = 2}, Ramp{9e6, 1},
                                    Recorded{{0, 100, 100, 300'000}, 1.5}};
  for (const Arrivals& arrivals : kinds) {
    for (const std::uint64_t begin : {0U, 1U, 1000U}) {
      for (const std::uint64_t beyond : {0U, 1U, 999U, 1'000'000U, 40'000'000U}) {
        Schedule walked(arrivals, 123'457, 1), skipped(arrivals, 123'457, 1);
        std::uint64_t last = 0;
        for (std::uint64_t i = 0; i < begin; ++i) last = walked.next();
        for (std::uint64_t i = 0; i < begin; ++i) std::ignore = skipped.next();
        std::uint64_t due = 0, next = walked.next();
        for (; next <= last + beyond; next = walked.next()) ++due;
        Schedule limited = skipped;
        EXPECT_EQ(limited.skip_until(last + beyond, 5), std::min<std::uint64_t>(due, 5));
        EXPECT_EQ(skipped.skip_until(last + beyond, ~0ULL), due) << arrivals.index() << ' ' << begin << ' ' << beyond;
        EXPECT_EQ(skipped.next(), next);
      }
    }
  }
}

TEST(Schedule, skipping_poisson_arrivals_keeps_their_rate_and_spread) {
  double sum = 0, squares = 0;
  constexpr int kTries = 4000;
  for (int seed = 0; seed < kTries; ++seed) {
    Schedule schedule(Poisson{}, 1e6, static_cast<std::uint64_t>(seed));
    const std::uint64_t first = schedule.next();
    const auto skipped = static_cast<double>(schedule.skip_until(first + 100'000, ~0ULL));  // a mean of 100
    EXPECT_GT(schedule.next(), first + 100'000);
    sum += skipped;
    squares += skipped * skipped;
  }
  EXPECT_NEAR(sum / kTries, 100, 0.7);
  EXPECT_NEAR(squares / kTries - sum / kTries * (sum / kTries), 100, 10);
}

TEST(Schedule, the_same_seed_gives_the_same_times) {
  Schedule a(Poisson{}, 1e6, 42), b(Poisson{}, 1e6, 42), c(Poisson{}, 1e6, 43);
  unsigned differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t at = a.next();
    EXPECT_EQ(at, b.next());
    differ += at != c.next() ? 1U : 0U;
  }
  EXPECT_GT(differ, 990U);
}

}  // namespace
}  // namespace splitplane::traffic
