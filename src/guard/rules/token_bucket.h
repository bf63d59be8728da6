// A limit of things a second, with bursts of a fraction of a second. It counts in thousandths, so that a look each
// millisecond loses nothing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace splitplane::guard {

class TokenBucket {
 public:
  // It begins full. Bursts: what comes together in 100 ms, at least 32.
  explicit TokenBucket(std::uint32_t per_second = 0) { set(per_second); }
  void set(std::uint32_t per_second) {
    per_second_ = per_second;
    most_ = std::max<std::uint64_t>(per_second * std::uint64_t{100}, per_second == 0 ? 0 : 32'000);
    left_ = most_;
  }
  [[nodiscard]] std::uint32_t per_second() const { return per_second_; }

  // `now_ms` from any beginning, and never falling.
  [[nodiscard]] bool take(std::uint64_t now_ms) {
    if (now_ms != last_ms_) refill(now_ms);
    if (left_ < kOne) return false;
    left_ -= kOne;
    return true;
  }

 private:
  static constexpr std::uint64_t kOne = 1000;

  void refill(std::uint64_t now_ms) {
    const std::uint64_t passed = std::min<std::uint64_t>(now_ms - last_ms_, 1000);
    left_ = std::min(most_, left_ + passed * per_second_);  // per second is thousandths per millisecond
    last_ms_ = now_ms;
  }

  std::uint64_t left_ = 0, most_ = 0, last_ms_ = 0;
  std::uint32_t per_second_ = 0;
};

}  // namespace splitplane::guard
