#include "gnb/control/bearers.h"

#include "gnb/control/test_parts.h"
#include "ran/control/bearer_json.h"

namespace splitplane::gnb {
namespace {

using test::Hanging;
using test::kOtherUpf;
using test::kUpf;
using ::testing::HasSubstr;

class BearersTest : public test::PartsTest {
 protected:
  Expected<AddedBearers> add_all(const std::vector<ran::BearerConfig>& wanted) {
    return parts_->bearers.add(wanted, std::nullopt);
  }
  [[nodiscard]] ran::BearerUplink& uplink(BearerId id) {
    return *parts_->workers.owner_of(id.value)->gnb->bearers.uplink_line(id.value);
  }
  // Two workers; w0 keeps copies itself.
  [[nodiscard]] static GnbConfig acknowledged() {
    GnbConfig config = test::small_config();
    config.workers[0].baas = WorkerConfig::Baas::kInline;
    return config;
  }
};

TEST_F(BearersTest, an_added_bearer_is_in_its_workers_lines_and_is_shown) {
  const auto added = add(test::bearer(7), 5);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(ran::shard_of(added->id.value).value, 5);
  EXPECT_EQ(uplink(added->id).id, added->id.value);
  const auto view = parts_->bearers.show(added->id);
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->config, *added);
  EXPECT_EQ(view->worker, 1U);
  EXPECT_EQ(parts_->bearers.count(), 1U);
  EXPECT_EQ(bearers_towards(kUpf), 1U);
}

TEST_F(BearersTest, marks_need_a_worker_that_keeps_what_is_not_acknowledged) {
  make(acknowledged());
  ran::BearerConfig marked = test::bearer(7);
  marked.ecn = ran::EcnConfig{.law = ran::ecn::Scalable::kRamp};
  const auto refused = add(marked, 5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "ecn: worker w1 does not keep what the UE has not acknowledged; allowed: a worker with baas: inline");
  EXPECT_EQ(parts_->bearers.count(), 0U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  const auto added = add(marked, 0);
  ASSERT_TRUE(added) << added.error().message;
  const Json shown = to_json(*parts_->bearers.show(added->id));
  EXPECT_EQ(shown["ecn"]["law"], "ramp");
  EXPECT_EQ(shown["rlc_am"]["ecn"]["marked_ect1"], 0);
  EXPECT_EQ(bearer_from_json(shown)->ecn, marked.ecn);
}

TEST_F(BearersTest, adding_the_same_bearer_again_is_no_error) {
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  const auto again = add_all({test::bearer(7), test::bearer(8)});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->existed, 1U);
  EXPECT_EQ(again->bearers.front().id, added->id);
  EXPECT_EQ(parts_->bearers.count(), 2U);
  ran::BearerConfig other = test::bearer(7);
  other.qfi = Qfi{3};
  const auto refused = add(other);
  EXPECT_FALSE(refused) << "another bearer has that uplink TEID";
}

TEST_F(BearersTest, all_or_none_of_a_request_is_added) {
  ran::BearerConfig first = test::bearer(7), twin = test::bearer(8, kOtherUpf);
  first.dl_teid = twin.dl_teid = Teid{0xabcdef};
  const auto refused = add_all({first, twin});
  ASSERT_FALSE(refused);
  EXPECT_EQ(parts_->bearers.count(), 0U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  EXPECT_EQ(bearers_towards(kOtherUpf), 0U);
  EXPECT_EQ(parts_->worker(0).keys()->teids->stats().entries, 0U);
  EXPECT_TRUE(add(twin)) << "its key is free";
}

TEST_F(BearersTest, what_earlier_workers_were_told_goes_again_when_one_does_not_answer) {
  ran::BearerConfig on_w0 = test::bearer(7), on_w1 = test::bearer(8);
  on_w0.id = BearerId{ran::make_teid(1, ShardId{0}, 2)};
  on_w1.id = BearerId{ran::make_teid(1, ShardId{4}, 2)};
  ASSERT_TRUE(add(test::bearer(1), 4)) << "w1 knows the UPF, so that it is first asked for the lines";
  {
    const Hanging hanging(parts_->worker(1));
    const auto refused = add_all({on_w0, on_w1});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("worker w1 does not answer; no bearer was added"));
    EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("may keep"))) << "w1 was told nothing";
  }
  EXPECT_EQ(uplink(on_w0.id).id, 0U);
  EXPECT_EQ(parts_->bearers.count(), 1U);
  EXPECT_EQ(bearers_towards(kUpf), 1U);
}

TEST_F(BearersTest, a_change_reaches_the_line_and_moves_its_place_among_upfs) {
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  const auto changed =
      parts_->bearers.modify(added->id, test::patch({{"ul_teid", 9U}, {"upf", kOtherUpf.to_string()}, {"qfi", 4U}}));
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->uplink_teid.value, 9U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  EXPECT_EQ(bearers_towards(kOtherUpf), 1U);
  const auto& peer = parts_->worker(0).gnb->peers[uplink(added->id).peer];
  EXPECT_EQ(peer.header[14 + 19], 3) << "the last octet of the destination address";
  EXPECT_EQ(parts_->store.find_uplink(kOtherUpf, Teid{9})->id, added->id);
}

TEST_F(BearersTest, a_refused_change_leaves_everything_as_it_was) {
  const auto added = add(test::bearer(7)), other = add(test::bearer(8));
  ASSERT_TRUE(added && other);
  const auto twin = parts_->bearers.modify(added->id, test::patch({{"ul_teid", 8U}}));
  ASSERT_FALSE(twin);
  EXPECT_THAT(twin.error().message, HasSubstr("is in use by bearer"));
  {
    const Hanging hanging(parts_->worker(0));
    ASSERT_FALSE(parts_->bearers.modify(added->id, test::patch({{"qfi", 4U}})));
    ASSERT_FALSE(parts_->bearers.modify(added->id, test::patch({{"upf", kOtherUpf.to_string()}})));
  }
  EXPECT_EQ(*parts_->store.find(added->id), *added);
  EXPECT_EQ(bearers_towards(kUpf), 2U);
  EXPECT_EQ(bearers_towards(kOtherUpf), 0U);
  const auto unknown = parts_->bearers.modify(BearerId{0x12345678}, {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no bearer with identity 0x12345678"));
}

TEST_F(BearersTest, releasing_twice_is_no_error) {
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  EXPECT_TRUE(parts_->bearers.release(added->id).value_or(false));
  EXPECT_FALSE(parts_->bearers.release(added->id).value_or(true));
  EXPECT_EQ(uplink(added->id).id, 0U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  EXPECT_FALSE(parts_->bearers.show(added->id));
}

TEST_F(BearersTest, a_bearer_whose_worker_does_not_answer_stays) {
  const auto added = add(test::bearer(7));
  ASSERT_TRUE(added);
  const Hanging hanging(parts_->worker(0));
  const auto refused = parts_->bearers.release(added->id);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worker w0 does not answer; nothing was changed"));
  EXPECT_EQ(parts_->bearers.count(), 1U);
  EXPECT_EQ(bearers_towards(kUpf), 1U);
  EXPECT_FALSE(parts_->bearers.show(added->id));
}

TEST_F(BearersTest, only_a_bearer_with_retransmission_is_reestablished) {
  make(acknowledged());
  const auto kept = add(test::bearer(7), 0), plain = add(test::bearer(8), 4);
  ASSERT_TRUE(kept && plain);
  EXPECT_TRUE(kept->acknowledged);
  EXPECT_FALSE(plain->acknowledged);
  const auto first = parts_->bearers.reestablish(kept->id), second = parts_->bearers.reestablish(kept->id);
  ASSERT_TRUE(first && second) << first.error().message;
  EXPECT_NE(*first, *second);
  EXPECT_EQ(parts_->bearers.show(kept->id)->rlc_am->epoch, *second);
  const auto refused = parts_->bearers.reestablish(plain->id);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has no retransmission"));
}

TEST_F(BearersTest, a_page_begins_behind_an_identity) {
  std::vector<ran::BearerConfig> wanted;
  for (std::uint32_t i = 0; i < 10; ++i) wanted.push_back(test::bearer(100 + i));
  ASSERT_TRUE(add_all(wanted));
  const auto first = parts_->bearers.list(0, 6);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->size(), 6U);
  const auto rest = parts_->bearers.list(first->back().config.id.value, 6);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->size(), 4U);
  EXPECT_GT(rest->front().config.id.value, first->back().config.id.value);
}

TEST_F(BearersTest, the_bearers_of_the_configuration_are_there_at_the_start) {
  GnbConfig config = test::small_config();
  config.bearers = {{.count = 3, .first = test::bearer(50)}, {.first = test::bearer(90), .shard = 6}};
  make(config);
  EXPECT_EQ(parts_->bearers.count(), 4U);
  EXPECT_EQ(ran::shard_of(parts_->store.find_uplink(kUpf, Teid{90})->id.value).value, 6);
  EXPECT_NE(parts_->store.find_uplink(kUpf, Teid{52}), nullptr);
}

TEST_F(BearersTest, more_configured_bearers_than_fit_refuse_the_start) {
  GnbConfig config = test::small_config();
  config.bearers = {{.count = 5, .first = test::bearer(50), .shard = 0}};
  test::Parts parts(config);
  parts_.reset();
  const auto refused = parts.make();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bearers: "));
}

}  // namespace
}  // namespace splitplane::gnb
