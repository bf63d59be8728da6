// How long a sleep may be so that its wake-up still keeps the latency budget. A core that is idle for long falls into
// deeper idle states, which take longer to leave. A packet that ends a sleep does not tell how late it was taken. A
// sleep that its time ended does. So longer sleeps are tried step by step, and each step needs sleeps that their time
// ended before the next one is tried.
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
        retry_(kRetryUs * ticks_per_us),
        proven_(std::min(kStartUs * ticks_per_us, most)),
        tried_(proven_) {}

  // The length to ask for now. Where packets come it is seldom one that is not proven yet, because these packets would
  // wait the longer for a core that is deep asleep.
  [[nodiscard]] Ticks next() {
    if (tried_ <= proven_ || silent_ || ++waited_ >= kSeldom) return waited_ = 0, tried_;
    return proven_;
  }
  // The longest length from which the core is known to wake up within the budget.
  [[nodiscard]] Ticks proven() const { return proven_; }

  // The longest sleep that may be possible. As long as nothing was refused, every length may be.
  [[nodiscard]] Ticks hoped() const { return refused_ ? proven_ : most_; }

  // Call it after each sleep that an interrupt may end. `allowed`: how late a wake-up may be.
  void learn(Ticks now, Ticks asked, Ticks took, bool woken, Ticks allowed) {
    silent_ = !woken;
    if (now < indifferent_until_) return;
    if (now >= retry_at_) refused_ = false;
    if (woken) {
      if (tried_ > proven_ && took > proven_) look_closer(took);
      return;
    }
    // A timer ended it, which tells nothing about this length.
    if (asked + asked / 8 < tried_) return;
    late_ += took > asked ? std::min(took - asked, kMost * allowed) : 0;
    if (++sleeps_ < kSure) return;
    const bool refused = late_ > kSure * allowed;
    begin_anew();
    if (refused && tried_ <= least_) {
      // Even the shortest one is late, so the length is not the cause, and short ones would gain nothing.
      proven_ = tried_ = most_;
      instead_of_ = 0;
      refused_ = false;
      indifferent_until_ = now + retry_;
    } else if (refused) {
      if (tried_ <= proven_) proven_ = std::max(least_, proven_ / 2);
      tried_ = proven_;
      instead_of_ = 0;
      refused_ = true;
      retry_at_ = now + retry_;
    } else {
      proven_ = tried_ = std::max(tried_, std::exchange(instead_of_, 0));
      if (now >= retry_at_) tried_ = std::min(most_, tried_ + tried_ / 2);
    }
  }

 private:
  static constexpr Ticks kStartUs = 256;  // within the first idle state of a server core
  static constexpr Ticks kLeastUs = 64;
  static constexpr Ticks kRetryUs = 8'000'000;  // a refused length is tried again after so long
  static constexpr Ticks kMost = 4;             // times what is allowed: later wake-ups count as that late
  static constexpr unsigned kSure = 4;          // sleeps whose mean decides
  static constexpr unsigned kBlind = 4;         // sleeps that packets ended before their length was reached
  static constexpr unsigned kSeldom = 4;        // sleeps

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

  Ticks most_, least_, retry_, proven_, tried_;
  Ticks late_ = 0, shortest_ = 0, retry_at_ = 0, indifferent_until_ = 0;
  Ticks instead_of_ = 0;  // the length that packets have kept from being tried
  unsigned sleeps_ = 0, blind_ = 0, waited_ = 0;
  bool refused_ = false;
  bool silent_ = true;  // the last sleep reached its time
};

}  // namespace splitplane::power
