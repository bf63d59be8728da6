// The load of each bearer: an exponentially weighted mean of what its counters say a period.
#pragma once

#include <span>
#include <vector>

#include "placement/decision/facts.h"
#include "placement/decision/settings.h"

namespace splitplane::placement {

class Loads {
 public:
  // One period more. A slot that got another bearer begins anew: its first period is only the beginning of a count.
  void update(const Facts& facts, const Settings& settings);
  [[nodiscard]] float of(std::size_t slot) const { return slot < slots_.size() ? slots_[slot].load : 0; }
  // What the load of a packet is: 1, or the mean octets of all packets of the last period. Never 0.
  [[nodiscard]] double unit() const { return unit_; }

 private:
  struct Slot {
    BearerId id{};
    float load = 0;  // packets or octets a second
    std::uint64_t packets = 0, octets = 0;
    bool measured = false;
  };
  std::vector<Slot> slots_;
  LoadOf load_of_{};
  Time last_ = kNever;
  double unit_ = 1;
};

}  // namespace splitplane::placement
