// One UE of full mode: MAC of both directions, between the PHY and the RLC entities of its bearers (TS 38.321).
//
//   downlink  HarqReceiver: a transport block is handed on once -> demultiplex -> RLC
//   uplink    grants by slot -> HarqUplink: a new block, or the same octets again <- Uplink: RLC PDUs, BSR, PHR,
//   padding
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "phy/emulator/terminals.h"
#include "phy/slots/harq_receiver.h"
#include "phy/slots/harq_uplink.h"
#include "ran/mac/gather.h"
#include "ran/mac/uplink.h"
#include "ue/terminal/held_blocks.h"
#include "ue/terminal/rlc_channels.h"

namespace splitplane::ue {

// Of MAC, the same for all UEs: what RRC would configure (TS 38.331 MAC-CellGroupConfig).
struct TerminalSettings {
  std::uint64_t ticks_per_ms = 1;
  unsigned periodic_bsr_ms = 10;                                  // periodicBSR-Timer; 0: infinity
  unsigned retx_bsr_ms = 80;                                      // retxBSR-Timer
  unsigned sr_prohibit_ms = 4;                                    // sr-ProhibitTimer
  unsigned phr_periodic_ms = 100;                                 // phr-PeriodicTimer; 0: no power headroom reports
  ran::mac::RadioState radio{.power_headroom = 40, .pcmax = 40};  // the emulator has no model of power
};

// What the UEs of a cell share.
struct TerminalShared {
  TerminalSettings settings;
  RlcChannels& channels;
  HeldBlocks& blocks;
  TerminalStats& stats;
  ran::mac::Gather<MbufBuffer> gather{};
  phy::Slot ended{};  // the last slot that is over
  bool any_ended = false;
};

class Terminal {
 public:
  static constexpr unsigned kMostChannels = 29;  // LCIDs 4 to 32 (TS 38.321 6.2.1)
  static constexpr unsigned kMostGrants = 16;    // for slots to come

  explicit Terminal(TerminalShared& shared);
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() = default;

  [[nodiscard]] phy::Rnti rnti() const { return rnti_; }
  void set_rnti(phy::Rnti rnti) { rnti_ = rnti; }
  [[nodiscard]] std::span<TerminalChannel* const> channels() const { return {channels_.data(), size_}; }

  // False: there are kMostChannels, or one with this LCID, or the LCID is none of a DRB.
  [[nodiscard]] bool add(TerminalChannel& channel, Time now);
  void remove(TerminalChannel& channel);

  // A transport block. It calls deliver(TerminalChannel&, MbufBuffer) for each SDU that RLC completes.
  template <class Deliver>
  phy::Answer receive(const phy::Grant& grant, wire::Octets block, bool decoded, Time now, Deliver&& deliver) {
    const phy::HarqReception what = receiving_.receive(grant.process, grant.ndi, decoded);
    shared_.stats.count(outcome_of(what));
    switch (what) {
      case phy::HarqReception::no_process:
        return phy::Answer::kNone;
      case phy::HarqReception::failed:
        return phy::Answer::kNack;
      case phy::HarqReception::duplicate:
        return phy::Answer::kAck;
      case phy::HarqReception::delivered:
        break;
    }
    shared_.stats.downlink_octets.add(block.size());
    ++blocks_.blocks;
    blocks_.octets += block.size();
    Unpacked<Deliver> sink{*this, now, deliver};
    ran::mac::demultiplex(block, Direction::kDownlink, places_, shared_.stats.demux, sink);
    return phy::Answer::kAck;
  }
  // DCI 0_0: a grant for a slot to come.
  void granted(const phy::Grant& grant);
  // What it sends in this slot; empty: nothing. The octets stay until the slot is over.
  [[nodiscard]] wire::Octets transmit(phy::Slot slot, Time now);
  // True if it sends a scheduling request in a slot where it may (TS 38.321 5.4.4).
  [[nodiscard]] bool requests(Time now);

  // MAC reset (TS 38.321 5.12): what is on its way in either direction belongs to the time before.
  void reset(Time now);
  // The UE leaves: it holds nothing of what it shares with others, and the control thread may destroy it.
  void leave();
  // The memory of that process is needed for another block.
  void forget(std::uint8_t process);

  // Of all blocks that were built.
  [[nodiscard]] ran::mac::MuxCounters sent() const;
  // Decoded transport blocks, without repetitions.
  struct Received {
    std::uint64_t blocks = 0, octets = 0;
  };
  [[nodiscard]] const Received& received() const { return blocks_; }

  std::uint32_t key = 0;  // names the UE, whatever its C-RNTI is
  bool uses_tun = false;  // its packets go to the TUN device; otherwise they are counted and freed

 private:
  using Mac = ran::mac::Uplink<MbufBuffer>;

  // As the sink of ran::mac::demultiplex.
  template <class Deliver>
  struct Unpacked {
    Terminal& ue;
    Time now;
    Deliver& deliver;

    void sdus(std::span<const ran::mac::ReceivedSdu> batch) {
      TerminalShared& shared = ue.shared_;
      for (const ran::mac::ReceivedSdu& sdu : batch) {
        MbufBuffer pdu = MbufBuffer::make(shared.channels.pool(), sdu.octets);
        if (!pdu) {
          ++shared.stats.demux.of(ran::mac::MacDrop::no_buffer);
          continue;
        }
        std::memcpy(pdu.mutable_data(), sdu.data, sdu.octets);
        shared.channels.receive(*ue.channels_[sdu.place], std::move(pdu), now, deliver);
      }
    }
    // Nothing of what a gNB may say by control elements is modelled: timing advance, DRX, activation.
    static bool element(std::uint8_t /*lcid*/, wire::Octets /*contents*/) { return true; }
  };

  [[nodiscard]] static DownlinkBlock outcome_of(phy::HarqReception what);
  void add_to_mac(TerminalChannel& channel, Time now);
  void begin_mac(Time now);
  [[nodiscard]] HeldBlocks::Block build(const phy::Grant& grant, Time now);
  void forget_passed_grants();
  void give_up_grants();
  void take_out_grant(unsigned at);

  TerminalShared& shared_;
  std::optional<Mac> mac_;
  ran::mac::MuxCounters before_reset_;
  Received blocks_;
  phy::HarqReceiver receiving_;
  phy::HarqUplink<HeldBlocks::Block> sending_;
  ran::mac::ChannelMap places_;  // downlink: of each LCID in `channels_`
  std::array<TerminalChannel*, kMostChannels> channels_{};
  std::array<phy::Grant, kMostGrants> grants_{};
  unsigned size_ = 0, grant_count_ = 0;
  Time may_request_at_ = 0;  // sr-ProhibitTimer
  phy::Rnti rnti_ = 0;
};

}  // namespace splitplane::ue
