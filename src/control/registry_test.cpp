#include "control/registry.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace splitplane::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A machine that the control plane has never heard of: it registers what it serves.
class Toaster {
 public:
  void add_methods(MethodRegistry& registry) {
    registry.add("toast.start", [this](Params& params) -> Expected<Json> {
      params.require("slices");
      const auto slices = params.integer("slices", 1, 4);
      if (const auto fault = params.fault()) return fail("{}", *fault);
      inside += *slices;
      return Json{{"inside", inside}};
    });
    registry.add("toast.eject", without_params([this]() -> Expected<Json> {
                   if (inside == 0) throw std::runtime_error("the lever is stuck");
                   if (hot) return fail("the spring does not answer");
                   inside = 0;
                   return Json::array();
                 }));
  }
  std::uint64_t inside = 0;
  bool hot = false;
};

class Registry : public ::testing::Test {
 protected:
  Registry() { toaster_.add_methods(registry_); }
  Json ask(const std::string& line) { return Json::parse(registry_.answer(line)); }
  Json call(const std::string& method, const Json& params) {
    return ask(Json{{"id", 7}, {"method", method}, {"params", params}}.dump());
  }
  std::string error(const std::string& method, const Json& params = nullptr) {
    return call(method, params).value("error", "(no error)");
  }
  int stops_ = 0;
  MethodRegistry registry_{[this] { ++stops_; }};
  Toaster toaster_;
};

TEST_F(Registry, a_machine_is_served_by_the_methods_that_it_registers) {
  EXPECT_EQ(call("toast.start", {{"slices", 3}}), Json::parse(R"({"id": 7, "result": {"inside": 3}})"));
  EXPECT_EQ(toaster_.inside, 3U);
  EXPECT_EQ(call("toast.eject", nullptr), Json::parse(R"({"id": 7, "result": []})"));
  EXPECT_EQ(toaster_.inside, 0U);
  EXPECT_THAT(registry_.names(), ElementsAre("ping", "toast.start", "toast.eject", "stop"));
}

TEST_F(Registry, what_the_params_are_not_reaches_no_machine) {
  EXPECT_EQ(error("toast.start", {{"slices", 5}}), "slices: allowed is an integer from 1 to 4");
  EXPECT_EQ(error("toast.start", {{"slice", 2}}), "slices: is missing");
  EXPECT_EQ(error("toast.start", Json::array({2})), "params: allowed is an object");
  toaster_.inside = 2;
  EXPECT_EQ(error("toast.eject", {{"gently", true}}), "gently: unknown; allowed: nothing");
  EXPECT_EQ(toaster_.inside, 2U);
}

TEST_F(Registry, an_exception_in_a_handler_is_a_failure_of_the_program) {
  const Json reply = call("toast.eject", nullptr);
  EXPECT_EQ(reply, Json::parse(R"({"id": 7, "error": "failed: the lever is stuck", "failed": true})"));
}

TEST_F(Registry, silence_of_a_worker_is_a_failure_of_the_program_and_a_refusal_is_none) {
  toaster_ = {.inside = 1, .hot = true};
  EXPECT_EQ(call("toast.eject", nullptr),
            Json::parse(R"({"id": 7, "error": "the spring does not answer", "failed": true})"));
  EXPECT_FALSE(call("toast.start", {{"slices", 5}}).contains("failed"));
}

TEST_F(Registry, an_unknown_method_gets_the_list_of_those_served_here) {
  EXPECT_EQ(error("toast.strat"),
            "method 'toast.strat' is unknown, did you mean 'toast.start'?; allowed: ping, toast.start, toast.eject, "
            "stop");
  EXPECT_EQ(error("toast.butter"), "method 'toast.butter' is unknown; allowed: ping, toast.start, toast.eject, stop");
  EXPECT_EQ(error("breakfast"), "method 'breakfast' is unknown; allowed: ping, toast.start, toast.eject, stop");
}

TEST_F(Registry, a_method_of_another_program_is_found_by_its_family) {
  registry_.serve_elsewhere("bread", "with `bakery`");
  registry_.serve_elsewhere("toast", "with `grill`");
  EXPECT_EQ(error("bread.bake"), "this program does not serve 'bread.bake'; allowed: with `bakery`");
  EXPECT_EQ(error("toast.flambe"), "this program does not serve 'toast.flambe'; allowed: with `grill`");
  EXPECT_TRUE(call("toast.start", {{"slices", 1}}).contains("result"));
  EXPECT_EQ(error("toast.strat"),
            "method 'toast.strat' is unknown, did you mean 'toast.start'?; allowed: ping, toast.start, toast.eject, "
            "stop");
  EXPECT_EQ(error("breakfast"), "method 'breakfast' is unknown; allowed: ping, toast.start, toast.eject, stop");
}

TEST_F(Registry, every_program_serves_ping_and_stop) {
  EXPECT_TRUE(call("ping", nullptr)["result"]["process"].is_number());
  EXPECT_EQ(stops_, 0);
  EXPECT_THAT(error("ping", {{"loud", true}}), HasSubstr("loud: unknown"));
  EXPECT_THAT(error("stop", {{"now", true}}), HasSubstr("now: unknown"));
  EXPECT_EQ(stops_, 0);
  EXPECT_EQ(call("stop", Json::object())["result"]["stopping"], true);
  EXPECT_EQ(stops_, 1);
}

TEST_F(Registry, the_id_comes_back) {
  EXPECT_EQ(ask(R"({"id":"a","method":"ping"})")["id"], "a");
  EXPECT_EQ(ask(R"({"id":-3,"method":"ping"})")["id"], -3);
  EXPECT_TRUE(ask(R"({"method":"ping"})")["id"].is_null());
}

TEST_F(Registry, whatever_the_line_there_is_a_reply) {
  for (const std::string& line :
       {std::string("x"), std::string("[]"), std::string("5"), std::string("{}"), std::string("{\"method\":5}"),
        std::string("{\"method\":\"toast.ejec\"}"), std::string("{\"id\":[],\"method\":\"ping\"}"),
        std::string("{\"id\":1,\"method\":\"ping\",\"extra\":1}"), std::string("\xff\xfe"), std::string(60000, '['),
        std::string("{\"method\":\"p\0ng\"}", 17), std::string("\0", 1),
        std::string("{\"method\":\"ping\",\"params\":[1]}"), std::string("nan")}) {
    const Json reply = ask(line);
    EXPECT_TRUE(reply.contains("error")) << line.substr(0, 60);
    EXPECT_FALSE(reply.contains("result"));
  }
}

TEST_F(Registry, a_method_that_every_program_serves_cannot_be_added) {
  registry_.add("ping", without_params([]() -> Expected<Json> { return Json{}; }));
  const auto answer = answers_of(std::move(registry_));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "control method ping is registered twice, which is a mistake of this program");
}

TEST_F(Registry, a_server_owns_the_registry_that_answers_for_it) {
  const auto answer = answers_of(std::move(registry_));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT((*answer)(R"({"id":1,"method":"toast.start","params":{"slices":1}})"), HasSubstr("\"inside\":1"));
}

}  // namespace
}  // namespace splitplane::app
