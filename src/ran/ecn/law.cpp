#include "ran/ecn/law.h"

#include <algorithm>

namespace splitplane::ran::ecn {
namespace {

// After 4 s without a packet the controller begins anew.
constexpr Time kMostUpdates = 250;

}  // namespace

void Law::update(Time queueing, Time now) {
  const Time interval = settings_.ticks_per_ms * kUpdateMs;
  if (!is_begun_ || now - updated_ > kMostUpdates * interval) {
    base_ = last_ = 0;
    updated_ = now;
    is_begun_ = true;
    return;
  }
  const auto due = (now - updated_) / interval;
  if (due == 0) return;
  updated_ += due * interval;
  const double second = static_cast<double>(settings_.ticks_per_ms) * 1000;
  const double target = static_cast<double>(settings_.classic_target) / second;
  // No packet came in the updates before the last one, so the queue ran empty.
  if (due > 1) {
    base_ -= kAlpha * target * static_cast<double>(due - 1) + kBeta * last_;
    base_ = std::max(base_, 0.0);
    last_ = 0;
  }
  const double waited = static_cast<double>(queueing) / second;
  base_ += kAlpha * (waited - target) + kBeta * (waited - last_);
  base_ = std::clamp(base_, 0.0, 1.0);
  last_ = waited;
}

double Law::scalable_probability(Time queueing) const {
  const double coupled = std::min(1.0, kCoupling * base_);
  if (queueing <= settings_.target) return coupled;
  if (settings_.scalable == Scalable::kStep) return 1;
  const double above = static_cast<double>(queueing - settings_.target) / static_cast<double>(settings_.target);
  return std::max(coupled, std::min(1.0, above));
}

bool Law::marks(wire::ecn::Codepoint codepoint, Time queueing) {
  switch (codepoint) {
    case wire::ecn::Codepoint::kEct1:
      return draw() < scalable_probability(queueing);
    case wire::ecn::Codepoint::kEct0:
      return draw() < classic_probability();
    default:
      return false;
  }
}

double Law::draw() {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<double>((random_ * 0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

}  // namespace splitplane::ran::ecn
