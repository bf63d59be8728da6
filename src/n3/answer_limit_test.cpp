#include "n3/answer_limit.h"

#include <gtest/gtest.h>

namespace splitplane::datapath {
namespace {

using std::chrono::milliseconds;
const IpAddress kPeer = IpAddress::v4({10, 100, 0, 2});

unsigned allowed(AnswerLimit& limit, const IpAddress& peer, AnswerLimit::Time now, unsigned asked) {
  unsigned n = 0;
  for (unsigned i = 0; i < asked; ++i) n += limit.allow(peer, now) ? 1 : 0;
  return n;
}

TEST(AnswerLimit, gives_each_peer_its_share_of_a_second) {
  AnswerLimit limit(10);
  AnswerLimit::Time now{};
  EXPECT_EQ(allowed(limit, kPeer, now, 1000), 10U);
  EXPECT_EQ(allowed(limit, IpAddress::v4({10, 100, 0, 3}), now, 1000), 10U);
  EXPECT_EQ(allowed(limit, kPeer, now + milliseconds{505}, 1000), 5U);
  EXPECT_EQ(allowed(limit, kPeer, now + milliseconds{60'000}, 1000), 10U) << "what was not used is not saved up";
}

TEST(AnswerLimit, zero_answers_nobody) {
  AnswerLimit limit(0);
  EXPECT_FALSE(limit.allow(kPeer, {}));
}

TEST(AnswerLimit, a_flood_of_addresses_takes_bounded_memory_and_is_refused) {
  AnswerLimit limit(10);
  unsigned answered = 0;
  for (unsigned i = 0; i < 5000; ++i) answered += limit.allow(kPeer.plus(i), {}) ? 1 : 0;
  EXPECT_EQ(answered, AnswerLimit::kMaxPeers);
  EXPECT_TRUE(limit.allow(kPeer.plus(4999), AnswerLimit::Time{} + milliseconds{1500})) << "old ones make room";
}

}  // namespace
}  // namespace splitplane::datapath
