// The UE side in full mode as one function, which the PHY's thread runs: bearers and sessions, PDCP in bursts, SDAP,
// and the TUN device of the first UEs. The packets of the other UEs are counted and freed.
//
//   downlink  TerminalCell (HARQ, MAC, RLC) -> take() -> PDCP -> SDAP -> IP -> TUN, or counted
//   uplink    TUN -> serve() -> bearer by source address and flow -> SDAP -> PDCP -> TerminalCell: RLC's queue
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ran/bearer_view.h"
#include "ue/bearer_watch.h"
#include "ue/terminal/terminal_cell.h"
#include "ue/tun.h"
#include "ue/ue_downlink.h"
#include "ue/ue_function.h"
#include "ue/ue_sessions.h"
#include "ue/ue_uplink.h"

namespace splitplane::ue {

class FullUe final : public SduSink {
 public:
  struct Settings {
    TerminalCell::Settings radio;  // with the pool of all packets. Its clock is the TSC: derived QoS rules end by it
    Tun* tun = nullptr;            // outlives this object; none: all UEs are sinks
    std::size_t tun_ues = 0;       // the UEs that use it: the first ones that come
  };
  // What a bearer has beside its line.
  struct Entities {
    TerminalCell::Parts radio;
    std::unique_ptr<datapath::SecuredBearer> secured;
    bool uses_tun = false;  // of change(): its UE has or had the TUN device
    bool refused = false;   // of change(): there is no place for the bearer
  };

  explicit FullUe(const Settings& settings);
  ~FullUe() override = default;
  FullUe(const FullUe&) = delete;
  FullUe& operator=(const FullUe&) = delete;

  // Before the first packet: PDCP, as the sender of the uplink, with the clock of Settings.
  void take_pdcp(std::unique_ptr<datapath::WorkerPdcp> pdcp) { pdcp_ = std::move(pdcp); }
  [[nodiscard]] datapath::WorkerPdcp* pdcp() { return pdcp_.get(); }

  // For the PHY emulator.
  [[nodiscard]] phy::Terminals& terminals() { return cell_; }

  // On the control thread: what a new bearer needs of RLC and MAC.
  [[nodiscard]] TerminalCell::Parts make_radio(const BearerChange& change);
  // Makes a change, which is not kRekey. `fresh` is for a bearer that is established. Returns what the control thread
  // must destroy.
  [[nodiscard]] Entities change(const BearerChange& change, Entities fresh);
  // Bearers whose RLC has failed here.
  [[nodiscard]] std::vector<BearerId> failed() const;
  // Blocks that named no UE: any thread may ask. It grows: the gNB has bearers that this side does not know yet.
  [[nodiscard]] std::uint64_t unknown() const { return cell_.stats().counted(DownlinkBlock::unknown_rnti); }

  // Packets of UEs, at most kBurst, on their way to RLC. They are this object's then.
  void send(datapath::Burst& burst);

  // Once per round, before the slot's work: timers, and the packets of the TUN device, a few bursts at most. Returns
  // the number of these packets.
  unsigned serve(Time now);
  // The time of the next work that neither a slot nor the TUN device announces. A time up to `now` means now.
  [[nodiscard]] Time next_work(Time now) const;

  [[nodiscard]] std::optional<app::BearerView> show(BearerId id);
  // Ascending, at most `limit` bearers with an identity above `after`.
  [[nodiscard]] std::vector<app::BearerView> list(BearerId after, std::size_t limit) const;
  [[nodiscard]] std::size_t size() const { return bearers_.size(); }

  // Of packets: the outcomes of the downlink and what PDCP holds add up to radio().sdus, those of the uplink to
  // packets_from_tun(). Counters of header mode stay 0.
  [[nodiscard]] const UeStats& packets() const { return stats_; }
  [[nodiscard]] std::uint64_t packets_from_tun() const { return from_tun_.get(); }
  [[nodiscard]] const TerminalStats& radio() const { return cell_.stats(); }
  [[nodiscard]] const TerminalCell& cell() const { return cell_; }
  // True if blocks, grants, PDUs and packets all have one outcome. On the owner's thread only, between slots.
  [[nodiscard]] bool balanced() const;

 private:
  static constexpr unsigned kTunBursts = 4;                // in a round
  static constexpr std::uint64_t kRuleLifetimeMs = 60000;  // T3583 (TS 24.501 10.3)
  enum class Sent : std::uint8_t { kPackets, kEndMarkers };

  void take(std::span<RlcSdu> sdus) override;
  void receive_secured();
  void serve_reordering();
  void deliver(BearerId id, const MbufBuffer& sdu);
  [[nodiscard]] UeOutcome hand_up(const UeDownlink::Received& received);
  [[nodiscard]] UeOutcome collect(UeBearer& bearer, rte_mbuf* m, std::uint8_t sdap, std::size_t packet_bytes);
  void send_collected(Sent what);
  [[nodiscard]] bool collect_end_marker(const UeEndMarker& marker);
  void send_end_markers();
  [[nodiscard]] Entities establish(const BearerChange& change, Entities fresh);
  [[nodiscard]] Entities release(const BearerChange& change);
  [[nodiscard]] Entities take_out(BearerId id);
  void end_pdcp(BearerId id, datapath::SecuredBearer& secured);
  void update(const BearerChange& change, Entities& told);
  [[nodiscard]] app::BearerView view(const UeBearer& bearer) const;

  Settings settings_;
  UeBearers bearers_;
  UeSessions sessions_;
  UeDownlink downlink_;
  UeUplink uplink_;
  UeStats stats_;
  Counter from_tun_;
  std::optional<UeQueue> tun_queue_;
  std::unique_ptr<datapath::WorkerPdcp> pdcp_;  // above the entities that it made
  std::unordered_map<BearerId, std::unique_ptr<datapath::SecuredBearer>> secured_;
  std::size_t tun_users_ = 0;
  Time now_;
  TerminalCell cell_;  // its SDUs go to the members above
};

}  // namespace splitplane::ue
