// For tests of radio only: UEs with MAC and HARQ of both directions, and the slots of their cell over an air that loses
// transport blocks, grants, and what the PHY would say of them.
#pragma once

#include <functional>

#include "phy/slots/harq_receiver.h"
#include "phy/slots/harq_uplink.h"
#include "radio/cell_slots.h"
#include "radio/test_cells.h"
#include "ran/mac/uplink.h"

namespace splitplane::datapath::test {

// UM waits longer than HARQ may take.
inline ran::BearerConfig patient_bearer(RlcMode mode, std::uint32_t id = kId) {
  ran::BearerConfig config = bearer(mode, 12, id);
  if (mode == RlcMode::kUm) config.arq.t_reassembly_ms = 1000;
  return config;
}

class TestUe {
 public:
  explicit TestUe(RlcMode mode) : end(patient_bearer(mode), 1023) { begin(); }

  End end;
  phy::HarqReceiver receiver;

  // MAC is reset and RLC begins anew.
  void reestablish() {
    end.reestablish();
    receiver.reset();
    sender_.reset([](const Bytes&) {});
    begin();
  }
  // It wants to send a scheduling request (TS 38.321 5.4.5: a regular BSR waits, and no grant is there for it).
  bool asks() {
    uplink_->tick(end.now);
    return uplink_->bsr().regular();
  }
  // What it sends for a grant; nullptr: nothing.
  const Bytes* transmit(const phy::Grant& grant) {
    const auto make = [&] {
      Bytes block(grant.tb_bytes);
      wire::MutableOctets memory = block;
      EXPECT_TRUE(uplink_->build(gather_, memory, block.size(), {}, end.now));
      gather_.flush();
      (void)end.pull(0);  // its cell looks at what is left
      return block;
    };
    return sender_.granted(grant, make, [](const Bytes&) {});
  }
  // A downlink block. Returns the HARQ-ACK.
  bool receive(const phy::Grant& grant, wire::Octets block, bool decoded) {
    const phy::HarqReception what = receiver.receive(grant.process, grant.ndi, decoded);
    if (what == phy::HarqReception::delivered) {
      end.cell.demultiplex(*end.channel().ue, block, [&](LogicalChannel& channel, rte_mbuf* m) {
        end.cell.receive(channel, MbufBuffer(m), end.now,
                         [&](const LogicalChannel&, MbufBuffer sdu) { end.delivered.push_back(content(sdu)); });
      });
    }
    return what == phy::HarqReception::delivered || what == phy::HarqReception::duplicate;
  }

 private:
  void begin() {
    uplink_.emplace(ran::mac::UplinkConfig{
        .ticks_per_second = 1000 * kMs, .bsr = {.periodic = 20 * kMs, .retx = 80 * kMs}, .phr = ran::mac::PhrConfig{}});
    end.channel().visit([&](auto& entity) { EXPECT_TRUE(uplink_->add({.lcid = Cell::kFirstLcid}, entity, end.now)); });
  }

  std::optional<ran::mac::Uplink<MbufBuffer>> uplink_;
  ran::mac::Gather<MbufBuffer> gather_;
  phy::HarqUplink<Bytes> sender_;
};

// A gNB's cell with its slots, and one bearer for each of its UEs.
class TestCell {
 public:
  explicit TestCell(unsigned ues, CellSlots::Settings settings = small(), RlcMode mode = RlcMode::kAm)
      : slots(settings), after_(settings.uplink_after), blocks_(settings.downlink.most_blocks) {
    cell.attach(ShardId{2}, ues + 1);
    delivered.resize(ues);
    for (std::uint32_t i = 0; i < ues; ++i) {
      const ran::BearerConfig config = patient_bearer(mode, kId + i);
      auto made = cell.make({&config, 1});
      EXPECT_TRUE(made);
      cell.attach(*made, 0);
      ends.push_back(std::make_unique<TestUe>(mode));
    }
    (void)plan();  // they have places now
  }
  ~TestCell() {
    for (std::uint32_t i = 0; i < ends.size(); ++i) release(i);
    (void)slots.run(cell, phy::after(slot, 1), now, number);
    EXPECT_EQ(slots.downlink().blocks_free(), blocks_);
    EXPECT_EQ(cell.held(), 0U);
    EXPECT_EQ(pool.in_use(), 0U);
  }
  // 52 PRBs with MCS 10 are some 1300 octets.
  static CellSlots::Settings small() {
    return {
        .downlink =
            {.prbs = 52, .mcs = 10, .most_ues = 8, .most_grants = 4, .most_blocks = 64, .harq = {.feedback_slots = 16}},
        .uplink = {.prbs = 52,
                   .mcs = 10,
                   .most_ues = 8,
                   .most_grants = 4,
                   .harq = {.feedback_slots = 16},
                   .request_period_slots = 10},
        .uplink_after = 4};
  }
  RadioUe* ue(std::uint32_t i) {
    LogicalChannel* const channel = cell.find(kId + i);
    return channel == nullptr ? nullptr : channel->ue;
  }
  // The number of the UE that has this C-RNTI; nothing: none has.
  std::optional<unsigned> who(phy::Rnti rnti) {
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      if (ue(i) != nullptr && ue(i)->rnti.value().value == rnti) return i;
    }
    return std::nullopt;
  }
  void release(std::uint32_t i) {
    UeParts out;
    cell.detach(BearerId{kId + i}, out);
    if (out.ue) slots.remove(*out.ue);
  }
  void reestablish(std::uint32_t i) {
    auto rnti = cell.take_rnti();
    ASSERT_TRUE(rnti);
    cell.reestablish(*cell.find(kId + i), *rnti, now);
  }
  bool send(std::uint32_t i, const Bytes& sdu) {
    LogicalChannel& channel = *cell.find(kId + i);
    if (!cell.has_room() || channel.room() == 0) return false;
    MbufBuffer buffer(pool.make(sdu));
    return buffer && cell.send(channel, buffer);
  }
  // A scheduling request.
  void request(phy::Rnti rnti) {
    ++requests;
    slots.requested(cell, Rnti{rnti});
  }
  void request(RadioUe* from) { request(from->rnti.value().value); }
  CellSlots::Plan plan() {
    slot = phy::after(slot, 1);
    now += kMs / 2;
    cell.serve(now);
    for (auto& end : ends) end->end.tick(now);
    const CellSlots::Plan made = slots.run(cell, slot, now, number);
    number = made.number;
    return made;
  }
  // As the PHY's indication of a PUSCH.
  // A block that a test wrote by hand is filled up to the size of its grant.
  UplinkReception received(const phy::Grant& grant, bool crc_ok, wire::Octets octets) {
    ++indications;
    Bytes block(octets.begin(), octets.end());
    if (!block.empty()) block.resize(grant.tb_bytes);
    return slots.received(cell, Rnti{grant.rnti}, grant.process, grant.slot, crc_ok, block,
                          [&](LogicalChannel& channel, rte_mbuf* m) {
                            cell.receive(channel, MbufBuffer(m), now, [&](const LogicalChannel& from, MbufBuffer sdu) {
                              delivered[from.id().value - kId].push_back(content(sdu));
                            });
                          });
  }
  // A whole slot, with what comes of it in later ones. `loss`: percent of each thing that can get lost.
  void run(unsigned loss = 0) {
    const CellSlots::Plan made = plan();
    for (const auto& [grant, block] : made.downlink) {
      const auto to = who(grant.rnti);
      ASSERT_TRUE(to);
      const bool ack = ends[*to]->receive(grant, block, !lost(loss));
      const bool heard = !lost(loss);  // DTX otherwise
      later(after_, [this, of = grant, ack, heard] { slots.feedback(cell, Rnti{of.rnti}, of.slot, ack && heard); });
    }
    for (const phy::Grant& grant : made.uplink) {
      const bool heard = !lost(loss);  // the DCI
      later(after_, [this, grant, heard, loss] { transmit(grant, heard, loss); });
    }
    for (const phy::Rnti rnti : made.request_chances) {
      later(after_, [this, rnti] {
        const auto from = who(rnti);
        if (!from || !ends[*from]->asks()) return;
        request(rnti);
      });
    }
    ++step_;
    while (!events_.empty() && events_.begin()->first <= step_) {
      const auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      event();
    }
  }
  // What was granted is delivered, given up, discarded, or still open.
  void expect_account() {
    const phy::HarqSenderCounters& harq = slots.uplink().harq_counters();
    const std::uint64_t right = harq.counted(phy::Feedback::acked) + harq.counted(phy::Feedback::late);
    std::uint64_t open = 0;
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      const auto* const of_ue = ue(i) == nullptr ? nullptr : slots.uplink().harq(*ue(i));
      for (std::uint8_t p = 0; of_ue != nullptr && p < phy::kHarqProcesses; ++p) open += of_ue->busy(p) ? 1 : 0;
    }
    EXPECT_EQ(harq.blocks, right + harq.counted(phy::Feedback::given_up) + harq.discarded + open);
    const UplinkSlots::Counters& uplink = slots.uplink().counters();
    EXPECT_EQ(uplink.counted(UplinkReception::delivered), right);
    EXPECT_EQ(stats.mac_received.get(), right);
    std::uint64_t received = slots.counters().blocks_of_no_ue;
    for (const std::uint64_t count : uplink.receptions) received += count;
    EXPECT_EQ(received, indications);
    EXPECT_EQ(uplink.requests + slots.counters().requests_of_no_ue, requests);
  }

  CellSlots slots;
  Pool pool{2047};
  WorkerStats stats;
  Cell cell{{.pool = pool.get(), .max_sdus = 1024, .ticks_per_ms = kMs}, stats};
  std::vector<std::unique_ptr<TestUe>> ends;
  std::vector<std::vector<Bytes>> delivered;  // at the gNB, of each UE
  phy::Slot slot{{1}, 1023, 17};              // soon the frame number begins anew
  Time now = 0;
  std::uint64_t number = 0;  // of the last plan
  std::uint64_t indications = 0, requests = 0, blocks_lost = 0;
  std::mt19937 random{7};

 private:
  bool lost(unsigned percent) { return random() % 100 < percent; }
  void later(unsigned slots_later, std::function<void()> event) { events_.emplace(step_ + slots_later, event); }
  void transmit(const phy::Grant& grant, bool heard, unsigned loss) {
    const auto from = who(grant.rnti);
    const Bytes* const block = heard && from ? ends[*from]->transmit(grant) : nullptr;
    const bool right = block != nullptr && !lost(loss);
    blocks_lost += right ? 0 : 1;
    if (lost(loss)) return;  // the PHY's indication
    later(1, [this, grant, right, octets = right ? *block : Bytes{}] { (void)received(grant, right, octets); });
  }

  unsigned after_;
  std::size_t blocks_;
  std::uint64_t step_ = 0;
  std::multimap<std::uint64_t, std::function<void()>> events_;
};

}  // namespace splitplane::datapath::test
