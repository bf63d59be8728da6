#include "runtime/left_hugepages.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <fstream>

#include "control/socket.h"

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;

class LeftHugepages : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name) {
    std::ofstream(folder_ / name) << std::string(1 << 20, 'x') << std::flush;
    return folder_ / name;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("left-hugepages-" + std::to_string(::getpid()));
};

TEST_F(LeftHugepages, of_a_process_that_is_gone_are_freed) {
  const fs::path left = file("some-nicmap_0"), other = file("notes.txt");
  EXPECT_GE(free_left_hugepages(folder_), 1U << 20);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(free_left_hugepages(folder_), 0U);
}

TEST_F(LeftHugepages, of_a_process_that_runs_stay_until_it_ends) {
  const fs::path used = file("gnbmap_3");
  {
    const Fd owner(::open(used.c_str(), O_RDWR));
    ASSERT_EQ(::flock(owner.get(), LOCK_SH | LOCK_NB), 0);
    EXPECT_EQ(free_left_hugepages(folder_), 0U);
    EXPECT_TRUE(fs::exists(used));
  }
  EXPECT_GE(free_left_hugepages(folder_), 1U << 20);
}

TEST_F(LeftHugepages, a_folder_that_is_not_there_has_none) {
  EXPECT_EQ(free_left_hugepages(folder_ / "gone"), 0U);
}

TEST_F(LeftHugepages, a_link_to_elsewhere_is_left_alone) {
  const fs::path elsewhere = file("elsewhere");
  fs::create_symlink(elsewhere, folder_ / "amap_1");
  EXPECT_EQ(free_left_hugepages(folder_), 0U);
  EXPECT_TRUE(fs::exists(elsewhere));
}

}  // namespace
}  // namespace splitplane::app
