// The average rate of each UE, in octets of new data a slot: an exponential window over a number of slots. Proportional
// fair divides by it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "phy/slots/grant.h"

namespace splitplane::phy {

class AverageRates {
 public:
  // No average falls below this, so that a quotient is finite. It is some 70 windows of silence away from any rate: the
  // averages of UEs that wait for many windows must differ, or the best channel is served forever.
  static constexpr float kLeast = 1e-30F;

  AverageRates(std::size_t ues, unsigned window_slots)
      : rates_(ues, kLeast), gain_(1.0F / static_cast<float>(std::max(window_slots, 1U))) {}

  // Once a slot, with its grants. Retransmissions bring no new data.
  void update(std::span<const Grant> grants) {
    const float keep = 1 - gain_;
    for (float& rate : rates_) rate = std::max(rate * keep, kLeast);
    for (const Grant& grant : grants) {
      if (!grant.retransmission) rates_[grant.ue] += gain_ * static_cast<float>(grant.tb_bytes);
    }
  }
  // Another UE gets this place.
  void reset(std::size_t ue) { rates_[ue] = kLeast; }

  [[nodiscard]] std::span<const float> rates() const { return rates_; }

 private:
  std::vector<float> rates_;
  float gain_;
};

}  // namespace splitplane::phy
