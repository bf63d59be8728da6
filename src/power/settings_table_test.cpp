#include "power/settings_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

using testing::HasSubstr;

Settings of(Kind kind) {
  return {.kind = kind};
}

std::string why_not(Kind kind, std::vector<std::string> values) {
  Settings settings = of(kind);
  const auto done = assign_all(settings, values);
  return done ? "" : done.error().message;
}

TEST(SettingsTable, every_kind_has_its_rows_together_and_none_is_left_out) {
  std::size_t rows = 0;
  for (std::size_t k = 0; k < kKindNames.size(); ++k) {
    const auto kind = static_cast<Kind>(k);
    EXPECT_EQ(kind_named(kKindNames[k]), kind);
    for (const auto& row : settings_of(kind)) EXPECT_EQ(row.kind, kind) << row.name;
    rows += settings_of(kind).size();
  }
  EXPECT_EQ(rows, kSettings.size());
  EXPECT_TRUE(settings_of(Kind::busy).empty());
  EXPECT_FALSE(kind_named("lazy"));
}

TEST(SettingsTable, no_name_stands_twice_in_a_kind_and_every_default_is_allowed) {
  for (const auto& row : kSettings) {
    EXPECT_EQ(find_setting(row.kind, row.name), &row);
    EXPECT_GE(row.get({}), row.min) << row.name;
    EXPECT_LE(row.get({}), row.max) << row.name;
    EXPECT_FALSE(conflict(of(row.kind)));
  }
}

TEST(SettingsTable, a_row_writes_its_own_member_and_no_other) {
  for (const auto& row : kSettings) {
    Settings settings;
    row.set(settings, row.max);
    for (const auto& other : kSettings) {
      EXPECT_EQ(other.get(settings), &other == &row ? row.max : other.get({})) << row.name << " " << other.name;
    }
  }
}

TEST(SettingsTable, a_text_sets_integers_and_fractions) {
  Settings settings = of(Kind::budget);
  ASSERT_TRUE(assign_all(settings, std::vector<std::string>{"latency_us=20", "utilisation=0.5"}));
  EXPECT_EQ(settings.budget.latency_us, 20U);
  EXPECT_EQ(settings.budget.utilisation, 0.5);
}

TEST(SettingsTable, a_wrong_text_is_refused_with_what_is_allowed) {
  EXPECT_THAT(why_not(Kind::budget, {"sleep_us=1"}),
              HasSubstr("no setting of policy budget; allowed: latency_us, spin"));
  EXPECT_THAT(why_not(Kind::busy, {"sleep_us=1"}), HasSubstr("allowed: none"));
  EXPECT_EQ(why_not(Kind::budget, {"latency_us=0"}), "latency_us: '0'; allowed: an integer from 1 to 100000");
  EXPECT_EQ(why_not(Kind::budget, {"utilisation=2"}), "utilisation: '2'; allowed: a number from 0.05 to 1");
  for (const char* text : {"latency_us", "latency_us=", "latency_us=1.5", "latency_us=x", "latency_us=9 ",
                           "latency_us=nan", "latency_us=-1", "=1", "", "latency_us=1e9"}) {
    EXPECT_NE(why_not(Kind::budget, {text}), "") << text;
  }
}

TEST(SettingsTable, gears_and_idle_polls_must_ascend) {
  EXPECT_EQ(why_not(Kind::paper, {"short_idle_polls=300"}),
            "long_idle_polls: is 300, and short_idle_polls is 300; allowed: more than short_idle_polls");
  EXPECT_THAT(why_not(Kind::paper, {"step_packets=64"}), HasSubstr("climb_packets: is 64"));
  EXPECT_THAT(why_not(Kind::paper, {"max_packets=64"}), HasSubstr("max_packets: is 64"));
  EXPECT_THAT(why_not(Kind::paper, {"trend_step=250"}), HasSubstr("trend_climb: is 250"));
  EXPECT_THAT(why_not(Kind::paper, {"trend_limit=250"}), HasSubstr("trend_limit: is 250"));
  EXPECT_EQ(why_not(Kind::paper, {"step_packets=64", "climb_packets=65", "max_packets=66"}), "");
}

}  // namespace
}  // namespace splitplane::power
