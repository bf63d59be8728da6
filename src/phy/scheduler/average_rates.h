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
  // No average falls below this, so that a quotient is finite and a UE that was idle for long is not served forever.
  static constexpr float kLeast = 0.01F;

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
