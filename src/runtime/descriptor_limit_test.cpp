#include "runtime/descriptor_limit.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

namespace splitplane::app {
namespace {

TEST(DescriptorLimit, ports_workers_and_hugepages_need_descriptors) {
  ProgramConfig small;
  small.memory.hugepages = MemoryConfig::Hugepages::kNever;
  ProgramConfig large = small;
  large.ports.resize(8);
  EXPECT_GT(descriptors_for(small, 0, 0), 64U);
  EXPECT_GT(descriptors_for(large, 4, 0), descriptors_for(small, 0, 0) + 8 * 4);
  EXPECT_GT(descriptors_for(small, 0, 3), descriptors_for(small, 0, 0));
}

TEST(DescriptorLimit, a_limit_that_is_too_low_is_an_error_with_the_way_out) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(raise_descriptor_limit(16));
  rlimit now{};
  ::getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_EQ(now.rlim_cur, now.rlim_max);
  const auto refused = raise_descriptor_limit(now.rlim_max + 1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("ulimit -n"));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace splitplane::app
