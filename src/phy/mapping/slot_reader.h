// The PHY's side: FAPI messages taken apart into grants. A PDU that is not possible, or that does not fit the others of
// its message, is left out and counted by reason. Nothing is allocated.
#pragma once

#include "base/counter.h"
#include "base/outcome_list.h"
#include "phy/fapi/dl_tti.h"
#include "phy/fapi/ul_dci.h"
#include "phy/fapi/ul_tti.h"
#include "phy/mapping/cell_shape.h"
#include "phy/mapping/rnti_index.h"
#include "wire/dci.h"

namespace splitplane::phy {

// A PDSCH with its DCI 1_0. The PDUs do not say whether it is a retransmission: the UE knows by the NDI.
struct DownlinkAssignment {
  Grant grant;
  std::uint16_t pdu_index = 0;  // of its block in TX_DATA.request
  std::uint8_t k1 = 0;          // slots until its HARQ-ACK: 1..8
};

// A DCI 0_0. The grant's slot is the one of the PUSCH.
struct UplinkAssignment {
  Grant grant;
  std::uint8_t k2 = 0;  // slots from the DCI to the PUSCH: 1..16
};

// A PUSCH that the PHY shall receive. The PDU has no NDI, but says whether it is a retransmission.
struct PuschOrder {
  Grant grant;
  std::uint32_t handle = 0;
  bool harq = false;  // with one HARQ-ACK
};

struct PucchOrder {
  Rnti rnti = 0;
  std::uint32_t handle = 0;
  std::uint8_t format = 0;  // 0 or 1
  bool harq = false;        // with one HARQ-ACK
  bool sr = false;          // with a chance for an SR
};

// clang-format off
#define SPLITPLANE_MAPPING_REFUSALS(X)                                                                  \
  X(unknown_pdu, "PDUs of a type that is not offered")                                                  \
  X(bad_dci, "DCIs that are not format 1_0 or 0_0 of this cell")                                        \
  X(bad_rnti, "PDUs or DCIs for an RNTI that is no C-RNTI")                                             \
  X(rnti_twice, "PDUs or DCIs for a UE that has one of its kind in the message already")                \
  X(too_many, "DCIs beyond 255 of a message")                                                           \
  X(dci_without_pdsch, "DCIs 1_0 without their PDSCH")                                                  \
  X(pdsch_without_dci, "PDSCHs without their DCI 1_0")                                                  \
  X(pdsch_differs, "PDSCHs whose PRBs, MCS or RV are not those of their DCI 1_0")                       \
  X(bad_pdsch, "PDSCHs with two codewords, or that are not of this cell")                               \
  X(bad_pusch, "PUSCHs without data, with CSI or several HARQ-ACKs, or that are not of this cell")      \
  X(bad_pucch, "PUCCHs of another format than 0 and 1, with CSI or several HARQ-ACKs, or with nothing") \
  X(tb_size, "PDSCHs and PUSCHs whose transport block has another size than TS 38.214 says")
// clang-format on

SPLITPLANE_OUTCOMES(MappingRefusal, SPLITPLANE_MAPPING_REFUSALS)

// One thread counts, any thread may read.
class MappingCounters {
 public:
  void count(MappingRefusal why) { counters_[static_cast<std::size_t>(why)].add(1); }
  [[nodiscard]] std::uint64_t counted(MappingRefusal why) const {
    return counters_[static_cast<std::size_t>(why)].get();
  }
  // f(name, text, count)
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < kMappingRefusalCount; ++i) {
      f(kMappingRefusalNames[i], kMappingRefusalTexts[i], counters_[i].get());
    }
  }

 private:
  std::array<Counter, kMappingRefusalCount> counters_;
};

class SlotReader {
 public:
  template <class T>
  using List = fapi::Bounded<T, fapi::kMaxPdus>;

  // Of the messages that follow. CellShape::k is not used, since DCIs say how many slots pass.
  explicit SlotReader(const CellShape& cell) : cell_(cell) {}
  void set(const CellShape& cell) { cell_ = cell; }

  // Each fills its lists anew. A UE is in a list once at most.
  void read(const fapi::DlTtiRequest& message, List<DownlinkAssignment>& out);
  void read(const fapi::UlDciRequest& message, List<UplinkAssignment>& out);
  void read(const fapi::UlTtiRequest& message, List<PuschOrder>& pusch, List<PucchOrder>& pucch);

  [[nodiscard]] const MappingCounters& counters() const { return counters_; }

 private:
  void count(MappingRefusal why) { counters_.count(why); }
  // Adds the UE under this number. False, and counted, if that is not possible.
  [[nodiscard]] bool add(RntiIndex& index, Rnti rnti, std::size_t number);
  [[nodiscard]] Slot slot_of(std::uint16_t sfn, std::uint16_t slot) const;
  [[nodiscard]] wire::dci::Bandwidth bandwidth() const { return {cell_.prbs, cell_.prbs}; }
  [[nodiscard]] bool is_of_cell(const fapi::Bwp& bwp) const;
  [[nodiscard]] bool is_of_cell(const fapi::PdschPdu& pdsch) const;
  [[nodiscard]] bool is_of_cell(const fapi::PuschPdu& pusch) const;
  void read_dcis(const fapi::PdcchPdu& pdcch);
  void read(const fapi::PdschPdu& pdsch, Slot slot, List<DownlinkAssignment>& out);
  void read(const fapi::DlDci& dci, Slot slot, List<UplinkAssignment>& out);
  void read(const fapi::PuschPdu& pusch, Slot slot, List<PuschOrder>& out);
  void read(const fapi::PucchPdu& pucch, List<PucchOrder>& out);

  CellShape cell_;
  MappingCounters counters_;
  RntiIndex first_, second_;                                   // UEs of the message, of both kinds of PDU or DCI in it
  fapi::Bounded<wire::dci::Format10, RntiIndex::kMost> dcis_;  // of DL_TTI.request, by the number in first_
};

}  // namespace splitplane::phy
