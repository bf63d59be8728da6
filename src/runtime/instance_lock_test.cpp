#include "runtime/instance_lock.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;

class InstanceLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-test-XXXXXX";
    root_ = ::mkdtemp(name);
    directory_ = root_ + "/run";
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string root_, directory_;
};

TEST_F(InstanceLockTest, a_second_instance_is_refused_with_the_process_of_the_first) {
  const auto first = InstanceLock::acquire("a", directory_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(InstanceLock::holder("a", directory_), ::getpid());
  const auto second = InstanceLock::acquire("a", directory_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, ::testing::HasSubstr(fmt::format("process {}", ::getpid())));
  EXPECT_TRUE(InstanceLock::acquire("b", directory_));
}

TEST_F(InstanceLockTest, nothing_is_left_after_release) {
  {
    const auto lock = InstanceLock::acquire("a", directory_);
    ASSERT_TRUE(lock);
  }
  EXPECT_FALSE(fs::exists(directory_));
  EXPECT_EQ(InstanceLock::holder("a", directory_), 0);
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(InstanceLockTest, the_directory_stays_while_others_use_it) {
  const auto other = InstanceLock::acquire("b", directory_);
  {
    const auto lock = InstanceLock::acquire("a", directory_);
    ASSERT_TRUE(lock);
  }
  EXPECT_EQ(InstanceLock::holder("b", directory_), ::getpid());
}

TEST_F(InstanceLockTest, a_dead_instances_file_does_not_hold_the_lock) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = InstanceLock::acquire("a", directory_);
    ::_exit(lock ? 0 : 1);  // without destructors, as after a crash
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(fs::exists(directory_ + "/a.lock"));
  EXPECT_EQ(InstanceLock::holder("a", directory_), 0);
  EXPECT_TRUE(InstanceLock::acquire("a", directory_));
}

TEST_F(InstanceLockTest, moving_hands_the_lock_over) {
  auto first = InstanceLock::acquire("a", directory_);
  ASSERT_TRUE(first);
  auto second = InstanceLock::acquire("b", directory_);
  ASSERT_TRUE(second);
  *second = *std::move(first);
  EXPECT_EQ(InstanceLock::holder("a", directory_), ::getpid());
  EXPECT_EQ(InstanceLock::holder("b", directory_), 0);
}

TEST_F(InstanceLockTest, a_directory_that_is_none_is_refused) {
  std::ofstream(directory_) << "file";
  EXPECT_FALSE(InstanceLock::acquire("a", directory_));
  EXPECT_FALSE(InstanceLock::acquire("a", directory_ + "/deeper/still"));
}

TEST(StateDirectory, is_what_systemd_says_or_the_users_own) {
  const char* const before = std::getenv("STATE_DIRECTORY");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("STATE_DIRECTORY", "/srv/state:/srv/other", 1);
  EXPECT_EQ(journal_path("gnb"), "/srv/state/gnb.journal");
  ::setenv("STATE_DIRECTORY", "relative", 1);
  EXPECT_TRUE(state_directory().starts_with('/'));
  ::unsetenv("STATE_DIRECTORY");
  if (::geteuid() == 0) {
    EXPECT_EQ(state_directory(), "/var/lib/splitplane");
  }
  if (before != nullptr) ::setenv("STATE_DIRECTORY", kept.c_str(), 1);
}

}  // namespace
}  // namespace splitplane::app
