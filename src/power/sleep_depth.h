// How long a sleep may be so that its wake-up still keeps the latency budget. A core that is idle for long falls into
// deeper idle states, which take longer to leave. A packet that ends a sleep does not tell how late it was taken. A
// sleep that its time ended does. So longer sleeps are tried step by step, and each step needs sleeps that their time
// ended before the next one is tried. A deep state makes every sleep late; neighbours on the machine make some late, of
// any length. So the number of late sleeps decides, not their mean. A length that was tried is not used in full,
// because where the deep state begins just behind it, sleeps that end a little late would reach it.
#pragma once

#include <algorithm>
#include <utility>

#include "power/policy.h"

namespace splitplane::power {

class SleepDepth {
 public:
  // `most`: the longest sleep that is ever wanted.
  SleepDepth(Ticks most, Ticks ticks_per_us)
      : most_(most),
        least_(std::min(kLeastUs * ticks_per_us, most)),
        first_retry_(kFirstRetryUs * ticks_per_us),
        retry_(first_retry_),
        proven_(std::min(kStartUs * ticks_per_us, most)),
        tried_(proven_) {}

  // The length to ask for now. Where packets come it is seldom one that is not proven yet, because these packets would
  // wait the longer for a core that is deep asleep.
  [[nodiscard]] Ticks next() {
    if (tried_ <= proven_) return waited_ = 0, usable();
    if (silent_) return tried_;
    // A silence that just begins: only so is a length tried that is nearly as long as the silences.
    if (++waited_ < kSeldom) return usable();
    return waited_ = 0, tried_;
  }
  // The longest length from which the core is known to wake up within the budget, also if it ends a little late.
  [[nodiscard]] Ticks usable() const { return proven_ == most_ ? most_ : proven_ - proven_ / 8; }

  // The longest sleep that may be possible. As long as nothing was refused, every length may be.
  [[nodiscard]] Ticks hoped() const { return refused_ ? usable() : most_; }

  // Call it after each sleep that an interrupt may end. `allowed`: how late a wake-up may be.
  void learn(Ticks now, Ticks asked, Ticks took, bool woken, Ticks allowed) {
    silent_ = !woken;
    if (now < indifferent_until_) return;
    if (now >= retry_at_) refused_ = false;
    if (woken) {
      if (tried_ > proven_ && took > proven_) look_closer(took);
      return;
    }
    const bool late = took > asked + allowed, trial = tried_ > proven_;
    // A timer ended it, which tells nothing about this length.
    if (asked + asked / 8 < (trial ? tried_ : usable())) return;
    late_ += late ? 1 : 0;
    ++sleeps_;
    if (!trial) lateness_ += ((late ? 1 : 0) - lateness_) / kMemory;
    const bool no_more = !trial && lateness_ > kMostLate;
    if (sleeps_ < kSure && !no_more) return;
    const bool refused = trial ? late_ >= kMostOfSure : no_more;
    begin_anew();
    if (refused) lateness_ = 0;
    if (refused && tried_ <= least_) {
      // Even the shortest one is late, so the length is not the cause, and short ones would gain nothing.
      proven_ = tried_ = most_;
      instead_of_ = 0;
      refused_ = false;
      indifferent_until_ = now + kMostRetries * first_retry_;
    } else if (refused) {
      if (tried_ <= proven_) proven_ = std::max(least_, proven_ / 2);
      tried_ = proven_;
      instead_of_ = 0;
      refused_ = true;
      retry_at_ = now + retry_;
      retry_ = std::min(2 * retry_, kMostRetries * first_retry_);
    } else {
      if (trial) retry_ = first_retry_;
      proven_ = tried_ = std::max(tried_, std::exchange(instead_of_, 0));
      if (now >= retry_at_) tried_ = std::min(most_, tried_ + tried_ / 2);
    }
  }

 private:
  static constexpr Ticks kStartUs = 256;  // within the first idle state of a server core
  static constexpr Ticks kLeastUs = 64;
  static constexpr Ticks kFirstRetryUs = 500'000;  // after this time a refused length is tried again
  static constexpr Ticks kMostRetries = 16;        // times that at most, if it is refused each time
  static constexpr unsigned kSure = 4;             // sleeps that decide of a length that is tried
  static constexpr unsigned kMostOfSure = 3;       // late ones of them refuse it
  static constexpr float kMemory = 16;             // sleeps of a proven length that count
  static constexpr float kMostLate = 0.5F;         // ... and the part of them that may be late
  static constexpr unsigned kBlind = 4;            // sleeps that packets ended before their length was reached
  static constexpr unsigned kSeldom = 4;           // sleeps

  void begin_anew() { late_ = sleeps_ = blind_ = 0; }

  // Packets always come before the length that is to be proven. A shorter one is tried that they do not end. If that
  // one is good, the other is taken for good, because the silences are hardly longer.
  void look_closer(Ticks took) {
    shortest_ = blind_ == 0 ? took : std::min(shortest_, took);
    if (++blind_ < kBlind) return;
    begin_anew();
    const Ticks shorter = proven_ + (std::min(shortest_, tried_) - proven_) / 4 * 3;
    if (shorter <= proven_) return;
    instead_of_ = std::max(instead_of_, tried_);
    tried_ = shorter;
  }

  Ticks most_, least_, first_retry_, retry_, proven_, tried_;
  float lateness_ = 0;  // the part of the late sleeps of proven lengths
  Ticks shortest_ = 0, retry_at_ = 0, indifferent_until_ = 0;
  Ticks instead_of_ = 0;  // the length that packets have kept from being tried
  unsigned late_ = 0, sleeps_ = 0, blind_ = 0, waited_ = 0;
  bool refused_ = false;
  bool silent_ = true;  // the last sleep reached its time
};

}  // namespace splitplane::power
