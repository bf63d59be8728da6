// Logical channel prioritisation (TS 38.321 5.4.3.1.3): which channel fills the next octets of a block. It is defined
// for the UE's uplink; the downlink of this gNB uses the same. The caller passes the time.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <span>

#include "ran/rlc/types.h"

namespace splitplane::ran::mac {

using rlc::Time;

inline constexpr std::uint64_t kUnlimitedRate = std::numeric_limits<std::uint64_t>::max();

// Of one logical channel (TS 38.331, LogicalChannelConfig).
struct LcpConfig {
  std::uint8_t priority = 1;                            // 1 is served first, 16 last
  std::uint64_t prioritised_bit_rate = kUnlimitedRate;  // octets a second; kUnlimitedRate: infinity
  std::uint32_t bucket_size_ms = 50;                    // bucketSizeDuration
};

// The variable Bj of one channel. It is kept in octets times ticks per second, so that nothing is divided or rounded.
class Bucket {
 public:
  Bucket() = default;
  // `ticks_per_second` is at most 2^33, as a TSC has them, and a bucket at most 2^28 octets; TS 38.331 allows 2^26. So
  // twice their product fits.
  Bucket(const LcpConfig& config, Time ticks_per_second, Time now)
      : ticks_per_second_(static_cast<std::int64_t>(ticks_per_second)),
        rate_(config.prioritised_bit_rate == kUnlimitedRate ? kUnlimited
                                                            : static_cast<std::int64_t>(config.prioritised_bit_rate)),
        most_ticks_(config.bucket_size_ms * ticks_per_second / 1000),
        filled_(now) {
    assert(ticks_per_second <= kMostTicksPerSecond);
    assert(rate_ == kUnlimited || config.prioritised_bit_rate * config.bucket_size_ms / 1000 <= kMostOctets);
  }

  // Bj = 0 from now on (TS 38.321 5.4.3.1.1, 5.12).
  void restart(Time now) {
    tokens_ = 0;
    filled_ = now;
  }
  // Adds what came since the last call, up to the size of the bucket.
  void fill(Time now) {
    const Time passed = std::min(now - filled_, most_ticks_);
    filled_ = now;
    if (rate_ == kUnlimited) return;
    const std::int64_t most = rate_ * static_cast<std::int64_t>(most_ticks_);
    tokens_ = std::min(tokens_ + rate_ * static_cast<std::int64_t>(passed), most);
  }
  // Bj > 0.
  [[nodiscard]] bool positive() const { return tokens_ > 0 || rate_ == kUnlimited; }
  // Takes the octets of MAC SDUs; Bj may become negative.
  void spend(std::size_t octets) {
    if (rate_ != kUnlimited) tokens_ -= static_cast<std::int64_t>(octets) * ticks_per_second_;
  }
  // Bj in octets, rounded down; meaningless at an unlimited rate.
  [[nodiscard]] std::int64_t octets() const {
    const std::int64_t rest = tokens_ % ticks_per_second_;
    return tokens_ / ticks_per_second_ - (rest < 0 ? 1 : 0);
  }

 private:
  static constexpr std::int64_t kUnlimited = -1;
  static constexpr Time kMostTicksPerSecond = Time{1} << 33;
  static constexpr std::uint64_t kMostOctets = std::uint64_t{1} << 28;
  std::int64_t ticks_per_second_ = 1;
  std::int64_t rate_ = kUnlimited;
  std::int64_t tokens_ = 0;
  Time most_ticks_ = 0, filled_ = 0;
};

// The channels of one UE, in order of their priority.
class Prioritisation {
 public:
  static constexpr unsigned kMostChannels = 32;

  explicit Prioritisation(Time ticks_per_second) : ticks_per_second_(ticks_per_second) {}

  // Returns the place that the new channel gets: behind those of its priority, before those of lower priority. Its Bj
  // is 0. The caller has checked that there are fewer than kMostChannels.
  unsigned add(const LcpConfig& config, Time now) {
    unsigned at = count_;
    for (; at != 0 && all_[at - 1].priority > config.priority; --at) all_[at] = all_[at - 1];
    all_[at] = {Bucket(config, ticks_per_second_, now), config.priority, 0};
    ++count_;
    return at;
  }
  void remove(unsigned at) {
    --count_;
    for (; at != count_; ++at) all_[at] = all_[at + 1];
  }
  // MAC is set up or reset: all Bj are 0.
  void restart(Time now) {
    for (unsigned i = 0; i < count_; ++i) all_[i].bucket.restart(now);
  }
  [[nodiscard]] unsigned size() const { return count_; }
  [[nodiscard]] const Bucket& bucket(unsigned at) const { return all_[at].bucket; }

  // Calls take(place), which puts the next SDU of a channel into the block and returns its octets, 0 if the channel has
  // nothing that fits. First each channel gets its prioritised bit rate, in order of priority; then what is left goes
  // to the channels in strict order. Channels of equal priority get turns of equal octets.
  template <class Take>
  void serve(Time now, Take&& take) {
    for (unsigned i = 0; i < count_; ++i) all_[i].bucket.fill(now);
    std::uint32_t done = 0;  // bit i: channel i has nothing more that fits
    for (const bool by_rate : {true, false}) {
      for (unsigned first = 0; first < count_;) {
        unsigned last = first + 1;
        while (last < count_ && all_[last].priority == all_[first].priority) ++last;
        if (last == first + 1) {
          serve_one(first, by_rate, done, take);
        } else {
          serve_equals(first, last, by_rate, done, take);
        }
        first = last;
      }
    }
  }

 private:
  struct Share {
    Bucket bucket;
    std::uint8_t priority = 16;
    std::uint8_t turn = 0;  // of the first of equals: which of them is next
  };

  template <class Take>
  void serve_one(unsigned at, bool by_rate, std::uint32_t& done, Take& take) {
    if ((done >> at & 1) != 0) return;
    Bucket& bucket = all_[at].bucket;
    while (!by_rate || bucket.positive()) {
      const std::size_t octets = take(at);
      if (octets == 0) {
        done |= 1U << at;
        return;
      }
      if (by_rate) bucket.spend(octets);
    }
  }

  // The channel that got the fewest octets is next; among those, the one whose turn it is.
  template <class Take>
  void serve_equals(unsigned first, unsigned last, bool by_rate, std::uint32_t& done, Take& take) {
    const unsigned members = last - first;
    std::array<std::uint64_t, kMostChannels> served{};
    std::uint8_t& turn = all_[first].turn;
    for (;;) {
      unsigned next = kMostChannels;
      for (unsigned i = 0; i < members; ++i) {
        const unsigned member = (turn + i) % members;
        if ((done >> (first + member) & 1) != 0 || (by_rate && !all_[first + member].bucket.positive())) continue;
        if (next == kMostChannels || served[member] < served[next]) next = member;
      }
      if (next == kMostChannels) return;
      const std::size_t octets = take(first + next);
      if (octets == 0) {
        done |= 1U << (first + next);
        continue;
      }
      served[next] += octets;
      if (by_rate) all_[first + next].bucket.spend(octets);
      turn = static_cast<std::uint8_t>((next + 1) % members);
    }
  }

  Time ticks_per_second_;
  unsigned count_ = 0;
  std::array<Share, kMostChannels> all_;
};

}  // namespace splitplane::ran::mac
