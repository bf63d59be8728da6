// `ctl guard` for people, from answers as a guard gives them and from ones that it never would.
#include "cli/ctl/guard.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using testing::HasSubstr;

Json a_server() {
  return {{"name", "web"},
          {"address", "10.70.0.2"},
          {"ports", "443"},
          {"mode", "proxy"},
          {"state", "armed"},
          {"syns_per_second", 40960},
          {"half_open_percent", 99.6},
          {"syns", 1234567},
          {"challenged", 1200000},
          {"proved", 17},
          {"connected", 16},
          {"dropped", 3},
          {"armings", 2}};
}

TEST(CtlGuard, shows_servers_and_how_full_the_tables_are) {
  const Json guard{
      {"servers", {a_server()}},
      {"sources", {{"entries", 262144}, {"live", 1000}, {"inserted", 2000}, {"refused", 0}, {"evicted", 1}}},
      {"flows", {{"entries", 131072}, {"used", 12}, {"inserted", 15}, {"refused", 0}}},
      {"keys", {{"seconds", 64}, {"rotations", 3}}},
      {"events", 4}};
  const std::string text = render_guard(guard);
  for (const char* says : {"web", "10.70.0.2", "443", "proxy", "armed", "40,960", "100 %", "1,234,567", "262,144",
                           "131,072", "a new one every 64 s, 3 so far; events: 4"}) {
    EXPECT_THAT(text, HasSubstr(says));
  }
  EXPECT_THAT(render_guard(Json{{"servers", Json::array()}}), HasSubstr("no server is protected"));
}

TEST(CtlGuard, a_changed_server_is_one_row) {
  EXPECT_THAT(render_guard_server({{"server", a_server()}}), HasSubstr("web"));
}

TEST(CtlGuard, clients_are_counted_or_one_is_looked_up) {
  const Json counts{{"workers", {{{"name", "w0"}, {"entries", 1024}, {"live", 7}}}}};
  EXPECT_THAT(render_guard_sources(counts), HasSubstr("1,024"));
  const Json one{{"address", "192.0.2.7"}, {"workers", {{{"name", "w0"}, {"proof", "cookie"}}}}};
  EXPECT_EQ(render_guard_sources(one), "192.0.2.7 on w0: cookie\n");
}

TEST(CtlGuard, connections_and_events_are_tables_with_what_is_left_out) {
  const Json flows{{"used", 12},
                   {"flows",
                    {{{"client", "192.0.2.7:50000"},
                      {"server", "10.70.0.2:443"},
                      {"state", "established"},
                      {"silent_s", 3},
                      {"options", "timestamps, SACK"},
                      {"worker", "w0"}}}}};
  EXPECT_THAT(render_guard_flows(flows), HasSubstr("192.0.2.7:50000"));
  EXPECT_THAT(render_guard_flows(flows), HasSubstr("1 of 12 connections shown"));
  const Json events{{"before", 1500U},
                    {"events",
                     {{{"time", "2026-11-28T17:00:00.123Z"},
                       {"server", "web"},
                       {"what", "armed"},
                       {"syns_per_second", 40960},
                       {"half_open_percent", 99.6},
                       {"worker", "w0"}}}}};
  EXPECT_THAT(render_guard_events(events), HasSubstr("2026-11-28T17:00:00.123Z"));
  EXPECT_THAT(render_guard_events(events), HasSubstr("1,500 earlier ones are not kept"));
  EXPECT_EQ(render_guard_events(Json::object()), "no events\n");
}

TEST(CtlGuard, an_answer_of_another_kind_is_no_crash) {
  for (const char* text : {"[]", "{}", "3", "null", R"({"servers": [1, null, []], "sources": 3, "address": 5,
                           "workers": [3], "flows": [7], "events": [null], "server": []})"}) {
    const Json json = Json::parse(text);
    EXPECT_THAT(render_guard(json), HasSubstr("clients"));
    (void)render_guard_server(json);
    (void)render_guard_sources(json);
    EXPECT_THAT(render_guard_flows(json), HasSubstr("connections shown"));
    EXPECT_FALSE(render_guard_events(json).empty());
  }
}

}  // namespace
}  // namespace splitplane::app
