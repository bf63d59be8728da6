// The keys of a file for `splitplane run`, one row each, beside those of runtime/config/fields.h.
#pragma once

#include <vector>

#include "fields/reference.h"
#include "gnb/config/config.h"

namespace splitplane::app {

// Where a worker's key stands: in workers with such a function.
[[nodiscard]] constexpr unsigned bit(WorkerConfig::Function function) {
  return 1U << static_cast<unsigned>(function);
}
inline constexpr std::array<std::string_view, 4> kFunctionNames{"gnb", "l2fwd", "dispatch", "copies"};  // as Function

[[nodiscard]] fields::Fields<GnbConfig> gnb_fields();  // of the top level
[[nodiscard]] fields::Fields<N3Config> n3_fields();
[[nodiscard]] fields::Fields<AirConfig> air_fields();
[[nodiscard]] fields::Fields<WorkerConfig> worker_fields();
[[nodiscard]] fields::Fields<PhyConfig> phy_fields();           // of a worker's PHY
[[nodiscard]] fields::Fields<ran::BearerGroup> group_fields();  // beside those of the group's first bearer
[[nodiscard]] fields::Fields<CardLinkConfig> card_link_fields();
[[nodiscard]] fields::Fields<BaasConfig> baas_fields();
[[nodiscard]] fields::Fields<PowerConfig> power_fields();
[[nodiscard]] fields::Fields<placement::Settings> placement_fields();
[[nodiscard]] fields::Fields<placement::PinList> pin_fields();

// For config/schema.json and docs/reference/configuration.md.
[[nodiscard]] std::vector<fields::Section> gnb_sections();

}  // namespace splitplane::app
