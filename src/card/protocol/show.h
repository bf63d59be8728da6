// What host and card agree on before the host installs bearers: members of the answer to `card.show`. The card writes
// them, the host reads them. The answer has counters, too, which people and the host's statistics read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/params.h"

namespace splitplane::app {

struct CardShow {
  std::string boot;                           // differs after each start of the card; empty: what answers is no card
  std::string program;                        // "gnb-clone"; only those that begin with gnb serve bearers
  std::string features;                       // feature set of such a program; empty: none
  std::string lookup;                         // by what it finds bearers: "teid", "ue_address"
  std::uint64_t max_bearers = 0;              // entries for bearers; 0: it does not say
  std::vector<std::string> vfs;               // names of the ports towards hosts
  std::optional<unsigned> punt_n3, punt_air;  // place in `vfs` of the one that gets what the card cannot read
};

void write_show(Json& answer, const CardShow& show);

// What is missing, or has another type, reads as empty.
[[nodiscard]] CardShow read_show(const Json& answer);

// Packets that the card has given to the host because it could not serve them itself. Empty: the answer has no such
// counters.
[[nodiscard]] std::optional<std::uint64_t> punts_shown(const Json& answer);

}  // namespace splitplane::app
