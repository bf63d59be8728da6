// For tests only: 32 threads that act as the lanes of one warp. So code for a warp (ranks, ballots, the order of
// writes) is tested without a GPU, also under ThreadSanitizer.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/rings/lane.h"

namespace splitplane::gpu::test {

// Where a warp's lanes meet.
class Warp {
 public:
  using Barrier = std::barrier<>;
  Barrier& meeting(std::uint32_t mask) {
    const std::lock_guard lock(mutex_);
    return barriers_.try_emplace(mask, static_cast<std::ptrdiff_t>(count_ones(mask))).first->second;
  }
  std::array<std::uint64_t, 32> exchange{};

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, Barrier> barriers_;
};

struct TestLane {
  static constexpr std::uint32_t width = 32;
  std::uint32_t id = 0;
  Warp* warp = nullptr;
  std::uint32_t mask = 0xffffffffU;

  void sync() const { warp->meeting(mask).arrive_and_wait(); }
  template <class T>
  [[nodiscard]] std::array<T, 32> all(T mine) const {
    static_assert(sizeof(T) <= 8);
    std::memcpy(&warp->exchange[id], &mine, sizeof mine);
    sync();
    std::array<T, 32> values{};
    for (std::uint32_t i = 0; i < width; ++i) {
      if ((mask >> i & 1U) != 0) std::memcpy(&values[i], &warp->exchange[i], sizeof(T));
    }
    sync();
    return values;
  }
  [[nodiscard]] std::uint32_t ballot(bool mine) const {
    const auto values = all<std::uint8_t>(mine ? 1 : 0);
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < width; ++i) bits |= static_cast<std::uint32_t>(values[i]) << i;
    return bits;
  }
  template <class T>
  [[nodiscard]] T shfl(T value, std::uint32_t from) const {
    return all(value)[from];
  }
  [[nodiscard]] std::uint32_t sum(std::uint32_t value) const {
    std::uint32_t total = 0;
    for (const std::uint32_t v : all(value)) total += v;
    return total;
  }
  [[nodiscard]] TestLane only(std::uint32_t lanes) const { return {id, warp, lanes}; }
  [[nodiscard]] std::uint32_t peers(std::uint32_t value) const {
    const auto values = all(value);
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < width; ++i) bits |= values[i] == value ? mask & 1U << i : 0;
    return bits;
  }
};

// Runs `body(lane)` on 32 threads at once.
template <class Body>
void run_warp(Body body) {
  Warp warp;
  std::vector<std::thread> lanes;
  for (std::uint32_t i = 0; i < TestLane::width; ++i) {
    lanes.emplace_back([&warp, &body, i] { body(TestLane{i, &warp}); });
  }
  for (std::thread& lane : lanes) lane.join();
}

}  // namespace splitplane::gpu::test
