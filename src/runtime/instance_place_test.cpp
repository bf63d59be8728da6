#include "runtime/instance_place.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "control/socket.h"

namespace splitplane::app {
namespace {

class InstancePlaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::string said(const std::string& name) const {
    return with_who_runs({fmt::format("nothing runs at control socket {}/{}.sock", directory_, name)}, directory_)
        .message;
  }

  std::string directory_;
};

TEST_F(InstancePlaceTest, who_runs_is_said_but_not_of_the_instance_that_was_asked) {
  EXPECT_THAT(said("one"), ::testing::EndsWith("one.sock; no instance runs"));
  const auto lock = InstanceLock::acquire("one", directory_);
  ASSERT_TRUE(lock) << lock.error().message;
  const auto listener = listen_at(directory_ + "/one.sock");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_THAT(said("two"), ::testing::EndsWith("two.sock; running: one (choose by -i NAME)"));
  EXPECT_THAT(said("one"),
              ::testing::EndsWith(fmt::format("one.sock; its process {} begins or ends just now", ::getpid())));
}

}  // namespace
}  // namespace splitplane::app
