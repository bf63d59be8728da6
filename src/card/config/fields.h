// The keys of the section `card`, one row each.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "card/config/config.h"
#include "fields/reference.h"

namespace splitplane::app {

// Where a card's key stands: in cards with such a program.
[[nodiscard]] constexpr unsigned bit(CardConfig::Program program) {
  return 1U << static_cast<unsigned>(program);
}
inline constexpr std::array<std::string_view, 2> kExecutionNames{"compiled", "interpreted"};  // as nic::Execution
inline constexpr std::array<std::string_view, 3> kProgramNames{"gnb", "l2fwd", "p4wire"};     // as Program

[[nodiscard]] fields::Fields<CardConfig> card_file_fields();  // of the top level
[[nodiscard]] fields::Fields<CardConfig> card_fields();

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> card_sections();

}  // namespace splitplane::app
