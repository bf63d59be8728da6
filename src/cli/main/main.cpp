// Entry of the program `splitplane`: the command line with the real packet path behind it.
#include <iostream>

#include "cli/baas.h"
#include "cli/card.h"
#include "cli/cli.h"
#include "cli/guard.h"
#include "cli/phy.h"
#include "cli/run.h"
#include "cli/ue.h"

int main(int argc, char** argv) {
  using namespace splitplane::app;
  return cli_main(argc, argv,
                  {run_command, ue_command, gen_command, sink_command, self_test_command, card_command, baas_command,
                   phy_command, guard_command},
                  std::cout, std::cerr);
}
