// A UE side with a real TUN device in a separate network namespace. It needs CAP_NET_ADMIN and /dev/net/tun; otherwise
// it is skipped.
#include "ue/control/instance.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

UeConfig config_of(const std::string& port) {
  UeConfig config{.port = port};
  config.tun = "spltest0";
  config.gnb_control = "/tmp/splitplane-no-gnb.sock";
  config.file_prefix = "ue-side";
  config.memory.mbufs = 1024;
  config.ports = {{.name = port, .device = "net_null_" + port + ",no-rx=1"}};
  return config;
}

// Runs `body` with a UE side, on a thread in a network namespace that ends with the thread. Returns false if the kernel
// does not allow that.
bool with_ue_side(const std::string& port, const std::function<void(UeSide&)>& body) {
  bool entered = false;
  std::thread([&] {
    entered = ::unshare(CLONE_NEWNET) == 0 && ::access("/dev/net/tun", R_OK | W_OK) == 0;
    if (!entered) return;
    auto side = UeSide::start_on(std::nullopt, config_of(port));
    ASSERT_TRUE(side) << side.error().message;
    body(**side);
  }).join();
  return entered;
}

constexpr const char* kNeedsRoot =
    "NOT TESTED: a TUN device needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN) and /dev/net/tun";

TEST(UeSide, begins_without_bearers_and_its_counters_add_up_after_it_has_stopped) {
  const bool entered = with_ue_side("a", [](UeSide& side) {
    EXPECT_EQ(side.bearer_count(), 0U);
    EXPECT_FALSE(side.follow_bearers(std::chrono::steady_clock::now())) << "no gNB answers";
    EXPECT_THAT(side.show_bearer(BearerId{1}).error().message, HasSubstr("no bearer with identity 0x00000001"));
    const auto bearers = side.list_bearers(0, 10);
    ASSERT_TRUE(bearers);
    EXPECT_TRUE(bearers->empty());
    side.stop();
    const auto stats = side.stats();
    ASSERT_TRUE(stats) << stats.error().message;
    EXPECT_EQ(stats->at("totals").at("balanced"), true);
    EXPECT_EQ(stats->at("ports")[0].at("name"), "a");
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(UeSide, has_one_worker_whose_power_policy_is_set_by_its_name) {
  const bool entered = with_ue_side("b", [](UeSide& side) {
    const auto shown = side.show_power();
    ASSERT_TRUE(shown) << shown.error().message;
    ASSERT_EQ(shown->size(), 1U);
    EXPECT_EQ((*shown)[0].at("name"), "ue");
    EXPECT_TRUE(side.set_power("ue", power::Settings{}));
    EXPECT_THAT(side.set_power("w0", power::Settings{}).error().message, HasSubstr("there is no 'w0'; allowed: ue"));
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

}  // namespace
}  // namespace splitplane::app
