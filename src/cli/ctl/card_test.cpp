// `ctl card` for people, from answers as the card gives them and from ones that it never would.
#include "cli/ctl/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CtlCard, the_first_row_has_the_sums_and_the_tables_below_the_reasons) {
  const Json card{{"name", "card0"},
                  {"program", "gnb-clone"},
                  {"execution", "compiled"},
                  {"features", "clone"},
                  {"vfs", {"vf-n3", "vf-air"}},
                  {"bearers", 1000},
                  {"serves", 300},
                  {"totals", {{"received", 1234567}}},
                  {"punts", {{"arp", 3}, {"teid_unknown", 4}}},
                  {"drops", {{"lease_exhausted", 2}}},
                  {"tx_full", 5},
                  {"ports",
                   {{{"name", "n3"}, {"port", 0}, {"in", 1234567}, {"out", 9}, {"clones", 0}, {"tx_full", 5}},
                    {{"name", "air"}, {"port", 1}, {"in", 0}, {"out", 0}, {"clones", 0}, {"tx_full", 0}}}}};
  const std::string text = render_card(Json::parse(card.dump()));  // as it comes over the socket
  EXPECT_THAT(text, HasSubstr("card   program    runs      features  vfs  serves  passes    packets  punts  drops\n"
                              "card0  gnb-clone  compiled  clone       2     300     700  1,234,567      7      7\n"));
  EXPECT_THAT(text, HasSubstr("teid_unknown               4  no entry for this TEID"));
  EXPECT_THAT(text, HasSubstr("lease_exhausted        2  no COUNT is left in the bearer's lease"));
  EXPECT_THAT(text, AllOf(HasSubstr("n3    1,234,567"), Not(HasSubstr("\nair"))));
}

TEST(CtlCard, an_answer_of_another_kind_is_no_crash) {
  EXPECT_THAT(render_card(Json::object()), HasSubstr("card"));
  EXPECT_THAT(render_card(Json::parse(R"({"totals": 3, "punts": [1], "ports": "x", "vfs": null})")), HasSubstr("card"));
}

}  // namespace
}  // namespace splitplane::app
