// The counters behind the model's statistics registers (82599 datasheet 8.2.3.23). Each clears when it is read, and
// octets include the CRC. Only the model's thread uses them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "gpu/nic/registers_82599.h"

namespace splitplane::nicmodel {

inline constexpr std::uint32_t kCrcBytes = 4;

struct Statistics {
  template <std::size_t N>
  using Set = std::array<std::uint64_t, N>;

  std::uint64_t gprc = 0, bprc = 0, mprc = 0, gorc = 0;  // received and accepted
  std::uint64_t tpr = 0, tor = 0, ruc = 0, roc = 0;      // all frames; too short ones, too long ones
  std::uint64_t gptc = 0, bptc = 0, mptc = 0, gotc = 0, tpt = 0;
  Set<gpu::reg::kSizeClasses> prc{}, ptc{};
  Set<gpu::reg::kPacketBuffers> rxmpc{};
  Set<gpu::reg::kStatisticsSets> qprc{}, qbrc{}, qprdc{}, qptc{}, qbtc{};

  // The counter that a register shows; nullptr for other registers. `high` for the upper word of 36 bits.
  [[nodiscard]] std::uint64_t* at(std::uint32_t offset, bool& high);
};

// 64, 65-127, 128-255, 256-511, 512-1023, 1024 and more octets, with the CRC.
[[nodiscard]] inline std::size_t size_class(std::uint32_t octets_with_crc) {
  if (octets_with_crc <= 64) return 0;
  const auto width = 32U - static_cast<std::uint32_t>(__builtin_clz(octets_with_crc));  // 65..127: 7
  return std::min<std::uint32_t>(width - 6, gpu::reg::kSizeClasses - 1);
}

}  // namespace splitplane::nicmodel
