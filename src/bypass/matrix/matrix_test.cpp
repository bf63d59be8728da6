// The order of the matrix's runs, and what becomes of rows when the matrix is interrupted.
#include "bypass/matrix/matrix.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <utility>

#include "bypass/result_json.h"

namespace splitplane::bypass {
namespace {

const MatrixEvents kQuiet{.section = [](const std::string&, std::size_t) {},
                          .row = [](const Json&) {},
                          .stop = [] { return false; },
                          .cut = [] { return false; }};

TEST(Matrix, holds_the_papers_runs_and_offers_parts_of_what_was_found) {
  std::vector<Scenario> asked;
  const auto runner = [&](const Scenario& s) -> Expected<Json> {
    asked.push_back(s);
    Result r{.scenario = s};
    r.seconds = 1;
    r.measured = 2'000'000;
    return to_json(r);
  };
  RowLog log;
  const auto seconds_of = [&] {
    double seconds = 0;
    for (const Scenario& s : asked) {
      EXPECT_TRUE(check(s)) << to_json(s).dump() << check(s).error().message;
      seconds += s.seconds + s.warm_up_seconds;
    }
    return seconds;
  };
  MatrixOptions with_gpu;
  for (std::size_t m = 0; m < kModeCount; ++m) with_gpu.modes.push_back(static_cast<Mode>(m));
  with_gpu.modes.erase(with_gpu.modes.begin(), with_gpu.modes.begin() + 3);
  with_gpu.repeats = 1;
  ASSERT_TRUE(run_matrix(with_gpu, log, runner, kQuiet));
  EXPECT_LT(seconds_of(), 240);  // a repeat
  asked.clear();
  const auto made = run_matrix({}, log, runner, kQuiet);
  ASSERT_TRUE(made);
  const Json& all = *made;
  EXPECT_EQ(all["throughput"].size(), 5U * 3 * 6 * 6);
  EXPECT_EQ(all["tab2"].size(), 5U * 5);
  EXPECT_EQ(all["tab2_drop_en_off"].size(), 5U * 5);
  EXPECT_EQ(all["tab2_drop_en_off"][0]["drop_en"], false);
  EXPECT_EQ(all["fig7"].size(), 5U * 4);
  EXPECT_NEAR(all["load"][0]["offered_mpps"].get<double>(), 0.2, 1e-9);  // a tenth of 2 Mpps
  EXPECT_LT(seconds_of(), 600);  // with the start and end of each run, under 12 minutes
}

TEST(Matrix, repeats_are_interleaved_and_a_load_is_never_above_the_wires) {
  const auto runner = [](const Scenario& s) -> Expected<Json> {
    EXPECT_LE(s.packets_per_second, wire_packets_per_second(s.frame_bytes)) << to_json(s).dump();
    Result r{.scenario = s};
    r.seconds = 1;
    r.measured = 20'000'000;  // more than any wire can carry
    return to_json(r);
  };
  RowLog log;
  const auto all = run_matrix({.modes = {Mode::bypass, Mode::plain}}, log, runner, kQuiet);
  ASSERT_TRUE(all);
  for (const auto& [name, rows] : all->items()) {
    ASSERT_EQ(rows.size() % kRepeats, 0U) << name;
    const std::size_t n = rows.size() / kRepeats;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i]["repeat"], i / n) << name;
      EXPECT_EQ(rows[i]["size"], rows[i % n]["size"]) << name;
      EXPECT_EQ(rows[i]["mode"], rows[i % n]["mode"]) << name;
    }
  }
}

TEST(Matrix, goes_on_where_it_was_stopped_and_offers_the_same_loads) {
  const std::string path = testing::TempDir() + "matrix_rows";
  int made = 0;
  const auto runner = [&](const Scenario& s) -> Expected<Json> {
    Result r{.scenario = s};
    r.seconds = 1;
    r.measured = 1'000'000 + 1000 * (made++ % 7);  // each repeat measures another rate
    return to_json(r);
  };
  const MatrixOptions small{.modes = {Mode::bypass}, .repeats = 2};
  const auto run = [&](bool resume, int most) {
    auto log = RowLog::open(path, {{"machine", "one"}}, resume);
    EXPECT_TRUE(log);
    MatrixEvents events = kQuiet;
    const int from = made;
    events.stop = [&made, from, most] { return made - from >= most; };
    auto all = run_matrix(small, *log, runner, events);
    EXPECT_TRUE(all);
    return *std::move(all);
  };
  std::size_t rows = 0;
  const Json first = run(false, 1 << 20);
  for (const auto& [name, section] : first.items()) rows += section.size();
  const int whole = std::exchange(made, 0);
  EXPECT_EQ(rows, static_cast<std::size_t>(whole));
  run(false, whole / 3);
  run(true, whole / 3);
  const Json all = run(true, 1 << 20);
  EXPECT_EQ(made, whole) << "a run was made twice or not at all";
  std::size_t again = 0;
  for (const auto& [name, section] : all.items()) again += section.size();
  EXPECT_EQ(again, rows);
  std::remove(path.c_str());
}

// A run that hangs costs a minute. A command that resumes must not spend that again.
TEST(Rows, of_runs_that_failed_stay_until_a_retry_and_those_behind_them_are_made) {
  const std::string path = testing::TempDir() + "failed_rows";
  const std::vector<Scenario> scenarios{{.rings = 1}, {.rings = 2}, {.rings = 3}};
  std::vector<std::uint32_t> asked;
  const auto run = [&](bool resume, bool retry, std::size_t most) {
    asked.clear();
    auto log = RowLog::open(path, {{"machine", "one"}}, resume, retry);
    EXPECT_TRUE(log);
    MatrixEvents events = kQuiet;
    events.stop = [&] { return asked.size() >= most; };
    const auto runner = [&](const Scenario& s) -> Expected<Json> {
      asked.push_back(s.rings);
      if (s.rings < 3) return fail("it hangs");
      return to_json(Result{.scenario = s});
    };
    EXPECT_TRUE(run_rows("rows", scenarios, 1, *log, runner, events));
    return asked;
  };
  using testing::ElementsAre;
  EXPECT_THAT(run(false, false, 2), ElementsAre(1, 2));
  EXPECT_THAT(run(true, false, 2), ElementsAre(3));
  EXPECT_THAT(run(true, false, 2), ElementsAre());
  EXPECT_THAT(run(true, true, 5), ElementsAre(1, 2));
  std::remove(path.c_str());
}

TEST(Rows, of_a_run_that_was_cut_off_are_none) {
  RowLog log;
  bool cut = false;
  MatrixEvents events = kQuiet;
  events.cut = [&] { return cut; };
  const auto runner = [&](const Scenario& s) -> Expected<Json> {
    cut = s.rings == 3;
    return to_json(Result{.scenario = s});
  };
  const auto rows = run_rows("rows", {{.rings = 1}, {.rings = 2}, {.rings = 3}, {.rings = 4}}, 1, log, runner, events);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->size(), 2U);
}

}  // namespace
}  // namespace splitplane::bypass
