// Full mode on the control side: UEs come and go with bearers and sessions, what RLC counts is shown, and what full
// mode does not do is refused.
#include <gtest/gtest.h>

#include "gnb/control/test_parts.h"
#include "ran/control/session_json.h"
#include "secured/test_key_file.h"

namespace splitplane::gnb::test {
namespace {

using ::testing::HasSubstr;

class FullModeTest : public PartsTest {
 protected:
  void SetUp() override {
    PartsTest::SetUp();
    make(full_config());
  }
  // w0 is in full mode, and w1 is not.
  [[nodiscard]] GnbConfig full_config() const {
    GnbConfig config = small_config();
    config.key_file = file_.path();
    config.journal = folder_ / "journal";
    config.workers[0].features = datapath::FeatureSet::full;
    return config;
  }
  static ran::BearerConfig secured(std::uint32_t uplink_teid, std::uint32_t key, std::uint8_t drb = 1) {
    ran::BearerConfig config = bearer(uplink_teid);
    config.security = ran::SecurityConfig{.key = key, .drb = drb};
    return config;
  }
  [[nodiscard]] static ran::WantedSession session_of_three() {
    ran::WantedSession session{.config = {}, .shard = 1};
    for (const std::uint8_t drb : {std::uint8_t{9}, std::uint8_t{2}, std::uint8_t{5}}) {
      ran::SessionBearer one;
      one.config = secured(7, 4, drb);
      one.drb = ran::sdap::DrbId{drb};
      if (drb != 9) one.flows = {Qfi{drb}};
      session.config.bearers.push_back(one);
    }
    session.config.default_drb = ran::sdap::DrbId{9};
    return session;
  }
  datapath::Cell& cell() { return *parts_->worker(0).gnb->cell; }
  Json show(BearerId id) {
    const auto shown = parts_->bearers.show(id);
    EXPECT_TRUE(shown);
    return to_json(*shown);
  }

  datapath::test::TestKeyFile file_;
};

TEST_F(FullModeTest, only_a_worker_in_full_mode_has_a_cell) {
  EXPECT_NE(parts_->worker(0).gnb->cell, nullptr);
  EXPECT_EQ(parts_->worker(1).gnb->cell, nullptr);
}

TEST_F(FullModeTest, a_bearer_is_a_ue_until_it_is_released) {
  const auto a = add(secured(1, 1), 0), b = add(secured(2, 2), 1);
  ASSERT_TRUE(a && b) << a.error().message;
  const datapath::LogicalChannel* const channel = cell().find(a->id.value);
  ASSERT_NE(channel, nullptr);
  EXPECT_EQ(channel->lcid(), 4U);
  const datapath::Rnti rnti = channel->ue->rnti.value();
  EXPECT_EQ(cell().find(rnti), channel->ue);
  EXPECT_NE(cell().find(b->id.value)->ue, channel->ue);
  ASSERT_TRUE(parts_->bearers.release(a->id));
  EXPECT_EQ(cell().find(a->id.value), nullptr);
  EXPECT_EQ(cell().find(rnti), nullptr);
}

TEST_F(FullModeTest, poll_pdu_changes_while_the_bearer_goes_on) {
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added);
  datapath::LogicalChannel& channel = *cell().find(added->id.value);
  const auto polls = [&] {  // each pulls one PDU while another one waits
    datapath::MbufBuffer sdu = datapath::MbufBuffer::make(parts_->worker(0).gnb->pool, 20);
    EXPECT_TRUE(cell().send(channel, sdu));
    std::array<std::uint8_t, 100> pdu{};
    EXPECT_NE(cell().pull(channel, pdu, 0), 0U);
    return (pdu[0] & 0x40) != 0;
  };
  datapath::MbufBuffer first = datapath::MbufBuffer::make(parts_->worker(0).gnb->pool, 20);
  ASSERT_TRUE(cell().send(channel, first));
  EXPECT_FALSE(polls() || polls());
  ASSERT_TRUE(parts_->bearers.modify(added->id, test::patch({{"poll_pdu", 1U}})));
  EXPECT_EQ(cell().find(added->id.value), &channel);
  EXPECT_TRUE(polls() && polls());
  ASSERT_TRUE(parts_->bearers.modify(added->id, test::patch({{"poll_pdu", 0U}})));
  EXPECT_FALSE(polls() || polls());
}

TEST_F(FullModeTest, a_session_is_one_ue_with_its_drbs_in_order) {
  const auto added = parts_->bearers.add_session(session_of_three());
  ASSERT_TRUE(added) << added.error().message;
  std::map<unsigned, std::uint32_t> lcids;  // by DRB
  const datapath::RadioUe* ue = nullptr;
  for (const auto& one : added->session.bearers) {
    const datapath::LogicalChannel* const channel = cell().find(one.config.id.value);
    ASSERT_NE(channel, nullptr);
    lcids[one.drb.value] = channel->lcid();
    EXPECT_TRUE(ue == nullptr || ue == channel->ue);
    ue = channel->ue;
  }
  EXPECT_EQ(lcids, (std::map<unsigned, std::uint32_t>{{2, 4}, {5, 5}, {9, 6}}));
  const datapath::Rnti rnti = ue->rnti.value();
  EXPECT_THAT(parts_->bearers.move_flow(added->session.teid(), Qfi{2}, ran::sdap::DrbId{5}).error().message,
              HasSubstr("worker w0 is in full mode, where flows do not move"));
  ASSERT_TRUE(parts_->bearers.release_session(added->session.teid()));
  EXPECT_EQ(cell().find(rnti), nullptr);
}

TEST_F(FullModeTest, a_bearer_without_security_is_refused_there_and_nowhere_else) {
  EXPECT_EQ(add(bearer(1), 1).error().message,
            "security: must be there in full mode, where PDCP puts in order what RLC delivers; allowed: with a key "
            "(cipher nea0 and integrity none protect nothing) (worker w0 is in full mode)");
  EXPECT_TRUE(add(bearer(1), 5));
  EXPECT_EQ(parts_->bearers.count(), 1U);
}

TEST_F(FullModeTest, its_rlc_is_shown) {
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added);
  datapath::LogicalChannel& channel = *cell().find(added->id.value);
  rte_mbuf* const m = rte_pktmbuf_alloc(parts_->worker(0).gnb->pool);
  (void)rte_pktmbuf_append(m, 100);
  datapath::MbufBuffer sdu(m);
  ASSERT_TRUE(cell().send(channel, sdu));
  std::array<std::uint8_t, 60> grant;
  ASSERT_EQ(cell().pull(channel, grant, rte_rdtsc()), 60U);
  const Json json = show(added->id);
  const Json& rlc = json["rlc_full"];
  EXPECT_EQ(rlc["rnti"], channel.ue->rnti.value().value);
  EXPECT_EQ(rlc["lcid"], 4);
  EXPECT_EQ(rlc["taken"], 1);
  EXPECT_EQ(rlc["held"], 1);
  EXPECT_EQ(rlc["unacked"], 1);
  EXPECT_EQ(rlc["segments_sent"], 1);
  EXPECT_EQ(rlc["volume"], 100 - 57 + 5);
  EXPECT_EQ(json["rlc_tx_next"], 1);
  EXPECT_FALSE(json.contains("rlc_am"));
  EXPECT_EQ(*bearer_from_json(json), *added);
  ASSERT_TRUE(parts_->bearers.release(added->id));
}

TEST_F(FullModeTest, reestablishment_empties_rlc_and_begins_an_epoch) {
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  datapath::LogicalChannel& channel = *cell().find(added->id.value);
  rte_mbuf* const m = rte_pktmbuf_alloc(parts_->worker(0).gnb->pool);
  (void)rte_pktmbuf_append(m, 100);
  datapath::MbufBuffer sdu(m);
  ASSERT_TRUE(cell().send(channel, sdu));
  const auto epoch = parts_->bearers.reestablish(added->id);
  ASSERT_TRUE(epoch) << epoch.error().message;
  const Json json = show(added->id);
  EXPECT_EQ(json["epoch"], *epoch);
  EXPECT_EQ(json["rlc_full"]["held"], 0);
  EXPECT_EQ(json["rlc_full"]["given_up"], 1);
  EXPECT_THAT(parts_->bearers.rekey(added->id, 2).error().message,
              HasSubstr("worker w0 is in full mode, where keys do not change"));
}

// The UE side may live on with state of both: RLC UM, too, begins anew.
TEST_F(FullModeTest, after_a_restart_a_bearer_of_either_mode_has_another_epoch) {
  ran::BearerConfig um = secured(2, 2);
  um.rlc_mode = RlcMode::kUm;
  um.rlc_sn_bits = 12;
  const auto a = add(secured(1, 1), 0), b = add(um, 0), in_header_mode = add(secured(3, 3), 1);
  ASSERT_TRUE(a && b && in_header_mode && parts_->numbers.wait_for_disk());
  const Json before[] = {show(a->id), show(b->id)};
  make(full_config());
  EXPECT_NE(show(a->id)["epoch"], before[0]["epoch"]);
  EXPECT_NE(show(b->id)["epoch"], before[1]["epoch"]);
  EXPECT_EQ(show(b->id)["rlc_full"]["tx_next"], 0);
}

// What is in the air from before is of no UE then. The UE side learns of it by `rlc_full`.
TEST_F(FullModeTest, a_reestablished_bearer_gives_its_ue_another_c_rnti) {
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  datapath::RadioUe* const ue = cell().find(added->id.value)->ue;
  const datapath::Rnti before = ue->rnti.value();
  ASSERT_TRUE(parts_->bearers.reestablish(added->id));
  const datapath::Rnti now = ue->rnti.value();
  EXPECT_NE(now, before);
  EXPECT_EQ(cell().find(before), nullptr);
  EXPECT_EQ(cell().find(now), ue);
  EXPECT_EQ(show(added->id)["rlc_full"]["rnti"], now.value);
  {
    const Hanging hanging(parts_->worker(0));
    EXPECT_FALSE(parts_->bearers.reestablish(added->id));
  }
  EXPECT_EQ(ue->rnti.value(), now);
  std::vector<datapath::RntiPool::Held> all;
  while (auto one = cell().take_rnti()) all.push_back(*std::move(one));
  EXPECT_EQ(all.size(), datapath::RntiPool::kLast - 1U) << "the old ones were given back";
  EXPECT_THAT(parts_->bearers.reestablish(added->id).error().message, HasSubstr("worker w0: no C-RNTI is free"));
  EXPECT_EQ(cell().find(now), ue);
}

TEST_F(FullModeTest, other_bearers_of_a_session_keep_their_numbers_when_one_is_reestablished) {
  const auto added = parts_->bearers.add_session(session_of_three());
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk()) << added.error().message;
  std::vector<datapath::LogicalChannel*> channels;
  for (const auto& one : added->session.bearers) {
    channels.push_back(cell().find(one.config.id.value));
    datapath::MbufBuffer sdu = datapath::MbufBuffer::make(parts_->worker(0).gnb->pool, 20);
    ASSERT_TRUE(cell().send(*channels.back(), sdu));
    std::array<std::uint8_t, 100> pdu{};
    ASSERT_NE(cell().pull(*channels.back(), pdu, 0), 0U);
  }
  const datapath::Rnti before = channels[0]->ue->rnti.value();
  ASSERT_TRUE(parts_->bearers.reestablish(added->session.bearers[1].config.id));
  EXPECT_NE(channels[0]->ue->rnti.value(), before);
  for (std::size_t i = 0; i < channels.size(); ++i) EXPECT_EQ(channels[i]->view().tx_next, i == 1 ? 0U : 1U);
  ASSERT_TRUE(parts_->bearers.release_session(added->session.teid()));
}

TEST_F(FullModeTest, a_ue_that_is_released_leaves_the_slots) {
  datapath::GnbContext& gnb = *parts_->worker(0).gnb;
  gnb.slots = std::make_unique<datapath::CellSlots>(
      datapath::CellSlots::Settings{.downlink = {.most_ues = 1}, .uplink = {.most_ues = 1}});
  const auto a = add(secured(1, 1), 0), b = add(secured(2, 2), 1);
  ASSERT_TRUE(a && b);
  phy::Slot slot{{1}, 0, 0};
  const auto run = [&](const ran::BearerConfig& one) {
    datapath::LogicalChannel& channel = *cell().find(one.id.value);
    datapath::MbufBuffer sdu = datapath::MbufBuffer::make(gnb.pool, 20);
    EXPECT_TRUE(cell().send(channel, sdu));
    gnb.slots->requested(cell(), channel.ue->rnti.value());
    slot = phy::after(slot, 1);
    const auto plan = gnb.slots->run(cell(), slot, 0, 0);
    gnb.slots->requested(cell(), channel.ue->rnti.value());
    return plan.downlink.size();
  };
  EXPECT_EQ(run(*a), 1U);
  EXPECT_EQ(run(*b), 0U) << "there is one place, which the other UE has";
  const datapath::RadioUe* const other = cell().find(b->id.value)->ue;
  EXPECT_EQ(gnb.slots->uplink().harq(*other), nullptr);
  ASSERT_TRUE(parts_->bearers.release(a->id));
  EXPECT_NE(gnb.slots->uplink().harq(*other), nullptr);
  EXPECT_EQ(run(*b), 1U);
  ASSERT_TRUE(parts_->bearers.release(b->id));
  EXPECT_EQ(gnb.slots->downlink().harq_counters().discarded, 2U);
}

TEST_F(FullModeTest, a_worker_that_hangs_gets_no_ue_and_keeps_no_c_rnti) {
  {
    const Hanging hanging(parts_->worker(0));
    EXPECT_FALSE(add(secured(1, 1), 0));
  }
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_TRUE(parts_->bearers.release(added->id));
  EXPECT_EQ(cell().held(), 0U);
}

TEST_F(FullModeTest, ues_come_back_after_a_restart) {
  const auto added = add(secured(1, 1), 0);
  ASSERT_TRUE(added && parts_->numbers.wait_for_disk());
  make(full_config());
  EXPECT_NE(cell().find(added->id.value), nullptr);
}

}  // namespace
}  // namespace splitplane::gnb::test
