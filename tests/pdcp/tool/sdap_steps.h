// The SDAP half of pdcp_tool: entities of ran/sdap by name, and their answers to steps (tests/pdcp/protocol.md).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "ran/sdap/gnb_entity.h"
#include "ran/sdap/ue_entity.h"

namespace splitplane::pdcp_tool {

class SdapSteps {
 public:
  // Whether a step is for this half: it makes an SDAP entity, or names one.
  [[nodiscard]] bool serves(const nlohmann::json& step) const;
  // Call it before the other half makes an entity: that one replaces an SDAP entity of the same name.
  void forget(const std::string& name) { entities_.erase(name); }
  // The answer to a step of an entity of this half.
  nlohmann::json answer(const nlohmann::json& step);

 private:
  std::map<std::string, std::variant<ran::sdap::UeEntity, ran::sdap::GnbEntity>> entities_;
};

}  // namespace splitplane::pdcp_tool
