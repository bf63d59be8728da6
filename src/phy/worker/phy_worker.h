// The thread of `splitplane phy`: an emulated PHY and the UEs behind its air, with their TUN device, in one loop. It
// sleeps until a slot begins, or a datagram, a packet of the kernel or a command comes.
//
//   P5, P7 <-> EmulatedPhy -> Emulator: loss -> FullUe: HARQ, MAC, RLC, PDCP, SDAP <-> TUN
//                                 '-> MacCapture
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "engine/mailbox.h"
#include "phy/capture/mac_capture.h"
#include "phy/emulator/emulated_phy.h"
#include "ue/terminal/full_ue.h"

namespace splitplane::phy {

// One writer, the thread. `busy` is all time but that in which it waits in the kernel.
struct PhyWorkerStats {
  Counter rounds, waits, busy_cycles, asleep_cycles;
};

class PhyWorker {
 public:
  struct Settings {
    PhyPeer::Settings peer;
    Emulator::Settings emulator;
    ue::FullUe::Settings ues;       // with a TUN device
    MacCapture* capture = nullptr;  // outlives this object; none: no capture
  };

  PhyWorker(const Settings& settings, DatagramSocket p5, DatagramSocket p7);
  ~PhyWorker() { stop(); }
  PhyWorker(const PhyWorker&) = delete;
  PhyWorker& operator=(const PhyWorker&) = delete;

  [[nodiscard]] Expected<void> start(unsigned lcore);
  // The PHY goes silent: nFAPI has no message by which a PHY leaves. What the gNB sends from now on is lost.
  void stop();

  // Executes a command on the worker's thread between two rounds, or on this thread while the worker does not run.
  // Returns false if the worker does not answer; the command is then taken back.
  [[nodiscard]] bool execute(std::function<void()> command);

  // In execute(), but for counters, and for what these classes say is for other threads.
  [[nodiscard]] ue::FullUe& ues() { return ues_; }
  [[nodiscard]] EmulatedPhy& phy() { return phy_; }
  [[nodiscard]] const PhyWorkerStats& stats() const { return stats_; }

 private:
  void loop();
  void wait();
  [[nodiscard]] Ns wait_until(Ns now);

  ue::FullUe ues_;
  EmulatedPhy phy_;
  PhyWorkerStats stats_;
  int tun_;
  bool tun_gone_ = false;   // the device is removed: its descriptor would end each wait at once
  bool tun_waits_ = false;  // it has packets that the UEs do not read, for lack of room: no reason to wake
  double ns_per_tick_;
  datapath::Wakeup wakeup_;
  datapath::Mailbox mailbox_{&wakeup_};
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{false}, ended_{false};
  unsigned lcore_ = 0;
};

}  // namespace splitplane::phy
