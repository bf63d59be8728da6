#include "explain/plane.h"

#include <gmock/gmock.h>

#include "explain/test_config.h"
#include "explain/words.h"
#include "n3/test_frames.h"

namespace splitplane::app {
namespace {

using datapath::DropReason;
using datapath::test::N3Frame;
using testing::HasSubstr;

class ExplainPlaneTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = ExplainPlane::make_on(std::nullopt, config);
    ASSERT_TRUE(made) << made.error().message;
    plane = *std::move(made);
  }
  Outcome run(const Octets& frame, Direction direction = Direction::kDownlink) {
    auto outcome = plane->run(frame, direction);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *std::move(outcome) : Outcome{};
  }

  const GnbConfig config = test::one_worker();
  std::unique_ptr<ExplainPlane> plane;
};

TEST_F(ExplainPlaneTest, a_packet_of_a_bearer_goes_to_the_air_and_its_numbers_go_on) {
  for (std::uint32_t number = 0; number < 3; ++number) {
    const Outcome outcome = run(N3Frame{.teid = test::kFirst}.make());
    EXPECT_EQ(outcome.worker, "w0");
    EXPECT_FALSE(outcome.dropped);
    ASSERT_EQ(outcome.to_air.size(), 1U);
    EXPECT_EQ(outcome.own_in_air, 0U);
    ASSERT_NE(outcome.bearer, nullptr);
    EXPECT_EQ(outcome.bearer->id, BearerId{test::kFirst});
    EXPECT_EQ(outcome.to_air[0][26], number) << "the last octet of the RLC SN";
  }
}

TEST_F(ExplainPlaneTest, a_packet_of_an_unknown_teid_is_dropped_with_its_reason) {
  const Outcome outcome = run(N3Frame{.teid = test::kFirst + 1}.make());
  EXPECT_EQ(outcome.dropped, DropReason::teid_unknown);
  EXPECT_TRUE(outcome.to_air.empty());
  EXPECT_EQ(outcome.bearer, nullptr);
}

TEST_F(ExplainPlaneTest, a_packet_that_is_not_the_pipelines_goes_to_the_control_thread) {
  const Octets echo = N3Frame{.message = wire::gtpu::kEchoRequest, .teid = 0, .extensions = {}}.make();
  const Outcome outcome = run(echo);
  EXPECT_EQ(outcome.punted, echo);
}

TEST_F(ExplainPlaneTest, a_packet_longer_than_one_buffer_is_worked_on_as_a_whole) {
  const Outcome outcome = run(Octets(config.memory.mbuf_data_bytes + 100, 0xff));
  EXPECT_TRUE(outcome.to_air.empty());
  EXPECT_TRUE(outcome.dropped || outcome.punted);
}

TEST(ExplainPlane, a_story_says_where_the_bearer_lives_and_what_keeps_it_there) {
  GnbConfig config = test::one_worker();
  const auto story_of = [](const GnbConfig& told_of) {
    auto plane = ExplainPlane::make_on(std::nullopt, told_of);
    EXPECT_TRUE(plane) << plane.error().message;
    if (!plane) return std::string();
    const Octets frame = N3Frame{.teid = test::kFirst}.make();
    const auto outcome = (*plane)->run(frame, Direction::kDownlink);
    EXPECT_TRUE(outcome);
    return outcome ? to_json(tell(*outcome, frame), *outcome).dump() : "";
  };
  EXPECT_THAT(story_of(config), testing::Not(HasSubstr("placed on"))) << "there is no card";
  config.cards = {{.name = "card0", .control = "c", .vfs = {"n3", "air"}, .n3 = "n3", .air = "air"}};
  EXPECT_THAT(story_of(config),
              HasSubstr("placed on the host: card card0 may serve it; mode static moves it only when it is told to"));
  config.placement.mode = placement::Mode::kSpill;
  EXPECT_THAT(story_of(config), HasSubstr("card card0 may serve it; mode spill moves it"));
  config.bearers.front().first.card = "card0";
  EXPECT_THAT(story_of(config), HasSubstr("placed on card card0: card card0 may serve it; mode spill moves it"));
  config.bearers.front().first.card.clear();
  const ran::BearerConfig& first = config.bearers.front().first;
  config.pins = {{.on = "card0", .upf = first.upf, .ul_teid = first.uplink_teid}};
  EXPECT_THAT(story_of(config), HasSubstr("placed on the host: the file pins it to card0"));
  config.bearers.front().first.n3_reorder = ran::N3ReorderConfig{};
  EXPECT_THAT(story_of(config), HasSubstr("placed on the host: no card may serve it: it has n3_reorder"));
}

TEST(ExplainPlane, a_story_says_which_bearer_of_a_session_a_flow_takes) {
  GnbConfig config = test::one_worker();
  config.bearers.clear();
  ran::WantedSession session{.config = {}, .shard = 0};
  session.config.bearers.resize(2);
  for (ran::SessionBearer& one : session.config.bearers) {
    one.config.upf = IpAddress::v4({10, 100, 0, 2});
    one.config.uplink_teid = Teid{7};
  }
  session.config.bearers[0].drb = session.config.default_drb = ran::sdap::DrbId{1};
  session.config.bearers[1].drb = ran::sdap::DrbId{2};
  session.config.bearers[1].flows = {Qfi{5}};
  config.sessions = {session};
  auto plane = ExplainPlane::make_on(std::nullopt, config);
  ASSERT_TRUE(plane) << plane.error().message;
  const auto told = [&](std::uint8_t qfi) {
    const Octets frame = N3Frame{.teid = test::kFirst, .extensions = {{wire::gtpu::kExtensionPsc, {0x00, qfi}}}}.make();
    const auto outcome = (*plane)->run(frame, Direction::kDownlink);
    EXPECT_TRUE(outcome) << outcome.error().message;
    std::string text;
    if (!outcome) return text;
    for (const Step& step : tell(*outcome, frame).steps) {
      for (const std::string& line : step.texts) text += line + "\n";
    }
    return text;
  };
  EXPECT_THAT(told(5), HasSubstr("session 0x04000000 of 2 bearers: DRB 2, by the rule for QFI 5"));
  EXPECT_THAT(told(9), HasSubstr("DRB 1, the default because QFI 9 has no rule"));
}

TEST(ExplainPlane, a_configuration_without_a_gnb_worker_is_refused) {
  GnbConfig config = test::one_worker();
  config.workers.clear();
  const auto refused = ExplainPlane::make_on(std::nullopt, config);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no worker has function gnb"));
}

}  // namespace
}  // namespace splitplane::app
