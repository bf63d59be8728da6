// How many threads drive an engine together: one on a CPU, the 32 of a warp on a device. Engines are written once, for
// `width` lanes that take consecutive packets.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace splitplane::gpu {

// A CPU thread: collective operations are trivial and cost nothing.
struct CpuLane {
  static constexpr std::uint32_t id = 0;
  static constexpr std::uint32_t width = 1;

  // Bit i is lane i's argument.
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t ballot(bool mine) { return mine ? 1 : 0; }
  // The value of lane `from`.
  template <class T>
  [[nodiscard]] SPLITPLANE_HD static constexpr T shfl(T value, std::uint32_t /*from*/) {
    return value;
  }
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t sum(std::uint32_t value) { return value; }
  // Afterwards the other lanes see what a lane stored before.
  SPLITPLANE_HD static constexpr void sync() {}
  // The same lane, collective only among the lanes in `lanes` (bit i: lane i), for code that only these run.
  [[nodiscard]] SPLITPLANE_HD static constexpr CpuLane only(std::uint32_t /*lanes*/) { return {}; }
  // Bit i is set if lane i has the same value.
  [[nodiscard]] SPLITPLANE_HD static constexpr std::uint32_t peers(std::uint32_t /*value*/) { return 1; }
};

#if defined(__CUDACC__)
// One warp. The bodies are empty in host code, which the compiler also makes of a template. Engines never run so on the
// host.
struct WarpLane {
  static constexpr std::uint32_t width = 32;
  std::uint32_t id = 0;
  std::uint32_t mask = 0xffffffffU;  // the lanes that take part

  [[nodiscard]] SPLITPLANE_HD static WarpLane mine() {
#if defined(__CUDA_ARCH__)
    return {threadIdx.x & 31U};
#else
    return {};
#endif
  }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t ballot([[maybe_unused]] bool value) const {
#if defined(__CUDA_ARCH__)
    return __ballot_sync(mask, value);
#else
    return 0;
#endif
  }
  template <class T>
  [[nodiscard]] SPLITPLANE_HD T shfl(T value, [[maybe_unused]] std::uint32_t from) const {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(mask, value, static_cast<int>(from));
#else
    return value;
#endif
  }
  // The sum over all 32 lanes.
  [[nodiscard]] SPLITPLANE_HD std::uint32_t sum(std::uint32_t value) const {
#if defined(__CUDA_ARCH__)
    for (int distance = 16; distance != 0; distance /= 2) value += __shfl_xor_sync(0xffffffffU, value, distance);
#endif
    return value;
  }
  SPLITPLANE_HD void sync() const {
#if defined(__CUDA_ARCH__)
    __syncwarp(mask);
#endif
  }
  [[nodiscard]] SPLITPLANE_HD WarpLane only(std::uint32_t lanes) const { return {id, lanes}; }
  [[nodiscard]] SPLITPLANE_HD std::uint32_t peers([[maybe_unused]] std::uint32_t value) const {
#if defined(__CUDA_ARCH__)
    return __match_any_sync(mask, value);
#else
    return 1;
#endif
  }
};
#endif

// How many of the lowest bits are set without a gap: descriptors that completed, in order.
[[nodiscard]] SPLITPLANE_HD inline std::uint32_t trailing_ones(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return bits == 0xffffffffU ? 32U : static_cast<std::uint32_t>(__ffs(static_cast<int>(~bits)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_one(bits));
#endif
}
[[nodiscard]] SPLITPLANE_HD inline std::uint32_t count_ones(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}
// One more than the highest bit that is set; 0 if none is.
[[nodiscard]] SPLITPLANE_HD inline std::uint32_t bit_width(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return 32U - static_cast<std::uint32_t>(__clz(static_cast<int>(bits)));
#else
  return static_cast<std::uint32_t>(std::bit_width(bits));
#endif
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t least(std::uint32_t a, std::uint32_t b) {
  return a < b ? a : b;
}

}  // namespace splitplane::gpu
