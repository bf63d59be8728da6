// A small L2 with PhyLink and an emulated PHY with UEs, over loopback UDP. Time is stepped.
#include "phy/emulator/emulated_phy.h"

#include <gtest/gtest.h>

#include "phy/emulator/test_cell.h"
#include "phy/link/phy_link.h"
#include "phy/link/test_net.h"

namespace splitplane::phy {
namespace {

using test::end_of;
using test::TestL2;
using test::TestTerminals;

constexpr unsigned kNet = 110;
constexpr std::uint16_t kPhyId = 2;
constexpr std::size_t kUes = 6;
constexpr unsigned kLead = 1;  // slots that the L2 plans ahead

PhyLink::Settings link_settings(const CellShape& cell) {
  PhyLink::Settings settings{.phy_id = kPhyId};
  fapi::PerNumerology grid{};
  grid[cell.numerology.mu] = cell.prbs;
  settings.config.dl_grid_size = settings.config.ul_grid_size = grid;
  settings.config.phy_cell_id = cell.cell_id;
  settings.config.frame_duplex_type = 0;
  settings.config.scs_common = cell.numerology.mu;
  return settings;
}

// What a gNB does on its PHY thread.
class L2Side final : public PhyLinkOwner {
 public:
  L2Side(const CellShape& cell, DatagramSocket p5, DatagramSocket p7)
      : l2(cell, kUes), link(link_settings(cell), std::move(p5), std::move(p7), *this), cell_(cell) {}

  void poll(Ns now) {
    now_ = now / 1000;
    link.poll(now_);
  }
  void phy_runs(const fapi::ParamResponse&) override { ++runs; }
  void phy_is_away() override {}
  void config_is_refused(const fapi::ConfigResponse&) override { ++refusals; }
  void slot_begins(const fapi::SlotIndication& slot) override {
    ++slots;
    l2.plan(after(Slot{cell_.numerology, slot.sfn, static_cast<std::uint8_t>(slot.slot)}, kLead));
    unsent += l2.writer().send([this](const auto& message) {
      ++messages;
      return link.send(message, now_) == SendOutcome::sent;
    });
  }
  void receive(const fapi::RxDataIndication& message) override { l2.take(message); }
  void receive(const fapi::CrcIndication& message) override { l2.take(message); }
  void receive(const fapi::UciIndication& message) override { l2.take(message); }
  void receive(const fapi::ErrorIndication&) override { ++errors; }

  TestL2 l2;
  unsigned runs = 0, refusals = 0, slots = 0, unsent = 0, messages = 0, errors = 0;
  PhyLink link;

 private:
  CellShape cell_;
  Time now_ = 0;
};

class EmulatedPhyTest : public testing::Test {
 protected:
  EmulatedPhyTest() {
    make_l2();
    for (Rnti i = 0; i < kUes; ++i) terminals_.ues[static_cast<Rnti>(100 + i)];
  }
  static DatagramSocket open(unsigned own, unsigned other) {
    return std::move(DatagramSocket::open(end_of(kNet, own), end_of(kNet, other)).value());
  }
  void make_l2() {
    side_.reset();
    side_ = std::make_unique<L2Side>(cell_, open(1, 2), open(3, 4));
  }
  // Both ends are polled at one moment, until neither has anything to do.
  void settle() {
    ASSERT_TRUE(test::until([this] {
      const auto before = datagrams();
      phy_.poll(now_);
      side_->poll(now_);
      phy_.poll(now_);
      return datagrams() == before &&
             side_->link.p7().datagrams().sent.get() - l2_base_ == arrived(phy_.peer()) - phy_base_;
    }));
  }
  template <class End>
  static std::uint64_t arrived(const End& end) {
    return end.p7().datagrams().received.get();
  }
  [[nodiscard]] std::uint64_t datagrams() const {
    const auto of = [](const auto& end) { return end.p5().datagrams().received.get() + arrived(end); };
    return of(phy_.peer()) + of(side_->link);
  }
  void slot() {
    now_ += 500'000;
    settle();
  }
  [[nodiscard]] bool run() {
    for (unsigned i = 0; i < 20'000 && side_->slots == 0; ++i) slot();
    return side_->slots != 0;
  }

  CellShape cell_{.k = 5, .cell_id = 9};
  TestTerminals terminals_;
  EmulatedPhy phy_{{.phy_id = kPhyId}, open(2, 1), open(4, 3), {.shape = cell_.shape}, terminals_};
  std::unique_ptr<L2Side> side_;
  std::uint64_t l2_base_ = 0, phy_base_ = 0;
  Ns now_ = 1'000'000'000;
};

TEST_F(EmulatedPhyTest, each_block_of_both_directions_arrives_once_though_the_air_loses) {
  ASSERT_TRUE(run());
  phy_.emulator().set(
      {.downlink = {.loss_percent = 15, .burst_length = 2}, .uplink = {.loss_percent = 15}, .dci_loss_percent = 5});
  constexpr unsigned kBlocks = 200;
  for (auto& [rnti, ue] : side_->l2.ues()) {
    ue.backlog = kBlocks;
    terminals_.ues[rnti].backlog = kBlocks;
  }
  for (unsigned i = 0; !side_->l2.idle() || terminals_.waits(); ++i) {
    ASSERT_LT(i, 10'000U);
    slot();
  }
  for (unsigned i = 0; i < 20; ++i) slot();
  for (auto& [rnti, ue] : side_->l2.ues()) {
    EXPECT_TRUE(test::all_once(terminals_.ues[rnti].received, kBlocks));
    EXPECT_GE(ue.received.size(), kBlocks);
    EXPECT_TRUE(test::all_once(ue.received, terminals_.ues[rnti].next));
    EXPECT_EQ(ue.acks, kBlocks);  // each block is acknowledged once
    EXPECT_GT(ue.nacks, 10U);
    EXPECT_GT(ue.requests, 10U);
  }
  EXPECT_EQ(side_->l2.wrong + terminals_.wrong + side_->unsent + side_->errors + side_->refusals, 0U);

  // What one end counts, the other end does.
  const EmulatorCounters& c = phy_.emulator().counters();
  EXPECT_TRUE(c.balanced());
  EXPECT_EQ(c.dl_no_data.get() + c.late.get() + c.repeated.get() + c.tx_unused.get() + c.tx_refused.get(), 0U);
  EXPECT_EQ(c.ul_decoded.get(), side_->l2.right_crcs);
  EXPECT_EQ(c.pusch_ordered.get(), side_->l2.crcs);
  EXPECT_EQ(c.acks.get() - c.answers_unasked.get() - c.answers_held.get() + c.nacks.get(), c.answers_sent.get());
  std::uint64_t refused = 0;
  phy_.emulator().refused().for_each([&refused](auto, auto, std::uint64_t n) { refused += n; });
  EXPECT_EQ(refused, 0U);
  EXPECT_EQ(phy_.peer().counters().delivered.get(), side_->messages);
  EXPECT_EQ(phy_.peer().counters().slots.get(), c.slots.get() + 1);  // one runs
  EXPECT_EQ(phy_.slots_missed(), 0U);
}

TEST_F(EmulatedPhyTest, slots_that_pass_without_a_call_are_counted_and_lose_nothing) {
  ASSERT_TRUE(run());
  for (auto& [rnti, ue] : side_->l2.ues()) ue.backlog = 50;
  unsigned i = 0;
  for (; !side_->l2.idle(); ++i) {
    ASSERT_LT(i, 1000U);
    now_ += 1'000'000;  // a second slot each time
    slot();
  }
  EXPECT_EQ(phy_.slots_missed(), 2 * i);
  EXPECT_EQ(side_->errors, 0U);
  for (auto& [rnti, ue] : side_->l2.ues()) {
    EXPECT_TRUE(test::all_once(terminals_.ues[rnti].received, 50));
    EXPECT_EQ(ue.nacks, 0U);
  }
}

TEST_F(EmulatedPhyTest, next_event_is_the_next_slot) {
  const Ns before = now_;
  EXPECT_GT(phy_.next_event(before), before);  // nothing runs
  ASSERT_TRUE(run());
  const Ns next = phy_.next_event(now_);
  EXPECT_GT(next, now_);
  EXPECT_LE(next, now_ + 500'000);
  const auto slots = phy_.peer().counters().slots.get();
  phy_.poll(next - 1);
  EXPECT_EQ(phy_.peer().counters().slots.get(), slots);
  phy_.poll(next);
  EXPECT_EQ(phy_.peer().counters().slots.get(), slots + 1);
  EXPECT_EQ(phy_.next_event(next), next + 500'000);
  EXPECT_EQ(phy_.next_event(next + 900'000), next + 900'000);
}

TEST_F(EmulatedPhyTest, an_l2_that_begins_again_finds_an_empty_air) {
  ASSERT_TRUE(run());
  for (auto& [rnti, ue] : side_->l2.ues()) ue.backlog = 100;
  for (unsigned i = 0; i < 10; ++i) slot();
  EXPECT_GT(phy_.emulator().counters().answers_held.get(), 0U);
  l2_base_ = 0;
  phy_base_ = arrived(phy_.peer());
  make_l2();
  ASSERT_TRUE(run());
  EXPECT_EQ(phy_.emulator().starts(), 2U);
  for (auto& [rnti, ue] : terminals_.ues) ue = {};  // they may have had blocks until the PHY stopped
  for (auto& [rnti, ue] : side_->l2.ues()) ue.backlog = 20;
  for (unsigned i = 0; !side_->l2.idle(); ++i) {
    ASSERT_LT(i, 1000U);
    slot();
  }
  for (auto& [rnti, ue] : side_->l2.ues()) {
    EXPECT_TRUE(test::all_once(terminals_.ues[rnti].received, 20));
    EXPECT_EQ(ue.acks, 20U);
  }
  EXPECT_EQ(side_->l2.wrong, 0U);
  EXPECT_GT(phy_.emulator().counters().answers_forgotten.get(), 0U);
  EXPECT_TRUE(phy_.emulator().counters().balanced());
}

TEST_F(EmulatedPhyTest, a_stop_and_a_start_in_one_poll_begin_a_new_count_of_slots) {
  ASSERT_TRUE(run());
  for (unsigned i = 0; i < 5; ++i) slot();
  side_.reset();
  DatagramSocket p5 = open(1, 2);
  const auto send = [&p5](const auto& message) {
    test::Bytes octets(100);
    octets.resize(fapi::write_p5(octets, kPhyId, message).bytes);
    EXPECT_TRUE(test::send(p5, octets));
  };
  send(fapi::StopRequest{});
  send(fapi::StartRequest{});
  const auto& slots = phy_.emulator().counters().slots;
  const std::uint64_t before = slots.get();
  now_ += 500'000;
  ASSERT_TRUE(test::until([this] {
    phy_.poll(now_);
    return phy_.emulator().starts() == 2;
  }));
  EXPECT_EQ(slots.get(), before);  // the slot that ran is gone
  phy_.poll(now_ += 500'000);
  EXPECT_EQ(slots.get(), before + 1);
}

}  // namespace
}  // namespace splitplane::phy
