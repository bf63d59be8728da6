#include "card/protocol/fields.h"

#include <gmock/gmock.h>

#include "card/protocol/request.h"
#include "card/protocol/test_bearer.h"
#include "control/field_params.h"

namespace splitplane::nic {
namespace {

using app::Json;

CardBearer read(const Json& json) {
  CardBearer bearer;
  app::Params params(json);
  app::read_fields(params, own_fields(), bearer);
  app::read_fields(params, common_fields(kTaken), bearer);
  EXPECT_EQ(params.fault(), std::nullopt);
  return bearer;
}

const CardBearer kBearer = test::whole_bearer();

TEST(CardFields, what_a_host_sends_is_what_a_card_takes) {
  EXPECT_EQ(read(app::to_json(kBearer, CardBearer{})), kBearer);
}

TEST(CardFields, only_what_differs_from_the_common_members_is_sent) {
  CardBearer like = kBearer;
  like.id = BearerId{9};
  like.ue_ipv4.reset();
  like.epoch = 8;
  EXPECT_EQ(app::to_json(like, kBearer),
            (Json{{"id", 9}, {"teid", 0x04000002}, {"ul_teid", 0x1001}, {"ue_ipv6", "fd00:45::2"}, {"epoch", 8}}));
}

TEST(CardFields, a_host_says_nothing_of_packets_in_flight) {
  CardBearer bearer = kBearer;
  bearer.in_flight = 5;
  EXPECT_FALSE(app::common_to_json(bearer).contains("in_flight"));
  EXPECT_EQ(app::common_to_json(bearer).size(), 24U);
  EXPECT_EQ(read({{"id", 1U}, {"teid", 2U}, {"in_flight", 5U}}).in_flight, 5U);
}

TEST(CardFields, a_bearer_that_no_card_serves_is_refused) {
  const auto fault = [](const Json& json) {
    CardBearer bearer;
    app::Params params(json);
    app::read_fields(params, common_fields(kTaken), bearer);
    return params.fault().value_or("");
  };
  EXPECT_EQ(fault({{"rlc", "um12"}}), "rlc: allowed are am18, am12");
  EXPECT_EQ(fault({{"pdcp_sn", 15U}}), "pdcp_sn: allowed are 12 and 18");
  EXPECT_EQ(fault({{"n3_ipv4", "fd00::1"}}), "n3_ipv4: allowed is an IPv4 address");
  EXPECT_EQ(fault({{"vf_n3", 64U}}), "vf_n3: allowed is an integer from 0 to 63");
}

}  // namespace
}  // namespace splitplane::nic
