#include "power/replay/arrivals.h"

#include <gtest/gtest.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace splitplane::power::replay {
namespace {

template <class T>
std::string error_of(const Expected<T>& result) {
  return result ? "none" : result.error().message;
}

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(Arrivals, of_each_kind_ascend_and_keep_the_rate) {
  for (const auto& kind : {ArrivalsSettings{}.kind,
                           {traffic::Arrivals{traffic::Constant{}}},
                           {traffic::Arrivals{traffic::Bursts{50}}},
                           {Tdd{}}}) {
    const auto times = *make_arrivals({.kind = kind, .rate = 20'000, .duration_ns = 5 * kSecond, .seed = 3});
    EXPECT_NEAR(static_cast<double>(times.size()), 100'000, 1500);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_LT(times.back(), 5 * kSecond);
  }
}

TEST(Arrivals, of_tdd_come_only_at_the_beginning_of_downlink_slots) {
  const auto times = *make_arrivals({.kind = Tdd{"DDDSU", 500'000, 50'000}, .rate = 10'000, .duration_ns = kSecond});
  std::vector<unsigned> in_slot(5);
  for (const std::uint64_t time : times) {
    EXPECT_LT(time % 500'000, 50'000U);
    ++in_slot[time / 500'000 % 5];
  }
  for (std::size_t slot = 0; slot < 4; ++slot) EXPECT_NEAR(in_slot[slot], 2500, 300);
  EXPECT_EQ(in_slot[4], 0U);
}

TEST(Arrivals, of_a_day_rise_to_the_peak_at_noon_and_fall_back) {
  const auto times = *make_arrivals({.kind = Diurnal{0.1}, .rate = 10'000, .duration_ns = 10 * kSecond});
  EXPECT_NEAR(static_cast<double>(times.size()), 55'000, 1000);  // (1 + 0.1) / 2 of the peak
  std::vector<double> in_second(10);
  for (const std::uint64_t time : times) ++in_second[time / kSecond];
  EXPECT_NEAR(in_second[0], 1000 + 9000 * 0.0323, 150);  // the curve's mean over the first tenth: 0.0323
  EXPECT_NEAR(in_second[5], 10'000 - 9000 * 0.0323, 300);
  EXPECT_NEAR(in_second[9], in_second[0], 150);
}

TEST(Arrivals, depend_on_the_seed_alone) {
  for (const auto& kind : {ArrivalsSettings{}.kind, {Tdd{}}, {Diurnal{}}}) {
    const auto make = [&](std::uint64_t seed) {
      return *make_arrivals({.kind = kind, .rate = 1000, .duration_ns = kSecond, .seed = seed});
    };
    EXPECT_EQ(make(1), make(1));
    EXPECT_NE(make(1), make(2));
  }
}

TEST(Arrivals, that_cannot_be_are_refused_in_a_sentence) {
  const auto error = [](const ArrivalsSettings& settings) { return error_of(make_arrivals(settings)); };
  EXPECT_EQ(error({.kind = Tdd{"UUU"}}), "slot pattern 'UUU'; allowed: letters D, S and U, not U alone");
  EXPECT_EQ(error({.kind = Tdd{"DXU"}}), "slot pattern 'DXU'; allowed: letters D, S and U, not U alone");
  EXPECT_EQ(error({.kind = Tdd{"DU", 500, 501}}),
            "packets over 501 ns of a slot of 500 ns; allowed: above 0, at most the slot");
  EXPECT_EQ(error({.rate = 1e8, .duration_ns = kSecond}),
            "more than 50000000 packets; allowed: a lower rate or a shorter duration");
}

class Trace : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    directory_ = ::mkdtemp(name);
    path_ = directory_ + "/trace.pcap";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void record(const std::vector<std::uint64_t>& times) {
    pcap_t* pcap = pcap_open_dead_with_tstamp_precision(DLT_RAW, 96, PCAP_TSTAMP_PRECISION_NANO);
    pcap_dumper_t* dumper = pcap_dump_open(pcap, path_.c_str());
    ASSERT_NE(dumper, nullptr);
    for (const std::uint64_t time : times) {
      pcap_pkthdr header{.caplen = 4, .len = 1400};  // cut when it was recorded
      header.ts.tv_sec = static_cast<time_t>(time / kSecond);
      header.ts.tv_usec = static_cast<suseconds_t>(time % kSecond);
      pcap_dump(reinterpret_cast<unsigned char*>(dumper), &header, reinterpret_cast<const unsigned char*>("abcd"));
    }
    pcap_dump_close(dumper);
    pcap_close(pcap);
  }
  std::string directory_, path_;
};

TEST_F(Trace, gives_its_packets_times_from_the_first_on_in_order) {
  record({5 * kSecond, 5 * kSecond + 700, 5 * kSecond + 300, 6 * kSecond});
  EXPECT_EQ(load_times(path_)->times_ns, (std::vector<std::uint64_t>{0, 300, 700, kSecond}));
}

TEST_F(Trace, is_played_again_until_the_duration_ends_and_faster_if_asked) {
  record({0, 100'000});
  auto recorded = *load_times(path_);
  recorded.speed = 2;
  const auto times = *make_arrivals({.kind = traffic::Arrivals{recorded}, .duration_ns = 210'000});
  EXPECT_EQ(times, (std::vector<std::uint64_t>{0, 50'000, 100'000, 150'000, 200'000}));
}

TEST_F(Trace, that_is_missing_empty_or_no_capture_is_refused_with_its_name) {
  EXPECT_NE(error_of(load_times(path_)).find(path_), std::string::npos);
  record({});
  EXPECT_EQ(error_of(load_times(path_)), path_ + ": holds no packet");
  std::filesystem::resize_file(path_, 7);
  EXPECT_EQ(error_of(load_times(path_)).find(path_), 0U);
}

TEST(Arrivals, trains_come_whole_and_at_random_times) {
  const auto times = *make_arrivals({.kind = Trains{8}, .rate = 80'000, .duration_ns = 1'000'000'000});
  EXPECT_NEAR(static_cast<double>(times.size()), 80'000, 3000);
  double below_mean = 0;
  for (std::size_t i = 8; i + 8 <= times.size(); i += 8) {
    EXPECT_EQ(times[i], times[i + 7]);
    below_mean += times[i] - times[i - 8] < 100'000 ? 1 : 0;
  }
  EXPECT_NEAR(below_mean / (static_cast<double>(times.size()) / 8), 0.63, 0.02) << "exponential gaps";
  EXPECT_FALSE(make_arrivals({.kind = Trains{0}}));
}

}  // namespace
}  // namespace splitplane::power::replay
