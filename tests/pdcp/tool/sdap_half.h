// The SDAP half of pdcp_tool, if this build has it.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#if __has_include("sdap_steps.h")
#include "sdap_steps.h"
namespace splitplane::pdcp_tool {
using SdapHalf = SdapSteps;
}  // namespace splitplane::pdcp_tool
#else
namespace splitplane::pdcp_tool {
class SdapHalf {
 public:
  [[nodiscard]] bool serves(const nlohmann::json& step) const { return step.value("kind", "pdcp") == "sdap"; }
  void forget(const std::string&) {}
  nlohmann::json answer(const nlohmann::json&) { throw std::invalid_argument("this build has no SDAP entities"); }
};
}  // namespace splitplane::pdcp_tool
#endif
