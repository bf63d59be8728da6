// A UE of a cell: one PDU session, with a logical channel for each of its bearers, and MAC of both directions.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "radio/logical_channel.h"
#include "radio/rnti_pool.h"
#include "ran/mac/demux.h"
#include "ran/mac/downlink.h"

namespace splitplane::datapath {

struct RadioUe {
  static constexpr unsigned kMostChannels = 29;  // LCIDs 4 to 32 (TS 38.321 6.2.1)
  static constexpr std::uint16_t kNoPlace = 0xffff;

  RadioUe(RntiPool::Held rnti_of_ue, Time ticks_per_second) : rnti(std::move(rnti_of_ue)), downlink(ticks_per_second) {}

  [[nodiscard]] std::span<LogicalChannel* const> all() const { return {channels.data(), size}; }
  // nullptr: it has no such channel.
  [[nodiscard]] LogicalChannel* find(std::uint32_t lcid) const {
    for (LogicalChannel* const one : all()) {
      if (one->lcid() == lcid) return one;
    }
    return nullptr;
  }
  // Before the UE is in its cell.
  void add(LogicalChannel& channel, Time now);
  [[nodiscard]] RlcView::Mac view() const;
  // The channel's entity is about to go.
  void remove(const LogicalChannel& channel);

  RntiPool::Held rnti;
  ran::mac::Downlink<MbufBuffer> downlink;
  ran::mac::ChannelMap places;  // uplink: of each LCID in `channels`
  ran::mac::DemuxCounters demux;
  bool begins_anew = false;  // MAC was reset: what HARQ still sends in the downlink is of before
  bool changed = false;      // what waits has changed: the UE is in the list of the cell
  RadioUe* next_changed = nullptr;
  bool arrived = false;  // it came or has another C-RNTI: the UE is in another list of the cell
  RadioUe* next_arrived = nullptr;
  std::uint16_t downlink_place = kNoPlace;  // in DownlinkSlots
  std::uint16_t downlink_ndis = 0;          // of its HARQ processes, while it has no place
  bool waits_for_downlink_place = false;
  RadioUe* next_without_downlink = nullptr;
  bool stalled = false;  // it is in the list of DownlinkSlots: RLC lets nothing of what waits go
  RadioUe* next_stalled = nullptr;
  std::uint16_t uplink_place = kNoPlace;  // in UplinkSlots
  std::uint16_t uplink_ndis = 0;          // as downlink_ndis
  bool waits_for_uplink_place = false;
  RadioUe* next_without_uplink = nullptr;
  unsigned size = 0;
  std::array<LogicalChannel*, kMostChannels> channels;
};

// A UE outside its cell: made by the control thread, or to be destroyed by it.
struct UeParts {
  std::vector<std::unique_ptr<LogicalChannel>> channels;
  std::unique_ptr<RadioUe> ue;
};

}  // namespace splitplane::datapath
