// For tests only: both sides of an emulated air. TestTerminals are UEs with HARQ and numbered transport blocks. TestL2
// grants each UE the same PRBs in each slot in which it has something to send.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "phy/emulator/emulator.h"
#include "phy/mapping/slot_writer.h"
#include "phy/slots/harq_receiver.h"
#include "phy/slots/harq_uplink.h"

namespace splitplane::phy::test {

using Block = std::vector<std::uint8_t>;
using BlockPtr = std::shared_ptr<const Block>;

// A block that tells its number, and whose other octets follow from it.
inline BlockPtr numbered(std::uint32_t number, std::size_t bytes) {
  auto block = std::make_shared<Block>(bytes);
  wire::store_be32(block->data(), number);
  for (std::size_t i = 4; i < bytes; ++i) (*block)[i] = static_cast<std::uint8_t>(number * 7 + i);
  return block;
}
// Its number; nothing if it is another block.
inline std::optional<std::uint32_t> number_of(wire::Octets block) {
  if (block.size() < 4) return std::nullopt;
  const std::uint32_t number = wire::load_be32(block.data());
  const BlockPtr same = numbered(number, block.size());
  return std::ranges::equal(*same, block) ? std::optional(number) : std::nullopt;
}

class TestTerminals final : public Terminals {
 public:
  struct Ue {
    HarqReceiver receiver;
    HarqUplink<BlockPtr> sender;
    std::vector<std::uint32_t> received;    // numbers of new blocks, in order
    std::map<std::uint32_t, Grant> grants;  // by the index of their slot
    std::uint32_t next = 0;                 // the number of the next uplink block
    unsigned backlog = 0;                   // uplink blocks that wait
    std::vector<BlockPtr> on_air;
  };

  void phy_starts() override {
    ++starts;
    for (auto& [rnti, ue] : ues) {
      ue.receiver.reset();
      ue.sender.reset([](const BlockPtr&) {});
      ue.grants.clear();
    }
  }
  Answer receive(const Grant& grant, wire::Octets block, bool decoded, Slot now) override {
    calls += 'r';
    wrong += grant.slot == now && grant.direction == Direction::kDownlink && block.size() == grant.tb_bytes ? 0 : 1;
    const auto found = ues.find(grant.rnti);
    if (found == ues.end()) return Answer::kNone;
    switch (found->second.receiver.receive(grant.process, grant.ndi, decoded)) {
      case HarqReception::delivered: {
        const auto number = number_of(block);
        wrong += number ? 0 : 1;
        found->second.received.push_back(number.value_or(0));
        return Answer::kAck;
      }
      case HarqReception::duplicate:
        return Answer::kAck;
      case HarqReception::failed:
        return Answer::kNack;
      case HarqReception::no_process:
        break;
    }
    return Answer::kNone;
  }
  void granted(const Grant& grant) override {
    calls += 'g';
    if (const auto found = ues.find(grant.rnti); found != ues.end()) found->second.grants[grant.slot.index()] = grant;
  }
  wire::Octets transmit(Rnti rnti, Slot now) override {
    calls += 't';
    const auto found = ues.find(rnti);
    if (found == ues.end()) return {};
    Ue& ue = found->second;
    const auto grant = ue.grants.extract(now.index());
    wrong += grant ? 0 : 1;
    if (!grant) return {};
    const BlockPtr* const block = ue.sender.granted(
        grant.mapped(),
        [&]() -> BlockPtr {
          ue.backlog -= ue.backlog == 0 ? 0 : 1;  // without data it sends padding
          return numbered(ue.next++, grant.mapped().tb_bytes);
        },
        [](const BlockPtr&) {});
    if (block == nullptr) return {};
    ue.on_air.push_back(*block);
    return **block;
  }
  bool requests(Rnti rnti, Slot) override {
    calls += 's';
    const auto found = ues.find(rnti);
    return found != ues.end() && found->second.backlog != 0;
  }
  void end_slot(Slot now) override {
    calls += 'e';
    for (auto& [rnti, ue] : ues) {
      ue.on_air.clear();
      ue.grants.erase(now.index());
    }
  }

  [[nodiscard]] bool waits() const {
    return std::ranges::any_of(ues, [](const auto& ue) { return ue.second.backlog != 0; });
  }

  std::map<Rnti, Ue> ues;
  std::string calls;
  unsigned starts = 0;
  unsigned wrong = 0;  // what an emulator must not do
};

class TestL2 {
 public:
  struct Ue {
    explicit Ue(const HarqSettings& settings) : down(settings), up(settings) {}

    HarqSender<BlockPtr> down;
    HarqSender<int> up;
    std::map<std::uint32_t, std::uint8_t> sent;  // process by the index of the slot
    unsigned backlog = 0;                        // downlink blocks that wait
    std::uint32_t next = 0;                      // the number of the next one
    unsigned granted = 0;                        // uplink blocks that may be sent
    std::vector<std::uint32_t> received;         // uplink blocks, as they came
    unsigned acks = 0, nacks = 0, requests = 0;
  };

  explicit TestL2(const CellShape& cell, std::size_t ues) : cell_(cell), writer_(cell) {
    const HarqSettings harq{.max_retransmissions = 200, .feedback_slots = 100, .waiting_slots = 4000};
    for (std::size_t i = 0; i < ues; ++i) ues_.emplace(static_cast<Rnti>(100 + i), harq);
    each_ = static_cast<std::uint16_t>(cell.prbs / ues);
  }

  // The messages of a slot are in writer() then.
  void plan(Slot slot) {
    std::vector<DownlinkBlock> downlink;
    std::vector<Grant> uplink;
    std::vector<Rnti> chances;
    std::uint16_t prb = 0;
    kept_.clear();
    for (auto& [rnti, ue] : ues_) {
      ue.down.expire(slot, [](auto) {}, [](const auto&) {});
      ue.up.expire(slot, [](auto) {}, [](auto) {});
      if (auto grant = next_grant(ue.down, rnti, prb, slot, Direction::kDownlink, ue.backlog != 0)) {
        if (!grant->retransmission) {
          --ue.backlog;
          ue.down.start(*grant, numbered(ue.next++, grant->tb_bytes));
        }
        ue.sent[slot.index()] = grant->process;
        kept_.push_back(ue.down.block(grant->process));
        downlink.push_back({*grant, *kept_.back()});
      }
      if (auto grant = next_grant(ue.up, rnti, prb, after(slot, cell_.k), Direction::kUplink, ue.granted != 0)) {
        if (!grant->retransmission) {
          --ue.granted;
          ue.up.start(*grant, 1);
        }
        uplink.push_back(*grant);
      } else {
        chances.push_back(rnti);
      }
      prb = static_cast<std::uint16_t>(prb + each_);
    }
    writer_.write({slot, downlink, uplink, chances});
  }

  void take(const fapi::CrcIndication& message) {
    for (const auto& crc : message.crcs) {
      ++crcs;
      Ue& ue = ues_.at(crc.rnti);
      const bool right = crc.tb_crc_status == 0;
      right_crcs += right ? 1 : 0;
      const Feedback what = ue.up.feedback(crc.harq_id, slot_of(message), right, [](int) {});
      wrong += what == (right ? Feedback::acked : Feedback::nacked) ? 0 : 1;
    }
  }
  void take(const fapi::RxDataIndication& message) {
    ++rx_data_messages;
    for (const auto& pdu : message.pdus) {
      const auto number = number_of(pdu.pdu.octets);
      wrong += number ? 0 : 1;
      ues_.at(pdu.rnti).received.push_back(number.value_or(0));
    }
  }
  void take(const fapi::UciIndication& message) {
    for (const auto& pdu : message.ucis) {
      if (const auto* const pusch = std::get_if<fapi::UciPuschPdu>(&pdu.body)) {
        answered(slot_of(message), pusch->rnti, pusch->harq.crc != 1 && pusch->harq.bits.octets[0] == 1);
        continue;
      }
      const auto& pucch = std::get<fapi::UciPucchFormat01Pdu>(pdu.body);
      if ((pucch.pdu_bitmap & fapi::kUciHasHarq) != 0) {
        answered(slot_of(message), pucch.rnti, pucch.harq_values[0] == 0);
      }
      if (pucch.sr_indication == 0) continue;
      ++ues_.at(pucch.rnti).requests;
      ues_.at(pucch.rnti).granted = 3;
    }
  }

  [[nodiscard]] const SlotWriter& writer() const { return writer_; }
  [[nodiscard]] std::map<Rnti, Ue>& ues() { return ues_; }
  // Nothing waits, and nothing is on the air.
  [[nodiscard]] bool idle() const {
    return std::ranges::all_of(ues_, [](const auto& entry) {
      const Ue& ue = entry.second;
      return ue.backlog == 0 && ue.granted == 0 && !ue.down.active() && !ue.up.active();
    });
  }

  unsigned crcs = 0, right_crcs = 0, rx_data_messages = 0;
  unsigned wrong = 0;  // what a PHY must not do

 private:
  template <class Message>
  [[nodiscard]] Slot slot_of(const Message& message) const {
    return {cell_.numerology, message.sfn, static_cast<std::uint8_t>(message.slot)};
  }
  void answered(Slot now, Rnti rnti, bool ack) {
    Ue& ue = ues_.at(rnti);
    const Slot sent_in = after(now, -std::int64_t{cell_.k});
    const auto process = ue.sent.extract(sent_in.index());
    ++(ack ? ue.acks : ue.nacks);
    const Feedback what =
        process ? ue.down.feedback(process.mapped(), sent_in, ack, [](const auto&) {}) : Feedback::no_process;
    wrong += what == (ack ? Feedback::acked : Feedback::nacked) ? 0 : 1;
  }
  // A retransmission, or else a new block if there is `data`.
  template <class Sender>
  std::optional<Grant> next_grant(Sender& sender, Rnti rnti, std::uint16_t prb, Slot slot, Direction direction,
                                  bool data) {
    Grant grant{.slot = slot,
                .rnti = rnti,
                .direction = direction,
                .mcs = 12,
                .first_prb = prb,
                .prbs = each_,
                .tb_bytes = tb_bytes(cell_.shape, 12, each_)};
    for (std::uint8_t process = 0; process < kHarqProcesses; ++process) {
      if (!sender.waits(process)) continue;
      const Retransmission again = sender.waiting(process, 0);
      grant.retransmission = true;
      grant.process = process;
      grant.ndi = again.ndi;
      grant.rv = again.rv;
      sender.retransmit(process, slot);
      return grant;
    }
    grant.process = sender.free_process();
    if (!data || grant.process == kNoProcess) return std::nullopt;
    grant.ndi = sender.next_ndi(grant.process);
    return grant;
  }

  CellShape cell_;
  SlotWriter writer_;
  std::map<Rnti, Ue> ues_;
  std::vector<BlockPtr> kept_;  // of the slot in the writer
  std::uint16_t each_ = 0;
};

// Numbers 0 to count - 1, each once, in any order.
inline bool all_once(std::vector<std::uint32_t> numbers, std::size_t count) {
  std::ranges::sort(numbers);
  if (numbers.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

}  // namespace splitplane::phy::test
