// What the pipeline did with one packet, in words: a line or more for each stage, and where the packet went.
#pragma once

#include <string>
#include <vector>

#include "control/params.h"
#include "explain/plane.h"

namespace splitplane::app {

struct Step {
  std::string stage;  // as in the statistics
  std::vector<std::string> texts;
};

struct Story {
  std::vector<Step> steps;
  std::string verdict;  // "sent to the air", "dropped: teid_unknown: ...", ...
};

[[nodiscard]] Story tell(const Outcome& outcome, const Octets& frame);
// For people, at most 79 columns wide; `hex` adds the octets that went out.
[[nodiscard]] std::string render(const Story& story, const Outcome& outcome, const std::string& headline, bool hex);
[[nodiscard]] Json to_json(const Story& story, const Outcome& outcome);

}  // namespace splitplane::app
