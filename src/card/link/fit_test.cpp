#include "card/link/fit.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

const CardLinkSettings kOurHost{.name = "card0", .control = "/run/card.sock", .vfs = 2, .punt_air = 1};

Json answer() {
  return {{"boot", "a"},  {"program", "gnb-clone"}, {"features", "clone"},           {"lookup", "teid"},
          {"punt_n3", 0}, {"punt_air", 1},          {"vfs", Json::array({"a", "b"})}};
}

std::string complaint(const char* key, const Json& value) {
  Json changed = answer();
  changed[key] = value;
  const auto fits = fits_host(read_show(changed), kOurHost);
  return fits ? std::string{} : fits.error().message;
}

TEST(CardFit, a_card_of_the_same_lookup_and_vfs_serves_this_host) {
  EXPECT_TRUE(fits_host(read_show(answer()), kOurHost));
}

TEST(CardFit, what_does_not_fit_is_named) {
  EXPECT_EQ(complaint("boot", nullptr), "what answers at /run/card.sock is no card");
  EXPECT_THAT(complaint("program", "l2fwd"), HasSubstr("its program is l2fwd, which serves no bearers"));
  EXPECT_THAT(complaint("features", "headers"), HasSubstr("its features are headers, which look for no bearers"));
  EXPECT_THAT(complaint("vfs", Json::array({"a"})), HasSubstr("it has 1 VFs, and this host's ports are 2"));
  EXPECT_THAT(complaint("vfs", "a"), HasSubstr("it has 0 VFs"));
  EXPECT_THAT(complaint("lookup", "ue_address"), HasSubstr("it looks for bearers by ue_address"));
}

TEST(CardFit, another_vf_for_punts_is_warned_of_for_its_side_only) {
  CardShow show = read_show(answer());
  EXPECT_THAT(punt_warnings(show, kOurHost), testing::IsEmpty());
  show.punt_air = 0;
  EXPECT_THAT(punt_warnings(show, kOurHost),
              testing::ElementsAre(HasSubstr("what it cannot read from the air comes by VF 0")));
}

}  // namespace
}  // namespace splitplane::app
