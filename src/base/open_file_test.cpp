#include "base/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace splitplane {
namespace {

namespace fs = std::filesystem;

TEST(OpenFile, is_at_its_name_until_it_is_removed_or_replaced) {
  const std::string at = ::testing::TempDir() + "open-file-" + std::to_string(::getpid());
  fs::create_directory(at);
  const std::string name = at + "/file";
  std::ofstream(name) << "x";
  const int open = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(open, 0);
  EXPECT_TRUE(is_still_at(open, name));
  fs::rename(name, at + "/other");
  EXPECT_FALSE(is_still_at(open, name)) << "nothing is there";
  fs::create_symlink(at + "/other", name);
  EXPECT_FALSE(is_still_at(open, name)) << "a link that leads to it";
  fs::remove(name);
  std::ofstream(name) << "x";
  EXPECT_FALSE(is_still_at(open, name)) << "another file";
  EXPECT_TRUE(is_still_at(open, at + "/other"));
  ::close(open);
  EXPECT_FALSE(is_still_at(open, at + "/other")) << "no file is open";
  fs::remove_all(at);
}

}  // namespace
}  // namespace splitplane
