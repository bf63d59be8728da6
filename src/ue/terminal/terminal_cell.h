// All UEs of full mode as the PHY sees them: by C-RNTI. Blocks and grants go to their UE, and what RLC completes goes
// up in bursts. The thread of the PHY owns it.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "ue/terminal/sdu_sink.h"
#include "ue/terminal/terminal.h"

namespace splitplane::ue {

class TerminalCell final : public phy::Terminals {
 public:
  struct Settings {
    RlcChannels::Settings rlc;
    TerminalSettings mac;
    std::size_t blocks = 512;         // of the uplink that HARQ processes keep: many times those of a slot
    std::size_t block_bytes = 40000;  // of the largest of them
  };
  // A UE and a channel outside the cell: made by the control thread, or to be destroyed by it.
  struct Parts {
    std::unique_ptr<Terminal> terminal;
    std::unique_ptr<TerminalChannel> channel;
  };

  TerminalCell(const Settings& settings, SduSink& above);
  ~TerminalCell() override;
  TerminalCell(const TerminalCell&) = delete;
  TerminalCell& operator=(const TerminalCell&) = delete;

  // On the control thread.
  [[nodiscard]] Parts make(const ran::BearerConfig& bearer, std::uint32_t lcid);

  // The bearer's channel belongs to that UE from now on, and the UE has this C-RNTI. `ue` names the UE: its session.
  // What is there already, or was there before, stays in `parts`. False: the UE has no place for the channel.
  [[nodiscard]] bool attach(std::uint32_t ue, phy::Rnti rnti, UeBearer& bearer, Parts& parts);
  // Takes the channel out. The UE goes with its last channel.
  void detach(BearerId id, Parts& out);
  // Another C-RNTI: the UE's MAC is reset.
  void move(Terminal& terminal, phy::Rnti rnti);
  // RLC of the channel begins anew.
  void reestablish(TerminalChannel& channel, std::uint8_t epoch) { channels_.reestablish(channel, epoch); }
  [[nodiscard]] TerminalChannel* find(BearerId id) const;
  [[nodiscard]] Terminal* find(phy::Rnti rnti) const { return by_rnti_[rnti]; }
  [[nodiscard]] std::size_t size() const { return ues_.size(); }

  // As RlcChannels.
  [[nodiscard]] bool has_room() const { return channels_.has_room(); }
  [[nodiscard]] bool send(TerminalChannel& to, MbufBuffer& pdu) { return channels_.send(to, pdu); }

  void phy_starts() override;
  phy::Answer receive(const phy::Grant& downlink, wire::Octets block, bool decoded, phy::Slot now) override;
  void granted(const phy::Grant& uplink) override;
  wire::Octets transmit(phy::Rnti rnti, phy::Slot slot) override;
  bool requests(phy::Rnti rnti, phy::Slot slot) override;
  void end_slot(phy::Slot slot) override;

  // Once per round: the time, RLC's timers, and what RLC completed.
  void serve(Time now);
  [[nodiscard]] Time next_work(Time now) const { return received_count_ != 0 ? now : channels_.next_work(now); }
  // Hands what RLC completed to the sink.
  void flush();

  [[nodiscard]] const TerminalStats& stats() const { return stats_; }
  [[nodiscard]] const RlcChannels& rlc() const { return channels_; }
  [[nodiscard]] std::size_t blocks_free() const { return blocks_.available(); }

 private:
  static constexpr std::size_t kRntis = 0x10000;

  TerminalStats stats_;
  SduSink& above_;
  RlcChannels channels_;
  HeldBlocks blocks_;
  TerminalShared shared_;
  std::unordered_map<BearerId, std::unique_ptr<TerminalChannel>> by_bearer_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Terminal>> ues_;  // by what names the UE
  std::vector<Terminal*> by_rnti_;
  std::array<RlcSdu, datapath::kBurst> received_;
  unsigned received_count_ = 0;
  Time now_;
};

}  // namespace splitplane::ue
