// The way of a worker's request for a grant to the link of its card.
#include <gtest/gtest.h>

#include <future>

#include "card/link/requests.h"
#include "engine/test_environment.h"

namespace splitplane::gnb {
namespace {

using namespace std::chrono_literals;
using datapath::CardRequest;

TEST(GnbCardRequests, reach_a_reader_that_sleeps) {
  datapath::test::Ring ring{4};
  app::CardRequestReader reader;
  datapath::CardRequests requests(ring.get(), &reader.wakeup());
  reader.add(requests);
  std::promise<CardRequest> first;
  reader.begin([&](std::span<const CardRequest> all) { first.set_value(all.front()); });
  std::this_thread::sleep_for(20ms);
  const CardRequest request{BearerId{0xffff0001}, 0xffffffff};
  ASSERT_TRUE(requests.ask(request));
  auto found = first.get_future();
  ASSERT_EQ(found.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(found.get(), request);
  reader.end();
  EXPECT_TRUE(requests.empty());
}

TEST(GnbCardRequests, are_refused_by_a_full_ring) {
  datapath::test::Ring ring{2};
  app::CardRequestReader reader;
  datapath::CardRequests requests(ring.get(), &reader.wakeup());
  EXPECT_TRUE(requests.ask({BearerId{1}, 0}));
  EXPECT_TRUE(requests.ask({BearerId{2}, 0}));
  EXPECT_FALSE(requests.ask({BearerId{3}, 0}));
  EXPECT_EQ(requests.take(), (CardRequest{BearerId{1}, 0}));
  EXPECT_EQ(requests.take(), (CardRequest{BearerId{2}, 0}));
}

}  // namespace
}  // namespace splitplane::gnb
