// The downlink of a cell, slot by slot: the scheduler grants PRBs to UEs with data, the cell builds their transport
// blocks, and HARQ keeps each block until the UE has it. The caller says which slot it is, and hands what the UEs
// answered to feedback(). It allocates nothing after the start.
#pragma once

#include <span>
#include <vector>

#include "phy/scheduler/round_robin.h"
#include "phy/slots/harq_cell.h"
#include "radio/block_pool.h"
#include "radio/cell.h"
#include "radio/ue_places.h"

namespace splitplane::datapath {

class DownlinkSlots {
 public:
  struct Settings {
    std::uint16_t prbs = 273;  // of a slot
    phy::TbShape shape;
    std::uint8_t mcs = 20;          // of all UEs: their channels are not known
    std::size_t most_ues = 1024;    // in the cell
    std::size_t most_grants = 64;   // in a slot
    std::size_t most_blocks = 256;  // that HARQ holds, or that the PHY has not read
    phy::HarqSettings harq;
  };
  struct Counters {
    std::uint64_t slots = 0;
    std::uint64_t feedback_without_place = 0;  // HARQ-ACKs of UEs that never had data
    std::uint64_t no_block = 0;                // slots in which UEs with data waited, because memory was scarce
    std::uint64_t silent = 0;                  // times that a UE began to answer nothing
  };
  // What the PHY sends. The block stays as it is until the PHY has read it.
  struct Sent {
    phy::Grant grant;
    wire::Octets block;
  };

  explicit DownlinkSlots(const Settings& settings);

  // What goes out in this slot, until the next call. `number` grows with each call and is above 0. `read`: as
  // give_back().
  std::span<const Sent> run(Cell& cell, phy::Slot slot, std::uint64_t number, Time now, std::uint64_t read);
  // What a UE said of the block that it had in the slot `sent_in`: there is one at most. If no process sent in that
  // slot, it counts as no_process.
  phy::Feedback feedback(const RadioUe& ue, phy::Slot sent_in, bool ack);
  // Frees the blocks that HARQ is done with, as far as the PHY has read all that it was sent by then: it has read what
  // run() returned for the number `read`, and before.
  void give_back(std::uint64_t read);
  // The UE leaves the cell: its blocks go, and the UE that waits longest gets its place. Before the UE is destroyed.
  void remove(RadioUe& ue);
  // The PHY stopped or began again: HARQ discards all blocks.
  void reset();

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // How often a UE had to wait because most_ues were there.
  [[nodiscard]] std::uint64_t no_place() const { return places_.no_place(); }
  [[nodiscard]] const phy::HarqSenderCounters& harq_counters() const { return harq_.counters(); }
  // nullptr: the UE never had data.
  [[nodiscard]] const phy::HarqSender<BlockPool::Block>* harq(const RadioUe& ue) const {
    return ue.downlink_place == RadioUe::kNoPlace ? nullptr : &harq_.ue(ue.downlink_place);
  }
  [[nodiscard]] std::size_t blocks_free() const { return blocks_.available(); }

 private:
  static constexpr unsigned kStalledPerSlot = 16;
  // Transmissions in a row of which none arrived, until a UE counts as silent: then it has one block at a time, so that
  // the memory is there for others, and it can be heard again.
  static constexpr std::uint64_t kMostMissed = phy::kHarqProcesses;

  using Block = BlockPool::Block;
  // A block that HARQ is done with, and the number of the slot that was the last one then.
  struct Retired {
    Block block;
    std::uint64_t number = 0;
  };

  struct Answers {
    std::uint64_t missed_before = 0;  // transmissions that did not arrive, until the last ACK
    bool silent = false;
    std::uint64_t begun = 0;  // the slot in which the UE got its place
    bool yields = false;      // it gets no new grants, since others wait for its place
  };

  void look_at(Cell& cell);
  void make_room();
  void enter(const RadioUe& ue);
  void leave(RadioUe& ue);
  void begin(const RadioUe& ue);
  struct Ready {
    std::size_t ues = 0;     // that may have another block
    bool held_back = false;  // a UE may not because it has its share of the memory
  };
  // Chooses a HARQ process for each UE with data that may have another block.
  Ready choose_processes();
  void look_at(RadioUe& ue);
  // HARQ's way to give a block back.
  auto retire() {
    return [this](Block block) { retire(std::move(block)); };
  }
  void retire(Block block);

  Settings settings_;
  BlockPool blocks_;
  phy::RoundRobin scheduler_;
  phy::HarqCell<Block> harq_;
  std::vector<phy::UeFacts> facts_;  // by place
  std::vector<Answers> answers_;     // by place
  std::size_t with_data_ = 0;        // UEs
  DownlinkPlaces places_;
  // UEs whose SDUs all wait for RLC. It may be other UEs that have the memory which they wait for, so the slots look at
  // some of them each time.
  ran::IntrusiveQueue<RadioUe, &RadioUe::next_stalled, &RadioUe::stalled> stalled_;
  std::vector<phy::Grant> grants_;
  std::vector<Cell::BlockOrder> orders_;
  std::vector<Block> new_blocks_;
  std::vector<Sent> sent_;
  std::vector<Retired> retired_;  // a ring, the oldest at first_retired_
  std::size_t first_retired_ = 0, retired_count_ = 0;
  std::uint64_t number_ = 0;  // of the last run()
  Counters counters_;
};

}  // namespace splitplane::datapath
