// What the judges of transport block sizes talk to (tests/phy): one request a line in, one line of numbers out.
//   sizes TABLE LAYERS SYMBOLS DMRS OVERHEAD MCS     bits a symbol, rate x 2048, then bits of TBs of 1..275 PRBs
//   prbs TABLE LAYERS SYMBOLS DMRS OVERHEAD MCS OCTETS...    for each, the fewest PRBs
//   mcs TABLE LAYERS SYMBOLS DMRS OVERHEAD PRBS OCTETS...    for each, the lowest MCS
#include <iostream>
#include <sstream>
#include <string>

#include "phy/slots/tb_size.h"

int main() {
  using namespace splitplane::phy;
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    unsigned table = 0, layers = 0, symbols = 0, dmrs = 0, overhead = 0, which = 0, bytes = 0;
    words >> command >> table >> layers >> symbols >> dmrs >> overhead >> which;
    const TbShape shape{static_cast<McsTable>(table), static_cast<std::uint8_t>(symbols),
                        static_cast<std::uint8_t>(dmrs), static_cast<std::uint8_t>(overhead),
                        static_cast<std::uint8_t>(layers)};
    const auto index = static_cast<std::uint8_t>(which);
    if (command == "sizes") {
      const Mcs mcs = mcs_at(shape.table, index);
      std::cout << int{mcs.bits} << ' ' << mcs.rate_2048;
      for (std::uint32_t prbs = 1; prbs <= kMaxPrbs; ++prbs) std::cout << ' ' << tb_bits(shape, index, prbs);
    } else {
      while (words >> bytes) {
        if (command == "prbs") std::cout << prbs_for(shape, index, bytes, kMaxPrbs) << ' ';
        if (command == "mcs") std::cout << int{mcs_for(shape, which, bytes)} << ' ';
      }
    }
    std::cout << std::endl;
  }
  return 0;
}
