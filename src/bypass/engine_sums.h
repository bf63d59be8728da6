// Sums over the counters of all engines of a run, as the host reads them during the run.
#pragma once

#include "gpu/rings/memory_order.h"
#include "gpu/rings/ring_memory.h"

namespace splitplane::bypass {

class EngineSums {
 public:
  EngineSums() = default;
  EngineSums(const gpu::SharedView& view, std::uint32_t rings) : view_(view), rings_(rings) {}

  // By functions and receivers.
  [[nodiscard]] std::uint64_t dropped() const {
    std::uint64_t all = 0;
    for (std::size_t v = 1; v < gpu::kVerdictCount; ++v) all += dropped_as(v);
    return all;
  }
  [[nodiscard]] std::uint64_t dropped_as(std::size_t verdict) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < rings_; ++i) all += gpu::load_relaxed(&view_.verdicts[i].count[verdict]);
    return all;
  }
  // Both in both directions.
  [[nodiscard]] std::uint64_t doorbells() const { return sum(&gpu::EngineCounters::doorbells); }
  [[nodiscard]] std::uint64_t packets() const { return sum(&gpu::EngineCounters::packets); }
  // Packets that receivers passed on and that the NIC has not sent yet.
  [[nodiscard]] std::uint64_t held() const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < rings_; ++i) {
      all += gpu::load_relaxed(&view_.rx[i].completed) - gpu::load_relaxed(&view_.tx[i].completed);
    }
    return all;
  }
  // True if each packet that a receiver passed on was sent, and its slot came back.
  [[nodiscard]] bool all_came_back() const {
    for (std::uint32_t i = 0; i < rings_; ++i) {
      const std::uint64_t handed_over = gpu::load_relaxed(&view_.rx[i].completed);
      if (gpu::load_relaxed(&view_.tx[i].packets) != handed_over) return false;
      if (gpu::load_relaxed(&view_.tx[i].completed) != handed_over) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t sum(std::uint64_t gpu::EngineCounters::* field) const {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < rings_; ++i) {
      all += gpu::load_relaxed(&(view_.rx[i].*field)) + gpu::load_relaxed(&(view_.tx[i].*field));
    }
    return all;
  }
  gpu::SharedView view_;
  std::uint32_t rings_ = 0;
};

}  // namespace splitplane::bypass
