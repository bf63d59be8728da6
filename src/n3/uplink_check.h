// What Error Indications do to one bearer's uplink. A forged one looks like the UPF's, so a single one stops nothing:
//
//   active   --Error Indication--> checking: the UPF is asked (Echo), the uplink goes on
//   checking --the UPF answered, uplink packets went out since, and another Error Indication came--> stopped
//   checking --3 s without that--> active: it was false, or about something that is over
//   stopped  --1 s, and twice as long each time, 16 s at most--> retrying: the uplink goes on, the UPF is asked again
//   retrying --as in checking--> stopped;   --10 s without that--> active
//   retrying --its worker does not answer, so that the uplink does not go on--> stopped, 1 s
//
// A bearer that sends nothing is never stopped, as far as this class sees its uplink packets; it sees none of a card's.
// A stopped bearer resumes without a command. The class is pure: the caller brings time and counts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/outcome_list.h"

namespace splitplane::datapath {

#define SPLITPLANE_UPLINK_STATES(X)                                                \
  X(active, "uplink packets go out")                                               \
  X(checking, "an Error Indication came: the uplink goes on, the UPF is asked")    \
  X(stopped, "the UPF does not know the uplink TEID: packets are dropped a while") \
  X(retrying, "the uplink goes on after a stop, and Error Indications are looked for")

SPLITPLANE_OUTCOMES(UplinkState, SPLITPLANE_UPLINK_STATES)

class UplinkCheck {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::milliseconds;
  static constexpr Span kCheck{3'000}, kFirstStop{1'000}, kLongestStop{16'000}, kRetry{10'000};
  enum class Act : std::uint8_t {
    kNone,
    kAskUpf,   // send an Echo Request now
    kStop,     // stop the uplink
    kRefuted,  // back to active: the check found no fault
    kResume,   // resume the uplink, call resumed(), and send an Echo Request now
  };

  // An Error Indication of the bearer's UPF came. `sent` is the number of uplink packets so far; `echo` is when the UPF
  // last answered.
  [[nodiscard]] Act indicated(Time now, std::uint64_t sent, Time echo) {
    if (state_ == UplinkState::active) {
      begin(UplinkState::checking, now, sent, kCheck);
      stop_for_ = kFirstStop;
      return Act::kAskUpf;
    }
    if (state_ == UplinkState::stopped || echo < since_ || sent == sent_) return Act::kNone;
    if (state_ == UplinkState::retrying) stop_for_ = std::min(2 * stop_for_, kLongestStop);
    begin(UplinkState::stopped, now, sent, stop_for_);
    return Act::kStop;
  }
  // Returns the action that is due.
  [[nodiscard]] Act turn(Time now) {
    if (state_ == UplinkState::active || now < until_) return Act::kNone;
    if (state_ == UplinkState::stopped) return Act::kResume;
    const bool refuted = state_ == UplinkState::checking;
    state_ = UplinkState::active;
    return refuted ? Act::kRefuted : Act::kNone;
  }
  // Call it after kResume: the uplink is resumed.
  void resumed(Time now, std::uint64_t sent) { begin(UplinkState::retrying, now, sent, kRetry); }
  // Call it after resumed() if the uplink could not be resumed because its worker did not answer. It is tried again a
  // second later.
  void not_resumed(Time now) { begin(UplinkState::stopped, now, sent_, kFirstStop); }

  [[nodiscard]] UplinkState state() const { return state_; }
  // When this state ends without an event.
  [[nodiscard]] Time until() const { return until_; }

 private:
  void begin(UplinkState state, Time now, std::uint64_t sent, Span span) {
    state_ = state;
    since_ = now;
    sent_ = sent;
    until_ = now + span;
  }

  UplinkState state_ = UplinkState::active;
  Time since_{}, until_{};
  std::uint64_t sent_ = 0;  // uplink packets when this state began
  Span stop_for_ = kFirstStop;
};

}  // namespace splitplane::datapath
