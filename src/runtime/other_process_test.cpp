#include "runtime/other_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace splitplane::app {
namespace {

TEST(OtherProcess, lives_until_it_ends_and_never_is_the_next_one_with_its_number) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const OtherProcess process(child);
  EXPECT_TRUE(process.is_open());
  EXPECT_TRUE(process.lives());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(process.is_open());
  EXPECT_FALSE(process.lives());
  EXPECT_FALSE(OtherProcess(child).is_open()) << "no such process any more";
  EXPECT_FALSE(OtherProcess().lives());
}

TEST(OtherProcess, a_descriptor_of_it_is_the_same_file) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Fd read_end(ends[0]), write_end(ends[1]);
  const OtherProcess self(::getpid());
  const Fd taken = self.take_descriptor(write_end.get());
  ASSERT_GE(taken.get(), 0);
  EXPECT_NE(taken.get(), write_end.get());
  ASSERT_EQ(::write(taken.get(), "x", 1), 1);
  char octet = 0;
  ASSERT_EQ(::read(read_end.get(), &octet, 1), 1);
  EXPECT_EQ(octet, 'x');
  EXPECT_LT(self.take_descriptor(-1).get(), 0);
  EXPECT_LT(self.take_descriptor(1'000'000).get(), 0) << "it has no such descriptor";
  EXPECT_LT(OtherProcess().take_descriptor(0).get(), 0);
}

}  // namespace
}  // namespace splitplane::app
