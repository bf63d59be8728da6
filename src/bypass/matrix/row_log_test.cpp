// Rows survive the end of their process, even within a line, and belong to one machine and plan.
#include "bypass/matrix/row_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace splitplane::bypass {
namespace {

class RowLogTest : public testing::Test {
 protected:
  RowLogTest() : path_(testing::TempDir() + "rows_" + std::to_string(::getpid())) { std::remove(path_.c_str()); }
  ~RowLogTest() override { std::remove(path_.c_str()); }
  RowLog open(bool resume, bool retry = false) {
    auto log = RowLog::open(path_, head_, resume, retry);
    EXPECT_TRUE(log) << log.error().message;
    return *std::move(log);
  }
  static Json row_of(const Scenario& s, double mpps) {
    Json row = to_json(s);
    row["mpps"] = mpps;
    return row;
  }
  std::string path_;
  Json head_{{"machine", "one"}, {"scale", 1.0}};
};

TEST_F(RowLogTest, a_row_is_found_by_section_repeat_and_scenario_and_by_nothing_else) {
  Scenario s{.rings = 4, .packets_per_second = 1e6 / 3};
  {
    RowLog log = open(false);
    Json row = row_of(s, 2.5);
    ASSERT_TRUE(log.add("tab2", 3, row));
    EXPECT_EQ(row["repeat"], 3);
  }
  const RowLog log = open(true);
  EXPECT_EQ(log.found(), 1U);
  ASSERT_TRUE(log.find("tab2", 3, s));
  EXPECT_EQ((*log.find("tab2", 3, s))["mpps"], 2.5);
  EXPECT_FALSE(log.find("tab2", 2, s));
  EXPECT_FALSE(log.find("fig7", 3, s));
  s.rings = 8;
  EXPECT_FALSE(log.find("tab2", 3, s));
}

TEST_F(RowLogTest, a_line_that_was_cut_off_is_no_row_and_hides_none_behind_it) {
  const Scenario a{.rings = 1}, b{.rings = 2}, c{.rings = 3};
  {
    RowLog log = open(false);
    for (const Scenario* s : {&a, &b}) {
      Json row = row_of(*s, 1);
      ASSERT_TRUE(log.add("x", 0, row));
    }
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 20);
  {
    RowLog log = open(true);
    EXPECT_TRUE(log.find("x", 0, a));
    EXPECT_FALSE(log.find("x", 0, b));
    Json row = row_of(c, 1);
    ASSERT_TRUE(log.add("x", 0, row));
  }
  const RowLog log = open(true);
  EXPECT_TRUE(log.find("x", 0, a));
  EXPECT_TRUE(log.find("x", 0, c));
}

TEST_F(RowLogTest, a_run_that_failed_is_made_again_if_that_is_asked_for) {
  const Scenario s;
  {
    RowLog log = open(false);
    Json row = to_json(s);
    row["error"] = "the CUDA program ended";
    ASSERT_TRUE(log.add("x", 0, row));
  }
  const RowLog kept = open(true);
  ASSERT_TRUE(kept.find("x", 0, s));
  EXPECT_EQ((*kept.find("x", 0, s))["error"], "the CUDA program ended");
  EXPECT_EQ(kept.found_failed(), 1U);
  const RowLog again = open(true, true);
  EXPECT_FALSE(again.find("x", 0, s));
  EXPECT_EQ(again.found_failed(), 0U);
}

TEST_F(RowLogTest, rows_of_another_machine_are_refused_and_without_resume_replaced) {
  {
    RowLog log = open(false);
    Json row = row_of({}, 1);
    ASSERT_TRUE(log.add("x", 0, row));
  }
  head_["machine"] = "another";
  const auto refused = RowLog::open(path_, head_, true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("another machine, program or plan"));
  EXPECT_EQ(open(false).found(), 0U);
}

TEST_F(RowLogTest, a_folder_that_is_not_there_is_one_sentence) {
  const auto refused = RowLog::open("/does/not/exist/rows", head_, true);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("/does/not/exist/rows"));
}

TEST(RowLogWithoutAFile, keeps_nothing_and_refuses_nothing) {
  RowLog log;
  Json row = to_json(Scenario{});
  EXPECT_TRUE(log.add("x", 1, row));
  EXPECT_EQ(row["section"], "x");
  EXPECT_FALSE(log.find("x", 1, {}));
}

}  // namespace
}  // namespace splitplane::bypass
