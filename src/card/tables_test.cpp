#include "card/tables.h"

#include <gmock/gmock.h>

#include "card/swx/swx_pipeline.h"
#include "card/test_card.h"

namespace splitplane::nic {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CardTablesTest : public testing::Test {
 protected:
  void SetUp() override {
    const CardSettings settings{.vfs = test::kVfs, .capacity = 3};
    auto built = SwxPipeline::build(test::parsed(test::generated("gnb-mat")), io, 0);
    ASSERT_TRUE(built) << built.error().message;
    pipeline = std::move(*built);
    auto program = GnbProgram::of(*pipeline, settings);
    ASSERT_TRUE(program) << program.error().message;
    tables.emplace(std::move(*program), settings);
  }
  Expected<void> install(const std::vector<CardBearer>& bearers) { return tables->install(bearers, false); }

  PipelineIo io{kFirstVf + test::kVfs};
  std::unique_ptr<SwxPipeline> pipeline;
  std::optional<CardTables> tables;
};

TEST_F(CardTablesTest, a_refused_call_installs_none_of_its_bearers) {
  CardBearer wrong = test::bearer(3);
  wrong.teid = test::bearer(1).teid;
  const auto refused = install({test::bearer(1), test::bearer(2), wrong});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("its TEID is that of bearer"));
  EXPECT_THAT(tables->bearers(), IsEmpty());
  EXPECT_TRUE(install({test::bearer(1), test::bearer(2), test::bearer(3)})) << "its keys and slots are free again";
  EXPECT_EQ(tables->count(), 3U);
}

TEST_F(CardTablesTest, a_full_card_takes_a_bearer_once_another_is_removed) {
  ASSERT_TRUE(install({test::bearer(1), test::bearer(2), test::bearer(3)}));
  EXPECT_THAT(install({test::bearer(4)}).error().message, HasSubstr("is full; allowed: 3 bearers"));
  ASSERT_TRUE(tables->remove(std::array{test::bearer(2).id}));
  ASSERT_TRUE(install({test::bearer(4)}));
  EXPECT_THAT(tables->bearers(), ElementsAre(test::bearer(1).id, test::bearer(3).id, test::bearer(4).id));
}

TEST_F(CardTablesTest, a_question_whether_bearers_fit_changes_nothing) {
  ASSERT_TRUE(install({test::bearer(1)}));
  const auto fits = tables->would_install(std::array{test::bearer(1), test::bearer(2)});
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(*fits, 1U) << "one of them is new";
  EXPECT_EQ(tables->find(test::bearer(2).id), nullptr);
  EXPECT_FALSE(tables->can_remove(std::array{test::bearer(2).id}));
}

TEST_F(CardTablesTest, bearers_that_the_host_serves_are_counted_apart) {
  ASSERT_TRUE(install({test::bearer(1), test::bearer(2, Place::kHost)}));
  EXPECT_EQ(tables->count(), 2U);
  EXPECT_EQ(tables->served(), 1U);
  ASSERT_TRUE(install({test::bearer(2)}));
  EXPECT_EQ(tables->served(), 2U);
  ASSERT_TRUE(tables->remove(std::array{test::bearer(1).id}));
  EXPECT_EQ(tables->served(), 1U);
}

TEST_F(CardTablesTest, a_lease_ends_at_or_after_the_next_count) {
  CardBearer b = test::bearer(1);
  b.next_count = 100;
  b.ahead = 5;
  b.epoch = 3;
  ASSERT_TRUE(install({b}));
  EXPECT_THAT(tables->set_leases(std::array{CardLease{b.id, 99}}).error().message, HasSubstr("not before 100"));
  ASSERT_TRUE(tables->set_leases(std::array{CardLease{b.id, 4000}}));
  const auto numbers = tables->numbers(b.id);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->lease_end, 4000U);
  EXPECT_EQ(numbers->epoch, 3U);
  EXPECT_EQ(numbers->ahead, 5U) << "no packet was numbered yet";
}

}  // namespace
}  // namespace splitplane::nic
