// Profiles as files: each mistake is one line with its place, and what is written is read as the same.
#include "power/profiles/profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

const std::string kGood = R"(name: mine
citation: measured
scope: package
base_watts: 10
active_watts: 4
c1_watts: 1
p_states:
  nominal_mhz: 2000
  leakage_watts: 1
  volts: [{mhz: 1000, volts: 0.7}, {mhz: 3000, volts: 1.1}]
fit: {rmse_watts: 0.5, max_watts: 1.5, points: 12, parameters: 3}
range: {packages: 2, cores: 8}
assumed: [c1_watts, volts]
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kGood;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ProfileFile, every_key_is_read) {
  const auto got = parse_profile(kGood, "p.yaml");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->name, "mine");
  EXPECT_EQ(got->scope, "package");
  EXPECT_EQ(got->base_watts, 10);
  EXPECT_EQ(got->c1_watts, 1);
  EXPECT_TRUE(std::isnan(got->tpause_watts)) << "what is not there is not known";
  ASSERT_TRUE(got->p_states);
  EXPECT_EQ(got->p_states->volts.size(), 2U);
  EXPECT_EQ(got->p_states->leakage_watts, 1);
  ASSERT_TRUE(got->fit);
  EXPECT_EQ(got->fit->points, 12U);
  EXPECT_EQ(got->range.packages, 2U);
  EXPECT_EQ(got->range.cores, 8U);
  EXPECT_THAT(got->assumed, testing::ElementsAre("c1_watts", "volts"));
}

TEST(ProfileFile, what_is_written_is_read_as_the_same) {
  auto profile = parse_profile(kGood, "p.yaml");
  ASSERT_TRUE(profile);
  profile->machine = "a \"quoted\" one: with # marks";
  const std::string text = profile_text(*profile);
  const auto again = parse_profile(text, "again.yaml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->machine, profile->machine);
  EXPECT_EQ(profile_text(*again), text);
  const power::model::Residency core{.running = {{1500, 0.5, 0}}, .c1 = 0.5};
  EXPECT_EQ(estimate(*again, std::span(&core, 1)).high, estimate(*profile, std::span(&core, 1)).high);
}

TEST(ProfileFile, a_mistake_is_one_line_with_its_place) {
  struct Mistake {
    std::string from, to, message;
  };
  const std::vector<Mistake> mistakes{
      {"name: mine\n", "", "name"},
      {"citation: measured\n", "", "citation"},
      {"base_watts: 10\n", "", "base_watts"},
      {"active_watts: 4\n", "", "active_watts"},
      {"range: {packages: 2, cores: 8}\n", "", "range"},
      {"base_watts: 10", "base_watts: -1", "p.yaml:4: base_watts: is -1; allowed: a number from 0"},
      {"base_watts: 10", "base_watts: much", "base_watts: is the text 'much'"},
      {"base_watts: 10", "base_watts: .nan", "base_watts"},
      {"c1_watts: 1\n", "c1_wats: 1\n", "did you mean 'c1_watts'"},
      {"scope: package", "scope: rack", "scope"},
      {"leakage_watts: 1", "leakage_watts: 5", "p_states.leakage_watts: is 5; allowed: a number from 0 to 4"},
      {"mhz: 3000", "mhz: 900", "mhz: is not above the one before; allowed: more than 1000 MHz"},
      {", {mhz: 3000, volts: 1.1}]", "]", "volts: has 1 entries"},
      {"nominal_mhz: 2000", "nominal_mhz: 4000", "nominal_mhz: is outside of volts; allowed: 1000 to 3000"},
      {"[c1_watts, volts]", "[c1_watts, tpause_watts]", "'tpause_watts' is no coefficient of this profile"},
      {"points: 12", "points: 0", "fit.points"},
      {"cores: 8", "cores: 0", "range.cores"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto got = parse_profile(changed(mistake.from, mistake.to), "p.yaml");
    ASSERT_FALSE(got) << mistake.to;
    EXPECT_THAT(got.error().message, HasSubstr(mistake.message));
    EXPECT_EQ(got.error().message.find('\n'), std::string::npos);
  }
  EXPECT_THAT(load_profile("/nowhere/p.yaml").error().message, HasSubstr("/nowhere/p.yaml"));
}

}  // namespace
}  // namespace splitplane::app
