// What an emulated air does to transport blocks and to DCIs. A lost block is one with a wrong CRC. A UE that a DCI does
// not reach sees nothing of its block or grant.
#pragma once

#include <array>
#include <string_view>

namespace splitplane::phy {

// Of the transport blocks of one direction.
struct BlockLoss {
  double loss_percent = 0;
  double burst_length = 1;  // mean number of losses in a row, as in phy/channel

  friend bool operator==(const BlockLoss&, const BlockLoss&) = default;
};

struct AirLoss {
  BlockLoss downlink, uplink;
  double dci_loss_percent = 0;  // of the DCIs of both directions, each independent of the others

  friend bool operator==(const AirLoss&, const AirLoss&) = default;
};

// One row for each value of a direction. Configuration file, control protocol and command line take names and limits
// from here.
struct BlockLossRow {
  std::string_view name;
  double BlockLoss::* field;
  double min, max;
  std::string_view help;
};
inline constexpr std::array<BlockLossRow, 2> kBlockLosses{
    {{"loss_percent", &BlockLoss::loss_percent, 0, 100, "Transport blocks with a wrong CRC, in percent"},
     {"burst_length", &BlockLoss::burst_length, 1, 1e6, "Mean number of such blocks in a row, 1: independent"}}};
inline constexpr std::string_view kDciLossName = "dci_loss_percent";
inline constexpr std::string_view kDciLossHelp = "DCIs that do not reach their UE, in percent, of both directions";

}  // namespace splitplane::phy
