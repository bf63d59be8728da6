// How a card runs its program.
#pragma once

#include <cstdint>

namespace splitplane::nic {

enum class Execution : std::uint8_t {
  kCompiled,     // what the build made of the .spec; a .spec that the build did not have is interpreted
  kInterpreted,  // by DPDK's pipeline
};

}  // namespace splitplane::nic
