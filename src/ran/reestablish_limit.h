// How often a bearer re-establishes RLC without a command after a radio link failure: at once, then after pauses that
// double. An attacker who forges PDUs on the air can make bearers fail. That must not keep both ends busy.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <unordered_map>

#include "base/types.h"

namespace splitplane::app {

class ReestablishLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kFirstPause{1}, kLongestPause{32};
  static constexpr std::chrono::seconds kForgotten{120};  // without a failure: the next one counts as the first

  // A bearer has failed. Returns true if it may begin anew now, and counts that.
  [[nodiscard]] bool allows(BearerId id, Time now) {
    if (const auto at = bearers_.find(id.value); at != bearers_.end() && now < at->second.next) return false;
    std::erase_if(bearers_, [now](const auto& one) { return now >= one.second.next + kForgotten; });
    auto& [next, pause] = bearers_.try_emplace(id.value).first->second;
    next = now + pause;
    pause = std::min(2 * pause, kLongestPause);
    return true;
  }

 private:
  struct Pause {
    Time next{};
    std::chrono::seconds pause = kFirstPause;
  };
  std::unordered_map<std::uint32_t, Pause> bearers_;
};

}  // namespace splitplane::app
