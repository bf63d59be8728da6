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
#include "ran/intrusive_queue.h"

namespace splitplane::datapath {

class DownlinkSlots {
 public:
  struct Settings {
    std::uint16_t prbs = 273;  // of a slot
    phy::TbShape shape;
    std::uint8_t mcs = 20;          // of all UEs: their channels are not known
    std::size_t most_ues = 1024;    // in the cell
    std::size_t most_grants = 64;   // in a slot
    std::size_t most_blocks = 256;  // that HARQ holds
    phy::HarqSettings harq;
  };
  struct Counters {
    std::uint64_t slots = 0;
    std::uint64_t no_place = 0;  // UEs that came when most_ues were there: they wait until one leaves
    std::uint64_t no_block = 0;  // grants for which there was no memory: their UEs wait
  };
  // What the PHY sends. The block stays as it is until the next slot at least.
  struct Sent {
    phy::Grant grant;
    wire::Octets block;
  };

  explicit DownlinkSlots(const Settings& settings);

  // What goes out in this slot, until the next call.
  std::span<const Sent> run(Cell& cell, phy::Slot slot, Time now);
  // What a UE said of the block that this process sent in `sent_in`.
  phy::Feedback feedback(const RadioUe& ue, std::uint8_t process, phy::Slot sent_in, bool ack);
  // The UE leaves the cell: its blocks go, and the UE that waits longest gets its place. Before the UE is destroyed.
  void remove(RadioUe& ue);

  [[nodiscard]] const Counters& counters() const { return counters_; }
  // nullptr: the UE never had data.
  [[nodiscard]] const phy::HarqSender<BlockPool::Block>* harq(const RadioUe& ue) const {
    return ue.place == RadioUe::kNoPlace ? nullptr : &harq_.ue(ue.place);
  }
  [[nodiscard]] std::size_t blocks_free() const { return blocks_.available(); }

 private:
  using Block = BlockPool::Block;

  void look_at(Cell& cell);
  void give_place(RadioUe& ue);
  void look_at(const RadioUe& ue);
  void build(Cell& cell, Time now);

  Settings settings_;
  BlockPool blocks_;
  phy::RoundRobin scheduler_;
  phy::HarqCell<Block> harq_;
  std::vector<phy::UeFacts> facts_;  // by place
  std::vector<std::uint16_t> free_places_;
  ran::IntrusiveQueue<RadioUe, &RadioUe::next_waiting, &RadioUe::waits_for_place> without_place_;
  std::vector<phy::Grant> grants_;
  std::vector<Cell::BlockOrder> orders_;
  std::vector<Block> new_blocks_;
  std::vector<Sent> sent_;
  Counters counters_;
};

}  // namespace splitplane::datapath
