#include "cli/ctl/session.h"

#include <gmock/gmock.h>

#include "cli/ctl/table.h"

namespace splitplane::app {
namespace {

const Json kSessionAnswer = Json::parse(R"({"id":67108864,"upf":"10.0.0.2","ul_teid":4097,"default_drb":1,"bearers":[
    {"id":67108864,"drb":1,"flows":[],"rlc":"am18","downlink":{"transmitted":5,"dropped":7}},
    {"id":67108865,"drb":2,"flows":[5,63],"rlc":"um12","uplink":{"transmitted":6,"dropped":1234}}]})");

TEST(CtlSession, a_line_for_each_bearer_says_which_flows_it_carries) {
  EXPECT_EQ(render_sessions({kSessionAnswer}),
            "session          upf  ul_teid     drb  flows   bearer      rlc   dl sent  dl drop  ul sent  ul drop\n"
            "0x04000000  10.0.0.2  0x00001001    1  others  0x04000000  am18        5        7        -        -\n"
            "0x04000000  10.0.0.2  0x00001001    2  5,63    0x04000001  um12        -        -        6    1,234\n");
}

TEST(CtlSession, a_shown_session_has_a_line_for_each_flow_that_counted) {
  Json shown = kSessionAnswer;
  EXPECT_EQ(render_session(shown), render_tree(shown));
  shown["flows_counted"] = Json::array();
  EXPECT_EQ(render_session(shown), render_tree(kSessionAnswer));
  shown["flows_counted"] = Json::parse(R"([
      {"qfi":5,"drb":2,"downlink":{"sdus":1234,"bytes":56},"uplink":{"sdus":0,"bytes":0}},
      {"qfi":63,"drb":1,"downlink":{"sdus":1,"bytes":2},"uplink":{"sdus":3,"bytes":4000}}])");
  EXPECT_EQ(render_session(shown), render_tree(kSessionAnswer) +
                                       "flows_counted\n"
                                       "  qfi  drb  dl sdus  dl bytes  ul sdus  ul bytes\n"
                                       "    5    2    1,234        56        0         0\n"
                                       "   63    1        1         2        3     4,000\n");
}

TEST(CtlSession, a_list_of_bearers_names_session_and_drb) {
  Json bearer = kSessionAnswer["bearers"][1];
  bearer["session"] = {{"id", 67108864U}, {"drb", 2U}};
  EXPECT_THAT(render_bearers({bearer}), testing::HasSubstr("0x04000001  0x04000000    2"));
  EXPECT_THAT(render_bearers({kSessionAnswer["bearers"][1]}), testing::Not(testing::HasSubstr("session")));
}

}  // namespace
}  // namespace splitplane::app
