#include "cli/other_programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace splitplane::app {
namespace {

std::string error(const MethodRegistry& methods, const std::string& method) {
  return Json::parse(methods.answer(Json{{"method", method}}.dump())).value("error", "(no error)");
}

TEST(OtherPrograms, a_client_hears_which_program_serves_what_it_asks_for) {
  MethodRegistry card([] {});
  name_other_programs(card, "card");
  EXPECT_EQ(error(card, "bearer.add"), "this program does not serve 'bearer.add'; allowed: with `splitplane run`");
  for (const char* family : {"session", "place"}) {
    EXPECT_EQ(error(card, fmt::format("{}.show", family)),
              fmt::format("this program does not serve '{}.show'; allowed: with `splitplane run`", family));
  }
  EXPECT_EQ(error(card, "air.set"),
            "this program does not serve 'air.set'; allowed: with `splitplane ue` or `splitplane phy`");
  MethodRegistry phy([] {});
  name_other_programs(phy, "phy");
  EXPECT_EQ(error(phy, "air.melt"), "method 'air.melt' is unknown; allowed: ping, stop");
  EXPECT_EQ(error(phy, "tap.on"), "this program does not serve 'tap.on'; allowed: with `splitplane run`");
  MethodRegistry gnb([] {});
  name_other_programs(gnb, "run");
  EXPECT_EQ(error(gnb, "guard.show"), "this program does not serve 'guard.show'; allowed: with `splitplane guard`");
  EXPECT_EQ(error(gnb, "card.install"), "this program does not serve 'card.install'; allowed: with `splitplane card`");
}

TEST(OtherPrograms, a_program_does_not_send_clients_to_itself) {
  MethodRegistry card([] {});
  name_other_programs(card, "card");
  EXPECT_EQ(error(card, "card.melt"), "method 'card.melt' is unknown; allowed: ping, stop");
}

}  // namespace
}  // namespace splitplane::app
