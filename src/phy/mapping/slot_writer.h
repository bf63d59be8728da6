// The L2's side: what a slot carries, as FAPI messages. It allocates nothing after the start, and copies no octets of
// blocks.
//
//   SlotGrants of slot n -> DL_TTI(n): DCI 1_0 and PDSCH    TX_DATA(n): their blocks    UL_DCI(n): DCI 0_0
//                           UL_TTI(n + k): PUSCH of these DCIs, HARQ-ACKs of these PDSCHs, chances for an SR
//
// HARQ-ACK and SR of a UE go on one PUCCH. If the UE has a PUSCH in that slot, its HARQ-ACK goes there, and it has no
// chance for an SR: a BSR in the PUSCH says more.
//
// DCIs take the CCEs of the CORESET in turn, and PUCCHs their PRBs and cyclic shifts: the search spaces of TS 38.213
// 10.1 and PUCCH resources of RRC are not there.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/outcome_list.h"
#include "phy/fapi/dl_tti.h"
#include "phy/fapi/tx_data.h"
#include "phy/fapi/ul_dci.h"
#include "phy/fapi/ul_tti.h"
#include "phy/mapping/cell_shape.h"
#include "phy/mapping/rnti_index.h"
#include "wire/dci.h"

namespace splitplane::phy {

struct DownlinkBlock {
  Grant grant;
  wire::Octets block;
};

struct SlotGrants {
  Slot slot;                                // n: of the DCIs and PDSCHs
  std::span<const DownlinkBlock> downlink;  // one a UE at most
  std::span<const Grant> uplink;            // PUSCHs of slot n + k, one a UE at most
  std::span<const Rnti> request_chances;    // UEs that may send an SR in slot n + k
};

// Why a grant, or a chance for an SR, is in no message.
#define SPLITPLANE_LEFT_OUT(X)                                                            \
  X(no_cce, "the CORESET of the slot has no place for a further DCI")                     \
  X(no_pucch, "the slot has no PUCCH resource for a further SR")                          \
  X(tx_data_full, "TX_DATA.request is longer than P7 can send with this block")           \
  X(rnti_twice, "the UE has a grant of this direction in the slot already")               \
  X(bad_grant, "RNTI, HARQ process, MCS, RV, PRBs or size are not possible in this cell") \
  X(bad_slot, "the grant is for another slot than the messages")

SPLITPLANE_OUTCOMES(LeftOut, SPLITPLANE_LEFT_OUT)

class SlotWriter {
 public:
  // CellShape::wrong() of the cell is empty.
  explicit SlotWriter(const CellShape& cell);

  // Makes the messages of a slot. Those of the slot before are gone. Blocks are read when the messages are sent.
  void write(const SlotGrants& grants);

  // Calls send(message) for the messages of the slot: DL_TTI, TX_DATA, UL_DCI, UL_TTI. DL_TTI and UL_TTI are sent when
  // empty, too, so that the PHY sees that the L2 is there. Returns for how many of them `send` returned false.
  template <class Send>
  unsigned send(Send&& send) const {
    unsigned failed = send(std::as_const(*dl_tti_)) ? 0 : 1;
    if (!tx_data_->pdus.empty()) failed += send(std::as_const(*tx_data_)) ? 0 : 1;
    if (!ul_dci_->pdus.empty()) failed += send(std::as_const(*ul_dci_)) ? 0 : 1;
    return failed + (send(std::as_const(*ul_tti_)) ? 0 : 1);
  }

  // Grants of the last slot that are in no message, with their direction. The UE gets nothing of them, and no feedback
  // comes: the caller takes each for a NACK, or for a wrong CRC. Memory for 510 of them is there at the start.
  [[nodiscard]] std::span<const Grant> left_out() const { return left_out_; }
  // Since the start, with chances for an SR.
  [[nodiscard]] std::uint64_t counted(LeftOut why) const { return counters_[static_cast<std::size_t>(why)]; }

  [[nodiscard]] const fapi::DlTtiRequest& dl_tti() const { return *dl_tti_; }
  [[nodiscard]] const fapi::TxDataRequest& tx_data() const { return *tx_data_; }
  [[nodiscard]] const fapi::UlDciRequest& ul_dci() const { return *ul_dci_; }
  [[nodiscard]] const fapi::UlTtiRequest& ul_tti() const { return *ul_tti_; }

 private:
  [[nodiscard]] bool is_possible(const Grant& grant) const;
  void leave_out(const Grant& grant, LeftOut why);
  void count(LeftOut why) { ++counters_[static_cast<std::size_t>(why)]; }
  template <class Message>
  [[nodiscard]] fapi::DlDci& add_dci(Message& message, fapi::PdcchPdu*& last, Rnti rnti, unsigned cce) const;
  void add(const DownlinkBlock& block, Slot slot);
  void add(const Grant& uplink, Slot slot);
  void order_pusch(const Grant& grant);
  // False if there is no resource.
  [[nodiscard]] bool order_pucch(Rnti rnti, bool harq, bool sr);
  [[nodiscard]] fapi::Bwp bwp() const;
  [[nodiscard]] wire::dci::Bandwidth bandwidth() const { return {cell_.prbs, cell_.prbs}; }

  CellShape cell_;
  std::unique_ptr<fapi::DlTtiRequest> dl_tti_ = std::make_unique<fapi::DlTtiRequest>();
  std::unique_ptr<fapi::TxDataRequest> tx_data_ = std::make_unique<fapi::TxDataRequest>();
  std::unique_ptr<fapi::UlDciRequest> ul_dci_ = std::make_unique<fapi::UlDciRequest>();
  std::unique_ptr<fapi::UlTtiRequest> ul_tti_ = std::make_unique<fapi::UlTtiRequest>();
  RntiIndex downlink_, uplink_;  // UEs of the slot
  RntiIndex chances_, alone_;    // those with a chance for an SR, and those with nothing else
  unsigned dl_dcis_ = 0, ul_dcis_ = 0;
  fapi::PdcchPdu *dl_pdcch_ = nullptr, *ul_pdcch_ = nullptr;  // the last ones of their messages
  std::size_t tx_data_bytes_ = 0;
  std::vector<Grant> left_out_;
  std::array<std::uint64_t, kLeftOutCount> counters_{};
};

}  // namespace splitplane::phy
