// What a scheduler is told of one slot and direction, and what every scheduler offers. Facts in, grants out: a
// scheduler knows no RLC, no HARQ and no clock, so another one can take its place.
#pragma once

#include <concepts>
#include <span>

#include "phy/slots/grant.h"
#include "phy/slots/harq_sender.h"
#include "phy/slots/tb_size.h"

namespace splitplane::phy {

// The owner keeps the facts of a UE in their place as long as the UE lives, and changes what has changed.
struct UeFacts {
  Rnti rnti = 0;
  std::uint8_t mcs = 0;               // for new data, from the channel's quality; not a reserved one
  std::uint8_t process = kNoProcess;  // the HARQ process of a new TB (HarqSender::free_process()) ...
  std::uint8_t ndi = 0;               // ... and its NDI
  std::uint32_t backlog_bytes = 0;    // octets that wait: downlink in RLC with headers, uplink by UplinkDemand
};

struct SlotFacts {
  Slot slot;
  Direction direction = Direction::kDownlink;
  std::uint16_t prbs = 0;  // that may be granted in this slot
  TbShape shape;           // of all grants of this slot; a retransmission needs the shape of its first transmission
  std::span<const UeFacts> ues;
  std::span<const float> average_rates;                  // of each UE: AverageRates, for schedulers that ask
  std::span<const Retransmission> retransmissions = {};  // TBs to be sent again, the oldest first
};

// schedule() writes at most grants.size() grants, and returns their number. PRBs of different grants do not overlap; a
// UE gets at most one grant; retransmissions come before new data. The same calls give the same grants.
template <class S>
concept Scheduler = requires(S scheduler, const SlotFacts& facts, std::span<Grant> grants) {
  { scheduler.schedule(facts, grants) } -> std::same_as<std::size_t>;
};

}  // namespace splitplane::phy
