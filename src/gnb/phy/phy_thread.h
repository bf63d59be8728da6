// The thread that talks to the PHY of a worker in full mode, by nFAPI over UDP. What the PHY says goes to the worker as
// reports, and the worker's plans go to the PHY as messages of slots. It waits in the kernel, but for the time in which
// the worker's plan of a slot is due: then it looks every few microseconds, so that the worker needs no system call.
//
//   SLOT.indication(s) -> report -> worker plans slot s + lead -> DL_TTI, TX_DATA, UL_DCI of s + lead, UL_TTI of K
//   later
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "engine/wakeup.h"
#include "gnb/phy/counters.h"
#include "phy/link/phy_link.h"
#include "phy/mapping/slot_writer.h"
#include "radio/phy_exchange.h"

namespace splitplane::gnb {

class PhyThread final : phy::PhyLinkOwner {
 public:
  struct Settings {
    std::string worker;  // its name, for the log
    phy::UdpEnd local_p5, local_p7, p5, p7;
    phy::PhyLink::Settings link;
    phy::CellShape cell;
  };

  // Begins to ask for the PHY, which may start later, and again. Both references outlive the thread. Error: a port of
  // ours cannot be had.
  [[nodiscard]] static Expected<std::unique_ptr<PhyThread>> start(const Settings& settings,
                                                                  datapath::PhyExchange& exchange,
                                                                  datapath::Wakeup& worker);
  ~PhyThread();
  // Stops the PHY (STOP.request), and waits for its answer for a short while. Counters stay.
  void stop();
  PhyThread(const PhyThread&) = delete;
  PhyThread& operator=(const PhyThread&) = delete;

  [[nodiscard]] const PhyThreadCounters& counters() const { return counters_; }
  [[nodiscard]] const phy::PhyLink& link() const { return link_; }  // state() and counters() only

 private:
  PhyThread(const Settings& settings, datapath::PhyExchange& exchange, datapath::Wakeup& worker, phy::DatagramSocket p5,
            phy::DatagramSocket p7);

  void loop();
  void send_plans();
  void send(const datapath::SlotOrder& order);
  void wait();
  [[nodiscard]] phy::Time now() const;

  void phy_runs(const fapi::ParamResponse& capabilities) override;
  void phy_is_away() override;
  void config_is_refused(const fapi::ConfigResponse& response) override;
  void slot_begins(const fapi::SlotIndication& slot) override;
  void receive(const fapi::RxDataIndication& message) override;
  void receive(const fapi::CrcIndication& message) override;
  void receive(const fapi::UciIndication& message) override;
  void receive(const fapi::ErrorIndication&) override {}  // PhyLink counts them

  // Nothing, and counted: it is no slot of this cell.
  template <class Message>
  [[nodiscard]] std::optional<phy::Slot> slot_of(const Message& message);
  bool report(const datapath::PhyReport& report, wire::Octets octets = {});
  void begins_anew(datapath::PhyReport::Kind kind);
  [[nodiscard]] bool report_reset();
  // Nothing of this grant was sent: as if its block had come to nothing.
  void report_left_out(const phy::Grant& grant);
  void report_uci(phy::Slot slot, std::uint16_t rnti, bool has_harq, std::uint8_t harq, bool request);

  Settings settings_;
  datapath::PhyExchange& exchange_;
  datapath::Wakeup& worker_;
  phy::PhyLink link_;
  phy::SlotWriter writer_;
  std::vector<phy::DownlinkBlock> downlink_;  // of the plan that is sent
  PhyThreadCounters counters_;
  phy::Time plan_due_since_ = 0;                        // 0: no plan is due
  std::uint64_t slots_done_ = 0;                        // by the worker, at the last look
  std::optional<datapath::PhyReport::Kind> reset_due_;  // it found no room yet
  bool refusal_said_ = false;                           // the log has it
  int stop_event_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace splitplane::gnb
