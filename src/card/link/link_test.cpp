#include "card/link/link.h"

#include <gtest/gtest.h>

#include "card/link/test_fixture.h"

namespace splitplane::app {
namespace {

using namespace std::chrono_literals;

TEST_F(CardLinkTest, what_is_put_is_on_the_card_and_what_is_removed_is_not) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  auto host = bearer(kHost);
  host.place = nic::Place::kHost;
  host.vf_n3 = 1;
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12), host}));
  ASSERT_EQ(card_->size(), 3U);
  EXPECT_EQ(card_->find(kFirst)->lease_end, 4096U);
  EXPECT_EQ(card_->find(kSecond)->lease_end, 1792U);
  EXPECT_EQ(card_->find(kHost)->bearer.place, nic::Place::kHost);
  auto changed = bearer(kFirst);
  changed.poll_pdu = 5;
  (void)card_->send(kFirst, 10, used_);
  ASSERT_TRUE(put({changed}));
  EXPECT_EQ(card_->find(kFirst)->bearer.poll_pdu, 5U);
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 10U) << "a change keeps the numbers";
  const std::array ids{BearerId{kFirst}, BearerId{kHost}};
  EXPECT_EQ(link_->look(ids)[0].numbers.pdcp_next, 10U);
  remove({ids[0], ids[1]});
  EXPECT_EQ(card_->size(), 1U);
  EXPECT_EQ(link_->view().removed, 2U);
}

TEST_F(CardLinkTest, a_card_hears_of_the_marks_before_it_is_up) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->marks(), kMarks);
}

TEST_F(CardLinkTest, many_bearers_come_in_batches) {
  start_card("a");
  make_link(3, std::chrono::seconds(10));  // a card on a busy machine that answers late gets its batches again
  link_->begin();
  ASSERT_TRUE(up());
  std::vector<nic::CardBearer> many;
  for (std::uint32_t i = 1; i <= 1234; ++i) many.push_back(bearer(kFirst + i));
  ASSERT_TRUE(put(many));
  ASSERT_TRUE(up());  // put() itself waits no longer than a card may take to answer
  EXPECT_EQ(card_->size(), many.size());
  EXPECT_EQ(card_->installs, 5);
}

TEST_F(CardLinkTest, bearers_wait_for_a_card_that_is_away) {
  start_link();
  EXPECT_TRUE(put({bearer(kFirst)}));
  EXPECT_FALSE(link_->view().up);
  EXPECT_TRUE(soon([&] { return link_->view().reason.starts_with("nothing runs at control socket"); }));
  EXPECT_EQ(link_->view().waiting, 1U);
  link_->set_peer({.number = 7, .max_payload = 1400});
  start_card("a");
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->size(), 1U);
  ASSERT_TRUE(soon([&] { return card_->peer(7).has_value(); }));
  EXPECT_EQ(card_->peer(7)->max_payload, 1400U);
  link_->unset_peer(7);
  EXPECT_TRUE(soon([&] { return !card_->peer(7); }));
}

TEST_F(CardLinkTest, a_card_that_is_up_is_filled_once_it_has_all_bearers) {
  start_card("a");
  card_->slow_installs = 1;
  make_link(3, 3s);
  (void)link_->put(std::array{bearer(kFirst)});
  link_->begin();
  ASSERT_TRUE(soon([&] { return link_->view().up; }));
  EXPECT_FALSE(link_->view().filled);
  ASSERT_TRUE(soon([&] { return link_->view().filled; }));
  EXPECT_EQ(link_->view().waiting, 0U);
  card_->slow_installs = 1;
  (void)link_->put(std::array{bearer(kSecond)});
  EXPECT_EQ(link_->view().waiting, 1U);
  EXPECT_TRUE(link_->view().filled) << "one more is no reason to move none";
  ASSERT_TRUE(up());
  kill_card();
  EXPECT_TRUE(soon([&] { return !link_->view().filled; }));
}

TEST_F(CardLinkTest, another_kind_of_card_is_left_alone) {
  for (const auto& [program, lookup, features, vfs, why] :
       {std::tuple{"l2fwd", "teid", "clone", 3U, "its program is l2fwd"},
        {"gnb-clone-ue", "ue_address", "clone", 3U, "by ue_address"},
        {"gnb-headers", "teid", "headers", 3U,
         "its features are headers, which look for no bearers; allowed: mat, clone_drop, clone"},
        {"gnb-clone", "teid", "clone", 4U, "it has 3 VFs, and this host's ports are 4"}}) {
    card_ = std::make_unique<CardModel>("a");
    card_->program = program;
    card_->lookup = lookup;
    card_->features = features;
    serve();
    make_link(vfs);
    link_->begin();
    EXPECT_TRUE(put({bearer(kFirst)}));
    EXPECT_TRUE(soon([&, why = why] { return link_->view().reason.find(why) != std::string::npos; }))
        << link_->view().reason;
    EXPECT_EQ(card_->size(), 0U);
    link_.reset();
    server_.reset();
  }
}

// The card got a longer lease and used it, but its answer never arrived.
TEST_F(CardLinkTest, a_card_that_hangs_keeps_nobody_waiting) {
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond)}));
  (void)card_->send(kFirst, 10, used_);
  ASSERT_TRUE(soon([&] { return seen(kFirst) == 10; }));
  std::this_thread::sleep_for(300ms);  // the thread looks for itself every 10
  card_->hung = true;
  const auto lasts = [](auto what) {
    const auto begin = std::chrono::steady_clock::now();
    what();
    return std::chrono::steady_clock::now() - begin;
  };
  const std::array both{BearerId{kFirst}, BearerId{kSecond}};
  EXPECT_LT(lasts([&] { EXPECT_EQ(link_->look(both)[0].numbers.pdcp_next, 10U) << "what was last known"; }), 1s);
  EXPECT_LT(lasts([&] {
              for (int page = 0; page < 100; ++page) (void)link_->look(both);
            }),
            1s);
  EXPECT_LT(lasts([&] { EXPECT_TRUE(put({bearer(kHost)})); }), 1s);
  EXPECT_LT(lasts([&] { remove({BearerId{kSecond}}); }), 1s);
  card_->hung = false;
  ASSERT_TRUE(up());
  EXPECT_TRUE(soon([&] { return card_->find(kHost) && !card_->find(kSecond); })) << "done later";
}

TEST_F(CardLinkTest, a_bearer_removed_and_put_again_before_its_installation_is_answered_is_on_the_card) {
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  card_->slow_installs = 1;
  std::thread first([&] { (void)put({bearer(kFirst)}); });
  EXPECT_TRUE(soon([&] { return card_->find(kFirst).has_value(); }));
  remove({BearerId{kFirst}});
  auto again = bearer(kFirst);
  again.poll_pdu = 5;
  EXPECT_TRUE(put({again}));
  first.join();
  ASSERT_TRUE(up());
  ASSERT_TRUE(card_->find(kFirst)) << "and the host does not say that all is well";
  EXPECT_EQ(card_->find(kFirst)->bearer.poll_pdu, 5U);
  EXPECT_EQ(link_->view().connects, 1U);
}

// A host that no longer waits for a silent card may give the number of a UPF without bearers to another UPF.
TEST_F(CardLinkTest, a_number_that_becomes_another_upfs_never_leads_bearers_of_the_first_to_it) {
  const auto upf = [](unsigned number, std::uint8_t last) {
    return nic::CardPeer{.number = number, .to = IpAddress::v4({10, 100, 0, last}), .max_payload = 1400};
  };
  const auto to = [](std::uint32_t id, unsigned peer, std::uint32_t last) {
    auto b = bearer(id);
    b.uplink_teid = Teid{last};
    b.peer = peer;
    return b;
  };
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  link_->set_peer(upf(0, 50));
  ASSERT_TRUE(put({to(kFirst, 0, 50)}));
  ASSERT_TRUE(soon([&] { return card_->peer(0).has_value(); }));
  card_->hung = true;
  std::this_thread::sleep_for(200ms);  // the thread looks at leases every 10
  link_->set_peer(upf(1, 51));
  EXPECT_TRUE(put({to(kFirst, 1, 51)}));
  link_->unset_peer(0);
  link_->set_peer(upf(0, 52));
  EXPECT_TRUE(put({to(kSecond, 0, 52)}));
  card_->hung = false;
  EXPECT_TRUE(soon([&] { return card_->find(kSecond) && card_->peer(0) && card_->peer(0)->to == upf(0, 52).to; }));
  EXPECT_EQ(card_->find(kFirst)->bearer.peer, 1U);
  EXPECT_EQ(card_->to_wrong_upf, 0U);

  link_.reset();  // the next host numbers its UPFs anew
  make_link();
  link_->set_peer(upf(1, 52));
  ASSERT_TRUE(put({to(kSecond, 1, 52)}));
  link_->begin();
  ASSERT_TRUE(up());
  EXPECT_TRUE(soon([&] { return card_->peer(1) && card_->peer(1)->to == upf(1, 52).to && !card_->peer(0); }));
  EXPECT_EQ(card_->to_wrong_upf, 0U);
}

TEST_F(CardLinkTest, a_bearer_that_goes_during_a_look_hides_no_others_numbers) {
  std::vector hosts{bearer(kFirst), bearer(kSecond)};  // whose numbers the thread does not ask for
  for (nic::CardBearer& b : hosts) b.place = nic::Place::kHost;
  start_card("a");
  make_link(3, 3s);
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put(hosts));
  card_->hung = true;
  card_->set_in_flight(kFirst, 1);
  std::thread looks([&] {
    const auto found = link_->look(std::array{BearerId{kFirst}, BearerId{kSecond}});
    EXPECT_EQ(found[0].numbers.in_flight, 1U);
    EXPECT_FALSE(found[1].installed);
  });
  EXPECT_TRUE(soon([&] { return card_->looked_at_last == kSecond; }));
  const auto gone = link_->remove(std::array{BearerId{kSecond}});
  card_->vanished = kSecond;
  card_->hung = false;
  looks.join();
  EXPECT_TRUE(link_->wait_for(gone));
  EXPECT_EQ(link_->view().connects, 1U);
}

TEST_F(CardLinkTest, what_the_card_punted_is_added_up_over_its_runs) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  card_->punts = 4;
  EXPECT_TRUE(soon([&] { return link_->view().punted == 5; }));
  kill_card();
  start_card("b");
  EXPECT_TRUE(soon([&] { return link_->view().punted == 6; })) << "one ARP of the new run";
}

TEST_F(CardLinkTest, a_connection_that_breaks_is_made_again_and_nothing_is_installed_twice) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  kill_card();
  ASSERT_TRUE(soon([&] { return !link_->view().up; }));
  remove({BearerId{kFirst}});
  EXPECT_TRUE(put({bearer(kSecond)}));
  serve();  // the same run of the card
  ASSERT_TRUE(up());
  EXPECT_FALSE(card_->find(kFirst));
  EXPECT_TRUE(card_->find(kSecond));
  EXPECT_EQ(link_->view().restarts, 0U);
  EXPECT_EQ(link_->view().connects, 2U);
}

TEST_F(CardLinkTest, a_card_whose_vfs_have_no_other_end_is_cut_off_and_left_as_it_is) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  link_->set_cut_off("vf0 is not connected");
  ASSERT_TRUE(soon([&] { return link_->view().cut_off; }));
  EXPECT_FALSE(link_->view().up);
  EXPECT_STREQ(link_->view().state(), "cut off");
  EXPECT_EQ(link_->view().reason, "vf0 is not connected");
  EXPECT_EQ(link_->view().waiting, 1U);
  const auto before = link_->view();
  ASSERT_TRUE(put({bearer(kSecond)})) << "and nobody waits";
  remove({BearerId{kFirst}});
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(card_->find(kFirst)) << "nothing is taken off it";
  EXPECT_FALSE(card_->find(kSecond)) << "nor installed on it";
  EXPECT_EQ(link_->view().installed, before.installed);
  EXPECT_EQ(link_->view().removed, before.removed);

  link_->set_cut_off("");
  ASSERT_TRUE(up());
  EXPECT_FALSE(card_->find(kFirst));
  EXPECT_TRUE(card_->find(kSecond));
  EXPECT_EQ(link_->view().connects, before.connects) << "it was there all the time";
}

TEST_F(CardLinkTest, a_card_that_goes_while_it_is_cut_off_is_away) {
  start_card("a");
  make_link();
  link_->set_cut_off("vf0 is not connected");
  link_->begin();
  ASSERT_TRUE(soon([&] { return link_->view().cut_off; }));
  kill_card();
  ASSERT_TRUE(soon([&] { return !link_->view().cut_off; }));
  EXPECT_STREQ(link_->view().state(), "away");
  start_card("b");
  ASSERT_TRUE(soon([&] { return link_->view().cut_off; }));
  link_->set_cut_off("");
  EXPECT_TRUE(up());
}

}  // namespace
}  // namespace splitplane::app
