#include "gnb/control/observer.h"

#include "gnb/control/test_parts.h"

namespace splitplane::gnb {
namespace {

class ObserverTest : public test::PartsTest {
 protected:
  [[nodiscard]] nlohmann::json stats() { return parts_->observer.stats(parts_->control.lock()); }
  [[nodiscard]] Observation observe() { return parts_->observer.observe(parts_->control.lock()); }
  [[nodiscard]] datapath::WorkerStats& counters(std::size_t worker) { return parts_->worker(worker).stats(); }
  // A worker received 6 packets from N3 and 3 from the air; one each was dropped.
  void pass(std::size_t worker) {
    counters(worker).received[0].add(6);
    counters(worker).received[1].add(3);
    counters(worker).transmitted_air.add(5);
    counters(worker).transmitted_n3.add(2);
    counters(worker).drop(datapath::DropReason::teid_unknown);
    counters(worker).drop(datapath::DropReason::peer_unresolved);
  }
};

TEST_F(ObserverTest, the_sums_of_all_workers_add_up) {
  pass(0);
  pass(1);
  const auto all = stats();
  EXPECT_EQ(
      all.at("totals"),
      (nlohmann::json{
          {"received", 18}, {"transmitted", 14}, {"dropped", 4}, {"consumed", 0}, {"held", 0}, {"balanced", true}}));
  EXPECT_EQ(all.at("workers")[1].at("drops").at("teid_unknown"), 1);
  EXPECT_TRUE(all.at("workers")[0].at("balanced"));
}

TEST_F(ObserverTest, in_full_mode_what_rlc_took_and_made_adds_up) {
  pass(0);
  datapath::WorkerStats& w = counters(1);
  w.received[0].add(10);
  w.rlc_queued.add(9);
  w.drop(datapath::DropReason::rlc_window_full);
  w.rlc_pdus.add(7);  // uplink: five with data, a STATUS, and a duplicate
  w.rlc_taken.add(5);
  w.rlc_control.add(1);
  w.drop(datapath::DropReason::rlc_duplicate);
  w.rlc_delivered.add(3);
  w.transmitted_n3.add(3);
  EXPECT_TRUE(stats().at("workers")[1].at("balanced"));
  EXPECT_TRUE(stats().at("totals").at("balanced"));
  w.rlc_delivered.add(1);
  EXPECT_FALSE(stats().at("workers")[1].at("balanced"));
  EXPECT_FALSE(stats().at("totals").at("balanced"));
}

TEST_F(ObserverTest, a_packet_that_went_nowhere_is_seen) {
  pass(0);
  counters(1).received[0].add(1);
  const auto all = stats();
  EXPECT_FALSE(all.at("totals").at("balanced"));
  EXPECT_TRUE(all.at("workers")[0].at("balanced"));
  EXPECT_FALSE(all.at("workers")[1].at("balanced"));
}

TEST_F(ObserverTest, a_port_has_what_its_workers_counted) {
  pass(0);
  pass(1);
  const auto ports = observe().ports;
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].name, "n3");
  EXPECT_EQ(ports[0].workers_received, 12U);
  EXPECT_EQ(ports[0].workers_transmitted, 4U);
  EXPECT_EQ(ports[1].workers_received, 6U);
  EXPECT_EQ(ports[1].workers_transmitted, 10U);
}

TEST_F(ObserverTest, behind_a_dispatching_worker_the_port_is_read_by_that_one) {
  make(test::with_dispatcher());
  counters(1).received[0].add(4);  // from its rings
  WorkerRuntime& d = parts_->worker(2);
  d.stats().received[0].add(3);  // n3 queue 0, n3 queue 1, then air
  d.stats().received[1].add(1);
  d.stats().received[2].add(5);
  const auto ports = observe().ports;
  EXPECT_EQ(ports[0].workers_received, 4U);
  EXPECT_EQ(ports[1].workers_received, 5U);
}

TEST_F(ObserverTest, a_hanging_worker_is_named_and_the_others_are_read) {
  pass(0);
  pass(1);
  const test::Hanging hanging(parts_->worker(1));
  const auto all = stats();
  EXPECT_EQ(all.at("workers")[0].at("silent_s"), 0);
  EXPECT_EQ(all.at("workers")[1].at("silent_s"), 5);
  EXPECT_EQ(observe().workers[1].silent_s, 5U);
}

TEST_F(ObserverTest, keys_and_bearers_are_counted) {
  ran::BearerConfig config = test::bearer(7);
  config.dl_teid = Teid{0xabcd};
  ASSERT_TRUE(add(config));
  const auto all = stats();
  EXPECT_EQ(all.at("bearers"), 1);
  EXPECT_EQ(all.at("workers")[0].at("keys").at("dl_teid").at("entries"), 1);
  EXPECT_EQ(all.at("workers")[1].at("keys").at("dl_teid").at("entries"), 0);
  EXPECT_TRUE(all.at("journal").is_null());
  EXPECT_EQ(all.at("cards").size(), 0U);
  EXPECT_EQ(all.at("gtpu")[0].at("name"), "n3");
  EXPECT_EQ(observe().bearers, 1U);
  EXPECT_EQ(observe().file_prefix, "test");
}

TEST_F(ObserverTest, cards_and_n3_interfaces_are_among_what_is_observed) {
  make(test::with_card());
  const Observation all = observe();
  ASSERT_EQ(all.card_links.size(), 1U);
  EXPECT_EQ(all.card_links[0].name, "card0");
  ASSERT_EQ(all.n3.size(), 1U);
  EXPECT_EQ(all.n3[0].name, "n3");
  EXPECT_EQ(stats().at("cards")[0].at("name"), "card0");
}

}  // namespace
}  // namespace splitplane::gnb
