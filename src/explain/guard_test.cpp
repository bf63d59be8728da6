// The guard of `splitplane explain`: what it says, and that what it knows goes on from packet to packet.
#include "explain/guard.h"

#include <gmock/gmock.h>

#include "guard/config/server_text.h"
#include "guard/segment/test_frames.h"

namespace splitplane::app {
namespace {

using guard::Side;
using guard::test::Frame;
using ::testing::HasSubstr;

GuardConfig explained(guard::Mode mode) {
  GuardConfig config;
  guard::ServerRule rule;
  rule.name = "web";
  rule.mode = mode;
  EXPECT_TRUE(take_address("10.0.0.1", rule));
  EXPECT_TRUE(take_ports("80", rule));
  config.servers = {rule};
  return config;
}

class ExplainGuardTest : public testing::Test {
 protected:
  GuardExplainer& make(guard::Mode mode, bool armed) {
    explainer_.reset();
    auto made = GuardExplainer::make_on(std::nullopt, explained(mode), armed);
    EXPECT_TRUE(made) << made.error().message;
    explainer_ = *std::move(made);
    return *explainer_;
  }
  GuardOutcome run(const Frame& frame) {
    auto outcome = explainer_->run(guard::test::write(frame));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *std::move(outcome) : GuardOutcome{};
  }
  std::string told(const GuardOutcome& outcome) { return render_story(tell(outcome, *explainer_), "#1"); }
  std::unique_ptr<GuardExplainer> explainer_;
};

TEST_F(ExplainGuardTest, a_syn_to_a_server_at_rest_passes) {
  make(guard::Mode::kProxy, false);
  const GuardOutcome outcome = run(Frame{});
  EXPECT_EQ(outcome.outcome, guard::Outcome::passed_unarmed);
  ASSERT_EQ(outcome.sent.size(), 1U);
  EXPECT_EQ(outcome.sent[0].to, Side::kServer);
  EXPECT_EQ(outcome.sent[0].octets, guard::test::write(Frame{}));
  const std::string text = told(outcome);
  EXPECT_THAT(text, HasSubstr("parse       TCP SYN from 192.0.2.7:40000 to 10.0.0.1:80"));
  EXPECT_THAT(text, HasSubstr("server      web: 10.0.0.1 ports 80, mode proxy, at rest"));
  EXPECT_THAT(text, HasSubstr("client      has not proven its address"));
  EXPECT_THAT(text, HasSubstr("=> passed_unarmed: "));
}

TEST_F(ExplainGuardTest, a_handshake_through_the_proxy_goes_on_from_packet_to_packet) {
  make(guard::Mode::kProxy, true);
  const GuardOutcome challenge = run(Frame{.options = {2, 4, 5, 0xb4}});
  EXPECT_EQ(challenge.outcome, guard::Outcome::challenged_syn);
  ASSERT_EQ(challenge.sent.size(), 1U);
  EXPECT_THAT(told(challenge), HasSubstr("MSS 1460"));
  EXPECT_THAT(told(challenge), HasSubstr("to the clients' side"));
  const auto answer = guard::test::read_back(challenge.sent[0].octets).frame;
  const GuardOutcome connect =
      run(Frame{.sequence = 1001, .acknowledgment = answer.sequence + 1, .flags = guard::test::kAck});
  EXPECT_EQ(connect.outcome, guard::Outcome::connected);
  ASSERT_EQ(connect.sent.size(), 1U);
  EXPECT_EQ(connect.sent[0].to, Side::kServer);
  EXPECT_THAT(told(connect),
              AllOf(HasSubstr("TCP SYN from 192.0.2.7:40000 to"), HasSubstr("10.0.0.1:80: sequence 1000,")));
  const GuardOutcome again =
      run(Frame{.sequence = 1001, .acknowledgment = answer.sequence + 1, .flags = guard::test::kAck});
  ASSERT_TRUE(again.flow);
  EXPECT_THAT(told(again), HasSubstr("connection  connecting"));
  EXPECT_THAT(told(again), HasSubstr("client      has proven its address by a cookie"));
}

TEST_F(ExplainGuardTest, the_side_is_told_by_the_addresses) {
  make(guard::Mode::kObserve, false);
  Frame from_server = Frame{}.back();
  from_server.flags = guard::test::kSyn | guard::test::kAck;
  const GuardOutcome outcome = run(from_server);
  EXPECT_EQ(outcome.from, Side::kServer);
  EXPECT_EQ(outcome.outcome, guard::Outcome::passed_server);
  EXPECT_EQ(to_json(tell(outcome, *explainer_), outcome).at("from"), "server");
}

TEST_F(ExplainGuardTest, what_concerns_no_server_passes_as_it_is) {
  make(guard::Mode::kAuth, true);
  const GuardOutcome outcome = run(Frame{.to = "10.0.0.2"});
  EXPECT_EQ(outcome.outcome, guard::Outcome::passed);
  EXPECT_THAT(told(outcome), HasSubstr("no TCP of a protected server"));
  EXPECT_THAT(told(outcome), HasSubstr("unchanged"));
}

TEST_F(ExplainGuardTest, a_forged_segment_is_dropped_with_its_reason) {
  make(guard::Mode::kProxy, true);
  const GuardOutcome outcome = run(Frame{.flags = guard::test::kRst});
  EXPECT_EQ(outcome.outcome, guard::Outcome::forged_rst);
  EXPECT_TRUE(outcome.sent.empty());
  EXPECT_THAT(told(outcome), HasSubstr("out         nothing"));
  EXPECT_THAT(told(outcome), HasSubstr("=> forged_rst: dropped"));
}

}  // namespace
}  // namespace splitplane::app
