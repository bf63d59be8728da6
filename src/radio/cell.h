// All UEs of a gNB worker in full mode, and the memory, the timers and the account of their RLC entities. The control
// thread makes UEs and destroys them; everything else is the worker's.
//
//   downlink  PDCP PDUs -> send() -> RLC queues -> build(): the transport blocks of a slot
//   uplink    transport block -> demultiplex() -> RLC PDUs -> receive() -> deliver: SDUs in one mbuf each, for PDCP
//                         serve(), once per round: timers, buffers that were acknowledged
#pragma once

#include <cstring>

#include "base/expected.h"
#include "engine/burst.h"
#include "radio/radio_ue.h"
#include "ran/by_identity.h"
#include "ran/intrusive_queue.h"
#include "ran/mac/gather.h"
#include "ran/mac/slot_batch.h"

namespace splitplane::datapath {

class Cell {
 public:
  struct Settings {
    rte_mempool* pool = nullptr;      // for SDUs that are put together
    std::size_t max_sdus = 16384;     // of all channels: those that wait, and those that are not acknowledged
    std::size_t max_segments = 4096;  // uplink PDUs that wait for the rest of their SDU; each of them has a buffer
    std::size_t max_channels = 1024;  // that are in the cell at once: they share the memory for max_sdus
    std::uint64_t ticks_per_ms = 1;
    Time now = 0;
    std::uint16_t last_rnti = 0;  // C-RNTIs go on from this one
  };
  static constexpr std::uint32_t kFirstLcid = 4;  // of a DRB (TS 38.321 6.2.1)

  // `stats` are the worker's.
  Cell(const Settings& settings, WorkerStats& stats);

  // Makes room for the channels of a shard. Before the worker runs.
  void attach(ShardId shard, std::uint32_t capacity) { channels_.attach(shard, capacity); }

  // On the control thread: makes the UE of one PDU session, whose bearers are in the order of their DRB identities.
  [[nodiscard]] Expected<UeParts> make(std::span<const ran::BearerConfig> bearers);

  // On the worker's thread: the UE is in the cell from now on.
  void attach(UeParts& parts, Time now);
  // Takes a bearer's channel out, and drops what it holds. The UE goes with the last of its channels. `out` has room.
  void detach(BearerId id, UeParts& out);

  [[nodiscard]] LogicalChannel* find(std::uint32_t id) const { return channels_.find(id); }
  [[nodiscard]] RadioUe* find(Rnti rnti) const { return rnti.value < ues_.size() ? ues_[rnti.value].get() : nullptr; }
  void prefetch(std::uint32_t id) const { channels_.prefetch(id); }

  // True if a burst of new SDUs of any channels has room.
  [[nodiscard]] bool has_room() const { return held_ + kBurst <= settings_.max_sdus; }
  // SDUs that are here now.
  [[nodiscard]] std::uint64_t held() const { return held_; }

  // Takes a PDCP PDU for the next grants of its bearer. False: it stays with the caller. After has_room() and
  // LogicalChannel::room() there is a place for it.
  [[nodiscard]] bool send(LogicalChannel& to, MbufBuffer& pdu) {
    if (!to.send(pdu)) [[unlikely]]
      return false;
    ++to.counted;
    stats_.rlc_unacked.set(++held_);
    stats_.rlc_queued.add(1);
    changed_.push(*to.ue);
    return true;
  }
  // Writes the channel's next PDU to `out`, whose size is the grant. Returns its octets, or 0.
  [[nodiscard]] std::size_t pull(LogicalChannel& from, ran::rlc::MutableOctets out, Time now) {
    const std::size_t bytes = from.pull(out, now);
    settle(from);
    return bytes;
  }

  // Takes an uplink PDU of the channel, and counts what became of it. It calls deliver(LogicalChannel&, MbufBuffer) if
  // that completes an SDU.
  template <class Deliver>
  void receive(LogicalChannel& from, MbufBuffer pdu, Time now, Deliver&& deliver) {
    stats_.rlc_pdus.add(1);
    if (from.has_failed()) [[unlikely]]
      return stats_.drop(DropReason::rlc_failed);
    const std::uint64_t no_buffer = from.counters().no_buffer;
    count(from.receive(std::move(pdu), now, settings_.pool, [&](MbufBuffer sdu) {
      stats_.rlc_delivered.add(1);
      deliver(from, std::move(sdu));
    }));
    if (from.counters().no_buffer != no_buffer) [[unlikely]] {
      stats_.rlc_delivered.add(1);
      stats_.drop(DropReason::rlc_no_buffer);
    }
    settle(from);
  }

  // A grant of a slot for new data, and the memory for its block.
  struct BlockOrder {
    Rnti rnti;
    std::size_t tb_bytes = 0;
    ran::rlc::MutableOctets block;  // at least tb_bytes
    bool built = false;             // false afterwards: there is no such UE, or tb_bytes is 0
  };
  // Builds the transport blocks of a slot, each of exactly tb_bytes.
  void build(std::span<BlockOrder> orders, Time now);

  // Calls changed(RadioUe&) for each UE of which something else waits than at the last call. For the scheduler.
  template <class Changed>
  void take_changed(Changed&& changed) {
    while (RadioUe* const ue = changed_.pop()) changed(*ue);
  }

  // Calls arrived(RadioUe&) for each UE that came since the last call, or has had another C-RNTI since.
  template <class Arrived>
  void take_arrivals(Arrived&& arrived) {
    while (RadioUe* const ue = arrived_.pop()) arrived(*ue);
  }

  // Takes an uplink transport block of a UE apart. It calls pdu(LogicalChannel&, rte_mbuf*) for each RLC PDU, in a
  // buffer of its own, and element(lcid, Octets) for each control element, which returns false if that is malformed.
  // What goes no further is counted in ue.demux; what found no buffer also in mac_no_buffer.
  template <class TakePdu, class TakeElement>
  void demultiplex(RadioUe& ue, ran::rlc::Octets block, TakePdu&& pdu, TakeElement&& element) {
    stats_.mac_received.add(1);
    Unpacked<TakePdu, TakeElement> sink{ue, stats_, settings_.pool, pdu, element};
    ran::mac::demultiplex(block, Direction::kUplink, ue.places, ue.demux, sink);
  }
  // The same, for a caller to whom control elements are nothing.
  template <class TakePdu>
  void demultiplex(RadioUe& ue, ran::rlc::Octets block, TakePdu&& pdu) {
    demultiplex(ue, block, pdu, [](std::uint8_t /*lcid*/, ran::rlc::Octets /*contents*/) { return true; });
  }

  // On the control thread: another C-RNTI, for reestablish().
  [[nodiscard]] Expected<RntiPool::Held> take_rnti();
  // Re-establishes RLC of a channel (TS 38.322 5.1.3), and resets MAC of its UE: the UE has the C-RNTI `rnti` from now
  // on, and `rnti` is the old one, which the caller gives back on the control thread. The UE has to do the same. So
  // what is in the air for the old C-RNTI reaches no UE, and the slots of both directions discard the UE's blocks.
  void reestablish(LogicalChannel& channel, RntiPool::Held& rnti, Time now);

  // Once per round, unless idle(): timers, and buffers that were acknowledged. The work is bounded.
  void serve(Time now);
  [[nodiscard]] bool idle() const { return working_.empty() && wheel_.armed() == 0; }
  [[nodiscard]] Time next_work(Time now) const { return working_.empty() ? wheel_.next_turn() : now; }

 private:
  static constexpr unsigned kTimersPerRound = 64, kChannelsPerRound = 32, kReleasedPerVisit = 64;
  static constexpr std::size_t kBlocksAtOnce = 256;

  // As the sink of ran::mac::demultiplex.
  template <class TakePdu, class TakeElement>
  struct Unpacked {
    RadioUe& ue;
    WorkerStats& stats;
    rte_mempool* pool;
    TakePdu& pdu;
    TakeElement& take_element;

    void sdus(std::span<const ran::mac::ReceivedSdu> batch) {
      for (const ran::mac::ReceivedSdu& sdu : batch) {
        MbufBuffer buffer = MbufBuffer::make(pool, sdu.octets);
        if (!buffer) {
          ++ue.demux.of(ran::mac::MacDrop::no_buffer);
          stats.mac_no_buffer.add(1);
          continue;
        }
        std::memcpy(buffer.mutable_data(), sdu.data, sdu.octets);
        pdu(*ue.channels[sdu.place], buffer.detach());
      }
    }
    bool element(std::uint8_t lcid, ran::rlc::Octets contents) { return take_element(lcid, contents); }
  };

  void build_some(std::span<BlockOrder> orders, Time now);
  void count(const LogicalChannel::Outcome& outcome);
  // After something happened to a channel: its timers, its part of the account, and what is left to do.
  void settle(LogicalChannel& channel);

  Settings settings_;
  WorkerStats& stats_;
  RntiPool rntis_;  // the control thread's
  ran::rlc::Memory<MbufBuffer> memory_;
  ran::ByIdentity<LogicalChannel> channels_;
  std::vector<std::unique_ptr<RadioUe>> ues_;  // by C-RNTI
  TimerWheel wheel_;
  ran::IntrusiveQueue<LogicalChannel, &LogicalChannel::next_working, &LogicalChannel::working> working_;
  ran::IntrusiveQueue<RadioUe, &RadioUe::next_changed, &RadioUe::changed> changed_;
  ran::IntrusiveQueue<RadioUe, &RadioUe::next_arrived, &RadioUe::arrived> arrived_;
  std::uint64_t held_ = 0;
  ran::mac::Gather<MbufBuffer> gather_;
};

}  // namespace splitplane::datapath
