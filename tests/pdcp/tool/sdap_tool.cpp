// Serves the SDAP steps of tests/pdcp/protocol.md on standard input, one line a step, one line an answer:
// `python -m pdcp.comparison --kind sdap build/release/tools/sdap_tool` in tests/.
#include <iostream>

#include "sdap_steps.h"

int main() {
  splitplane::pdcp_tool::SdapSteps sdap;
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto step = nlohmann::json::parse(line);
    if (!sdap.serves(step)) {
      std::cerr << "sdap_tool: not a step of an SDAP entity: " << line << '\n';
      return 1;
    }
    std::cout << sdap.answer(step).dump() << std::endl;
  }
}
