// How a card runs its program.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace splitplane::nic {

enum class Execution : std::uint8_t {
  kCompiled,     // what the build made of the .spec; a .spec that the build did not have is interpreted
  kInterpreted,  // by DPDK's pipeline
};

// How VFs share what goes to the host (paper P4's VF distributor).
enum class VfSpread : std::uint8_t { kBearer, kHash, kTurn };
inline constexpr std::array<std::string_view, 3> kVfSpreadNames{"bearer", "hash", "turn"};

}  // namespace splitplane::nic
