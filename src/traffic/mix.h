// Which flow and which size the next packet has: flows in turn or at random, sizes by weight.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace splitplane::traffic {

struct Choice {
  std::uint32_t flow = 0;
  std::uint32_t size = 0;  // index into the list of sizes
};

class Mix {
 public:
  enum class Order : std::uint8_t { kInTurn, kRandom };

  // `weights`: one a size, at least one above 0; together at most 65,536.
  Mix(std::uint32_t flows, Order order, const std::vector<std::uint32_t>& weights, std::uint64_t seed)
      : flows_(flows), order_(order), random_(seed) {
    for (std::uint32_t size = 0; size < weights.size(); ++size) sizes_.insert(sizes_.end(), weights[size], size);
  }

  [[nodiscard]] Choice next() {
    Choice choice;
    if (order_ == Order::kInTurn) {
      choice.flow = next_;
      next_ = next_ + 1 == flows_ ? 0 : next_ + 1;
    } else {
      choice.flow = random_.below(flows_);
    }
    // The size is random even when flows go in turn. Otherwise a flow could get one size only.
    choice.size = sizes_.size() == 1 ? sizes_[0] : sizes_[random_.below(static_cast<std::uint32_t>(sizes_.size()))];
    return choice;
  }

 private:
  std::uint32_t flows_, next_ = 0;
  Order order_;
  Random random_;
  std::vector<std::uint32_t> sizes_;  // each size as often as its weight
};

}  // namespace splitplane::traffic
