#include "app/card_link.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "app/card_lease.h"
#include "app/card_test_model.h"

namespace splitplane::app {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::uint32_t kFirst = 0x04000001, kSecond = 0x04000002, kHost = 0x04040001;

nic::CardBearer bearer(std::uint32_t id, unsigned pdcp_sn_bits = 18) {
  return {.id = BearerId{id},
          .teid = Teid{id},
          .pdcp_sn_bits = static_cast<std::uint8_t>(pdcp_sn_bits),
          .poll_pdu = 32,
          .qfi = Qfi{9},
          .vf_air = 1,
          .copies_vf = 2,
          .uplink_teid = Teid{0x1001}};
}

class CardLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-card-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  void TearDown() override {
    link_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  void start_card(const std::string& boot, std::set<std::uint32_t> refuses = {}) {
    card_ = std::make_unique<CardModel>(boot);
    card_->refuses = std::move(refuses);
    serve();
  }
  void serve() {
    auto server = ControlServer::start({.path = directory_ + "/card.sock"}, *card_, [] {});
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  void kill_card() { server_.reset(); }
  void make_link(unsigned vfs = 3) {
    link_ = std::make_unique<CardLink>(CardLinkSettings{
        .name = "card0", .control = directory_ + "/card.sock", .vfs = vfs, .retry = 5ms, .answer = 200ms});
  }
  void start_link() {
    make_link();
    link_->begin();
  }
  Expected<void> put(const std::vector<nic::CardBearer>& bearers) { return link_->put(bearers); }
  template <class Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  bool up() {
    return soon([&] { return link_->view().up && link_->view().waiting == 0; });
  }
  // Uses every COUNT that the card may use now.
  unsigned use_up(std::uint32_t id) { return card_->send(id, 1U << 20, used_); }
  void expect_each_count_once() const {
    for (const std::uint32_t count : used_) ASSERT_EQ(used_.count(count), 1U) << "COUNT " << count;
  }

  std::string directory_;
  std::unique_ptr<CardModel> card_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<CardLink> link_;
  std::multiset<std::uint32_t> used_;
};

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
  EXPECT_EQ(card_->find(kSecond)->lease_end, 1024U);
  EXPECT_EQ(card_->find(kHost)->bearer.place, nic::Place::kHost);
  auto changed = bearer(kFirst);
  changed.poll_pdu = 5;
  (void)card_->send(kFirst, 10, used_);
  ASSERT_TRUE(put({changed}));
  EXPECT_EQ(card_->find(kFirst)->bearer.poll_pdu, 5U);
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 10U) << "a change keeps the numbers";
  const std::array ids{BearerId{kFirst}, BearerId{kHost}};
  EXPECT_EQ(link_->look(ids)[0].numbers.pdcp_next, 10U);
  link_->remove(ids);
  EXPECT_EQ(card_->size(), 1U);
  EXPECT_EQ(link_->view().removed, 2U);
}

TEST_F(CardLinkTest, many_bearers_come_in_batches) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  std::vector<nic::CardBearer> many;
  for (std::uint32_t i = 1; i <= 1234; ++i) many.push_back(bearer(kFirst + i));
  ASSERT_TRUE(put(many));
  ASSERT_TRUE(up());  // put() itself waits no longer than a card may take to answer
  EXPECT_EQ(card_->size(), many.size());
  EXPECT_EQ(card_->installs, 13);
}

TEST_F(CardLinkTest, what_the_card_refuses_is_told_and_the_others_are_installed) {
  start_card("a", {kSecond});
  start_link();
  ASSERT_TRUE(up());
  const auto refused = put({bearer(kFirst), bearer(kSecond), bearer(kHost)});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("card card0: bearer 67108866: the card is full"));
  EXPECT_EQ(card_->size(), 2U);
  EXPECT_EQ(link_->view().refused, 1U);
  link_->remove(std::array{BearerId{kSecond}});
  EXPECT_TRUE(up());
  EXPECT_TRUE(put({bearer(kFirst)})) << "the refusal was the other's";
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

TEST_F(CardLinkTest, another_kind_of_card_is_left_alone) {
  for (const auto& [program, lookup, vfs, why] :
       {std::tuple{"l2fwd", "teid", 3U, "its program is l2fwd"},
        {"gnb-clone-ue", "ue_address", 3U, "by ue_address"},
        {"gnb-clone", "teid", 4U, "it has 3 VFs, and this host's ports are 4"}}) {
    card_ = std::make_unique<CardModel>("a");
    card_->program = program;
    card_->lookup = lookup;
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

TEST_F(CardLinkTest, leases_are_renewed_before_a_sender_notices) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  for (int i = 0; i < 20; ++i) {
    for (const std::uint32_t id : {kFirst, kSecond}) {
      const std::uint32_t end = card_->find(id)->lease_end;
      std::multiset<std::uint32_t> used;
      card_->send(id, static_cast<unsigned>(left_of_lease(card_->find(id)->numbers.pdcp_next, end)) * 2 / 3, used);
      ASSERT_TRUE(soon([&] { return card_->find(id)->lease_end != end; })) << "half was used, and no more came";
      EXPECT_LT(left_of_lease(card_->find(id)->numbers.pdcp_next, card_->find(id)->lease_end),
                id == kFirst ? 131072 : 2048);
    }
  }
  EXPECT_TRUE(soon([&] { return link_->view().leases_renewed >= 40; }));  // counted when the card has answered
}

TEST_F(CardLinkTest, after_a_restart_no_count_is_used_twice) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond, 12)}));
  link_->set_peer({.number = 3, .max_payload = 1400});
  for (int run = 1; run <= 3; ++run) {
    EXPECT_GT(use_up(kFirst), 0U);
    const std::uint32_t before = card_->find(kFirst)->numbers.pdcp_next;
    kill_card();
    start_card(std::string(1, static_cast<char>('a' + run)));
    ASSERT_TRUE(soon([&] { return card_->size() == 2; }));
    const auto again = *card_->find(kFirst);
    EXPECT_EQ(again.bearer.epoch, run);
    EXPECT_EQ(again.numbers.rlc_next, 0U);
    EXPECT_GE(left_of_lease(before, again.numbers.pdcp_next), 0);
    EXPECT_LT(again.numbers.pdcp_next - before, 1U << 17);
    EXPECT_LT(card_->find(kSecond)->numbers.pdcp_next, 1024U * (static_cast<unsigned>(run) + 1));
    ASSERT_TRUE(soon([&] { return card_->peer(3).has_value(); }));
  }
  use_up(kFirst);
  expect_each_count_once();
  EXPECT_EQ(link_->view().restarts, 3U);
  ASSERT_TRUE(up());
  EXPECT_EQ(link_->look(std::array{BearerId{kFirst}})[0].epoch, 3U);
}

// The card got a longer lease and used it, but its answer never came.
TEST_F(CardLinkTest, a_lease_whose_answer_is_lost_counts_as_given) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  card_->slow_leases = 1;
  (void)card_->send(kFirst, 3000, used_);
  ASSERT_TRUE(soon([&] { return card_->find(kFirst)->lease_end > 4096; }));
  use_up(kFirst);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  use_up(kFirst);
  expect_each_count_once();
}

TEST_F(CardLinkTest, an_installation_whose_answer_is_lost_counts_as_done) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  card_->slow_installs = 1;
  ASSERT_TRUE(put({bearer(kFirst)}));  // answered late: taken for away
  ASSERT_TRUE(soon([&] { return card_->find(kFirst).has_value(); }));
  (void)card_->send(kFirst, 100, used_);
  ASSERT_TRUE(up());
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 100U) << "the same run: its numbers go on";
  EXPECT_EQ(card_->find(kFirst)->bearer.epoch, 0U);

  card_->slow_installs = 1;
  ASSERT_TRUE(put({bearer(kSecond)}));
  ASSERT_TRUE(soon([&] { return card_->find(kSecond).has_value(); }));
  used_.clear();
  use_up(kSecond);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 2; }));
  use_up(kSecond);
  expect_each_count_once();
}

TEST_F(CardLinkTest, what_an_earlier_host_left_is_removed_or_goes_on) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst), bearer(kSecond)}));
  (void)card_->send(kFirst, 3000, used_);
  link_.reset();
  make_link();
  std::this_thread::sleep_for(20ms);  // a host with many bearers takes its time
  ASSERT_TRUE(put({bearer(kFirst)}));
  EXPECT_EQ(card_->size(), 2U) << "nothing is asked of the card yet";
  const std::array longest{ControlBackend::Lease{BearerId{kFirst}, 3000U + 65536U}};
  ASSERT_TRUE(card_->set_leases(longest));
  link_->begin();
  ASSERT_TRUE(up());
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  EXPECT_EQ(card_->find(kFirst)->numbers.pdcp_next, 3000U);
  EXPECT_GE(card_->find(kFirst)->lease_end, 3000U + 65536U);
  use_up(kFirst);
  kill_card();
  start_card("b");
  ASSERT_TRUE(soon([&] { return card_->size() == 1; }));
  use_up(kFirst);
  expect_each_count_once();
}

TEST_F(CardLinkTest, a_connection_that_breaks_is_made_again_and_nothing_is_installed_twice) {
  start_card("a");
  start_link();
  ASSERT_TRUE(up());
  ASSERT_TRUE(put({bearer(kFirst)}));
  kill_card();
  ASSERT_TRUE(soon([&] { return !link_->view().up; }));
  link_->remove(std::array{BearerId{kFirst}});
  EXPECT_TRUE(put({bearer(kSecond)}));
  serve();  // the same run of the card
  ASSERT_TRUE(up());
  EXPECT_FALSE(card_->find(kFirst));
  EXPECT_TRUE(card_->find(kSecond));
  EXPECT_EQ(link_->view().restarts, 0U);
  EXPECT_EQ(link_->view().connects, 2U);
}

}  // namespace
}  // namespace splitplane::app
