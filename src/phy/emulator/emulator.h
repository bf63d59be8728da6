// A PHY without radio: it keeps the messages of coming slots, and when a slot is over it carries the slot's transport
// blocks between the L2 and the terminals. Blocks and DCIs are lost as AirLoss says. The terminals' answers go back in
// the slots and on the channels that UL_TTI.request orders; what was not ordered is not heard.
//
//   DL_TTI, TX_DATA(n) -> block -> Terminals::receive -> answer, kept until n + k1 -> UCI.indication
//   UL_DCI(n) -> Terminals::granted; in n + k2: Terminals::transmit -> CRC.indication, RX_DATA.indication
//
// As on a real air, a UE that has a PUSCH in a slot sends its HARQ-ACK there and no SR; UCI is never lost. A UE whose
// grant did not reach it sends nothing, and the PHY finds a wrong CRC.
//
// It has no socket, thread or clock, and allocates nothing after the start. One thread owns it, and any may read the
// counters.
#pragma once

#include <memory>
#include <vector>

#include "phy/channel/impairment.h"
#include "phy/emulator/air_loss.h"
#include "phy/emulator/emulator_counters.h"
#include "phy/emulator/terminals.h"
#include "phy/link/phy_peer.h"
#include "phy/mapping/slot_reader.h"
#include "phy/mapping/tx_blocks.h"

namespace splitplane::phy {

// Takes what a PHY says of a slot, e.g. to send it. A message and its payloads are valid during the call.
class Indications {
 public:
  virtual ~Indications() = default;
  // An entry for each PUSCH that UL_TTI.request ordered.
  virtual void take(const fapi::CrcIndication& message) = 0;
  // An entry for each of these whose CRC is right. A slot may have several such messages.
  virtual void take(const fapi::RxDataIndication& message) = 0;
  // An entry for each HARQ-ACK ordered, and for each SR that came.
  virtual void take(const fapi::UciIndication& message) = 0;
};

class Emulator final : public PhyPeerOwner {
 public:
  struct Settings {
    TbShape shape;  // as the L2's: it gives the sizes of uplink blocks
    std::uint64_t seed = 1;
    AirLoss loss;
    // The longest TX_DATA.request and RX_DATA.indication: what P7 cuts into 128 datagrams.
    std::size_t most_data_bytes = CellShape{}.most_tx_data_bytes;
  };

  Emulator(const Settings& settings, Terminals& terminals, AirObserver* observer = nullptr);
  ~Emulator() override;

  // Applies from the next slot on.
  void set(const AirLoss& loss);
  [[nodiscard]] const AirLoss& loss() const { return loss_; }

  // True from START.request to STOP.request.
  [[nodiscard]] bool running() const { return running_; }
  // START.requests so far.
  [[nodiscard]] std::uint64_t starts() const { return starts_; }
  // Of the cell that the L2 configured; of use while it runs.
  [[nodiscard]] const CellShape& cell() const { return cell_; }

  // This slot, of a SLOT.indication, is over: the messages for it that came in time are here. Slots come in order, each
  // once; the first is the first SLOT.indication.
  void end_slot(const fapi::SlotIndication& slot, Indications& to);

  void phy_starts(const fapi::ConfigRequest& config) override;
  void phy_stops() override;
  void l2_is_away() override {}  // it sends nothing, so nothing happens in a slot
  void receive(const fapi::DlTtiRequest& message) override;
  void receive(const fapi::UlTtiRequest& message) override;
  void receive(const fapi::TxDataRequest& message) override;
  void receive(const fapi::UlDciRequest& message) override;

  [[nodiscard]] const EmulatorCounters& counters() const { return counters_; }
  // What was refused in messages, by reason.
  [[nodiscard]] const MappingCounters& refused() const { return reader_.counters(); }

 private:
  struct Held;  // of a coming slot
  struct Pusch;

  // Slots that are held: a message is 30 slots early at most, and a grant is for 16 slots later.
  static constexpr unsigned kSlots = 32;

  [[nodiscard]] Held& held(Slot slot);
  // What is held of a message's slot; nullptr, and counted, if that is over, or `has` says that it is the second one.
  [[nodiscard]] Held* place_of(std::uint16_t sfn, std::uint16_t slot, bool Held::* has);
  void forget();
  [[nodiscard]] bool dci_is_lost() { return dci_.unit() <= dci_share_; }
  void run_downlink(Held& held, Slot now);
  void keep_answer(Rnti rnti, bool ack, Slot when);
  void run_grants(Held& held);
  void run_pusch(Held& held, Slot now);
  void tell_pusch(const Held& held, Slot now, Indications& to);
  void tell_uci(Held& held, Slot now, Indications& to);
  // The answer of a UE in this slot, if it was not taken yet.
  [[nodiscard]] std::optional<bool> take_answer(Held& held, Rnti rnti);
  void observe(const Grant& grant, wire::Octets block, bool decoded);

  Terminals& terminals_;
  AirObserver* observer_;
  std::size_t most_data_bytes_;
  AirLoss loss_;
  Impairment downlink_, uplink_;
  Random dci_;
  double dci_share_ = 0;
  bool running_ = false;
  std::uint64_t starts_ = 0;
  CellShape cell_;
  SlotReader reader_;
  Slot next_;  // the first one that is not over
  std::vector<std::unique_ptr<Held>> held_;
  // Of the slot that is run: its PUSCHs by the number of their order, and UEs that send one.
  std::unique_ptr<std::array<Pusch, fapi::kMaxPdus>> pusch_;
  RntiIndex orders_, senders_;
  std::unique_ptr<fapi::CrcIndication> crc_ = std::make_unique<fapi::CrcIndication>();
  std::unique_ptr<fapi::RxDataIndication> rx_data_ = std::make_unique<fapi::RxDataIndication>();
  std::unique_ptr<fapi::UciIndication> uci_ = std::make_unique<fapi::UciIndication>();
  EmulatorCounters counters_;
};

}  // namespace splitplane::phy
