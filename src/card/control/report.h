// What a card has counted, read from all its cores, and the replies of its control socket that are made from it.
#pragma once

#include <string>
#include <vector>

#include "card/control/sums.h"
#include "control/params.h"
#include "observe/observation.h"

namespace splitplane::app {

struct CardSeen {
  std::vector<CoreCounts> cores;
  std::vector<WorkerObservation> workers;  // their loops
  nic::CardCounters card;                  // over all cores
  CardSums totals;
  std::size_t bearers = 0, serves = 0;
};

// The counters in the reply to `card.show`. `names`: of the card's ports; one without a name is not connected.
[[nodiscard]] Json counters_json(const CardSeen& seen, const std::vector<std::string>& names);

struct CardNames {
  const std::string& card;
  const std::string& program;
  const std::vector<std::string>& ports;
};
// The reply to `stats`.
[[nodiscard]] Json stats_json(const CardSeen& seen, const std::vector<PortObservation>& ports, const CardNames& names);

}  // namespace splitplane::app
