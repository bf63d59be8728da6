#include "phy/channel/impairment.h"

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
  // Two states: every frame in the bad state is lost, no frame in the good state. The bad state ends with probability
  // `end`, so a burst has 1 / end frames on average. It begins as often as the wanted share of losses needs.
  // Independent losses are the special case end = 1 - loss, with 1 / (1 - loss) in a row; shorter bursts do not occur.
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
