#include "guard/arming/arming.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <random>
#include <vector>

namespace splitplane::guard {
namespace {

constexpr std::uint64_t kBegin = 1'000'000;

// Windows of 100 ms in which SYNs come at a rate, of which a share proves itself `late` windows later.
struct Wave {
  explicit Wave(const ArmingSettings& settings = {}) : arming(settings) {}

  void run(double seconds, double syns_per_second, double honest = 0, std::size_t late = 0) {
    for (int i = 0; i < std::lround(seconds * 10); ++i) {
      now += 100;
      owed += syns_per_second / 10;
      const auto syns = static_cast<std::uint64_t>(owed);
      owed -= static_cast<double>(syns);
      to_come.push_back(static_cast<std::uint64_t>(static_cast<double>(syns) * honest));
      std::uint64_t proven = 0;
      while (to_come.size() > late) {
        proven += to_come.front();
        to_come.pop_front();
      }
      const bool was = arming.armed();
      arming.after({100, syns, proven}, now);
      if (arming.armed() != was) ++changes;
      if (arming.armed() && !was) armed_at = now;
    }
  }
  // Seconds until it disarms, in silence.
  double seconds_to_rest() {
    const std::uint64_t from = now;
    while (arming.armed() && now - from < 1'000'000) run(0.1, 0);
    return static_cast<double>(now - from) / 1000;
  }

  Arming arming;
  std::uint64_t now = kBegin, armed_at = 0;
  double owed = 0;
  std::deque<std::uint64_t> to_come;
  unsigned changes = 0;
};

TEST(Arming, rests_without_syns_and_below_the_rate) {
  Wave wave;
  wave.run(60, 0);
  wave.run(60, 990);
  EXPECT_FALSE(wave.arming.armed());
  EXPECT_EQ(wave.arming.events(), 0U);
  EXPECT_NEAR(wave.arming.syns_per_second(), 990, 1);
  EXPECT_NEAR(wave.arming.half_open_percent(), 100, 0.1);
}

TEST(Arming, arms_at_the_rate_when_the_syns_lead_to_nothing) {
  Wave wave;
  wave.run(1.1, 1000);
  EXPECT_FALSE(wave.arming.armed()) << "those of 0.9 s were judged";
  wave.run(0.1, 1000);
  EXPECT_TRUE(wave.arming.armed());
  EXPECT_EQ(wave.arming.events(), 1U);
}

TEST(Arming, arms_the_earlier_the_faster_they_come) {
  Wave wave;
  wave.run(5, 5000);
  EXPECT_EQ(wave.armed_at - kBegin, 400U) << "1000 SYNs, and 0.2 s in which they could have been proven";
  Wave flood;
  flood.run(5, 20000);
  EXPECT_EQ(flood.armed_at - kBegin, 100U) << "whatever the share is";
}

TEST(Arming, arms_by_the_share_of_those_that_led_to_nothing) {
  for (const double honest : {0.0, 0.3, 0.45, 0.55, 0.8, 1.0}) {
    Wave wave;
    wave.run(20, 4000, honest);
    EXPECT_EQ(wave.arming.armed(), honest < 0.5) << honest;
    EXPECT_NEAR(wave.arming.half_open_percent(), 100 * (1 - honest), 1) << honest;
  }
}

TEST(Arming, a_crowd_of_new_clients_does_not_arm_it) {
  for (const std::size_t late : {0U, 1U, 2U}) {  // round-trip times up to 200 ms
    for (const double rate : {1500.0, 5000.0, 15000.0}) {
      Wave wave;
      for (int again = 0; again < 20; ++again) {
        wave.run(0.1 * (1 + again % 13), rate, 1, late);
        wave.run(0.1 * (again % 17), 0, 1, late);
      }
      EXPECT_EQ(wave.arming.events(), 0U) << late << ' ' << rate;
    }
  }
}

TEST(Arming, a_flood_of_any_kind_of_sources_above_the_highest_rate_arms_it) {
  Wave wave;
  wave.run(1, 19990, 1);
  EXPECT_FALSE(wave.arming.armed());
  wave.run(0.1, 20000, 1);
  EXPECT_TRUE(wave.arming.armed());
}

TEST(Arming, a_burst_that_is_over_does_not_arm_it) {
  Wave wave;
  wave.run(0.1, 15000);
  wave.run(10, 100);
  EXPECT_EQ(wave.arming.events(), 0U);
}

TEST(Arming, disarms_after_the_hold_and_not_before) {
  Wave wave;
  wave.run(3, 5000);
  wave.run(9.9, 499);
  EXPECT_TRUE(wave.arming.armed());
  wave.run(0.1, 501);
  wave.run(9.9, 0);
  EXPECT_TRUE(wave.arming.armed()) << "the hold began anew";
  wave.run(0.1, 0);
  EXPECT_FALSE(wave.arming.armed());
}

TEST(Arming, between_the_two_rates_it_stays_as_it_is) {
  Wave wave;
  wave.run(100, 900);
  EXPECT_FALSE(wave.arming.armed());
  wave.run(3, 2000);
  EXPECT_TRUE(wave.arming.armed());
  wave.run(1000, 510);
  EXPECT_TRUE(wave.arming.armed());
  EXPECT_EQ(wave.changes, 1U);
}

TEST(Arming, a_slow_ramp_arms_it_once_and_disarms_it_once) {
  Wave wave;
  for (int rate = 0; rate < 3000; ++rate) wave.run(0.3, rate);
  EXPECT_EQ(wave.changes, 1U);
  for (int rate = 3000; rate > 0; --rate) wave.run(0.3, rate);
  wave.run(20, 0);
  EXPECT_EQ(wave.changes, 2U);
}

TEST(Arming, the_hold_doubles_when_it_arms_again_soon) {
  Wave wave;
  for (const std::uint32_t hold : {10U, 20U, 40U, 80U, 160U, 160U}) {
    wave.run(2, 5000);
    EXPECT_EQ(wave.arming.hold_seconds(), hold);
    EXPECT_NEAR(wave.seconds_to_rest(), hold, 0.11);
    wave.run(30, 0);
  }
  wave.run(131, 0);  // rearm_seconds have passed
  wave.run(2, 5000);
  EXPECT_EQ(wave.arming.hold_seconds(), 10U);
}

// Whatever the period, an attack that is switched on and off cannot make the guard flap.
TEST(Arming, a_square_wave_does_not_make_it_flap) {
  constexpr double kSeconds = 2 * 3600;
  for (const double period : {0.2, 0.4, 1.0, 2.0, 5.0, 9.0, 11.0, 15.0, 21.0, 30.0, 42.0, 60.0, 75.0, 90.0, 150.0,
                              170.0, 230.0, 400.0, 1000.0}) {
    for (const double on : {0.1, 0.5, 0.9}) {
      const double off = period * (1 - on);
      Wave wave;
      for (double t = 0; t < kSeconds; t += period) {
        wave.run(period * on, 8000);
        wave.run(off, 0);
      }
      if (off < 69) {  // the holds grow until they outlast the pauses
        EXPECT_LE(wave.changes, 11U) << period << ' ' << on;
      }
      EXPECT_LE(wave.changes, 2 * kSeconds / period + 2) << period << ' ' << on;
      EXPECT_LE(wave.changes, 2 * kSeconds / 70 + 10) << period << ' ' << on;
    }
  }
}

// The worst that an attacker who knows the settings can do, at any mixture of pauses: 10 + 20 + 40 seconds armed, and
// 60 in which nothing may happen, for three times armed.
TEST(Arming, no_pattern_makes_it_change_more_often_than_the_holds_allow) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Wave wave;
    while (wave.now - kBegin < 3'600'000) {
      wave.run(0.6, 8000);
      wave.run(static_cast<double>(random() % 3 == 0 ? 70 + random() % 3 : 10 * (1U << random() % 4) + random() % 2),
               0);
    }
    EXPECT_LE(wave.changes, 2 * 3 * 3600 / 130 + 10);
  }
}

TEST(Arming, settings_change_at_run_time) {
  Wave wave;
  wave.run(5, 200);
  EXPECT_FALSE(wave.arming.armed());
  ArmingSettings low;
  low.arm_syns_per_second = 100;
  low.disarm_syns_per_second = 50;
  low.hold_seconds = 3;
  wave.arming.set(low);
  EXPECT_FALSE(wave.arming.armed());
  wave.run(0.1, 200);
  EXPECT_TRUE(wave.arming.armed());
  EXPECT_EQ(wave.arming.hold_seconds(), 3U);
  wave.arming.set({});
  EXPECT_TRUE(wave.arming.armed()) << "until the hold is over";
  EXPECT_EQ(wave.arming.hold_seconds(), 10U);
  wave.run(10, 200);
  EXPECT_FALSE(wave.arming.armed());
  low.max_hold_seconds = 1;
  wave.arming.set(low);
  EXPECT_EQ(wave.arming.hold_seconds(), 3U) << "the hold is the least";
}

TEST(Arming, a_rate_to_disarm_above_the_one_to_arm_does_not_make_it_flap) {
  ArmingSettings settings;
  settings.disarm_syns_per_second = 100'000;
  Wave wave(settings);
  wave.run(600, 1200);
  EXPECT_EQ(wave.changes, 1U);
}

TEST(Arming, short_windows_count_together_and_long_ones_by_the_part_that_is_judged) {
  Arming many({});
  std::uint64_t now = 0;
  for (int i = 0; i < 2000; ++i) many.after({1, 2, 0}, ++now);
  EXPECT_TRUE(many.armed());
  EXPECT_NEAR(many.syns_per_second(), 2000, 1);

  Arming once({});
  once.after({0, 1'000'000, 0}, 5);
  EXPECT_FALSE(once.armed()) << "no time has passed yet";
  once.after({100, 0, 0}, 105);
  EXPECT_TRUE(once.armed());

  Arming slept({});
  slept.after({3'600'000, 900'000, 0}, 3'600'000);  // 250 a second
  for (std::uint64_t t = 1; t < 30; ++t) slept.after({100, 60, 60}, 3'600'000 + t * 100);
  EXPECT_FALSE(slept.armed());
  EXPECT_EQ(slept.events(), 0U);
}

// What the header says, on the whole past, millisecond by millisecond.
class NaiveArming {
 public:
  explicit NaiveArming(const ArmingSettings& settings) : s_(settings), hold_(settings.hold_seconds) {}
  // Nothing: a number lies so near to its threshold that rounding decides.
  bool after(const Arming::Window& w, std::uint64_t now, bool& close) {
    for (std::uint32_t i = 0; i < w.milliseconds; ++i) {
      syns_.push_front(static_cast<double>(w.unknown_syns) / w.milliseconds);
      sources_.push_front(static_cast<double>(w.new_sources) / w.milliseconds);
    }
    while (syns_.size() > 1200) syns_.pop_back();
    while (sources_.size() > 1200) sources_.pop_back();
    double judged = 0, proven = 0;
    for (std::size_t ms = 0; ms < syns_.size(); ++ms) {
      if (ms >= 200) judged += syns_[ms];
      proven += sources_[ms];
    }
    const double rate = static_cast<double>(w.unknown_syns) * 1000 / w.milliseconds;
    const double percent = judged == 0 ? 0 : std::max(0.0, 100 * (1 - proven / 1.2 / judged));
    const auto reaches = [&](double value, double threshold) {
      close |= std::abs(value - threshold) < 1e-6 * threshold + 1e-9;
      return value >= threshold;
    };
    const bool busy = reaches(rate, s_.disarm_syns_per_second);
    const bool judged_bad = reaches(judged, s_.arm_syns_per_second);
    const bool share_bad = reaches(percent, s_.arm_half_open_percent);
    const bool flood = reaches(rate, s_.always_syns_per_second) || (busy && judged_bad && share_bad);
    if (!armed_ && flood) {
      hold_ = ever_ && now - disarmed_ <= s_.rearm_seconds * 1000ULL ? std::min(2 * hold_, s_.max_hold_seconds)
                                                                     : s_.hold_seconds;
      armed_ = ever_ = true;
      busy_at_ = now;
    }
    if (busy || flood) busy_at_ = now;
    if (armed_ && now - busy_at_ >= hold_ * 1000ULL) {
      armed_ = false;
      disarmed_ = now;
    }
    return armed_;
  }
  [[nodiscard]] std::uint32_t hold() const { return hold_; }

 private:
  ArmingSettings s_;
  std::deque<double> syns_, sources_;
  std::uint32_t hold_;
  bool armed_ = false, ever_ = false;
  std::uint64_t busy_at_ = 0, disarmed_ = 0;
};

RC_GTEST_PROP(Arming, decides_as_a_naive_one_that_keeps_the_whole_past, ()) {
  std::mt19937_64 random(*rc::gen::inRange(0U, 1U << 30));
  ArmingSettings settings;
  settings.arm_syns_per_second = static_cast<std::uint32_t>(100 + random() % 2000);
  settings.disarm_syns_per_second = settings.arm_syns_per_second / static_cast<std::uint32_t>(1 + random() % 3);
  settings.always_syns_per_second = settings.arm_syns_per_second * static_cast<std::uint32_t>(2 + random() % 20);
  settings.arm_half_open_percent = static_cast<std::uint32_t>(random() % 101);
  settings.hold_seconds = static_cast<std::uint32_t>(1 + random() % 4);
  settings.max_hold_seconds = settings.hold_seconds * 8;
  settings.rearm_seconds = static_cast<std::uint32_t>(random() % 20);
  Arming arming(settings);
  NaiveArming naive(settings);
  std::uint64_t now = random() >> (random() % 40);
  double rate = 0, honest = 0;
  unsigned armed = 0;
  for (int step = 0; step < 800; ++step) {
    if (random() % 20 == 0) {
      const double top = random() % 3 == 0 ? 0 : settings.arm_syns_per_second * (random() % 8 == 0 ? 25.0 : 3.0);
      rate = top * static_cast<double>(random() % 1000) / 1000;
      honest = static_cast<double>(random() % 1200) / 1000;
    }
    Arming::Window window;
    window.milliseconds = static_cast<std::uint32_t>(100 + (random() % 10 == 0 ? random() % 3000 : random() % 20));
    window.unknown_syns = static_cast<std::uint64_t>(rate * window.milliseconds / 1000);
    window.new_sources = static_cast<std::uint64_t>(static_cast<double>(window.unknown_syns) * honest);
    now += window.milliseconds;
    const bool was = arming.armed();
    bool close = false;
    const bool should = naive.after(window, now, close);
    if (close) return;
    RC_ASSERT(arming.after(window, now) == should);
    RC_ASSERT(arming.hold_seconds() == naive.hold());
    armed += !was && should ? 1 : 0;
  }
  RC_ASSERT(arming.events() == armed);
}

}  // namespace
}  // namespace splitplane::guard
