// A UE of a cell: one PDU session, with a logical channel for each of its bearers.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "radio/logical_channel.h"
#include "radio/rnti_pool.h"

namespace splitplane::datapath {

struct RadioUe {
  static constexpr unsigned kMostChannels = 29;  // LCIDs 4 to 32 (TS 38.321 6.2.1)

  explicit RadioUe(RntiPool::Held rnti_of_ue) : rnti(std::move(rnti_of_ue)) {}

  [[nodiscard]] std::span<LogicalChannel* const> all() const { return {channels.data(), size}; }
  // nullptr: it has no such channel.
  [[nodiscard]] LogicalChannel* find(std::uint32_t lcid) const {
    for (LogicalChannel* const one : all()) {
      if (one->lcid() == lcid) return one;
    }
    return nullptr;
  }

  RntiPool::Held rnti;
  unsigned size = 0;
  std::array<LogicalChannel*, kMostChannels> channels;
};

// A UE outside its cell: made by the control thread, or to be destroyed by it.
struct UeParts {
  std::vector<std::unique_ptr<LogicalChannel>> channels;
  std::unique_ptr<RadioUe> ue;
};

}  // namespace splitplane::datapath
