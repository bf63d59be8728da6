#include "cli/command/run_end.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "control/methods/test_backend.h"

namespace splitplane::app {
namespace {

// What was counted is not what this is about.
class Counted : public MemoryBackend {
 public:
  explicit Counted(bool balanced) : balanced_(balanced) {}
  Expected<nlohmann::json> stats() override {
    return nlohmann::json{
        {"totals",
         {{"received", 3}, {"transmitted", 1}, {"dropped", 1}, {"consumed", 1}, {"held", 0}, {"balanced", balanced_}}}};
  }

 private:
  bool balanced_;
};

TEST(RunEnd, the_exit_code_says_whether_the_counters_add_up) {
  Counted balanced(true), not_balanced(false);
  EXPECT_EQ(finish_run(balanced, {}), 0);
  EXPECT_EQ(finish_run(not_balanced, {}), 1);
}

TEST(RunEnd, the_statistics_are_in_the_file_in_full) {
  const std::string path = testing::TempDir() + "/splitplane-run-end-" + std::to_string(::getpid()) + ".json";
  Counted backend(true);
  EXPECT_EQ(finish_run(backend, {.stats_json = path}), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(nlohmann::json::parse(text.str()), *backend.stats());
  std::filesystem::remove(path);
}

TEST(RunEnd, a_disk_without_room_is_a_failure) {
  Counted backend(true);
  ASSERT_TRUE(log::init("info"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(finish_run(backend, {.stats_json = "/dev/full"}), 1);
  spdlog::default_logger()->flush();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("--stats-json: /dev/full could not be written"));
}

}  // namespace
}  // namespace splitplane::app
