// The CUDA program as its parent sees it, played by scripts: one that answers, one that hangs, one that fails and ends.
#include "bypass/cuda_program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace splitplane::bypass {
namespace {

class CudaProgramTest : public testing::Test {
 protected:
  // A shell script in the program's place. A file "runs" beside it gets a line at each start.
  std::filesystem::path script(const std::string& body) {
    const auto path = directory_ / "program";
    std::ofstream(path) << "#!/bin/sh\necho started >> " << (directory_ / "runs").string() << '\n' << body;
    ::chmod(path.c_str(), 0755);
    return path;
  }
  [[nodiscard]] int runs() const {
    std::ifstream file(directory_ / "runs");
    int n = 0;
    for (std::string line; std::getline(file, line);) ++n;
    return n;
  }
  CudaProgramTest() {
    std::string name = testing::TempDir() + "cuda_program_XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~CudaProgramTest() override { std::filesystem::remove_all(directory_); }

 private:
  std::filesystem::path directory_;
};

Scenario short_run() {
  Scenario s{.mode = Mode::gpu_e2};
  s.seconds = s.warm_up_seconds = 0.05;
  return s;
}

constexpr std::chrono::milliseconds kBeyond{2000};

TEST_F(CudaProgramTest, answers_a_line_for_a_line_and_ends_with_its_input) {
  const auto path = script(
      "echo '{\"gpu\": \"played\"}'\nwhile read line; do echo '{\"mpps\": 2}'; done\n"
      "exit 0\n");
  auto program = CudaProgram::start(path, kBeyond);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->device()["gpu"], "played");
  for (int i = 0; i < 3; ++i) {
    const auto row = (*program)->run(short_run());
    ASSERT_TRUE(row) << row.error().message;
    EXPECT_EQ((*row)["mpps"], 2);
  }
  EXPECT_EQ(runs(), 1);
}

TEST_F(CudaProgramTest, a_program_that_hangs_is_ended_and_started_again_for_the_next_run) {
  const auto path = script("echo '{\"gpu\": \"played\"}'\nread line\nexec sleep 100\n");
  auto program = CudaProgram::start(path, std::chrono::milliseconds(300));
  ASSERT_TRUE(program) << program.error().message;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*program)->run(short_run()).error().message, "the CUDA program did not answer in time and was ended");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(runs(), 2);
}

TEST_F(CudaProgramTest, an_error_that_ends_the_program_fails_one_run_only) {
  const auto path = script(
      "echo '{\"gpu\": \"played\"}'\nread line\n"
      "echo '{\"error\": \"payload: an illegal memory access\", \"ends\": true}'\n");
  auto program = CudaProgram::start(path, kBeyond);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->run(short_run()).error().message, "payload: an illegal memory access");
  EXPECT_EQ((*program)->run(short_run()).error().message, "payload: an illegal memory access");
  EXPECT_EQ(runs(), 2);
}

TEST_F(CudaProgramTest, a_program_that_dies_under_a_run_is_no_signal_for_its_parent) {
  const auto path = script("echo '{\"gpu\": \"played\"}'\n");
  auto program = CudaProgram::start(path, kBeyond);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->run(short_run()).error().message, "the CUDA program ended");
}

// A run that reports progress until it gets a stop; without an observer it reports nothing.
constexpr const char* kLively =
    "echo '{\"gpu\": \"played\"}'\n"
    "while read line; do\n"
    "  case $line in *'\"live\":true'*)\n"
    "    echo '{\"live\": {\"seconds\": 0.5, \"sent\": 7}}'; echo '{\"live\": {\"seconds\": 1.5, \"sent\": 9}}'\n"
    "    read line; echo \"{\\\"said\\\": \\\"$line\\\"}\";;\n"
    "  *) echo '{\"said\": \"nothing\"}';; esac\n"
    "done\n";

TEST_F(CudaProgramTest, a_run_is_watched_and_ended_in_order) {
  auto program = CudaProgram::start(script(kLively), kBeyond);
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::uint64_t> seen;
  const auto row = (*program)->run(short_run(), [&](const Live& now) {
    seen.push_back(now.sent);
    return now.seconds < 1;
  });
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ((*row)["said"], "stop");
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{7, 9}));
  const auto quiet = (*program)->run(short_run());
  ASSERT_TRUE(quiet) << quiet.error().message;
  EXPECT_EQ((*quiet)["said"], "nothing");
  EXPECT_EQ(runs(), 1);
}

TEST_F(CudaProgramTest, no_gpu_and_no_program_are_sentences) {
  auto none = CudaProgram::start(script("echo '{\"no_gpu\": \"no driver\"}'\nexit 77\n"), kBeyond);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no GPU: no driver");
  EXPECT_EQ(CudaProgram::start("/does/not/exist").error().message,
            "no GPU: the CUDA programs are not built (make gpu)");
}

}  // namespace
}  // namespace splitplane::bypass
