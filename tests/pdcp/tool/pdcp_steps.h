// The PDCP half of pdcp_tool: entities of ran/pdcp by name, and their answers to steps (tests/pdcp/protocol.md).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace splitplane::pdcp_tool {

class PdcpSteps {
 public:
  PdcpSteps();
  ~PdcpSteps();
  PdcpSteps(const PdcpSteps&) = delete;
  PdcpSteps& operator=(const PdcpSteps&) = delete;

  // Call it before the other half makes an entity of that name.
  void forget(const std::string& name);
  // The answer to a step of an entity of this half.
  nlohmann::json answer(const nlohmann::json& step);

 private:
  struct Home;
  std::unique_ptr<Home> home_;
};

}  // namespace splitplane::pdcp_tool
