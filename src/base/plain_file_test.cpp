#include "base/plain_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace splitplane {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(PlainFile, only_a_plain_file_is_read) {
  const std::string at = ::testing::TempDir() + "plain-file-" + std::to_string(::getpid());
  std::filesystem::create_directory(at);
  std::ofstream(at + "/file") << "x";
  ASSERT_EQ(::mkfifo((at + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(refuse_to_read(at + "/file"), std::nullopt);
  EXPECT_THAT(refuse_to_read(at + "/fifo"), Optional(HasSubstr("FIFO")));
  EXPECT_THAT(refuse_to_read(at), Optional(HasSubstr("directory")));
  EXPECT_THAT(refuse_to_read("/dev/zero"), Optional(HasSubstr("device")));
  EXPECT_THAT(refuse_to_read("/proc/self/mem"), Optional(HasSubstr("/proc")));
  EXPECT_THAT(refuse_to_read("/proc/kmsg"), Optional(HasSubstr("/proc")));
  EXPECT_THAT(refuse_to_read(at + "/none"), Optional(HasSubstr("No such file")));
  EXPECT_NE(refuse_to_read(""), std::nullopt);
  std::filesystem::remove_all(at);
}

}  // namespace
}  // namespace splitplane
