// The memory, the timers and the account of the RLC entities of all UEs in full mode: what datapath::Cell has for a
// gNB. One thread owns it; make() is for the control thread.
#pragma once

#include "engine/burst.h"
#include "ran/intrusive_queue.h"
#include "ue/terminal/terminal_channel.h"
#include "ue/terminal/terminal_stats.h"

namespace splitplane::ue {

using datapath::MbufBuffer;
using datapath::Time;

class RlcChannels {
 public:
  struct Settings {
    rte_mempool* pool = nullptr;      // for RLC PDUs, and for SDUs that are put together
    std::size_t max_sdus = 16384;     // uplink, of all channels: those that wait, and those that are not acknowledged
    std::size_t max_channels = 1024;  // that are here at once: they share the memory for max_sdus
    std::uint64_t ticks_per_ms = 1;
    Time now = 0;
  };

  RlcChannels(const Settings& settings, TerminalStats& stats);

  // On the control thread. The bearer is AM or UM.
  [[nodiscard]] std::unique_ptr<TerminalChannel> make(const ran::BearerConfig& bearer, std::uint32_t lcid) {
    return std::make_unique<TerminalChannel>(bearer, lcid, settings_.ticks_per_ms, memory_);
  }
  [[nodiscard]] rte_mempool* pool() const { return settings_.pool; }

  // True if a burst of new SDUs of any channels has room.
  [[nodiscard]] bool has_room() const { return held_ + datapath::kBurst <= settings_.max_sdus; }
  [[nodiscard]] std::uint64_t held() const { return held_; }

  // Takes a PDCP PDU for the next grants of its UE. False: it stays with the caller. After has_room() and
  // LogicalChannel::room() there is a place for it.
  [[nodiscard]] bool send(TerminalChannel& to, MbufBuffer& pdu);

  // Takes an RLC PDU, and counts what became of it. It calls deliver(TerminalChannel&, MbufBuffer) if that completes
  // an SDU.
  template <class Deliver>
  void receive(TerminalChannel& from, MbufBuffer pdu, Time now, Deliver&& deliver) {
    if (from.has_failed()) [[unlikely]]
      return stats_.count(RlcPduOutcome::failed);
    const std::uint64_t no_buffer = from.counters().no_buffer;
    count(from.receive(std::move(pdu), now, settings_.pool, [&](MbufBuffer sdu) {
      stats_.sdus.add(1);
      deliver(from, std::move(sdu));
    }));
    stats_.sdus_without_buffer.add(from.counters().no_buffer - no_buffer);
    settle(from);
  }

  // After something happened to a channel: its timers, its part of the account, and what is left to do.
  void settle(TerminalChannel& channel);
  // RLC of the channel begins anew (TS 38.322 5.1.3). The gNB has to do the same.
  void reestablish(TerminalChannel& channel, std::uint8_t epoch);
  // The channel ends: it drops what it holds, and the control thread may destroy it.
  void detach(TerminalChannel& channel);

  // Once per round: timers, and buffers that were acknowledged. The work is bounded.
  void serve(Time now);
  [[nodiscard]] Time next_work(Time now) const { return working_.empty() ? wheel_.next_turn() : now; }
  [[nodiscard]] bool idle() const { return working_.empty() && wheel_.armed() == 0; }

 private:
  static constexpr unsigned kTimersPerRound = 64, kChannelsPerRound = 32, kReleasedPerVisit = 64;

  void count(const datapath::LogicalChannel::Outcome& outcome);
  void give_up(TerminalChannel& channel, void (datapath::LogicalChannel::*how)());

  Settings settings_;
  TerminalStats& stats_;
  ran::rlc::Memory<MbufBuffer> memory_;
  TimerWheel wheel_;
  ran::IntrusiveQueue<datapath::LogicalChannel, &datapath::LogicalChannel::next_working,
                      &datapath::LogicalChannel::working>
      working_;
  std::uint64_t held_ = 0;
};

}  // namespace splitplane::ue
