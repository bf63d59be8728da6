#include "phy/impairment.h"

#include <algorithm>

namespace splitplane::phy {

Impairment::Impairment(std::uint64_t seed, double ticks_per_us, const Impairments& wanted)
    : loss_(seed), duplicate_(0), reorder_(0), jitter_(0), copy_jitter_(0), ticks_per_us_(ticks_per_us) {
  Random seeds(seed);
  for (Random* stream : {&loss_, &duplicate_, &reorder_, &jitter_, &copy_jitter_}) *stream = Random(seeds.next());
  set(wanted);
}

void Impairment::set(const Impairments& wanted) {
  settings_ = wanted;
  // Two states: each frame in the bad one is lost, in the good one none. The bad one ends with probability `end`, so a
  // burst has 1 / end frames on average, and it begins so often that it holds the wanted share of frames. Independent
  // losses are the special case end = 1 - loss, with 1 / (1 - loss) in a row; shorter bursts than these are not made.
  const double loss = wanted.loss_percent / 100;
  const double end = std::min(1 - loss, 1 / wanted.burst_length);
  go_on_ = 1 - end;
  begin_ = loss < 1 ? end * loss / (1 - loss) : 1;
  duplicate_share_ = wanted.duplicate_percent / 100;
  reorder_share_ = wanted.reorder_percent / 100;
  delay_ = static_cast<Ticks>(wanted.delay_us * ticks_per_us_);
  jitter_range_ = wanted.jitter_us * ticks_per_us_;
}

}  // namespace splitplane::phy
