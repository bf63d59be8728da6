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
      cell.attach(*made, 0);
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
    slots.give_back(number);
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
    ++number;
    return slots.run(cell, slot, number, now, reads ? number - 1 : 0);
  }

  DownlinkSlots slots;
  Pool pool;
  WorkerStats stats;
  Cell cell;
  std::vector<std::unique_ptr<End>> ends;
  phy::Slot slot{{1}, 1023, 17};  // soon the frame number begins anew
  Time now = 0;
  std::uint64_t number = 0;
  bool reads = true;  // the PHY reads each slot before the next one
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
      (void)s.slots.feedback(*s.ue(ue), grant.slot, arrives);
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
    for (const auto& [grant, block] : s.run()) (void)s.slots.feedback(*s.ue(0), grant.slot, false);
    harq = s.slots.harq(*s.ue(0));
  }
  ASSERT_NE(harq, nullptr);
  EXPECT_GE(harq->counters().counted(phy::Feedback::given_up), 1U);
  for (unsigned i = 0; i < 2000 && s.cell.held() != 0; ++i) {
    for (const auto& [grant, block] : s.run()) {
      s.deliver(0, block);
      (void)s.slots.feedback(*s.ue(0), grant.slot, true);
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

TEST(DownlinkSlots, a_ue_that_answers_nothing_has_one_block_at_a_time_until_it_answers) {
  Slots s(2, Slots::small(), RlcMode::kUm);
  std::uint32_t number = 0;
  bool answers = false;
  std::size_t of_other = 0, of_silent = 0;
  const auto run = [&](unsigned count) {
    of_other = of_silent = 0;
    for (unsigned i = 0; i < count; ++i) {
      for (std::uint32_t ue = 0; ue < 2; ++ue) {
        if (s.cell.find(kId + ue)->volume() >= 3000) continue;
        EXPECT_TRUE(s.send(ue, numbered(number++, 600)));
      }
      for (const auto& [grant, block] : s.run()) {
        const unsigned ue = s.ue_of(grant);
        ++(ue == 1 ? of_other : of_silent);
        if (ue == 1 || answers) (void)s.slots.feedback(*s.ue(ue), grant.slot, true);
      }
    }
  };
  run(60);
  EXPECT_EQ(s.slots.counters().silent, 1U);
  run(400);
  EXPECT_EQ(of_other, 400U) << "in each slot";
  EXPECT_LT(of_silent, 80U);
  EXPECT_LE(s.slots.harq(*s.ue(0))->open(), 1U);
  answers = true;
  run(20);
  of_silent = 0;
  run(100);
  EXPECT_EQ(of_silent, 100U);
  EXPECT_EQ(s.slots.counters().silent, 1U);
}

TEST(DownlinkSlots, while_memory_is_scarce_no_ue_has_more_than_its_share) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.harq.feedback_slots = 1000;
  Slots s(4, settings, RlcMode::kUm);
  std::uint32_t number = 0;
  const auto run = [&](unsigned ues, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      for (std::uint32_t ue = 0; ue < ues; ++ue) {
        if (s.cell.find(kId + ue)->volume() >= 3000) continue;
        EXPECT_TRUE(s.send(ue, numbered(number++, 600)));
      }
      (void)s.run();
    }
  };
  run(1, 5);  // it is alone
  EXPECT_EQ(s.slots.harq(*s.ue(0))->open(), 5U);
  EXPECT_EQ(s.slots.counters().no_block, 0U);
  run(4, 40);
  EXPECT_EQ(s.slots.blocks_free(), 0U);
  for (std::uint32_t ue = 0; ue < 4; ++ue) {
    EXPECT_GE(s.slots.harq(*s.ue(ue))->open(), 3U);
    EXPECT_LE(s.slots.harq(*s.ue(ue))->open(), ue == 0 ? 7U : 4U);
  }
  EXPECT_GT(s.slots.counters().no_block, 30U);
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
  s.slots.give_back(s.number);
  EXPECT_EQ(s.slots.blocks_free(), 16U);
  EXPECT_TRUE(s.run().empty());
}

// 2048 SDUs are half of 12-bit numbers: then AM waits for STATUS, whatever else there is to send.
TEST(DownlinkSlots, a_ue_whose_am_window_is_full_gets_no_grant_until_it_acknowledges) {
  ran::BearerConfig config = bearer(RlcMode::kAm);
  config.pdcp_sn_bits = 18;
  config.arq.max_unacked = 4000;
  End gnb(config, 4095, 4096), ue(config);
  DownlinkSlots slots(Slots::small());
  for (std::uint32_t i = 0; i < 2100; ++i) ASSERT_TRUE(gnb.send(numbered(i, 10)));
  phy::Slot slot{{1}, 0, 0};
  std::uint64_t number = 0;
  const auto run_until_nothing_is_sent = [&] {
    unsigned with_data = 0;
    for (unsigned i = 0; i < 400; ++i) {
      slot = phy::after(slot, 1);
      const std::uint64_t read = number++;
      const auto sent = slots.run(gnb.cell, slot, number, gnb.now, read);
      if (sent.empty()) return with_data;
      ++with_data;
      ue.cell.demultiplex(*ue.channel().ue, sent[0].block,
                          [&](LogicalChannel&, rte_mbuf* m) { ue.receive(content(MbufBuffer(m))); });
      EXPECT_EQ(slots.feedback(*gnb.channel().ue, slot, true), phy::Feedback::acked);
    }
    ADD_FAILURE() << "blocks of padding";
    return with_data;
  };
  EXPECT_GT(run_until_nothing_is_sent(), 10U);
  EXPECT_EQ(ue.delivered.size(), 2048U);
  EXPECT_GT(gnb.channel().volume(), 500U);
  const std::uint64_t padding = gnb.channel().ue->downlink.mux().counters().padding_octets;
  EXPECT_LT(padding, 2 * 1300U);
  EXPECT_EQ(run_until_nothing_is_sent(), 0U);
  gnb.receive(ue.pull(60));
  gnb.tick(1);
  EXPECT_GT(run_until_nothing_is_sent(), 0U);
  EXPECT_EQ(ue.delivered.size(), 2100U);
  gnb.receive(ue.pull(60));
  slots.remove(*gnb.channel().ue);
}

// UEs hold all pages of the memory for sent SDUs, each with one SDU that is missing. Then another UE has an SDU, and
// nothing more happens to it.
TEST(DownlinkSlots, a_ue_that_waits_for_memory_of_others_gets_a_grant_when_it_is_free) {
  constexpr unsigned kHolders = 7;
  Pool pool(1023);
  WorkerStats stats;
  Cell cell({.pool = pool.get(), .max_sdus = 512, .max_channels = 1, .ticks_per_ms = kMs}, stats);
  cell.attach(ShardId{2}, kHolders + 2);
  for (std::uint32_t i = 0; i <= kHolders; ++i) {
    const ran::BearerConfig config = bearer(RlcMode::kAm, 12, kId + i);
    auto made = cell.make({&config, 1});
    ASSERT_TRUE(made);
    cell.attach(*made, 0);
  }
  DownlinkSlots slots(Slots::small());
  const auto send = [&](std::uint32_t i) {
    MbufBuffer buffer(pool.make(numbered(1, 4)));
    ASSERT_TRUE(cell.has_room() && cell.send(*cell.find(kId + i), buffer));
  };
  // The first SDU of each 64 is missing, if any is.
  const auto acknowledge = [&](std::uint32_t i, bool with_missing) {
    LogicalChannel& channel = *cell.find(kId + i);
    Bytes octets(200);
    wire::rlc::StatusWriter writer(octets, 12);
    const std::uint32_t next = channel.view().tx_next;
    for (std::uint32_t sn = 0; with_missing && sn < next; sn += 64) EXPECT_TRUE(writer.add({.sn = sn}));
    octets.resize(writer.finish(next));
    cell.receive(channel, MbufBuffer(pool.make(octets)), 0, [](const LogicalChannel&, const MbufBuffer&) {});
    for (unsigned round = 0; round < 20; ++round) cell.serve(0);
  };
  bool full = false;
  std::array<std::uint8_t, 100> pdu;
  for (std::uint32_t i = 0; i < kHolders && !full; ++i) {
    for (unsigned page = 0; page < 28 && !full; ++page) {
      for (unsigned sdu = 0; sdu < 64; ++sdu) send(i);
      while (cell.pull(*cell.find(kId + i), pdu, 0) != 0) {
      }
      full = cell.find(kId + i)->view().tx_next != (page + 1) * 64;
      acknowledge(i, true);
    }
  }
  ASSERT_TRUE(full);
  send(kHolders);
  RadioUe& ue = *cell.find(kId + kHolders)->ue;
  phy::Slot slot{{1}, 0, 0};
  std::uint64_t number = 0;
  const auto is_served = [&] {
    bool served = false;
    for (unsigned i = 0; i < 20; ++i) {
      slot = phy::after(slot, 1);
      const std::uint64_t read = number++;
      for (const auto& [grant, block] : slots.run(cell, slot, number, 0, read)) {
        served |= grant.rnti == ue.rnti.value().value;
        (void)slots.feedback(*cell.find(Rnti{grant.rnti}), slot, true);
      }
    }
    return served;
  };
  EXPECT_FALSE(is_served());
  EXPECT_EQ(ue.downlink.mux().volume(), 6U);
  acknowledge(0, false);
  EXPECT_TRUE(is_served());
  UeParts out;
  for (std::uint32_t i = 0; i <= kHolders; ++i) {
    slots.remove(*cell.find(kId + i)->ue);
    cell.detach(BearerId{kId + i}, out);
  }
}

TEST(DownlinkSlots, blocks_from_before_a_reestablishment_are_not_sent_again) {
  Slots s(2);
  ASSERT_TRUE(s.send(0, numbered(1, 100)) && s.send(1, numbered(2, 100)));
  const auto sent = s.run();
  ASSERT_EQ(sent.size(), 2U);
  const phy::Grant of_first = s.ue_of(sent[0].grant) == 0 ? sent[0].grant : sent[1].grant;
  for (const auto& [grant, block] : std::vector(sent.begin(), sent.end()))
    EXPECT_EQ(s.slots.feedback(*s.ue(s.ue_of(grant)), grant.slot, false), phy::Feedback::nacked);
  auto rnti = s.cell.take_rnti();
  ASSERT_TRUE(rnti);
  s.cell.reestablish(*s.cell.find(kId), *rnti, s.now);
  ASSERT_TRUE(s.send(0, numbered(3, 100)));
  const auto again = s.run();
  ASSERT_EQ(again.size(), 2U);
  for (const auto& [grant, block] : again) EXPECT_EQ(grant.retransmission, s.ue_of(grant) == 1);
  for (const auto& [grant, block] : again) {
    if (s.ue_of(grant) != 0) continue;
    EXPECT_EQ(grant.process, of_first.process);
    EXPECT_NE(grant.ndi, of_first.ndi) << "so the UE forgets the octets that it has of the old block";
    s.ends[0]->reestablish();
    s.deliver(0, block);
  }
  EXPECT_EQ(s.ends[0]->delivered, std::vector<Bytes>{numbered(3, 100)});
  EXPECT_EQ(s.slots.harq(*s.ue(0))->counters().discarded, 1U);
}

TEST(DownlinkSlots, more_ues_than_there_is_room_for_are_counted) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.most_ues = 1;
  Slots s(2, settings);
  ASSERT_TRUE(s.send(0, numbered(1, 100)) && s.send(1, numbered(1, 100)));
  EXPECT_EQ(s.run().size(), 1U);
  EXPECT_EQ(s.slots.no_place(), 1U);
}

TEST(DownlinkSlots, a_ue_without_a_place_gets_that_of_one_that_leaves) {
  DownlinkSlots::Settings settings = Slots::small();
  settings.most_ues = 1;
  Slots s(3, settings);
  for (std::uint32_t ue = 0; ue < 3; ++ue) {
    ASSERT_TRUE(s.send(ue, numbered(1, 100)));
    (void)s.run();
  }
  EXPECT_EQ(s.slots.no_place(), 2U);
  s.slots.remove(*s.ue(1));  // the one that waits longest leaves first
  EXPECT_FALSE(s.ue(1)->waits_for_downlink_place);
  s.slots.remove(*s.ue(0));
  const auto sent = s.run();  // nothing came for it since
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(s.ue_of(sent[0].grant), 2U);
  EXPECT_EQ(s.slots.no_place(), 2U);
}

}  // namespace
}  // namespace splitplane::datapath::test
