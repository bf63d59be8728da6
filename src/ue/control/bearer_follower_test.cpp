#include "ue/control/bearer_follower.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "control/server.h"
#include "ran/control/bearer_methods.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;
using Kind = ue::BearerChange::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

// A gNB in memory behind a control socket, and a UE side that records what it is told.
class BearerFollowerTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-follow-XXXXXX";
    directory = ::mkdtemp(name);
  }
  void TearDown() override {
    server.reset();
    std::filesystem::remove_all(directory);
  }
  void start_gnb() {
    MethodRegistry methods([] {});
    const auto list = bearer_list([this](std::uint32_t after, std::size_t) -> Expected<std::vector<BearerView>> {
      std::vector<BearerView> page;
      for (const BearerView& view : listed) {
        if (view.config.id.value > after) page.push_back(view);
      }
      return page;
    });
    methods.add("bearer.list", [this, list](Params& params) {
      auto page = list(params);
      if (page && !on_card.is_null()) {
        for (Json& bearer : page->at("bearers")) bearer["on_card"] = on_card;
      }
      return page;
    });
    methods.add("bearer.show", bearer_show([this](BearerId id) -> Expected<BearerView> {
                  for (const BearerView& view : listed) {
                    if (view.config.id == id) return view;
                  }
                  return fail("there is none");
                }));
    methods.add("bearer.reestablish", bearer_reestablish([this](BearerId id) -> Expected<std::uint8_t> {
                  if (!reestablishes) return fail("not now");
                  reestablished.push_back(id);
                  const auto is_id = [id](const BearerView& view) { return view.config.id == id; };
                  const auto session = std::find_if(listed.begin(), listed.end(), is_id)->session;
                  for (BearerView& view : listed) {
                    if (!view.rlc || !(is_id(view) || (session && view.session && view.session->teid == session->teid)))
                      continue;
                    view.rlc->rnti = static_cast<std::uint16_t>(view.rlc->rnti + 100);
                  }
                  return std::uint8_t{7};
                }));
    auto started = ControlServer::start({.path = directory + "/gnb.sock"}, answers_of(std::move(methods)));
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  static BearerView view(std::uint32_t id, bool acknowledged = false) {
    BearerView view;
    view.config.id = BearerId{id};
    view.config.uplink_teid = Teid{id};
    view.config.upf = IpAddress::v4({10, 0, 0, 1});
    view.config.acknowledged = acknowledged;
    if (acknowledged) view.rlc_am.emplace();
    return view;
  }
  // In full mode.
  static BearerView full(std::uint32_t id, std::uint16_t rnti, RlcMode mode = RlcMode::kAm) {
    BearerView one = view(id);
    one.config.rlc_mode = mode;
    if (mode == RlcMode::kUm) one.config.rlc_sn_bits = 12;
    one.config.security = ran::SecurityConfig{.key = 3};
    one.epoch = 6;
    one.rlc.emplace();
    one.rlc->rnti = rnti;
    one.rlc->lcid = 4;
    return one;
  }
  // Asks in any case: the last request was long ago.
  bool follow() { return follower().follow(BearerFollower::Clock::now() + 1h); }
  BearerFollower& follower() {
    if (!following) {
      following.emplace(directory + "/gnb.sock", BearerFollower::Ways{.unknown = [this] { return unknown; },
                                                                      .failed = [this] { return failed; },
                                                                      .change =
                                                                          [this](const auto& some) {
                                                                            changes.insert(changes.end(), some.begin(),
                                                                                           some.end());
                                                                            return refused;
                                                                          }});
    }
    return *following;
  }

  std::string directory;
  std::vector<BearerView> listed;
  Json on_card;  // of each bearer, if it is there
  bool reestablishes = true;
  std::vector<BearerId> reestablished, failed;
  std::uint64_t unknown = 0;
  std::vector<ue::BearerChange> changes, refused;
  std::unique_ptr<ControlServer> server;
  std::optional<BearerFollower> following;
};

TEST_F(BearerFollowerTest, bearers_come_and_go_with_the_gnbs_list) {
  listed = {view(1), view(2)};
  start_gnb();
  EXPECT_TRUE(follow());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
  EXPECT_EQ(follower().size(), 2U);
  listed = {view(2)};
  changes.clear();
  EXPECT_TRUE(follow());
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kRelease);
  EXPECT_EQ(changes[0].config.id, BearerId{1});
}

TEST_F(BearerFollowerTest, a_bearer_of_a_session_comes_with_its_place_there) {
  listed = {view(1), view(2)};
  listed[1].session = InSession{.teid = Teid{2},
                                .spare = BearerId{9},
                                .drb = ran::sdap::DrbId{3},
                                .is_default = true,
                                .reflective = true,
                                .flows = {Qfi{5}, Qfi{63}}};
  start_gnb();
  ASSERT_TRUE(follow());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].session, std::nullopt);
  EXPECT_EQ(changes[1].session, listed[1].session);
}

TEST_F(BearerFollowerTest, a_gnb_that_is_away_takes_no_bearer_away) {
  EXPECT_FALSE(follow());
  listed = {view(1)};
  start_gnb();
  EXPECT_TRUE(follow());
  server.reset();
  changes.clear();
  EXPECT_FALSE(follow());
  EXPECT_THAT(changes, IsEmpty());
  EXPECT_EQ(follower().size(), 1U);
  listed = {view(1), view(2)};
  start_gnb();
  EXPECT_TRUE(follow()) << "it connects again";
  EXPECT_EQ(follower().size(), 2U);
}

TEST_F(BearerFollowerTest, the_gnb_is_asked_once_a_second_and_sooner_for_an_unknown_bearer) {
  start_gnb();
  const auto begin = BearerFollower::Clock::now();
  ASSERT_TRUE(follower().follow(begin));
  listed = {view(1)};
  EXPECT_TRUE(follower().follow(begin + 200ms)) << "the answer of the last request still holds";
  EXPECT_THAT(changes, IsEmpty());
  unknown = 1;
  EXPECT_TRUE(follower().follow(BearerFollower::Clock::now() + 900ms));
  EXPECT_EQ(changes.size(), 1U);
}

TEST_F(BearerFollowerTest, an_acknowledged_bearer_that_had_pdus_begins_anew_at_both_ends) {
  listed = {view(1, true), view(2, true)};
  listed[1].rlc_tx_next = 5;
  start_gnb();
  ASSERT_TRUE(follow());
  EXPECT_THAT(reestablished, ElementsAre(BearerId{2}));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].numbers.rlc_epoch, 0);
  EXPECT_EQ(changes[1].numbers.rlc_epoch, 7) << "the epoch that the gNB returned";
}

TEST_F(BearerFollowerTest, a_bearer_that_cannot_begin_anew_is_tried_with_the_next_list) {
  listed = {view(1, true)};
  listed[0].rlc_tx_next = 5;
  reestablishes = false;
  start_gnb();
  ASSERT_TRUE(follow());
  EXPECT_THAT(changes, IsEmpty());
  reestablishes = true;
  ASSERT_TRUE(follow());
  EXPECT_EQ(changes.size(), 1U);
}

TEST_F(BearerFollowerTest, a_bearer_of_full_mode_comes_with_its_c_rnti_and_channel) {
  listed = {full(1, 17), full(2, 18)};
  listed[1].rlc->held = 5;  // they wait, and nothing was sent
  listed[1].pdcp_tx_next = 9;
  start_gnb();
  ASSERT_TRUE(follow());
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_THAT(reestablished, IsEmpty());
  EXPECT_EQ(changes[0].radio, (ue::RadioPlace{17, 4}));
  EXPECT_EQ(changes[0].numbers.rlc_epoch, 6);
  EXPECT_EQ(changes[1].radio, (ue::RadioPlace{18, 4}));
  EXPECT_EQ(changes[1].numbers.rlc_unacked, 5U);
}

TEST_F(BearerFollowerTest, a_bearer_of_full_mode_that_had_pdus_begins_anew_with_another_c_rnti) {
  for (const RlcMode mode : {RlcMode::kAm, RlcMode::kUm}) {
    listed.push_back(full(static_cast<std::uint32_t>(listed.size() + 1), 17, mode));
    listed.back().rlc_rx_next = 2;
    listed.back().rlc->held = 5;
  }
  start_gnb();
  ASSERT_TRUE(follow());
  EXPECT_THAT(reestablished, ElementsAre(BearerId{1}, BearerId{2})) << "RLC UM has a window, too";
  ASSERT_EQ(changes.size(), 2U);
  for (const ue::BearerChange& change : changes) {
    EXPECT_EQ(change.radio, (ue::RadioPlace{117, 4}));
    EXPECT_EQ(change.numbers.rlc_epoch, 7);
    EXPECT_EQ(change.numbers.rlc_unacked, 0U) << "the gNB dropped them";
  }
}

TEST_F(BearerFollowerTest, all_bearers_of_a_session_come_with_the_last_c_rnti_of_their_ue) {
  for (std::uint32_t id = 1; id <= 4; ++id) {
    listed.push_back(full(id, id == 4 ? 18 : 17));
    listed.back().rlc->lcid = 3 + id;
    listed.back().session = InSession{.teid = Teid{id == 4 ? 4U : 1U},
                                      .spare = BearerId{9},
                                      .drb = ran::sdap::DrbId{static_cast<std::uint8_t>(id)},
                                      .flows = {}};
  }
  listed[1].rlc_rx_next = listed[2].rlc_rx_next = 2;
  start_gnb();
  ASSERT_TRUE(follow());
  EXPECT_THAT(reestablished, ElementsAre(BearerId{2}, BearerId{3}));
  ASSERT_EQ(changes.size(), 4U);
  for (std::uint32_t id = 1; id <= 3; ++id) EXPECT_EQ(changes[id - 1].radio, (ue::RadioPlace{217, 3 + id}));
  EXPECT_EQ(changes[3].radio, (ue::RadioPlace{18, 7}));
}

TEST_F(BearerFollowerTest, a_stop_comes_between_the_bearers_of_a_list) {
  for (std::uint32_t id = 1; id <= 600; ++id) {
    listed.push_back(full(id, 17));
    listed.back().rlc_rx_next = 2;
  }
  start_gnb();
  std::size_t carried_out = 0;
  BearerFollower of_many(directory + "/gnb.sock", {.unknown = [] { return std::uint64_t{0}; },
                                                   .failed = [] { return std::vector<BearerId>{}; },
                                                   .change =
                                                       [&carried_out](const auto& some) {
                                                         carried_out += some.size();
                                                         return std::vector<ue::BearerChange>{};
                                                       },
                                                   .stopped = [this] { return reestablished.size() >= 300; }});
  ASSERT_TRUE(of_many.follow(BearerFollower::Clock::now()));
  EXPECT_EQ(reestablished.size(), 300U);
  EXPECT_EQ(carried_out, 256U);
}

TEST_F(BearerFollowerTest, a_radio_link_failure_of_full_mode_is_repaired_and_followed) {
  listed = {full(1, 17)};
  start_gnb();
  ASSERT_TRUE(follow());
  changes.clear();
  listed[0].rlc->failed = true;
  ASSERT_TRUE(follow());
  EXPECT_THAT(reestablished, ElementsAre(BearerId{1}));
  EXPECT_THAT(changes, IsEmpty());
  listed[0].rlc->failed = false;
  listed[0].epoch = 7;
  ASSERT_TRUE(follow());
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kReestablish);
  EXPECT_EQ(changes[0].radio, (ue::RadioPlace{117, 4}));
}

TEST_F(BearerFollowerTest, bearers_of_other_workers_are_passed_over_if_one_is_named) {
  listed = {view(1), view(2), view(3)};
  listed[1].worker = 1;
  start_gnb();
  std::vector<ue::BearerChange> seen;
  BearerFollower of_one(directory + "/gnb.sock",
                        {.unknown = [] { return std::uint64_t{0}; },
                         .failed = [] { return std::vector<BearerId>{}; },
                         .change =
                             [&seen](const auto& some) {
                               seen = some;
                               return std::vector<ue::BearerChange>{};
                             }},
                        1);
  ASSERT_TRUE(of_one.follow(BearerFollower::Clock::now()));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].config.id, BearerId{2});
}

TEST_F(BearerFollowerTest, other_keys_are_followed_and_tried_again_until_this_end_has_them) {
  listed = {view(1, true)};
  listed[0].config.security = ran::SecurityConfig{.key = 3};
  listed[0].epoch = listed[0].rlc_am->epoch = 8;
  start_gnb();
  ASSERT_TRUE(follow());
  listed[0].config.security->key = 4;
  listed[0].epoch = listed[0].rlc_am->epoch = 9;
  listed[0].rlc_tx_next = 5;
  listed[0].rlc_am->failed = true;  // since this side passes nothing
  for (const bool has_keys : {false, false, true}) {
    changes.clear();
    refused.clear();
    auto wanted = ue::BearerChange{.kind = Kind::kRekey, .config = listed[0].config, .before = listed[0].config};
    wanted.before.security->key = 3;
    wanted.numbers.rlc_epoch = 9;
    if (!has_keys) refused = {wanted};
    ASSERT_TRUE(follow());
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::kRekey);
    EXPECT_EQ(changes[0].before.security->key, 3U);
    EXPECT_EQ(changes[0].numbers.rlc_epoch, 9);
    EXPECT_EQ(reestablished.empty(), !has_keys) << "without the keys epochs would go round";
  }
  changes.clear();
  refused.clear();
  listed[0].rlc_am->failed = false;
  ASSERT_TRUE(follow());
  EXPECT_THAT(changes, IsEmpty());
}

TEST_F(BearerFollowerTest, what_the_worker_did_not_do_comes_again_with_the_next_list) {
  listed = {view(1), view(2)};
  start_gnb();
  refused.resize(1);
  refused[0].config = listed[1].config;
  ASSERT_TRUE(follow());
  ASSERT_EQ(changes.size(), 2U);
  refused.clear();
  changes.clear();
  ASSERT_TRUE(follow());
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
  EXPECT_EQ(changes[0].config.id, BearerId{2});
}

TEST_F(BearerFollowerTest, a_radio_link_failure_of_either_end_is_repaired_once_in_a_while) {
  listed = {view(1, true), view(2, true)};
  listed[0].rlc_am->failed = true;
  failed = {BearerId{2}};
  start_gnb();
  ASSERT_TRUE(follow());
  EXPECT_THAT(reestablished, ElementsAre(BearerId{2}, BearerId{1}));
  ASSERT_TRUE(follow());
  EXPECT_EQ(reestablished.size(), 2U) << "a bearer that fails again at once has to wait";
}

TEST_F(BearerFollowerTest, a_gnb_that_does_not_know_its_numbers_yet_releases_nothing) {
  listed = {view(1), view(2)};
  start_gnb();
  ASSERT_TRUE(follow());
  changes.clear();
  listed = {view(2)};
  listed[0].card.emplace();  // on a card that does not answer the gNB yet
  ASSERT_TRUE(follow());
  EXPECT_THAT(changes, IsEmpty());
  EXPECT_EQ(follower().size(), 2U);
}

TEST_F(BearerFollowerTest, a_gnb_that_says_nothing_known_of_its_card_counts_as_one_that_does_not_know) {
  listed = {view(1)};
  start_gnb();
  for (const Json& installed : {Json("yes"), Json(nullptr), Json::array(), Json(false)}) {
    on_card = {{"installed", installed}};
    ASSERT_TRUE(follow());
    EXPECT_THAT(changes, IsEmpty());
  }
  on_card = {{"installed", true}};
  ASSERT_TRUE(follow());
  EXPECT_EQ(changes.size(), 1U);
}

}  // namespace
}  // namespace splitplane::app
