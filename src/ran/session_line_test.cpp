// What a session line answers, and how a table with session lines finds bearers.
#include "ran/session_line.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "ran/bearer_table.h"
#include "ran/header_mode.h"
#include "ran/test_sessions.h"
#include "ran/test_variants.h"

namespace splitplane::ran {
namespace {

constexpr std::uint32_t kTeid = make_teid(63, ShardId{255}, (1U << kIndexBits) - 100);

std::uint32_t bearer_of(const BearerDownlink& line, unsigned qfi) {
  return bearer_of_flow(line, kTeid, true, static_cast<std::uint8_t>(qfi)).id;
}

TEST(SessionLine, leads_each_flow_to_its_bearer_and_others_to_the_default) {
  const BearerDownlink line = make_session(test::make_session_config(kTeid));
  for (unsigned qfi = 0; qfi < sdap::kFlows; ++qfi) {
    const unsigned expected = qfi == 1 || qfi == 63 ? 1 : qfi == 2 ? 2 : 0;
    EXPECT_EQ(bearer_of(line, qfi), kTeid + expected) << qfi;
  }
}

TEST(SessionLine, a_packet_without_a_flow_goes_to_the_default_bearer) {
  SessionConfig config = test::make_session_config(kTeid);
  config.default_drb = sdap::DrbId{2};
  const BearerDownlink line = make_session(config);
  EXPECT_EQ(bearer_of_flow(line, kTeid, false, 2).id, kTeid + 1);
  EXPECT_EQ(bearer_of(line, 40), kTeid + 1);
  EXPECT_EQ(bearer_of(line, 2), kTeid + 2);
}

TEST(SessionLine, the_first_bearer_stands_at_the_spare_place) {
  const BearerDownlink line = make_session(test::make_session_config(kTeid));
  EXPECT_EQ(bearer_of_flow(line, kTeid, true, 0).place, kTeid + 3);
  EXPECT_EQ(bearer_of_flow(line, kTeid, true, 1).place, kTeid + 1);
  EXPECT_EQ(session_bearer(line, kTeid, kFirstBearer).id, kTeid);
}

TEST(SessionLine, is_no_bearer_and_no_other_kind_of_free_line) {
  const BearerDownlink line = make_session(test::make_session_config(kTeid));
  EXPECT_TRUE(is_session(line, kTeid));
  EXPECT_FALSE(is_session(line, kTeid ^ 1U << 31)) << "another instance";
  EXPECT_FALSE(BearerTable::is(line, kTeid));
  EXPECT_FALSE(is_on_card(line, kTeid));
  EXPECT_FALSE(is_released(line, kTeid));
  EXPECT_FALSE(is_session(BearerDownlink{}, 0));
  EXPECT_FALSE(is_session(make_released(kTeid), kTeid));
  BearerConfig config;
  config.id = BearerId{kTeid};
  EXPECT_FALSE(is_session(make_on_card(config), kTeid));
  config.acknowledged = config.require_psc = true;
  EXPECT_FALSE(is_session(make_downlink(config), kTeid));
}

TEST(SessionLine, a_reflective_bearer_sets_rdi_in_each_pdu) {
  SessionBearer bearer = test::make_session_config(kTeid).bearers[1];
  std::vector<std::uint8_t> frame(64);
  BearerDownlink plain = make_session_bearer(bearer);
  bearer.reflective = true;
  BearerDownlink reflective = make_session_bearer(bearer);
  for (const std::uint8_t psc : {std::uint8_t{1}, std::uint8_t{0x7f}}) {  // RQI and QFI
    write_downlink(plain, psc, frame.data() + 32, 20);
    EXPECT_EQ(frame[31], psc);
    write_downlink(reflective, psc, frame.data() + 32, 20);
    EXPECT_EQ(frame[31], 0x80 | psc);
  }
}

TEST(BearerTable, finds_the_line_of_each_bearer_of_a_session) {
  constexpr std::uint32_t kLines = 8;
  std::vector<BearerDownlink> downlink(kLines);
  std::vector<BearerUplink> uplink(kLines);
  std::vector<BearerDrops> drops(kLines);
  BearerTable table;
  table.attach(ShardId{1}, {downlink.data(), uplink.data(), drops.data(), kLines});
  const std::uint32_t teid = make_teid(2, ShardId{1}, 2);
  const SessionConfig config = test::make_session_config(teid);
  *table.downlink_line(teid) = make_session(config);
  *table.downlink_line(config.spare.value) = make_session_bearer(config.bearers[0]);
  for (unsigned i : {1U, 2U}) *table.downlink_line(teid + i) = make_session_bearer(config.bearers[i]);
  for (unsigned i = 0; i < 3; ++i) EXPECT_TRUE(BearerTable::is(*table.bearer_line(teid + i), teid + i));
  EXPECT_EQ(table.bearer_line(teid), &downlink[5]);
  EXPECT_FALSE(BearerTable::is(*table.bearer_line(config.spare.value), config.spare.value)) << "no bearer has it";
  EXPECT_FALSE(BearerTable::is(*table.bearer_line(teid + 4), teid + 4));
}

// Any eight places and any rules, against the configuration.
RC_GTEST_PROP(SessionLine, leads_to_the_bearer_that_the_configuration_names, ()) {
  SessionConfig config = test::make_session_config(make_teid(1, ShardId{9}, 0));
  config.bearers.resize(1);
  const auto indexes = *rc::gen::unique<std::vector<std::uint32_t>>(kMaxSessionBearers + 1,
                                                                    rc::gen::inRange(0U, (1U << kIndexBits) - 1));
  for (std::size_t i = 0; i < kMaxSessionBearers; ++i) {
    if (i != 0) config.bearers.push_back(config.bearers.front());
    config.bearers[i].config.id = BearerId{make_teid(1, ShardId{9}, indexes[i])};
    config.bearers[i].drb = sdap::DrbId{static_cast<std::uint8_t>(i + 1)};
    config.bearers[i].flows.clear();
  }
  config.spare = BearerId{make_teid(1, ShardId{9}, indexes.back())};
  config.default_drb =
      sdap::DrbId{static_cast<std::uint8_t>(*rc::gen::inRange<std::size_t>(1, kMaxSessionBearers + 1))};
  std::vector<std::size_t> expected(sdap::kFlows, config.default_drb.value - 1U);
  for (unsigned qfi = 0; qfi < sdap::kFlows; ++qfi) {
    const auto bearer = *rc::gen::inRange<std::size_t>(0, kMaxSessionBearers + 1);
    if (bearer == kMaxSessionBearers) continue;  // no rule
    config.bearers[bearer].flows.push_back(Qfi{static_cast<std::uint8_t>(qfi)});
    expected[qfi] = bearer;
  }
  RC_ASSERT(refuse(config) == std::nullopt);
  const BearerDownlink line = make_session(config);
  const std::uint32_t teid = config.teid().value;
  RC_ASSERT(is_session(line, teid));
  for (std::uint8_t qfi = 0; qfi < sdap::kFlows; ++qfi) {
    const PlacedBearer found = bearer_of_flow(line, teid, true, qfi);
    const BearerId id = config.bearers[expected[qfi]].config.id;
    RC_ASSERT(found.id == id.value);
    RC_ASSERT(found.place == (expected[qfi] == 0 ? config.spare.value : id.value));
  }
}

TEST(SessionLine, a_flow_gets_another_bearer_and_its_neighbour_stays) {
  const SessionConfig session = test::make_session_config(make_teid(5, ShardId{7}, 100));
  BearerDownlink line = make_session(session);
  EXPECT_EQ(number_of_flow(line, true, 63), 2U);
  set_flow(line, Qfi{63}, kMovingFlow);
  EXPECT_EQ(number_of_flow(line, true, 63), kMovingFlow);
  EXPECT_EQ(number_of_flow(line, true, 62), 1U);
  EXPECT_EQ(number_of_flow(line, false, 63), 1U) << "a packet without a QFI is of no flow";
  set_flow(line, Qfi{63}, 3);
  EXPECT_EQ(number_of_flow(line, true, 63), 3U);
  EXPECT_TRUE(is_session(line, session.teid().value));
}

TEST(SessionLine, the_fast_path_delivers_no_pdu_of_its_bearers_and_the_session_reads_them_all) {
  for (BearerConfig config : test::all_variants()) {
    BearerUplink plain = make_uplink(config, PeerId{3}), line = make_session_uplink(config, PeerId{3});
    EXPECT_TRUE(is_of_session(line));
    EXPECT_FALSE(is_of_session(plain));
    for (const unsigned cut : {0U, 1U, 20U}) {
      test::Bytes pdu = test::uplink_pdu(config, 5, 5, Qfi{7}, test::Bytes(20));
      pdu.resize(pdu.size() - cut);
      const std::uint8_t* const rlc = pdu.data() + kAirhdrBytes;
      const std::size_t bytes = pdu.size() - kAirhdrBytes;
      EXPECT_EQ(read_uplink(line, rlc, bytes).kind, UplinkKind::kSessionPdu);
      const UplinkPdu expected = read_uplink(plain, rlc, bytes), read = read_uplink_of_session(line, rlc, bytes);
      EXPECT_EQ(read.kind, expected.kind);
      EXPECT_EQ(read.qfi, expected.qfi);
      EXPECT_EQ(line.pdcp_rx_next, plain.pdcp_rx_next);
      EXPECT_EQ(line.received, plain.received);
    }
    EXPECT_TRUE(is_of_session(line));
  }
}

}  // namespace
}  // namespace splitplane::ran
