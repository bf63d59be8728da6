// What the comparison of tests/pdcp talks to: steps on standard input, answers on standard output, a line of JSON each
// (tests/pdcp/protocol.md).
#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "pdcp_steps.h"
#include "sdap_steps.h"

int main() {
  using namespace splitplane::pdcp_tool;
  try {
    PdcpSteps pdcp;
    SdapSteps sdap;
    for (std::string line; std::getline(std::cin, line);) {
      const auto step = nlohmann::json::parse(line);
      const bool is_sdap = sdap.serves(step);
      if (step.at("op") == "new") {  // an entity of that name is forgotten, whichever half has it
        const auto name = step.at("entity").get<std::string>();
        is_sdap ? pdcp.forget(name) : sdap.forget(name);
      }
      std::cout << (is_sdap ? sdap.answer(step) : pdcp.answer(step)).dump() << '\n' << std::flush;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pdcp_tool: %s\n", error.what());
    return 1;
  }
  return 0;
}
