#include "runtime/power_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/test_power.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

Json call(MemoryPower& program, const std::string& method, const Json& params) {
  MethodRegistry registry([] {});
  program.add_methods(registry);
  return Json::parse(registry.answer(Json{{"id", 1}, {"method", method}, {"params", params}}.dump()));
}

TEST(PowerMethods, show_gives_what_the_program_has_of_each_worker) {
  MemoryPower program;
  EXPECT_EQ(call(program, "power.show", Json::object())["result"]["workers"][0]["name"], "w0");
}

TEST(PowerMethods, set_gives_a_policy_whose_other_settings_are_the_defaults) {
  MemoryPower program;
  const Json reply =
      call(program, "power.set", {{"worker", "w0"}, {"kind", "budget"}, {"latency_us", 20}, {"utilisation", 0.5}});
  ASSERT_TRUE(reply.contains("result")) << reply;
  EXPECT_EQ(program.power_of, "w0");
  EXPECT_EQ(program.power.kind, power::Kind::budget);
  EXPECT_EQ(program.power.budget.latency_us, 20U);
  EXPECT_EQ(program.power.budget.utilisation, 0.5);
  EXPECT_EQ(program.power.budget.spin_us, power::BudgetSettings{}.spin_us);
}

TEST(PowerMethods, what_does_not_fit_the_kind_never_reaches_the_program) {
  for (const auto& [params, says] : {
           std::pair{Json{{"worker", "w0"}}, "kind"},
           {Json{{"kind", "busy"}}, "worker"},
           {Json{{"worker", "w0"}, {"kind", "lazy"}},
            "kind: 'lazy' is unknown; allowed: busy, yield, paper, paper_printed, l3fwd, metronome, budget"},
           {Json{{"worker", "w0"}, {"kind", "busy"}, {"latency_us", 20}}, "latency_us: unknown"},
           {Json{{"worker", "w0"}, {"kind", "budget"}, {"latency_us", 0}},
            "latency_us: allowed is an integer from 1 to 100000"},
           {Json{{"worker", "w0"}, {"kind", "budget"}, {"utilisation", 1.5}},
            "utilisation: allowed is a number from 0.05 to 1"},
           {Json{{"worker", "w0"}, {"kind", "paper"}, {"max_packets", 64}},
            "max_packets: is 64, and climb_packets is 64; allowed: more than climb_packets"},
       }) {
    MemoryPower program;
    EXPECT_THAT(call(program, "power.set", params).value("error", "(no error)"), HasSubstr(says)) << params;
    EXPECT_EQ(program.power_of, "");
  }
}

}  // namespace
}  // namespace splitplane::app
