#include "ran/mac/lcp.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace splitplane::ran::mac::test {
namespace {

constexpr Time kOneSecond = 1'000'000'000, kMillisecond = 1'000'000;

// Channels with SDUs of one size, and the order in which they were served: a letter for each SDU.
class Line {
 public:
  unsigned add(const LcpConfig& config, std::size_t sdu_octets) {
    sdu_.push_back(sdu_octets);
    waiting_.push_back(0);
    names_.insert(names_.begin() + lcp.add(config, now), static_cast<unsigned>(sdu_.size() - 1));
    return static_cast<unsigned>(sdu_.size() - 1);
  }
  void queue(unsigned channel, unsigned sdus) { waiting_[channel] += sdus; }
  // Serves one block of `room` octets.
  std::string serve(std::size_t room) {
    std::string order;
    lcp.serve(now, [&](unsigned place) -> std::size_t {
      const unsigned channel = names_[place];
      if (waiting_[channel] == 0 || sdu_[channel] > room) return 0;
      --waiting_[channel];
      room -= sdu_[channel];
      order += static_cast<char>('a' + channel);
      return sdu_[channel];
    });
    return order;
  }
  [[nodiscard]] std::int64_t tokens(unsigned channel) const {
    for (unsigned place = 0; place < names_.size(); ++place) {
      if (names_[place] == channel) return lcp.bucket(place).octets();
    }
    return -1;
  }

  Prioritisation lcp{kOneSecond};
  Time now = 0;

 private:
  std::vector<std::size_t> sdu_;
  std::vector<unsigned> waiting_, names_;
};

TEST(Lcp, without_a_rate_the_higher_priority_takes_all) {
  Line line;
  const unsigned low = line.add({.priority = 9}, 100), high = line.add({.priority = 2}, 100);
  line.queue(low, 10);
  line.queue(high, 3);
  EXPECT_EQ(line.serve(500), "bbbaa");
}

TEST(Lcp, each_channel_gets_its_prioritised_bit_rate_before_the_rest_goes_in_order) {
  Line line;
  const unsigned high = line.add({.priority = 1, .prioritised_bit_rate = 200'000, .bucket_size_ms = 100}, 100);
  const unsigned low = line.add({.priority = 5, .prioritised_bit_rate = 100'000, .bucket_size_ms = 100}, 100);
  line.queue(high, 100);
  line.queue(low, 100);
  line.now = kMillisecond;  // 200 octets for one, 100 for the other
  EXPECT_EQ(line.serve(600), "aabaaa");
}

TEST(Lcp, bj_grows_with_time_up_to_the_bucket_and_may_be_negative) {
  Line line;
  const unsigned channel = line.add({.priority = 1, .prioritised_bit_rate = 8'000, .bucket_size_ms = 50}, 1500);
  line.add({.priority = 2}, 10);
  EXPECT_EQ(line.tokens(channel), 0);
  line.now = 10 * kMillisecond;
  line.queue(channel, 1);
  EXPECT_EQ(line.serve(2000), "a");
  EXPECT_EQ(line.tokens(channel), 80 - 1500);
  line.now += kOneSecond / 10;  // longer than the bucket: only its 50 ms count
  line.serve(0);
  EXPECT_EQ(line.tokens(channel), 80 - 1500 + 400);
  for (int i = 0; i < 100; ++i) {
    line.now += kOneSecond;
    line.serve(0);
  }
  EXPECT_EQ(line.tokens(channel), 400);
}

// The control thread makes a channel some time before the worker serves it.
TEST(Lcp, after_a_restart_bj_is_0_whenever_the_channel_was_made) {
  Line line;
  const unsigned channel = line.add({.priority = 1, .prioritised_bit_rate = 8'000, .bucket_size_ms = 50}, 1500);
  line.now = kOneSecond;
  (void)line.serve(0);
  EXPECT_EQ(line.tokens(channel), 400);
  line.now += 10 * kMillisecond;
  line.lcp.restart(line.now);
  EXPECT_EQ(line.tokens(channel), 0);
  line.now += 10 * kMillisecond;
  (void)line.serve(0);
  EXPECT_EQ(line.tokens(channel), 80);
}

TEST(Lcp, the_largest_bucket_fits_with_the_fastest_ticks) {
  constexpr Time kTicks = Time{1} << 33;
  constexpr std::int64_t kOctets = std::int64_t{1} << 28;
  Bucket bucket({.prioritised_bit_rate = kOctets, .bucket_size_ms = 1000}, kTicks, 0);
  bucket.fill(100 * kTicks);
  EXPECT_EQ(bucket.octets(), kOctets);
  bucket.fill(200 * kTicks);
  EXPECT_EQ(bucket.octets(), kOctets);
  bucket.spend(kOctets + 160'000);
  EXPECT_EQ(bucket.octets(), -160'000);
}

TEST(Lcp, a_channel_with_negative_bj_waits_for_lower_priorities_that_have_tokens) {
  Line line;
  const unsigned high = line.add({.priority = 1, .prioritised_bit_rate = 8'000}, 400);
  const unsigned low = line.add({.priority = 2, .prioritised_bit_rate = 80'000}, 100);
  line.queue(high, 10);
  line.queue(low, 10);
  line.now = kMillisecond;
  EXPECT_EQ(line.serve(400), "a");  // Bj = 8 - 400
  line.now += kMillisecond;
  EXPECT_EQ(line.serve(200), "bb");
}

TEST(Lcp, equal_priorities_get_equal_octets) {
  Line line;
  const unsigned large = line.add({.priority = 3}, 300), small = line.add({.priority = 3}, 100);
  line.queue(large, 10);
  line.queue(small, 100);
  EXPECT_EQ(line.serve(1200), "abbbabbb");
}

TEST(Lcp, equal_priorities_take_turns_over_blocks_of_one_sdu) {
  Line line;
  for (unsigned i = 0; i < 3; ++i) line.queue(line.add({.priority = 3}, 100), 10);
  std::string order;
  for (unsigned i = 0; i < 6; ++i) order += line.serve(100);
  EXPECT_EQ(order, "abcabc");
}

TEST(Lcp, a_channel_without_anything_that_fits_holds_up_no_other) {
  Line line;
  const unsigned large = line.add({.priority = 1}, 900), small = line.add({.priority = 2}, 100);
  line.queue(large, 1);
  line.queue(small, 2);
  EXPECT_EQ(line.serve(300), "bb");
  EXPECT_EQ(line.serve(900), "a");
}

TEST(Lcp, the_rate_is_kept_over_a_long_time) {
  Line line;
  const unsigned high = line.add({.priority = 1, .prioritised_bit_rate = 1'000'000, .bucket_size_ms = 100}, 100);
  const unsigned low = line.add({.priority = 2, .prioritised_bit_rate = 500'000, .bucket_size_ms = 100}, 100);
  line.queue(high, 100'000);
  line.queue(low, 100'000);
  std::size_t octets[2] = {};
  for (unsigned slot = 0; slot < 2000; ++slot) {  // a second of 1.5 MB/s: exactly both rates
    line.now += kMillisecond / 2;
    for (const char c : line.serve(750)) octets[c - 'a'] += 100;
  }
  EXPECT_NEAR(static_cast<double>(octets[0]), 1e6, 1e4);
  EXPECT_NEAR(static_cast<double>(octets[1]), 4e5, 1e4);  // of 750 octets 50 fit no SDU
}

TEST(Lcp, a_removed_channel_leaves_the_others_in_order) {
  Prioritisation lcp(kOneSecond);
  lcp.add({.priority = 5, .prioritised_bit_rate = 5}, 0);
  lcp.add({.priority = 1, .prioritised_bit_rate = 1}, 0);
  EXPECT_EQ(lcp.add({.priority = 5, .prioritised_bit_rate = 6}, 0), 2U);
  lcp.remove(0);
  EXPECT_EQ(lcp.size(), 2U);
  std::vector<unsigned> asked;
  lcp.serve(0, [&](unsigned at) -> std::size_t {
    asked.push_back(at);
    return 0;
  });
  EXPECT_EQ(asked, (std::vector<unsigned>{0, 1}));
}

}  // namespace
}  // namespace splitplane::ran::mac::test
