// Takes transport blocks apart (TS 38.321 5.13, 6.1.2): a walk over the subPDUs that hands SDUs of logical channels to
// their owner in batches, by the place of their channel. Demultiplexer, in demultiplexer.h, is an owner with RLC
// entities.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "base/outcome_list.h"
#include "wire/mac.h"

namespace splitplane::ran::mac {

using wire::Octets;

#define SPLITPLANE_MAC_DROPS(X)                                                                         \
  X(empty_block, "transport block without octets")                                                      \
  X(truncated, "transport block ends inside a subheader: the rest was dropped")                         \
  X(bad_length, "subPDU reaches beyond the transport block: the rest was dropped")                      \
  X(unknown_lcid, "LCID whose subPDU size is not known: the rest of the transport block was dropped")   \
  X(unknown_elcid, "eLCID whose subPDU size is not known: the rest of the transport block was dropped") \
  X(no_channel, "SDU of a logical channel that the UE does not have: the SDU was dropped")              \
  X(empty_sdu, "SDU without octets: it was dropped")                                                    \
  X(no_buffer, "no buffer was free for an SDU: it was dropped")                                         \
  X(bad_element, "control element of a length or value that its type does not allow: the element was dropped")

// Why a part of a received transport block went no further.
SPLITPLANE_OUTCOMES(MacDrop, SPLITPLANE_MAC_DROPS)

struct DemuxCounters {
  std::uint64_t blocks = 0, octets = 0;    // transport blocks, and octets of them
  std::uint64_t sdus = 0, sdu_octets = 0;  // also those for which there was no buffer
  std::uint64_t elements = 0, element_octets = 0;
  std::uint64_t padding_octets = 0;    // with their subheaders
  std::uint64_t subheader_octets = 0;  // of SDUs and elements, also of dropped ones
  std::uint64_t dropped_octets = 0;    // of SDUs that were dropped, and of the rest of blocks
  std::array<std::uint64_t, kMacDropCount> drops{};

  [[nodiscard]] std::uint64_t& of(MacDrop why) { return drops[static_cast<std::size_t>(why)]; }
  [[nodiscard]] std::uint64_t of(MacDrop why) const { return drops[static_cast<std::size_t>(why)]; }
};

// Which place an LCID has among the channels of a UE. Extended LCIDs are few, and searched.
class ChannelMap {
 public:
  static constexpr std::uint8_t kNone = 0xFF;
  static constexpr std::size_t kMostExtended = 8;

  ChannelMap() { places_.fill(kNone); }

  // Gives an LCID a place, or kNone to remove it. False: there is no room for another extended LCID, or the LCID is
  // none of a logical channel.
  [[nodiscard]] bool set(std::uint32_t lcid, std::uint8_t place) {
    if (lcid < places_.size()) {
      places_[lcid] = place;
      return true;
    }
    if (lcid < wire::mac::kFirstExtendedLcid) return false;
    const std::size_t at = find(lcid);
    if (place == kNone) {
      if (at != extended_count_) extended_[at] = extended_[--extended_count_];
      return true;
    }
    if (at == kMostExtended) return false;
    if (at == extended_count_) ++extended_count_;
    extended_[at] = {lcid, place};
    return true;
  }
  [[nodiscard]] std::uint8_t operator[](std::uint32_t lcid) const {
    return lcid < places_.size() ? places_[lcid] : extended(lcid);
  }

 private:
  struct Extended {
    std::uint32_t lcid;
    std::uint8_t place;
  };
  // The entry of an extended LCID; extended_count_ if it has none.
  [[nodiscard]] std::size_t find(std::uint32_t lcid) const {
    std::size_t at = 0;
    while (at != extended_count_ && extended_[at].lcid != lcid) ++at;
    return at;
  }
  [[nodiscard]] std::uint8_t extended(std::uint32_t lcid) const {
    const std::size_t at = find(lcid);
    return at == extended_count_ ? kNone : extended_[at].place;
  }

  std::array<std::uint8_t, 64> places_;  // by the six bits of LCID
  std::array<Extended, kMostExtended> extended_{};
  std::size_t extended_count_ = 0;
};

// An SDU of a received block; it points into the block.
struct ReceivedSdu {
  const std::uint8_t* data = nullptr;
  std::uint32_t octets = 0;
  std::uint8_t place = 0;  // of its channel
  [[nodiscard]] Octets payload() const { return {data, octets}; }
};

inline constexpr std::size_t kDemuxBatch = 32;

// Walks a block of one UE. `sink.sdus(std::span<const ReceivedSdu>)` gets the SDUs in order, at most kDemuxBatch at a
// time. `sink.element(lcid, Octets)` gets each control element, after the SDUs before it. It returns false if the
// contents are wrong.
template <class Sink>
void demultiplex(Octets block, Direction direction, const ChannelMap& channels, DemuxCounters& counters, Sink& sink) {
  std::array<ReceivedSdu, kDemuxBatch> batch;
  std::size_t count = 0;
  std::uint64_t sdus = 0, sdu_octets = 0, subheader_octets = 0;
  const auto hand_over = [&] {
    if (count != 0) sink.sdus(std::span<const ReceivedSdu>(batch.data(), std::exchange(count, 0)));
  };
  wire::mac::Cursor cursor(block, direction);
  for (wire::mac::SubPdu s; cursor.next(s);) {
    const std::size_t bytes = s.payload.size();
    if (s.kind == wire::mac::Kind::kSdu) [[likely]] {
      subheader_octets += s.subheader_bytes;
      const std::uint8_t place = channels[s.lcid];
      if (place == ChannelMap::kNone || bytes == 0) [[unlikely]] {
        ++counters.of(bytes == 0 ? MacDrop::empty_sdu : MacDrop::no_channel);
        counters.dropped_octets += bytes;
        continue;
      }
      batch[count] = {s.payload.data(), static_cast<std::uint32_t>(bytes), place};
      ++sdus;
      sdu_octets += bytes;
      if (++count == kDemuxBatch) hand_over();
    } else if (s.kind == wire::mac::Kind::kPadding) {
      counters.padding_octets += s.subheader_bytes + bytes;
    } else {
      subheader_octets += s.subheader_bytes;
      hand_over();
      if (sink.element(static_cast<std::uint8_t>(s.lcid), s.payload)) {
        ++counters.elements;
        counters.element_octets += bytes;
      } else {
        ++counters.of(MacDrop::bad_element);
        counters.dropped_octets += bytes;
      }
    }
  }
  hand_over();
  ++counters.blocks;
  counters.octets += block.size();
  counters.sdus += sdus;
  counters.sdu_octets += sdu_octets;
  counters.subheader_octets += subheader_octets;
  if (cursor.reason() == wire::Reason::ok) return;
  counters.dropped_octets += cursor.rest().size();
  switch (cursor.reason()) {
    case wire::Reason::mac_empty:
      ++counters.of(MacDrop::empty_block);
      return;
    case wire::Reason::mac_truncated:
      ++counters.of(MacDrop::truncated);
      return;
    case wire::Reason::mac_lcid_unknown:
      ++counters.of(MacDrop::unknown_lcid);
      return;
    case wire::Reason::mac_elcid_unknown:
      ++counters.of(MacDrop::unknown_elcid);
      return;
    default:
      ++counters.of(MacDrop::bad_length);
  }
}

}  // namespace splitplane::ran::mac
