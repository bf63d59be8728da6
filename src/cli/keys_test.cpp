// A key is one row: file, protocol, command line, schema and docs have it from there.
#include "cli/keys.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/command/field_options.h"
#include "config/yaml_fields.h"
#include "control/field_params.h"
#include "ran/bearer_fields.h"

namespace splitplane::app {
namespace {

using testing::HasSubstr;

struct Kettle {
  unsigned litres = 2;
  bool whistles = true;
};
constexpr std::array<fields::Field, 2> kRows{
    fields::integer<&Kettle::litres>("litres", 1, 5, {.help = "What it holds"}),
    fields::flag<&Kettle::whistles>("whistles", {.help = "whistle"}),
};
constexpr fields::Fields<Kettle> kKettle(kRows);

TEST(Keys, a_row_is_all_that_a_file_needs) {
  const auto read = [](const std::string& text) {
    Lines lines;
    Kettle kettle;
    read_fields(YamlValue(YAML::Load(text), "kettle", 1, lines).map(names_of(kKettle)), kKettle, kettle);
    return kettle;
  };
  EXPECT_EQ(read("{litres: 4, whistles: false}").litres, 4U);
  EXPECT_FALSE(read("{whistles: false}").whistles);
  const auto refusal = [&read](const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const Refusal& refused) {
      return refused.key + ": " + refused.text;
    }
    return "(taken)";
  };
  EXPECT_EQ(refusal("{litres: 6}"), "kettle.litres: is 6; allowed: an integer from 1 to 5");
  EXPECT_THAT(refusal("{litre: 6}"), HasSubstr("did you mean 'litres'?; allowed: litres, whistles"));
}

TEST(Keys, a_row_is_all_that_the_protocol_needs) {
  const Json request{{"litres", 3U}, {"whistles", false}};
  Params params(request);
  Kettle kettle;
  EXPECT_THAT(read_fields(params, kKettle, kettle), testing::ElementsAre("litres", "whistles"));
  EXPECT_EQ(params.fault(), std::nullopt);
  Json written;
  write_fields(written, kKettle, kettle);
  EXPECT_EQ(written, request);
  const Kettle common{.litres = 3, .whistles = true};
  Json short_form;
  write_fields(short_form, kKettle, kettle, &common);
  EXPECT_EQ(short_form, (Json{{"whistles", false}}));
}

TEST(Keys, a_row_is_all_that_a_command_needs) {
  CLI::App app;
  const FieldOptions options(app, keys_of(kKettle), FieldOptions::Defaults::kShown);
  EXPECT_EQ(options.names(), "--litres, --no-whistles");
  EXPECT_THAT(app.help(), HasSubstr("What it holds, 1 to 5"));
  for (const char* off : {"--no-whistles", "--whistles=false"}) {
    app.parse(off);
    EXPECT_EQ(options.given(), (Json{{"whistles", false}})) << off;
  }
  for (const char* on : {"--whistles", "--whistles=true", "--no-whistles=false"}) {
    app.parse(on);
    EXPECT_EQ(options.given(), (Json{{"whistles", true}})) << on;
  }
  app.parse("--litres 5");
  EXPECT_EQ(options.given(), (Json{{"litres", 5}}));
}

TEST(Keys, a_row_is_all_that_schema_and_docs_need) {
  const fields::Section kettle{"kettle", keys_of(kKettle)};
  EXPECT_EQ(fields::schema_of(kettle)["properties"]["litres"].dump(),
            R"({"type":"integer","minimum":1,"maximum":5,"default":2,"description":"What it holds."})");
  EXPECT_THAT(fields::table_of(kettle), HasSubstr("| `litres` | 2 | What it holds, 1 to 5. |\n"));
}

// What bearer.add takes is what a bearer is shown with, so that it can be added again.
TEST(Keys, a_bearer_comes_back_from_its_rows_as_it_was) {
  ran::BearerConfig bearer;
  bearer.upf = IpAddress::v4({10, 0, 0, 1});
  bearer.uplink_teid = Teid{7};
  bearer.pdcp_sn_bits = 12;
  bearer.sdap_header_ul = false;
  bearer.arq.max_retx = 4;
  bearer.n3_reorder = ran::N3ReorderConfig{.window = 9, .timer_ms = 3};
  bearer.ecn = ran::EcnConfig{.law = ran::ecn::Scalable::kRamp, .target_us = 7000, .classic_target_us = 9000};
  bearer.require_psc = true;
  bearer.ue_ipv6 = *IpAddress::parse("fd00::1");
  bearer.dl_teid = Teid{8};
  bearer.card = "card0";
  Json json;
  write_fields(json, ran::bearer_fields(ran::kInRequest), bearer);
  Params params(json);
  ran::BearerConfig back;
  read_fields(params, ran::bearer_fields(ran::kInRequest), back);
  EXPECT_EQ(params.fault(), std::nullopt);
  EXPECT_EQ(back, bearer);
}

}  // namespace
}  // namespace splitplane::app
