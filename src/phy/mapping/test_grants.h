// For tests only: grants that a scheduler could give, and blocks for them.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "phy/mapping/cell_shape.h"
#include "phy/mapping/slot_writer.h"

namespace splitplane::phy::test {

// Grants of one slot and direction: RNTIs from `first_rnti` on, PRBs without overlap.
inline std::vector<Grant> random_grants(Random& random, const CellShape& cell, Slot slot, Direction direction,
                                        std::size_t count, Rnti first_rnti) {
  std::vector<Grant> grants;
  const auto each = static_cast<std::uint16_t>(cell.prbs / std::max<std::size_t>(count, 1));
  for (std::size_t i = 0; i < count; ++i) {
    Grant grant{.slot = slot,
                .rnti = static_cast<Rnti>(first_rnti + i),
                .direction = direction,
                .retransmission = random.below(4) == 0,
                .process = static_cast<std::uint8_t>(random.below(kHarqProcesses)),
                .ndi = static_cast<std::uint8_t>(random.below(2)),
                .rv = static_cast<std::uint8_t>(random.below(4)),
                .mcs = static_cast<std::uint8_t>(random.below(mcs_count(cell.shape.table))),
                .first_prb = static_cast<std::uint16_t>(each * i),
                .prbs = static_cast<std::uint16_t>(1 + random.below(each))};
    grant.tb_bytes = tb_bytes(cell.shape, grant.mcs, grant.prbs);
    grants.push_back(grant);
  }
  return grants;
}

// Blocks of random octets.
struct Blocks {
  std::vector<std::vector<std::uint8_t>> octets;
  std::vector<DownlinkBlock> blocks;

  Blocks(Random& random, const std::vector<Grant>& grants) {
    octets.reserve(grants.size());
    for (const Grant& grant : grants) {
      auto& block = octets.emplace_back(grant.tb_bytes);
      for (std::uint8_t& o : block) o = static_cast<std::uint8_t>(random.next());
      blocks.push_back({grant, block});
    }
  }
};

}  // namespace splitplane::phy::test
