// Where a configuration puts cards, workers, buffers and VFs on a machine of several NUMA nodes. It is found from the
// file and from sysfs. `splitplane check` prints it, and buffers are allocated by it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "card/config/config.h"
#include "gnb/config/config.h"

namespace splitplane::app {

using NumaNode = std::optional<unsigned>;  // nothing: unknown

struct PlacedLoop {
  std::string name;
  unsigned core = 0;
  NumaNode node;  // of its core
};

struct PlacedCard {
  std::string name;
  NumaNode node;
  std::string from;               // the source of the node: "file", "device 0000:3b:00.0", "core 3", "unknown"
  std::vector<PlacedLoop> loops;  // in a file for card the card's own loop, in one for run the workers behind the card
  std::vector<std::string> vfs;   // their ports
};

struct PlacementPlan {
  std::vector<PlacedCard> cards;
  std::vector<PlacedLoop> others;         // workers without a card
  std::map<std::string, NumaNode> pools;  // node of a port's buffers
  std::vector<std::string> warnings;      // a worker away from its card, or a node that does not exist
};

// `sysfs`: such as /sys.
[[nodiscard]] PlacementPlan plan_placement(const GnbConfig& config, const std::string& sysfs);
[[nodiscard]] PlacementPlan plan_placement(const CardConfig& card, const std::string& sysfs);
// Lines for users, each with its newline; empty if there is no card.
[[nodiscard]] std::string to_string(const PlacementPlan& plan);

// `node` as DPDK's socket. It is any socket if the node is unknown or DPDK has no such socket. Call it when DPDK runs.
[[nodiscard]] int socket_of(NumaNode node);

}  // namespace splitplane::app
