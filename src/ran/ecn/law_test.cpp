// The laws, by counting, and by senders that the test simulates over one queue. A tick is 1 us.
#include "ran/ecn/law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ran/ecn/test_time.h"

namespace splitplane::ran::ecn {
namespace {

using test::kMs;
using wire::ecn::Codepoint;

Law::Settings law_settings(Scalable scalable = Scalable::kStep) {
  return {.scalable = scalable, .target = 5 * kMs, .classic_target = 15 * kMs, .ticks_per_ms = kMs, .seed = 3};
}

double share_of_marks(Law& law, Codepoint codepoint, Time queueing) {
  constexpr unsigned kDraws = 100'000;
  unsigned marks = 0;
  for (unsigned i = 0; i < kDraws; ++i) marks += law.marks(codepoint, queueing) ? 1 : 0;
  return static_cast<double>(marks) / kDraws;
}

TEST(EcnLaw, step_marks_everything_above_the_target_and_nothing_below) {
  Law law(law_settings());
  EXPECT_EQ(share_of_marks(law, Codepoint::kEct1, 5 * kMs), 0);
  EXPECT_EQ(share_of_marks(law, Codepoint::kEct1, 5 * kMs + 1), 1);
}

TEST(EcnLaw, ramp_rises_linearly_up_to_twice_the_target) {
  Law law(law_settings(Scalable::kRamp));
  for (const double above : {0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 3.0}) {
    const auto queueing = static_cast<Time>(5 * kMs * (1 + above));
    EXPECT_NEAR(share_of_marks(law, Codepoint::kEct1, queueing), std::min(above, 1.0), 0.01) << above;
  }
}

TEST(EcnLaw, marks_ect_only) {
  Law law(law_settings());
  for (Time now = 0; now < 60'000 * kMs; now += 16 * kMs) law.update(10'000 * kMs, now);
  EXPECT_EQ(law.base_probability(), 1);
  EXPECT_TRUE(law.marks(Codepoint::kEct0, 10'000 * kMs));
  EXPECT_FALSE(law.marks(Codepoint::kNotEct, 10'000 * kMs));
  EXPECT_FALSE(law.marks(Codepoint::kCe, 10'000 * kMs));
}

TEST(EcnLaw, ect0_gets_the_square_and_ect1_twice_the_base) {
  Law law(law_settings());
  Time now = 0;
  law.update(15 * kMs, now);
  // The first update raises p' by kBeta x 15 ms; the others leave it, because the queue stands at its target.
  for (unsigned i = 0; i < 50; ++i) law.update(15 * kMs, now += 16 * kMs);
  const double base = law.base_probability();
  EXPECT_NEAR(base, 3.2 * 0.015, 1e-9);
  for (unsigned i = 0; i < 20; ++i) law.update(25 * kMs, now += 16 * kMs);
  // + 0.16 x 10 ms x 20 + 3.2 x 10 ms
  EXPECT_NEAR(law.base_probability(), base + 0.16 * 0.010 * 20 + 3.2 * 0.010, 1e-9);
  const double higher = law.base_probability();
  EXPECT_NEAR(share_of_marks(law, Codepoint::kEct0, 0), higher * higher, 0.002);
  EXPECT_NEAR(share_of_marks(law, Codepoint::kEct1, 0), 2 * higher, 0.005);
}

TEST(EcnLaw, an_idle_bearer_has_no_marks) {
  Law law(law_settings());
  Time now = 0;
  for (unsigned i = 0; i < 100; ++i) law.update(40 * kMs, now += 16 * kMs);
  EXPECT_GT(law.classic_probability(), 0.05);
  law.update(0, now += 3000 * kMs);
  EXPECT_LT(law.classic_probability(), 0.05);
  law.update(0, now += 5000 * kMs);
  EXPECT_EQ(law.classic_probability(), 0);
}

TEST(EcnLaw, updates_do_not_depend_on_how_often_packets_come) {
  Law often(law_settings()), seldom(law_settings());
  for (Time now = 0; now < 2000 * kMs; now += kMs / 4) {
    const Time queueing = now / (16 * kMs) * 200;
    often.update(queueing, now);
    if (now % (16 * kMs) == 0) seldom.update(queueing, now);
  }
  EXPECT_GT(often.base_probability(), 0.0);
  EXPECT_DOUBLE_EQ(often.base_probability(), seldom.base_probability());
}

// Senders with a window, over a bottleneck of 10,000 packets a second and a round trip of 20 ms with an empty queue.
// They react once in each round trip.
struct Outcome {
  double mean_ms, p99_ms, used;
};
Outcome simulate(Law& law, Codepoint codepoint, unsigned flows) {
  const bool is_scalable = codepoint == Codepoint::kEct1;
  constexpr double kPerMs = 10, kPathMs = 20;
  std::vector<double> window(flows, 10), fraction(flows, 1), sent(flows, 0), marked(flows, 0), left(flows, 0);
  double queue = 0, served = 0;
  std::vector<double> waits;
  constexpr unsigned kSteps = 60'000;
  for (unsigned ms = 0; ms < kSteps; ++ms) {
    const double wait_ms = queue / kPerMs;
    const auto queueing = static_cast<Time>(wait_ms * kMs);
    law.update(queueing, Time{ms} * kMs);
    for (unsigned f = 0; f < flows; ++f) {
      left[f] += window[f] / (kPathMs + wait_ms);
      for (; left[f] >= 1; left[f] -= 1) {
        queue += 1;
        sent[f] += 1;
        marked[f] += law.marks(codepoint, queueing) ? 1 : 0;
      }
      if (sent[f] < window[f]) continue;  // a round trip
      const double share = marked[f] / sent[f];
      if (is_scalable) {  // DCTCP (RFC 8257)
        fraction[f] += (share - fraction[f]) / 16;
        window[f] = share > 0 ? std::max(2.0, window[f] * (1 - fraction[f] / 2)) : window[f] + 1;
      } else {  // Reno
        window[f] = share > 0 ? std::max(2.0, window[f] / 2) : window[f] + 1;
      }
      sent[f] = marked[f] = 0;
    }
    const double out = std::min(queue, kPerMs);
    queue -= out;
    if (ms < kSteps / 3) continue;
    served += out;
    waits.push_back(wait_ms);
  }
  std::ranges::sort(waits);
  double sum = 0;
  for (const double wait : waits) sum += wait;
  const auto count = static_cast<double>(waits.size());
  return {sum / count, waits[waits.size() * 99 / 100], served / (count * kPerMs)};
}

TEST(EcnLaw, holds_the_queue_of_classic_senders_near_its_target) {
  for (const unsigned flows : {5U, 10U, 20U}) {
    Law law(law_settings());
    const Outcome o = simulate(law, Codepoint::kEct0, flows);
    EXPECT_NEAR(o.mean_ms, 15, 3) << flows;
    EXPECT_LT(o.p99_ms, 45) << flows;
    EXPECT_GT(o.used, 0.95) << flows;
  }
}

TEST(EcnLaw, holds_the_queue_of_scalable_senders_below_twice_its_target) {
  for (const Scalable scalable : {Scalable::kStep, Scalable::kRamp}) {
    for (const unsigned flows : {1U, 5U, 10U}) {
      Law law(law_settings(scalable));
      const Outcome o = simulate(law, Codepoint::kEct1, flows);
      EXPECT_LT(o.p99_ms, 11) << flows;
      EXPECT_GT(o.used, 0.95) << flows;
    }
  }
}

TEST(EcnLaw, the_same_seed_marks_the_same_packets) {
  Law one(law_settings(Scalable::kRamp)), two(law_settings(Scalable::kRamp));
  for (unsigned i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.marks(Codepoint::kEct1, 7 * kMs), two.marks(Codepoint::kEct1, 7 * kMs));
  }
}

}  // namespace
}  // namespace splitplane::ran::ecn
