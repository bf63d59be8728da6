// Sessions with several bearers: added, released, shown and restored as a whole.
#include <rte_cycles.h>

#include "gnb/control/bearers.h"
#include "gnb/control/test_parts.h"
#include "gnb/datapath/slow_path.h"

namespace splitplane::gnb {
namespace {

using test::Hanging;
using test::kOtherUpf;
using test::kUpf;
using ::testing::HasSubstr;

class SessionsTest : public test::PartsTest {
 protected:
  // DRB 1 is the default, DRB 2 carries QFI 5 and 6. Identities are the gNB's to choose.
  [[nodiscard]] static ran::WantedSession wanted(std::uint32_t uplink_teid = 7, const IpAddress& upf = kUpf) {
    ran::WantedSession session{.config = {}, .shard = 1};
    session.config.bearers.resize(2);
    for (ran::SessionBearer& one : session.config.bearers) one.config = test::bearer(uplink_teid, upf);
    session.config.bearers[0].drb = session.config.default_drb = ran::sdap::DrbId{1};
    session.config.bearers[1].drb = ran::sdap::DrbId{2};
    session.config.bearers[1].flows = {Qfi{5}, Qfi{6}};
    return session;
  }
  ran::SessionConfig add_session(const ran::WantedSession& session) {
    const auto added = parts_->bearers.add_session(session);
    EXPECT_TRUE(added) << added.error().message;
    return added ? added->session : ran::SessionConfig{};
  }
  [[nodiscard]] std::string refusal(const ran::WantedSession& session) {
    const auto added = parts_->bearers.add_session(session);
    return added ? "(no error)" : added.error().message;
  }
  [[nodiscard]] ran::BearerTable& table(BearerId id) { return parts_->workers.owner_of(id.value)->gnb->bearers; }
  [[nodiscard]] ran::BearerDownlink& place(BearerId id) { return *table(id).downlink_line(id.value); }
  // The identity of the bearer that a downlink packet with this TEID and QFI takes.
  [[nodiscard]] std::uint32_t taken_by(Teid teid, std::uint8_t qfi) {
    const ran::BearerDownlink& line = place(BearerId{teid.value});
    if (!ran::is_session(line, teid.value)) return 0;
    const auto bearer = ran::bearer_of_flow(line, teid.value, true, qfi);
    return place(BearerId{bearer.place}).id;
  }
  [[nodiscard]] GnbConfig with_journal() const {
    GnbConfig config = test::small_config();
    config.journal = folder_ / "bearers.journal";
    return config;
  }
};

TEST_F(SessionsTest, each_flow_leads_to_the_line_of_its_bearer) {
  const auto session = add_session(wanted());
  const BearerId first = session.bearers[0].config.id, second = session.bearers[1].config.id;
  EXPECT_EQ(session.teid().value, first.value);
  EXPECT_EQ(taken_by(session.teid(), 5), second.value);
  EXPECT_EQ(taken_by(session.teid(), 6), second.value);
  EXPECT_EQ(taken_by(session.teid(), 9), first.value);
  EXPECT_EQ(table(first).uplink_line(first.value)->id, first.value);
  EXPECT_EQ(table(first).uplink_line(second.value)->id, second.value);
  EXPECT_EQ(bearers_towards(kUpf), 2U);
  EXPECT_EQ(parts_->bearers.count(), 2U);
}

TEST_F(SessionsTest, a_session_is_shown_with_its_bearers_and_a_bearer_with_its_session) {
  const auto session = add_session(wanted());
  table(session.bearers[0].config.id).bearer_line(session.teid().value)->pdcp_tx_next = 77;
  const auto view = parts_->bearers.show_session(session.teid());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->config, session);
  ASSERT_EQ(view->bearers.size(), 2U);
  EXPECT_EQ(view->bearers[0].pdcp_tx_next, 77U);
  EXPECT_EQ(view->bearers[1].pdcp_tx_next, 0U);
  const auto bearer = parts_->bearers.show(session.bearers[1].config.id);
  ASSERT_TRUE(bearer && bearer->session);
  EXPECT_EQ(bearer->session->teid, session.teid());
  EXPECT_EQ(bearer->session->drb.value, 2U);
  EXPECT_FALSE(bearer->session->is_default);
  const auto page = parts_->bearers.list_sessions(0, 10);
  ASSERT_TRUE(page);
  EXPECT_EQ(page->size(), 1U);
  EXPECT_FALSE(parts_->bearers.show_session(Teid{session.bearers[1].config.id.value}));
}

TEST_F(SessionsTest, a_shown_session_has_what_its_flows_counted_and_a_new_one_has_nothing) {
  const auto session = add_session(wanted());
  const auto flows = [&] { return parts_->bearers.show_session(session.teid())->flows; };
  EXPECT_TRUE(flows().empty());
  const auto& counters = parts_->workers.owner_of(session.teid().value)->gnb->flow_counters;
  counters.count_downlink(session.teid().value, 5, 100);
  counters.count_downlink(session.teid().value, 5, 20);
  counters.count_uplink(session.teid().value, 33, 7);
  ASSERT_EQ(flows().size(), 2U);
  EXPECT_EQ(flows()[0].qfi, Qfi{5});
  EXPECT_EQ(flows()[0].drb.value, 2U);
  EXPECT_EQ(flows()[0].downlink.sdus, 2U);
  EXPECT_EQ(flows()[0].downlink.octets, 120U);
  EXPECT_EQ(flows()[0].uplink.sdus, 0U);
  EXPECT_EQ(flows()[1].drb.value, 1U) << "without a rule: the default bearer";
  EXPECT_EQ(flows()[1].uplink.octets, 7U);
  ASSERT_TRUE(parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{1}));
  EXPECT_EQ(flows()[0].drb.value, 1U);
  EXPECT_EQ(flows()[0].downlink.sdus, 2U) << "a moved flow goes on";
  EXPECT_EQ(parts_->bearers.list_sessions(0, 10)->front().flows.size(), 2U);
  ASSERT_TRUE(parts_->bearers.release_session(session.teid()));
  EXPECT_EQ(counters.find(session.teid().value), nullptr);
  const auto again = add_session(wanted());
  EXPECT_TRUE(parts_->bearers.show_session(again.teid())->flows.empty());
}

TEST_F(SessionsTest, a_session_that_was_not_added_leaves_no_counters) {
  const Hanging hanging(parts_->worker(0));
  EXPECT_THAT(refusal(wanted()), HasSubstr("does not answer"));
  const auto& counters = parts_->worker(0).gnb->flow_counters;
  for (std::uint32_t index = 0; index < 4; ++index) {
    EXPECT_EQ(counters.find(ran::make_teid(1, ShardId{1}, index)), nullptr);
  }
}

TEST_F(SessionsTest, the_same_session_again_is_no_error_and_another_one_on_its_tunnel_is) {
  const auto session = add_session(wanted());
  const auto again = parts_->bearers.add_session(wanted());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existed);
  EXPECT_EQ(again->session, session);
  auto other = wanted();
  other.config.bearers[1].flows = {Qfi{5}};
  EXPECT_THAT(refusal(other), HasSubstr("is in use by bearer"));
  const auto alone = add(session.bearers[0].config);
  EXPECT_FALSE(alone) << "a bearer by itself with the keys of the session's first one";
  EXPECT_EQ(parts_->bearers.count(), 2U);
}

TEST_F(SessionsTest, a_session_goes_as_a_whole) {
  const auto session = add_session(wanted());
  const auto alone = parts_->bearers.release(session.bearers[1].config.id);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("session.release"));
  EXPECT_FALSE(parts_->bearers.modify(session.bearers[0].config.id, test::patch({{"qfi", 4U}})));
  EXPECT_FALSE(parts_->bearers.release_session(Teid{session.bearers[1].config.id.value}));
  EXPECT_TRUE(parts_->bearers.release_session(session.teid()).value_or(false));
  EXPECT_FALSE(parts_->bearers.release_session(session.teid()).value_or(true));
  EXPECT_EQ(parts_->bearers.count(), 0U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  EXPECT_TRUE(ran::is_released(place(BearerId{session.teid().value}), session.teid().value));
  for (const BearerId id : {session.bearers[1].config.id, session.spare}) {
    EXPECT_EQ(place(id).id, 0U);
    EXPECT_FALSE(ran::is_released(place(id), id.value)) << "the UPF never sent to it";
    EXPECT_EQ(table(id).uplink_line(id.value)->id, 0U);
  }
  EXPECT_TRUE(parts_->bearers.add_session(wanted())) << "its places are free again";
}

TEST_F(SessionsTest, only_the_first_bearer_has_the_keys) {
  auto with_key = wanted();
  for (ran::SessionBearer& one : with_key.config.bearers) one.config.dl_teid = Teid{0xabcdef};
  const auto session = add_session(with_key);
  EXPECT_EQ(parts_->worker(0).keys()->teids->find(0xabcdef), session.teid().value);
  EXPECT_EQ(parts_->worker(0).keys()->teids->stats().entries, 1U);
  EXPECT_TRUE(parts_->bearers.release_session(session.teid()).value_or(false));
  EXPECT_EQ(parts_->worker(0).keys()->teids->stats().entries, 0U);
}

TEST_F(SessionsTest, nothing_stays_of_a_session_that_is_refused) {
  auto on_card = wanted();
  on_card.config.bearers[1].config.card = "card0";
  EXPECT_THAT(refusal(on_card), HasSubstr("this host has no card 'card0'"));
  auto single = wanted();
  single.config.bearers.resize(1);
  EXPECT_THAT(refusal(single), HasSubstr("the session has one bearer"));
  auto many = wanted();
  for (std::uint8_t drb = 3; drb < 5; ++drb) {
    many.config.bearers.push_back(many.config.bearers[0]);
    many.config.bearers.back().drb = ran::sdap::DrbId{drb};
  }
  EXPECT_THAT(refusal(many), HasSubstr("shard 1 is full")) << "four bearers and the session line need five places";
  {
    const Hanging hanging(parts_->worker(0));
    EXPECT_THAT(refusal(wanted()), HasSubstr("does not answer"));
  }
  EXPECT_EQ(parts_->bearers.count(), 0U);
  EXPECT_EQ(bearers_towards(kUpf), 0U);
  add_session(wanted());
}

TEST_F(SessionsTest, a_session_whose_worker_hangs_stays) {
  const auto session = add_session(wanted());
  {
    const Hanging hanging(parts_->worker(0));
    const auto refused = parts_->bearers.release_session(session.teid());
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("nothing was changed"));
  }
  EXPECT_EQ(parts_->bearers.show_session(session.teid())->config, session);
}

TEST_F(SessionsTest, a_session_of_the_control_socket_comes_back_with_its_numbers) {
  make(with_journal());
  const auto session = add_session(wanted());
  const BearerId first = session.bearers[0].config.id, second = session.bearers[1].config.id;
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  table(first).bearer_line(first.value)->pdcp_tx_next = 11;
  table(first).bearer_line(second.value)->pdcp_tx_next = 22;
  make(with_journal());
  const auto view = parts_->bearers.show_session(session.teid());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->config, session);
  EXPECT_EQ(view->bearers[0].pdcp_tx_next, 11U);
  EXPECT_EQ(view->bearers[1].pdcp_tx_next, 22U);
  EXPECT_EQ(taken_by(session.teid(), 5), second.value);
  ASSERT_TRUE(parts_->bearers.release_session(session.teid()));
  make(with_journal());
  EXPECT_EQ(parts_->bearers.count(), 0U);
}

TEST_F(SessionsTest, a_session_of_the_configuration_keeps_teid_and_numbers_by_drb) {
  GnbConfig config = with_journal();
  config.sessions = {wanted()};
  make(config);
  const auto page = parts_->bearers.list_sessions(0, 10);
  ASSERT_TRUE(page && page->size() == 1);
  const auto before = page->front().config;
  const BearerId second = before.bearers[1].config.id;
  table(second).bearer_line(second.value)->pdcp_tx_next = 33;
  // DRB 2 comes first now, DRB 1 is gone, and DRB 3 is new.
  std::swap(config.sessions[0].config.bearers[0], config.sessions[0].config.bearers[1]);
  config.sessions[0].config.bearers[1].drb = ran::sdap::DrbId{3};
  config.sessions[0].config.default_drb = ran::sdap::DrbId{3};
  make(config);
  const auto view = parts_->bearers.show_session(before.teid());
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->bearers[0].pdcp_tx_next, 33U);
  EXPECT_EQ(view->bearers[1].pdcp_tx_next, 0U);
  ASSERT_TRUE(parts_->bearers.release_session(before.teid()));
  make(config);
  EXPECT_EQ(parts_->bearers.count(), 0U) << "what was released stays away";
}

TEST_F(SessionsTest, more_configured_sessions_than_fit_refuse_the_start) {
  GnbConfig config = test::small_config();
  config.sessions = {wanted(7), wanted(8)};
  test::Parts parts(config);
  parts_.reset();
  const auto refused = parts.make();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("sessions: "));
}

TEST_F(SessionsTest, a_moved_flow_waits_and_then_leads_to_its_new_bearer) {
  const auto session = add_session(wanted());
  const BearerId first = session.bearers[0].config.id, second = session.bearers[1].config.id;
  const auto moved = parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{1});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->bearers[0].flows, std::vector{Qfi{5}});
  EXPECT_EQ(parts_->bearers.show_session(session.teid())->config, *moved);
  EXPECT_EQ(parts_->bearers.show(first)->session->flows, std::vector{Qfi{5}});
  datapath::GnbContext& gnb = *parts_->workers.owner_of(first.value)->gnb;
  EXPECT_EQ(ran::number_of_flow(place(first), true, 5), ran::kMovingFlow);
  datapath::serve_moves(gnb, rte_rdtsc());
  EXPECT_EQ(taken_by(session.teid(), 5), first.value);
  EXPECT_EQ(taken_by(session.teid(), 6), second.value);
  // A flow without a rule has the default bearer until it gets another one.
  ASSERT_TRUE(parts_->bearers.move_flow(session.teid(), Qfi{20}, ran::sdap::DrbId{2}));
  datapath::serve_moves(gnb, rte_rdtsc());
  EXPECT_EQ(taken_by(session.teid(), 20), second.value);
}

TEST_F(SessionsTest, a_move_to_where_the_flow_is_changes_nothing_and_a_wrong_one_is_refused) {
  const auto session = add_session(wanted());
  ASSERT_TRUE(parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{2}));
  EXPECT_EQ(taken_by(session.teid(), 5), session.bearers[1].config.id.value);
  const auto refused = [&](Teid teid, std::uint8_t drb) {
    const auto moved = parts_->bearers.move_flow(teid, Qfi{5}, ran::sdap::DrbId{drb});
    return moved ? "(no error)" : moved.error().message;
  };
  EXPECT_THAT(refused(session.teid(), 9), HasSubstr("drb: 9 is no bearer of the session"));
  EXPECT_THAT(refused(Teid{session.bearers[1].config.id.value}, 1), HasSubstr("no session with several bearers"));
  {
    const Hanging hanging(parts_->worker(0));
    EXPECT_THAT(refused(session.teid(), 1), HasSubstr("nothing was changed"));
  }
  EXPECT_EQ(parts_->bearers.show_session(session.teid())->config.bearers[1].flows, (std::vector{Qfi{6}, Qfi{5}}));
}

TEST_F(SessionsTest, a_bearer_without_a_header_keeps_its_only_flow) {
  auto bare = wanted();
  bare.config.bearers[1].config.sdap_header_ul = false;
  bare.config.bearers[1].config.qfi = Qfi{5};
  bare.config.bearers[1].flows = {Qfi{5}};
  const auto session = add_session(bare);
  EXPECT_FALSE(parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{1}));
  EXPECT_FALSE(parts_->bearers.move_flow(session.teid(), Qfi{6}, ran::sdap::DrbId{2}));
  EXPECT_EQ(taken_by(session.teid(), 5), session.bearers[1].config.id.value);
}

TEST_F(SessionsTest, a_session_of_the_control_socket_comes_back_with_its_moved_flow) {
  make(with_journal());
  const auto session = add_session(wanted());
  const auto moved = parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{1});
  ASSERT_TRUE(moved);
  ASSERT_TRUE(parts_->numbers.wait_for_disk());
  make(with_journal());
  EXPECT_EQ(parts_->bearers.show_session(session.teid())->config, *moved);
  EXPECT_EQ(taken_by(session.teid(), 5), session.bearers[0].config.id.value);
}

TEST_F(SessionsTest, a_session_that_goes_while_its_flow_moves_leaves_no_move) {
  const auto session = add_session(wanted());
  ASSERT_TRUE(parts_->bearers.move_flow(session.teid(), Qfi{5}, ran::sdap::DrbId{1}));
  ASSERT_TRUE(parts_->bearers.release_session(session.teid()));
  EXPECT_TRUE(parts_->workers.owner_of(session.teid().value)->gnb->flow_moves.empty());
  add_session(wanted());
}

}  // namespace
}  // namespace splitplane::gnb
