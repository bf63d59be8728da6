#include "card/bearer_order.h"

#include <gmock/gmock.h>

namespace splitplane::nic {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BearerOrder, identities_are_ascending_in_whatever_order_they_came) {
  BearerOrder order(0, 1);
  order.enter({7, 3});
  order.enter({5, 1, 9});
  EXPECT_THAT(order.all(), ElementsAre(1, 3, 5, 7, 9));
  order.leave({9, 1, 5});
  EXPECT_THAT(order.all(), ElementsAre(3, 7));
}

TEST(BearerOrder, a_page_begins_after_an_identity_and_ends_at_its_limit) {
  BearerOrder order(0, 1);
  order.enter({10, 20, 30, 40});
  EXPECT_THAT(order.page(0, 2), ElementsAre(10, 20));
  EXPECT_THAT(order.page(20, 9), ElementsAre(30, 40));
  EXPECT_THAT(order.page(25, 1), ElementsAre(30)) << "the identity that the last page ended with may be gone";
  EXPECT_THAT(order.page(40, 9), IsEmpty());
}

TEST(BearerOrder, each_bearer_is_in_the_order_of_one_core) {
  BearerOrder first(0, 2), second(1, 2);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 1; id <= 1000; ++id) ids.push_back(id);
  first.enter(ids);
  second.enter(ids);
  EXPECT_EQ(first.size() + second.size(), ids.size());
  EXPECT_GT(first.size(), 0U);
  EXPECT_GT(second.size(), 0U);
  for (const std::uint32_t id : first.all()) EXPECT_FALSE(second.is_own(id));
  first.leave(ids);
  EXPECT_THAT(first.all(), IsEmpty());
}

}  // namespace
}  // namespace splitplane::nic
