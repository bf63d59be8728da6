// Where a configuration puts cards, workers, buffers and VFs on a machine of several NUMA nodes, found from what the
// file says and from sysfs. `splitplane check` prints it, and buffers are taken accordingly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace splitplane::app {

using NumaNode = std::optional<unsigned>;  // nothing: not known

struct PlacedLoop {
  std::string name;
  unsigned core = 0;
  NumaNode node;  // of its core
};

struct PlacedCard {
  std::string name;
  NumaNode node;
  std::string from;               // how that is known: "file", "device 0000:3b:00.0", "core 3", "unknown"
  std::vector<PlacedLoop> loops;  // the card's own loop in a file for nic, the workers behind it in one for run
  std::vector<std::string> vfs;   // their ports
};

struct PlacementPlan {
  std::vector<PlacedCard> cards;
  std::vector<PlacedLoop> others;         // workers without a card
  std::map<std::string, NumaNode> pools;  // node of a port's buffers
  std::vector<std::string> warnings;      // a worker away from its card, a node that is not there
};

// `sysfs`: such as /sys.
[[nodiscard]] PlacementPlan plan_placement(const Config& config, const std::string& sysfs);
// Lines for people, each with its newline; empty if there is no card.
[[nodiscard]] std::string to_string(const PlacementPlan& plan);

// `node` as DPDK's socket: any, if it is not known or DPDK has no such socket. Once DPDK runs.
[[nodiscard]] int socket_of(NumaNode node);

}  // namespace splitplane::app
