// Which ECN-capable packets are marked, by the time that packets wait in the queue (RFC 9332, RFC 9331 5).
//
//   ECT(1)  step: all above the target. ramp: none below the target, all above twice the target, linear between them.
//           At least the coupled probability 2 p'.
//   ECT(0)  the square p'^2, because the rate of a classic sender goes with 1 / sqrt(p), and that of a scalable one
//           with 1 / p. A PI controller moves p' each 16 ms, so that the queue stays at the classic target.
#pragma once

#include "ran/ecn/sojourn.h"
#include "wire/ecn.h"

namespace splitplane::ran::ecn {

enum class Scalable : std::uint8_t { kStep, kRamp };

class Law {
 public:
  struct Settings {
    Scalable scalable = Scalable::kStep;
    Time target = 1;          // of ECT(1)
    Time classic_target = 1;  // of ECT(0)
    Time ticks_per_ms = 1;
    std::uint64_t seed = 1;  // of the random numbers
  };
  // RFC 9332: the coupling factor, and the gains per second for round trips of at most 100 ms, updated each 16 ms.
  static constexpr double kCoupling = 2, kAlpha = 0.16, kBeta = 3.2;
  static constexpr unsigned kUpdateMs = 16;

  explicit Law(const Settings& settings) : settings_(settings), random_(settings.seed | 1) {}

  // Call it before marks(), with the queueing time of now.
  void update(Time queueing, Time now);
  // Whether a packet with this codepoint is marked now. Only ECT(0) and ECT(1) ever are.
  [[nodiscard]] bool marks(wire::ecn::Codepoint codepoint, Time queueing);

  // The probabilities that marks() draws against.
  [[nodiscard]] double scalable_probability(Time queueing) const;
  [[nodiscard]] double classic_probability() const { return base_ * base_; }
  [[nodiscard]] double base_probability() const { return base_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  // Uniform in [0, 1): xorshift64*.
  [[nodiscard]] double draw();

  Settings settings_;
  std::uint64_t random_;
  double base_ = 0;   // p'
  double last_ = 0;   // the queueing time of the last update, in seconds
  Time updated_ = 0;  // when the last update was due
  bool is_begun_ = false;
};

}  // namespace splitplane::ran::ecn
