#include "base/repeat_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace splitplane::log {
namespace {

using std::chrono::milliseconds;
constexpr RepeatFolder::Time kBegin{std::chrono::hours(1)};

std::string claim(unsigned n) {
  return "port n3: 10.0.0." + std::to_string(n % 250) + " is at 02:00:00:00:00:ff (claimed)";
}

TEST(RepeatFolder, lines_that_differ_in_numbers_and_addresses_have_one_shape) {
  EXPECT_EQ(shape_of(claim(1)), shape_of(claim(77)));
  EXPECT_EQ(shape_of("at aa:bb:cc:dd:ee:ff"), shape_of("at 02:00:00:00:00:01"));
  EXPECT_EQ(shape_of("upf: gone"), "upf: gone");
  EXPECT_NE(shape_of("port down"), shape_of("port up"));
  EXPECT_EQ(shape_of(""), "");
}

TEST(RepeatFolder, a_burst_is_written_and_the_rest_is_summed_up) {
  RepeatFolder folder;
  unsigned written = 0;
  for (unsigned i = 0; i < 1000; ++i) written += folder.admit(2, claim(i), kBegin) ? 1 : 0;
  EXPECT_EQ(written, RepeatFolder::kBurst);
  EXPECT_EQ(folder.folded(), 1000 - RepeatFolder::kBurst);
  EXPECT_TRUE(folder.due(kBegin + milliseconds(4999)).empty());
  const auto summaries = folder.due(kBegin + milliseconds(5000));
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].text, "980 more lines like this one: " + claim(999));
  EXPECT_EQ(summaries[0].level, 2);
  EXPECT_FALSE(folder.has_folded());
}

TEST(RepeatFolder, a_flood_of_a_minute_leaves_a_bounded_number_of_lines) {
  RepeatFolder folder;
  std::size_t lines = 0;
  for (unsigned ms = 0; ms < 60'000; ++ms) {
    lines += folder.admit(2, claim(ms), kBegin + milliseconds(ms)) ? 1 : 0;
    lines += folder.due(kBegin + milliseconds(ms)).size();
  }
  EXPECT_LE(lines, 20U + 120U + 12U);
}

TEST(RepeatFolder, other_lines_are_written_during_a_flood) {
  RepeatFolder folder;
  for (unsigned i = 0; i < 1000; ++i) (void)folder.admit(2, claim(i), kBegin);
  EXPECT_TRUE(folder.admit(2, "port n3: link down", kBegin));
  EXPECT_TRUE(folder.admit(4, claim(1), kBegin)) << "another level is another shape";
}

TEST(RepeatFolder, a_quiet_time_gives_the_burst_back) {
  RepeatFolder folder;
  for (unsigned i = 0; i < 50; ++i) (void)folder.admit(2, claim(i), kBegin);
  unsigned written = 0;
  for (unsigned i = 0; i < 50; ++i) written += folder.admit(2, claim(i), kBegin + std::chrono::minutes(1)) ? 1 : 0;
  EXPECT_EQ(written, RepeatFolder::kBurst);
}

TEST(RepeatFolder, its_memory_is_bounded_whatever_the_texts_are) {
  RepeatFolder folder;
  unsigned written = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    std::string text;  // letters only, so each has a different shape
    for (unsigned n = i; text.size() < 5; n /= 26) text += static_cast<char>('a' + n % 26);
    written += folder.admit(2, text, kBegin) ? 1 : 0;
  }
  EXPECT_LE(written, RepeatFolder::kShapes + RepeatFolder::kBurst);
  EXPECT_EQ(folder.folded(), 20'000 - written);
  EXPECT_LE(folder.due(kBegin, true).size(), RepeatFolder::kShapes + 1);
}

}  // namespace
}  // namespace splitplane::log
