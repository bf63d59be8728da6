// The downlink of a cell over stepped slots: each SDU arrives once over an air that loses transport blocks, HARQ sends
// the same octets again, and RLC repairs what HARQ gives up.
#include "radio/downlink_slots.h"

#include <gmock/gmock.h>

#include "radio/test_cells.h"

namespace splitplane::datapath::test {
namespace {

// A gNB's cell with UEs, each of which has a cell of its own as its end.
class Slots {
 public:
  explicit Slots(unsigned ues, DownlinkSlots::Settings settings = small(), RlcMode mode = RlcMode::kAm)
      : slots(settings), pool(2047), cell({.pool = pool.get(), .max_sdus = 1024, .ticks_per_ms = kMs}, stats) {
    cell.attach(ShardId{2}, ues + 1);
    for (std::uint32_t i = 0; i < ues; ++i) {
      ran::BearerConfig config = bearer(mode, 12, kId + i);
      auto made = cell.make({&config, 1});
      EXPECT_TRUE(made);
      cell.attach(*made);
      config.id = BearerId{kId};
      ends.push_back(std::make_unique<End>(config, 511));
    }
  }
  ~Slots() {
    UeParts out;
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      if (RadioUe* const one = ue(i)) slots.remove(*one);
      cell.detach(BearerId{kId + i}, out);
    }
    EXPECT_EQ(slots.blocks_free(), 16U);
    EXPECT_EQ(cell.held(), 0U);
    EXPECT_EQ(pool.in_use(), 0U);
  }
  // 52 PRBs with MCS 10 are some 1300 octets.
  static DownlinkSlots::Settings small() {
    return {.prbs = 52, .mcs = 10, .most_ues = 8, .most_grants = 4, .most_blocks = 16, .harq = {.feedback_slots = 8}};
  }
  RadioUe* ue(std::uint32_t i) {
    LogicalChannel* const channel = cell.find(kId + i);
    return channel == nullptr ? nullptr : channel->ue;
  }
  unsigned ue_of(const phy::Grant& grant) {
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      if (ue(i) != nullptr && ue(i)->rnti.value().value == grant.rnti) return i;
    }
    ADD_FAILURE() << "a grant for no UE";
    return 0;
  }
  bool send(std::uint32_t i, const Bytes& sdu) {
    LogicalChannel& channel = *cell.find(kId + i);
    if (!cell.has_room() || channel.room() == 0) return false;
    MbufBuffer buffer(pool.make(sdu));
    return buffer && cell.send(channel, buffer);
  }
  // A UE takes its block apart, and its RLC answers at once.
  void deliver(unsigned i, wire::Octets block) {
    End& end = *ends[i];
    end.cell.demultiplex(*end.channel().ue, block, [&](LogicalChannel& channel, rte_mbuf* m) {
      end.cell.receive(channel, MbufBuffer(m), end.now,
                       [&](const LogicalChannel&, MbufBuffer sdu) { end.delivered.push_back(content(sdu)); });
    });
  }
  void answer() {
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      const Bytes status = ends[i]->pull(60);
      if (status.empty()) continue;
      cell.receive(*cell.find(kId + i), MbufBuffer(pool.make(status)), now, [](const LogicalChannel&, MbufBuffer) {});
    }
  }
  std::span<const DownlinkSlots::Sent> run() {
    slot = phy::after(slot, 1);
    now += kMs / 2;
    cell.serve(now);
    for (auto& end : ends) end->tick(now);
    return slots.run(cell, slot, now);
  }

  DownlinkSlots slots;
  Pool pool;
  WorkerStats stats;
  Cell cell;
  std::vector<std::unique_ptr<End>> ends;
  phy::Slot slot{{1}, 1023, 17};  // soon the frame number begins anew
  Time now = 0;
};

TEST(DownlinkSlots, each_sdu_arrives_once_although_the_air_loses_blocks) {
  Slots s(3);
  std::mt19937 random(9);
  std::array<std::vector<Bytes>, 3> sent;
  std::map<std::pair<unsigned, unsigned>, Bytes> first;  // by UE and process: what was sent first
  unsigned lost = 0, again = 0;
  const auto step = [&](bool loses) {
    std::uint32_t prbs = 0;
    for (const auto& [grant, block] : s.run()) {
      const unsigned ue = s.ue_of(grant);
      EXPECT_EQ(block.size(), grant.tb_bytes);
      EXPECT_EQ(grant.tb_bytes, phy::tb_bytes(phy::TbShape{}, grant.mcs, grant.prbs));
      prbs += grant.prbs;
      Bytes& of_process = first[{ue, grant.process}];
      const Bytes octets(block.begin(), block.end());
      if (grant.retransmission) {
        ++again;
        EXPECT_EQ(octets, of_process);
      }
      of_process = octets;
      const bool arrives = !loses || random() % 10 != 0;
      lost += arrives ? 0 : 1;
      if (arrives) s.deliver(ue, block);
      (void)s.slots.feedback(*s.ue(ue), grant.process, grant.slot, arrives);
    }
    EXPECT_LE(prbs, 52U);
    s.answer();
  };
  for (unsigned i = 0; i < 600; ++i) {
    const std::uint32_t ue = static_cast<std::uint32_t>(random() % 3);
    const Bytes sdu = numbered(static_cast<std::uint32_t>(sent[ue].size()), 20 + random() % 1500);
    if (s.send(ue, sdu)) sent[ue].push_back(sdu);
    step(true);
  }
  for (unsigned i = 0; i < 5000 && s.cell.held() != 0; ++i) step(false);
  EXPECT_EQ(s.cell.held(), 0U);
  EXPECT_GT(lost, 20U);
  EXPECT_EQ(again, lost);
  for (unsigned ue = 0; ue < 3; ++ue) {
    EXPECT_THAT(s.ends[ue]->delivered, testing::UnorderedElementsAreArray(sent[ue]));
    EXPECT_EQ(s.cell.find(kId + ue)->view().am->retx.pdus, 0U) << "HARQ repaired everything";
  }
  EXPECT_EQ(s.slots.counters().no_block, 0U);
}

TEST(DownlinkSlots, what_harq_gives_up_rlc_sends_again) {
  Slots s(1);
  for (std::uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(s.send(0, numbered(i, 200)));
  const phy::HarqSender<BlockPool::Block>* harq = nullptr;
  for (unsigned i = 0; i < 200 && (harq == nullptr || harq->counters().counted(phy::Feedback::given_up) == 0); ++i) {
    for (const auto& [grant, block] : s.run()) (void)s.slots.feedback(*s.ue(0), grant.process, grant.slot, false);
    harq = s.slots.harq(*s.ue(0));
  }
  ASSERT_NE(harq, nullptr);
  EXPECT_GE(harq->counters().counted(phy::Feedback::given_up), 1U);
  for (unsigned i = 0; i < 2000 && s.cell.held() != 0; ++i) {
    for (const auto& [grant, block] : s.run()) {
      s.deliver(0, block);
      (void)s.slots.feedback(*s.ue(0), grant.process, grant.slot, true);
    }
    s.answer();
  }
  EXPECT_EQ(s.ends[0]->delivered.size(), 4U);
  EXPECT_GT(s.cell.find(kId)->view().am->retx.pdus, 0U);
}

TEST(DownlinkSlots, blocks_without_feedback_use_up_the_memory_until_they_count_as_lost) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.harq.feedback_slots = 60;
  Slots s(2, settings, RlcMode::kUm);
  std::uint32_t number = 0;
  const auto run = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      for (std::uint32_t ue = 0; ue < 2; ++ue) {
        if (s.cell.find(kId + ue)->volume() >= 3000) continue;
        EXPECT_TRUE(s.send(ue, numbered(number++, 700)));
      }
      (void)s.run();
    }
  };
  run(40);
  EXPECT_EQ(s.slots.blocks_free(), 0U) << "each UE may have 16 blocks on the air, and there are 16 in all";
  EXPECT_GT(s.slots.counters().no_block, 0U);
  EXPECT_EQ(s.slots.harq(*s.ue(0))->counters().no_feedback, 0U);
  run(40);
  EXPECT_GT(s.slots.harq(*s.ue(0))->counters().no_feedback, 0U);
  EXPECT_GT(s.slots.harq(*s.ue(0))->counters().retransmissions, 0U);
}

TEST(DownlinkSlots, a_ue_without_data_gets_no_grant_and_one_that_leaves_gives_its_blocks_back) {
  Slots s(2);
  EXPECT_TRUE(s.run().empty());
  ASSERT_TRUE(s.send(1, numbered(1, 100)));
  const auto sent = s.run();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(s.ue_of(sent[0].grant), 1U);
  EXPECT_EQ(s.slots.harq(*s.ue(0)), nullptr);
  EXPECT_EQ(s.slots.blocks_free(), 15U);
  s.slots.remove(*s.ue(1));
  UeParts out;
  s.cell.detach(BearerId{kId + 1}, out);
  EXPECT_EQ(s.slots.blocks_free(), 16U);
  EXPECT_TRUE(s.run().empty());
}

TEST(DownlinkSlots, more_ues_than_there_is_room_for_are_counted) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.most_ues = 1;
  Slots s(2, settings);
  ASSERT_TRUE(s.send(0, numbered(1, 100)) && s.send(1, numbered(1, 100)));
  EXPECT_EQ(s.run().size(), 1U);
  EXPECT_EQ(s.slots.counters().no_place, 1U);
}

TEST(DownlinkSlots, a_ue_without_a_place_gets_that_of_one_that_leaves) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.most_ues = 1;
  Slots s(3, settings);
  for (std::uint32_t ue = 0; ue < 3; ++ue) {
    ASSERT_TRUE(s.send(ue, numbered(1, 100)));
    (void)s.run();
  }
  EXPECT_EQ(s.slots.counters().no_place, 2U);
  s.slots.remove(*s.ue(1));  // the one that waits longest leaves first
  EXPECT_FALSE(s.ue(1)->waits_for_place);
  s.slots.remove(*s.ue(0));
  const auto sent = s.run();  // nothing came for it since
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(s.ue_of(sent[0].grant), 2U);
  EXPECT_EQ(s.slots.counters().no_place, 2U);
}

}  // namespace
}  // namespace splitplane::datapath::test
