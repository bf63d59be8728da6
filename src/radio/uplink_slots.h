// The uplink of a cell, slot by slot: UEs say what waits (scheduling requests and BSRs), the scheduler grants PUSCHs,
// and HARQ repeats the grant of each transport block that did not arrive. Each block that arrives is taken apart once.
// Here HARQ keeps no octets: the UE does. The caller says which slot it is, and hands over what came of it. It
// allocates nothing after the start.
//
//   attached to the cell -> a place -> chances to request -> requested() -> run(): a grant -> received(): BSR, SDUs
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "phy/scheduler/round_robin.h"
#include "phy/scheduler/uplink_demand.h"
#include "phy/slots/harq_cell.h"
#include "radio/cell.h"
#include "radio/ue_places.h"

namespace splitplane::datapath {

// What became of a PUSCH, as the PHY tells it.
#define SPLITPLANE_UPLINK_RECEPTIONS(X)                                                         \
  X(delivered, "right for the first time: the block was taken apart")                           \
  X(missing, "its CRC was wrong: the UE gets another grant for the block, or it was given up")  \
  X(superfluous, "it came before, or of no grant that is open: what came with it was not used") \
  X(no_ue, "of a C-RNTI that no UE has: what came with it was not used")

SPLITPLANE_OUTCOMES(UplinkReception, SPLITPLANE_UPLINK_RECEPTIONS)

// What HARQ of the uplink holds of a block is only whose it is: the octets are the UE's.
struct UplinkBlock {
  std::uint16_t place = 0;
};

class UplinkSlots {
 public:
  struct Settings {
    std::uint16_t prbs = 273;  // of a slot
    phy::TbShape shape;
    std::uint8_t mcs = 10;         // of all UEs: their channels are not known
    std::size_t most_ues = 1024;   // in the cell
    std::size_t most_grants = 64;  // in a slot
    // feedback_slots runs from the slot of the PUSCH, and grants are ahead of the PHY. So it counts the slots between
    // the grant and the CRC indication.
    phy::HarqSettings harq;
    unsigned request_takes_slots = 16;   // from its chance until a request is here
    unsigned request_period_slots = 20;  // each UE may send a scheduling request once in as many slots; at least 1
  };
  struct Counters {
    std::uint64_t slots = 0;
    std::uint64_t requests = 0;                                       // scheduling requests
    std::array<std::uint64_t, kUplinkReceptionCount> receptions{};    // of UEs that are here
    std::uint64_t short_bsrs = 0, long_bsrs = 0, truncated_bsrs = 0;  // also those that a younger one had overtaken
    std::uint64_t stale_bsrs = 0;                                     // of these: a younger one had come before
    std::uint64_t phrs = 0, crntis = 0, other_elements = 0;           // other control elements: counted, nothing else
    std::uint64_t silent = 0;  // times that a UE answered so few grants that its demand was forgotten
    [[nodiscard]] std::uint64_t counted(UplinkReception what) const {
      return receptions[static_cast<std::size_t>(what)];
    }
  };
  explicit UplinkSlots(const Settings& settings);

  // The PUSCHs that are granted in this slot, until the next call. `number` is that of the slot, since the start: it
  // never wraps and grows with each call.
  std::span<const phy::Grant> run(Cell& cell, phy::Slot pusch_slot, std::uint64_t number);
  // UEs that may send a scheduling request in the slot of the last run(). A UE with a PUSCH there has a BSR for that.
  [[nodiscard]] std::span<const phy::Rnti> request_chances() const { return chances_; }

  // A scheduling request of the UE came.
  void requested(const RadioUe& ue);
  // What the PHY says of the PUSCH that this process had in `slot`. A block that is right and new is taken apart:
  // pdu(LogicalChannel&, rte_mbuf*) gets its RLC PDUs, as in Cell::demultiplex().
  template <class TakePdu>
  UplinkReception received(Cell& cell, RadioUe& ue, std::uint8_t process, phy::Slot slot, bool crc_ok,
                           wire::Octets block, TakePdu&& pdu) {
    crc_ok = crc_ok && is_of_its_size(ue, process, block);
    const std::optional<std::uint64_t> built_in = judge(ue, process, slot, crc_ok);
    if (built_in) {
      cell.demultiplex(ue, block, pdu, [&](std::uint8_t lcid, wire::Octets contents) {
        return take_element(ue.uplink_place, *built_in, lcid, contents);
      });
      look_at(ue.uplink_place);
    }
    const UplinkReception what = built_in ? UplinkReception::delivered
                                 : crc_ok ? UplinkReception::superfluous
                                          : UplinkReception::missing;
    ++counters_.receptions[static_cast<std::size_t>(what)];
    return what;
  }
  // The UE leaves the cell, and the UE that waits longest gets its place. Before the UE is destroyed.
  void remove(RadioUe& ue);
  // The PHY stopped or began again: what was granted is discarded, and what UEs said is forgotten.
  void reset();

  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t no_place() const { return places_.no_place(); }
  [[nodiscard]] const phy::HarqSenderCounters& harq_counters() const { return harq_.counters(); }
  // nullptr: the UE has no place.
  [[nodiscard]] const phy::HarqSender<UplinkBlock>* harq(const RadioUe& ue) const {
    return ue.uplink_place == RadioUe::kNoPlace ? nullptr : &harq_.ue(ue.uplink_place);
  }
  [[nodiscard]] const phy::UplinkDemand* demand(const RadioUe& ue) const {
    return ue.uplink_place == RadioUe::kNoPlace ? nullptr : &ues_[ue.uplink_place].demand;
  }

 private:
  // Blocks in a row of which nothing arrived, until a UE counts as silent: it gets no grant until it asks again.
  static constexpr unsigned kMostMissing = 4;

  struct Ue {
    phy::UplinkDemand demand;
    unsigned missing = 0;                 // blocks in a row that were given up
    std::uint64_t last_grant_number = 0;  // of the last slot with a PUSCH of this UE
    std::uint64_t begun = 0;              // the slot in which it got its place
    bool yields = false;                  // it gets no new grants, since others wait for its place
  };

  void take_arrivals(Cell& cell);
  void make_room();
  void enter(const RadioUe& ue);
  void leave(RadioUe& ue);
  void begin(const RadioUe& ue);
  void forget(std::uint16_t place);
  void look_at(std::uint16_t place);
  void given_up(std::uint16_t place);
  void offer_chances();
  // The number of the slot in which the UE built the block, if the block is to be taken apart.
  std::optional<std::uint64_t> judge(const RadioUe& ue, std::uint8_t process, phy::Slot slot, bool crc_ok);
  // A block that is longer or shorter than its grant is none.
  [[nodiscard]] bool is_of_its_size(const RadioUe& ue, std::uint8_t process, wire::Octets block) const {
    if (ue.uplink_place == RadioUe::kNoPlace || process >= phy::kHarqProcesses) return true;
    const auto& harq = harq_.ue(ue.uplink_place);
    return !harq.busy(process) || block.size() == harq.tb_bytes(process);
  }
  // False: it is malformed.
  bool take_element(std::uint16_t place, std::uint64_t built_in, std::uint8_t lcid, wire::Octets contents);

  Settings settings_;
  phy::RoundRobin scheduler_;
  phy::HarqCell<UplinkBlock> harq_;
  std::vector<phy::UeFacts> facts_;  // by place
  std::vector<Ue> ues_;              // by place
  UplinkPlaces places_;
  std::vector<phy::Grant> grants_;
  std::vector<phy::Rnti> chances_;
  phy::Slot slot_;            // of the last run()
  std::uint64_t number_ = 0;  // of that slot
  Counters counters_;
};

}  // namespace splitplane::datapath
