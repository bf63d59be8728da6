#include "cli/command/run_end.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"

namespace splitplane::app {
namespace {

nlohmann::json counted(bool balanced) {
  return {
      {"totals",
       {{"received", 3}, {"transmitted", 1}, {"dropped", 1}, {"consumed", 1}, {"held", 0}, {"balanced", balanced}}}};
}

TEST(RunEnd, the_exit_code_says_whether_the_counters_add_up) {
  EXPECT_EQ(finish_run(counted(true), {}), 0);
  EXPECT_EQ(finish_run(counted(false), {}), 1);
  EXPECT_EQ(finish_run(fail("the worker does not answer"), {}), 1);
}

TEST(RunEnd, the_statistics_are_in_the_file_in_full) {
  const std::string path = testing::TempDir() + "/splitplane-run-end-" + std::to_string(::getpid()) + ".json";
  EXPECT_EQ(finish_run(counted(true), {.stats_json = path}), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(nlohmann::json::parse(text.str()), counted(true));
  std::filesystem::remove(path);
}

TEST(RunEnd, a_disk_without_room_is_a_failure) {
  ASSERT_TRUE(log::init("info"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(finish_run(counted(true), {.stats_json = "/dev/full"}), 1);
  spdlog::default_logger()->flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("--stats-json: /dev/full could not be written"));
}

}  // namespace
}  // namespace splitplane::app
