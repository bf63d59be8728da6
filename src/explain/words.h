// What the pipeline did with one packet, in words: a line or more for each stage, and where the packet went.
#pragma once

#include <string>

#include "control/params.h"
#include "explain/plane.h"
#include "explain/story.h"

namespace splitplane::app {

[[nodiscard]] Story tell(const Outcome& outcome, const Octets& frame);
// For people, at most 79 columns wide; `hex` adds the octets that went out.
[[nodiscard]] std::string render(const Story& story, const Outcome& outcome, const std::string& headline, bool hex);
[[nodiscard]] Json to_json(const Story& story, const Outcome& outcome);

}  // namespace splitplane::app
