// The plain drivers of all rings on one thread, as a Driver of a run.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <thread>

#include "base/idle_rounds.h"
#include "bypass/driver.h"
#include "bypass/plain_driver.h"
#include "gpu/rings/launch.h"

namespace splitplane::bypass {

template <class Worker>
class PlainThread final : public Driver {
 public:
  // `make(ring)`: the worker of a ring.
  template <class Make>
  PlainThread(const std::vector<gpu::Ring>& rings, std::uint32_t batch, std::uint64_t within_ns, Make make) {
    for (std::size_t i = 0; i < rings.size(); ++i) {
      rings_.push_back(std::make_unique<PlainDriver<Worker>>(rings[i], make(i), batch, within_ns));
    }
  }
  ~PlainThread() override { static_cast<void>(stop()); }

  void start() override {
    step();
    thread_ = std::thread([this] {
      try {
        IdleRounds rounds;
        while (!stop_.load(std::memory_order_relaxed)) rounds.note(step());
        const std::uint64_t deadline = gpu::steady_ns() + 1'000'000'000;
        while (!idle() && gpu::steady_ns() < deadline) step();
      } catch (const std::exception& error) {  // from a worker: a GPU that failed
        failure_ = error.what();
        failed_.store(true, std::memory_order_relaxed);
      }
    });
  }
  Expected<void> stop() override {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
    return {};
  }
  bool has_failed() override { return failed_.load(std::memory_order_relaxed); }
  std::string failure() override { return failure_; }
  std::uint64_t dropped() override {
    return sum([](const PlainCounters& c) { return c.dropped.get(); });
  }
  std::uint64_t doorbells() override {
    return sum([](const PlainCounters& c) { return c.doorbells.get(); });
  }
  std::uint64_t packets() override {
    return sum([](const PlainCounters& c) { return c.received.get() + c.sent.get(); });
  }
  bool slots_are_sound() override {
    return std::all_of(rings_.begin(), rings_.end(), [](const auto& r) { return r->slots_are_sound(); });
  }

 private:
  // Returns true if a packet was received.
  bool step() {
    const std::uint64_t now = gpu::steady_ns();
    std::uint32_t moved = 0;
    for (auto& ring : rings_) moved += ring->step(now);
    return moved != 0;
  }
  bool idle() const {
    return std::all_of(rings_.begin(), rings_.end(), [](const auto& r) { return r->is_idle(); });
  }
  template <class F>
  std::uint64_t sum(F f) const {
    std::uint64_t all = 0;
    for (const auto& ring : rings_) all += f(ring->counters());
    return all;
  }

  std::vector<std::unique_ptr<PlainDriver<Worker>>> rings_;
  std::atomic<bool> stop_{false}, failed_{false};
  std::string failure_;
  std::thread thread_;
};

}  // namespace splitplane::bypass
