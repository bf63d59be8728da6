// The child's half of a run with an observer: lines a few times a second, and an end when the parent says so or has
// ended.
#include "bypass/live_lines.h"

#include <gtest/gtest.h>

#include <sstream>

namespace splitplane::bypass {
namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() { shut(), ::close(ends[0]); }
  void shut() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  void say(const std::string& line) {
    EXPECT_EQ(::write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    text << line;  // what another stream on the same descriptor would read
  }
  int ends[2] = {-1, -1};
  std::stringstream text;
};

TEST(LiveLines, come_a_few_times_a_second_and_say_what_a_parent_can_read) {
  Pipe pipe;
  std::ostringstream out;
  LiveLines lines(pipe.text, pipe.ends[0], out);
  for (int i = 0; i < 50; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    EXPECT_TRUE(lines({.seconds = 0.02 * i, .sent = n, .received = n, .dropped = 1}));
  }
  std::istringstream back(out.str());
  int count = 0;
  for (std::string line; std::getline(back, line); ++count) {
    const Live live = live_from(Json::parse(line)["live"]);
    EXPECT_EQ(live.dropped, 1U);
    EXPECT_EQ(live.sent, static_cast<std::uint64_t>(live.seconds / 0.02 + 0.5));
  }
  EXPECT_GE(count, 4);
  EXPECT_LE(count, 5);
}

TEST(LiveLines, a_parent_that_says_stop_ends_the_run) {
  Pipe pipe;
  std::ostringstream out;
  LiveLines lines(pipe.text, pipe.ends[0], out);
  EXPECT_TRUE(lines({}));
  pipe.say("stop\n");
  EXPECT_FALSE(lines({}));
}

TEST(LiveLines, a_stop_that_crossed_the_end_of_its_run_is_no_question) {
  std::istringstream in("stop\n{\"mode\": \"gpu-e2\"}\nstop\n");
  std::string line;
  ASSERT_TRUE(LiveLines::next_question(in, line));
  EXPECT_EQ(line, "{\"mode\": \"gpu-e2\"}");
  EXPECT_FALSE(LiveLines::next_question(in, line));
}

TEST(LiveLines, a_parent_that_is_gone_ends_the_run) {
  Pipe pipe;
  std::ostringstream out;
  LiveLines lines(pipe.text, pipe.ends[0], out);
  pipe.shut();
  EXPECT_FALSE(lines({}));
}

}  // namespace
}  // namespace splitplane::bypass
