// Limits how many answers a sender can cause per second: one token bucket for each address. Unknown TEIDs and extension
// headers come as fast as a sender likes. Our answers must not become a flood.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>

#include "n3/path.h"

namespace splitplane::datapath {

class AnswerLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kMaxPeers = 1024;  // senders choose the addresses, so their number is bounded

  // `per_second` 0 means never. A burst may be as large as a second's answers, so a second may see twice as many.
  explicit AnswerLimit(unsigned per_second = 10) : per_second_(per_second) {}

  // True if this peer may have an answer now. Beyond kMaxPeers addresses, those not seen for a second make room. If
  // there are none, the new address must wait.
  [[nodiscard]] bool allow(const IpAddress& peer, Time now) {
    if (per_second_ == 0) return false;
    if (buckets_.size() >= kMaxPeers && !buckets_.contains(peer)) {
      std::erase_if(buckets_, [&](const auto& entry) { return now - entry.second.filled > std::chrono::seconds{1}; });
      if (buckets_.size() >= kMaxPeers) return false;
    }
    const auto [at, is_new] = buckets_.try_emplace(peer, Bucket{static_cast<double>(per_second_), now});
    Bucket& bucket = at->second;
    const double elapsed = std::chrono::duration<double>(now - bucket.filled).count();
    bucket.tokens = std::min(static_cast<double>(per_second_), bucket.tokens + elapsed * per_second_);
    bucket.filled = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

 private:
  struct Bucket {
    double tokens;
    Time filled;
  };
  unsigned per_second_;
  std::map<IpAddress, Bucket, IpLess> buckets_;
};

}  // namespace splitplane::datapath
