// What happened to one packet, in words: a line or more for each stage, and where the packet went.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/params.h"

namespace splitplane::app {

struct Step {
  std::string stage;  // as in the statistics
  std::vector<std::string> texts;
};

struct Story {
  std::vector<Step> steps;
  std::string verdict;  // "sent to the air", "dropped: teid_unknown: ...", ...
};

// For people, at most 79 columns wide.
[[nodiscard]] std::string render_story(const Story& story, const std::string& headline);
// `verdict` and `stages`.
[[nodiscard]] Json to_json(const Story& story);

// "02000000...", and lines of 16 octets each, as they stand below a story.
[[nodiscard]] std::string hex_of(const std::vector<std::uint8_t>& octets);
[[nodiscard]] std::string hex_lines(const std::vector<std::uint8_t>& octets);

}  // namespace splitplane::app
