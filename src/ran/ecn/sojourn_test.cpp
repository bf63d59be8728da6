// The estimate against a queue that the test simulates, so that the true time in the queue is known. A tick is 1 us.
#include "ran/ecn/sojourn.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <vector>

#include "ran/ecn/test_time.h"

namespace splitplane::ran::ecn {
namespace {

using test::kMs;
constexpr std::size_t kOctets = 1500;
constexpr Sojourn::Settings kSettings{
    .resolution = 625, .patience = 50 * kMs, .reassembly = 35 * kMs, .rate_window = 200 * kMs};

// A bottleneck that serves one PDU in `service`, a path of `path` there and back, and a peer that sends a STATUS for
// each burst, at most one each `prohibit`.
class Link {
 public:
  Link(Time service, Time path, Time prohibit, std::uint32_t first_sn = 0)
      : service_(service), path_(path), prohibit_(prohibit), next_sn_(first_sn), received_(first_sn) {}

  Sojourn sojourn{kSettings};

  void send() {
    sojourn.sent(next_sn_++, kOctets, now_);
    const Time begin = std::max(now_, free_at_);
    free_at_ = begin + service_;
    waits_.push_back({free_at_ + path_ / 2, begin - now_});
  }
  void advance(Time by) {
    for (const Time stop = now_ + by; now_ < stop; ++now_) step();
  }
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] Time estimate() const { return sojourn.queueing(now_); }
  // The time that the last PDU of which the sender knows waited.
  [[nodiscard]] Time truth() const { return known_wait_; }
  void set_service(Time service) { service_ = service; }
  void set_path(Time path) { path_ = path; }
  [[nodiscard]] Time service() const { return service_; }
  [[nodiscard]] std::uint32_t received() const { return received_; }
  [[nodiscard]] double in_flight() const { return next_sn_ - received_; }

 private:
  struct OnItsWay {
    Time arrives, waited;
  };
  struct Status {
    Time arrives;
    std::uint32_t ack;
    Time waited;
  };
  void step() {
    while (!waits_.empty() && waits_.front().arrives <= now_) {
      waited_ = waits_.front().waited;
      waits_.pop_front();
      ++received_;
      is_polled_ = true;
    }
    if (is_polled_ && now_ >= may_send_) {
      status_.push_back({now_ + path_ / 2, received_, waited_});
      is_polled_ = false;
      may_send_ = now_ + prohibit_;
    }
    while (!status_.empty() && status_.front().arrives <= now_) {
      const Status s = status_.front();
      status_.pop_front();
      known_wait_ = s.waited;
      sojourn.acknowledged({.up_to = s.ack, .is_everything = s.ack == next_sn_}, now_);
    }
  }

  Time service_, path_, prohibit_;
  Time now_ = 1, free_at_ = 0, may_send_ = 0, waited_ = 0, known_wait_ = 0;
  std::uint32_t next_sn_, received_;
  bool is_polled_ = false;
  std::deque<OnItsWay> waits_;
  std::deque<Status> status_;
};

TEST(Sojourn, is_nothing_without_a_queue) {
  Link link(100, 8 * kMs, 5 * kMs);
  std::mt19937 random(1);
  Time most = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    link.send();
    link.advance(200 + random() % 4000);
    most = std::max(most, link.estimate());
  }
  // Each STATUS may be t-StatusProhibit late, so no target may be shorter than that.
  EXPECT_LE(most, 5 * kMs + kSettings.resolution);
  EXPECT_NEAR(static_cast<double>(link.sojourn.path()), 8 * kMs + 100, 500);
}

TEST(Sojourn, follows_a_queue_that_grows_and_shrinks) {
  for (const std::uint32_t first : {0U, 0xffffff00U}) {
    Link link(500, 6 * kMs, 2 * kMs, first);
    link.send();
    link.advance(20 * kMs);
    std::mt19937 random(2);
    unsigned checked = 0;
    Time longest = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
      const bool fast = i / 400 % 2 == 0;  // 40 % more than the bottleneck carries, then 40 % less
      link.send();
      link.advance(fast ? 300 + random() % 100 : 600 + random() % 200);
      if (link.truth() < 10 * kMs || link.estimate() == 0) continue;
      ++checked;
      longest = std::max(longest, link.truth());
      const auto error = static_cast<double>(link.estimate()) - static_cast<double>(link.truth());
      EXPECT_GE(error, -1000.0) << i;
      EXPECT_LE(error, 2000.0 + static_cast<double>(link.truth()) / 8) << i;
    }
    EXPECT_GT(checked, 1000U);
    EXPECT_GT(longest, 40 * kMs);
  }
}

TEST(Sojourn, many_more_pdus_than_stamps_are_in_flight) {
  Link link(1000, 4 * kMs, kMs);
  link.send();
  link.advance(10 * kMs);
  for (unsigned i = 0; i < 2000; ++i) {
    link.send();
    link.advance(100);
  }
  // The queue holds about 1800 ms: the estimate goes on with it.
  Time last = link.estimate();
  EXPECT_GT(last, 100 * kMs);
  for (unsigned i = 0; i < 15; ++i) {
    link.advance(100 * kMs);
    if (link.truth() < 200 * kMs) continue;
    const auto estimate = static_cast<double>(link.estimate()), truth = static_cast<double>(link.truth());
    EXPECT_NEAR(estimate, truth, truth / 8 + 2000);
  }
  link.advance(1000 * kMs);
  EXPECT_EQ(link.estimate(), 0U) << "all is acknowledged";
}

TEST(Sojourn, grows_while_a_link_is_blocked) {
  Sojourn sojourn(kSettings);
  sojourn.sent(0, kOctets, 10);
  sojourn.acknowledged({.up_to = 1, .is_everything = true}, 10 + 4 * kMs);
  const Time begin = 100 * kMs;
  sojourn.sent(1, kOctets, begin);
  EXPECT_EQ(sojourn.queueing(begin + 50 * kMs), 0U) << "a poll may have been lost";
  EXPECT_EQ(sojourn.queueing(begin + 154 * kMs), 100 * kMs);
  sojourn.acknowledged({.up_to = 2, .is_everything = true}, begin + 155 * kMs);
  EXPECT_EQ(sojourn.queueing(begin + 155 * kMs), 0U);
}

TEST(Sojourn, a_missing_pdu_is_no_queue) {
  Sojourn sojourn(kSettings);
  sojourn.sent(0, kOctets, 10);
  sojourn.acknowledged({.up_to = 1, .is_everything = true}, 10 + 4 * kMs);
  const Time begin = 100 * kMs;
  for (std::uint32_t sn = 1; sn < 60; ++sn) sojourn.sent(sn, kOctets, begin + sn * kMs);
  // PDU 40 is missing: the peer waits for t-Reassembly before it says so.
  sojourn.acknowledged({.up_to = 41, .has_holes = true}, begin + 40 * kMs + 35 * kMs + 4 * kMs);
  EXPECT_LT(sojourn.queueing(begin + 79 * kMs), kMs);
  // A queue that is longer than that is seen, and the path's delay is not learnt from such a STATUS.
  sojourn.acknowledged({.up_to = 50, .has_holes = true}, begin + 49 * kMs + 35 * kMs + 4 * kMs + 20 * kMs);
  EXPECT_NEAR(static_cast<double>(sojourn.queueing(begin + 108 * kMs)), 20 * kMs, kMs);
  EXPECT_EQ(sojourn.path(), 4 * kMs);
}

// The sender has a window, as TCP has. It is halved when the estimate says that there is a queue of more than 5 ms, and
// grows by one packet in each round trip otherwise. Returns how much of the link it used in the last third.
double use_with_window(Link& link, Time duration) {
  double window = 20;
  Time next_halving = 0;
  const Time end = link.now() + duration;
  std::uint32_t received_before = 0;
  while (link.now() < end) {
    if (link.now() < end - duration / 3) received_before = link.received();
    while (link.in_flight() < window) link.send();
    const std::uint32_t before = link.received();
    link.advance(100);
    window += static_cast<double>(link.received() - before) / window;
    if (link.estimate() > 5 * kMs && link.now() > next_halving) {
      window = std::max(2.0, window / 2);
      next_halving = link.now() + 40 * kMs;
    }
  }
  return static_cast<double>(link.received() - received_before) * static_cast<double>(link.service()) /
         (static_cast<double>(duration) / 3);
}

TEST(Sojourn, follows_a_path_that_became_longer_or_shorter) {
  Link link(500, 4 * kMs, 2 * kMs);
  EXPECT_GT(use_with_window(link, 6000 * kMs), 0.8);
  for (const Time path : {24 * kMs, 4 * kMs, 14 * kMs, 54 * kMs, 2 * kMs}) {
    link.set_path(path);
    EXPECT_GT(use_with_window(link, 15'000 * kMs), 0.6) << path;
    EXPECT_LT(link.sojourn.path(), path + 5 * kMs) << path;
    EXPECT_GT(link.sojourn.path() + 5 * kMs, path) << path;
  }
}

// Two minutes in which the queue is never empty: its time does not become part of the path's.
TEST(Sojourn, a_queue_that_stays_is_not_taken_for_a_path) {
  Link link(500, 4 * kMs, 2 * kMs);
  link.send();
  link.advance(20 * kMs);
  for (unsigned i = 0; i < 60; ++i) link.send();
  for (unsigned i = 0; i < 240'000; ++i) {
    while (link.in_flight() < 60) link.send();
    link.advance(500);
  }
  EXPECT_LT(link.sojourn.path(), 8 * kMs);
  EXPECT_GT(link.estimate(), 18 * kMs);
}

TEST(Sojourn, a_link_that_became_slower_is_a_queue) {
  Link link(500, 4 * kMs, 2 * kMs);
  EXPECT_GT(use_with_window(link, 6000 * kMs), 0.8);
  link.set_service(2000);
  EXPECT_GT(use_with_window(link, 9000 * kMs), 0.8);
  // The path's delay is taken to be longer, by the queue that a link with the old rate would not have.
  EXPECT_LT(link.truth(), 4 * 8 * kMs);
}

TEST(Sojourn, begins_anew) {
  Sojourn sojourn(kSettings);
  sojourn.sent(0, kOctets, 10);
  sojourn.acknowledged({.up_to = 1, .is_everything = true}, 10 + 4 * kMs);
  for (std::uint32_t sn = 1; sn < 500; ++sn) sojourn.sent(sn, kOctets, sn * kMs);
  sojourn.acknowledged({.up_to = 100}, 500 * kMs);
  EXPECT_GT(sojourn.queueing(500 * kMs), 300 * kMs);
  sojourn.restart();
  EXPECT_EQ(sojourn.queueing(5000 * kMs), 0U);
  sojourn.acknowledged({.up_to = 5}, 5000 * kMs);
  sojourn.sent(0, kOctets, 5000 * kMs);
  EXPECT_EQ(sojourn.queueing(5001 * kMs), 0U);
  EXPECT_EQ(sojourn.path(), 4 * kMs);
}

}  // namespace
}  // namespace splitplane::ran::ecn
