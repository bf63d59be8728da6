// A 64-bit counter with one writer (the worker) and any number of readers (control, telemetry), without a lock or an
// atomic read-modify-write: relaxed load and store compile to a plain add.
#pragma once

#include <atomic>
#include <cstdint>

namespace splitplane {

class Counter {
 public:
  void add(std::uint64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace splitplane
