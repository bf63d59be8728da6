#include "gnb/control/taps.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

using ::testing::HasSubstr;

class TapsTest : public test::PartsTest {
 protected:
  [[nodiscard]] tap::Settings settings(const std::string& file = "t.pcapng") const {
    return {.name = "t", .port = "n3", .file = folder_ / file, .buffers = 127};
  }
  [[nodiscard]] bool taps_n3(std::size_t worker) { return parts_->worker(worker).taps["n3"].taps_in(); }
  [[nodiscard]] std::size_t listed() { return parts_->taps.list()->at("taps").size(); }
};

TEST_F(TapsTest, a_tap_is_attached_to_every_worker_of_its_port) {
  const auto tap = parts_->taps.on(settings());
  ASSERT_TRUE(tap) << tap.error().message;
  EXPECT_EQ(tap->at("state"), "on");
  EXPECT_TRUE(taps_n3(0) && taps_n3(1));
  EXPECT_FALSE(parts_->worker(0).taps["air"].taps_in());
  EXPECT_EQ(listed(), 1U);
}

TEST_F(TapsTest, turning_it_on_twice_is_no_error_unless_it_is_another_one) {
  ASSERT_TRUE(parts_->taps.on(settings()));
  EXPECT_TRUE(parts_->taps.on(settings()));
  EXPECT_EQ(listed(), 1U);
  const auto refused = parts_->taps.on(settings("other.pcapng"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("tap t is on with other settings"));
}

TEST_F(TapsTest, turning_it_off_twice_is_no_error) {
  ASSERT_TRUE(parts_->taps.on(settings()));
  const auto off = parts_->taps.off("t");
  ASSERT_TRUE(off) << off.error().message;
  EXPECT_EQ(off->at("existed"), true);
  EXPECT_EQ(off->at("tap").at("state"), "off");
  EXPECT_FALSE(taps_n3(0) || taps_n3(1));
  EXPECT_EQ(parts_->taps.off("t")->at("existed"), false);
  EXPECT_EQ(listed(), 0U);
  EXPECT_GT(std::filesystem::file_size(folder_ / "t.pcapng"), 0U);
}

TEST_F(TapsTest, a_tap_that_cannot_open_its_file_is_none) {
  const auto refused = parts_->taps.on(settings("no/such/folder/t.pcapng"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("tap t: "));
  EXPECT_EQ(listed(), 0U);
  EXPECT_FALSE(taps_n3(0));
}

TEST_F(TapsTest, a_port_that_is_not_there_is_refused_by_its_key) {
  tap::Settings wrong = settings();
  wrong.port = "n9";
  const auto refused = parts_->taps.on(wrong);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::StartsWith("port: "));
}

TEST_F(TapsTest, a_tap_of_one_worker_is_attached_there_only) {
  tap::Settings one = settings();
  one.worker = "w1";
  ASSERT_TRUE(parts_->taps.on(one));
  EXPECT_FALSE(taps_n3(0));
  EXPECT_TRUE(taps_n3(1));
}

TEST_F(TapsTest, no_tap_is_on_when_a_worker_does_not_answer) {
  const test::Hanging hanging(parts_->worker(1));
  const auto refused = parts_->taps.on(settings());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("worker w1 does not answer; the tap is not on"));
}

TEST_F(TapsTest, a_tap_stays_until_its_workers_let_it_go) {
  ASSERT_TRUE(parts_->taps.on(settings()));
  const test::Hanging hanging(parts_->worker(0));
  const auto refused = parts_->taps.off("t");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the tap is still there"));
  EXPECT_EQ(listed(), 1U);
}

TEST_F(TapsTest, the_configurations_taps_are_on_at_the_start) {
  GnbConfig config = test::small_config();
  config.taps = {settings()};
  make(config);
  ASSERT_TRUE(parts_->taps.start_configured());
  EXPECT_TRUE(taps_n3(0));
  config.taps[0].file = folder_ / "no/such/folder/t.pcapng";
  make(config);
  const auto refused = parts_->taps.start_configured();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("taps[0]: tap t: "));
}

}  // namespace
}  // namespace splitplane::gnb
