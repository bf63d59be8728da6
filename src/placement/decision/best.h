// The first few of many bearers by their load, in time that goes with the number of bearers: most are refused by one
// comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace splitplane::placement {

struct Candidate {
  float key = 0;  // a load, or another measure
  std::uint32_t slot = 0;
};

// `Before`: std::greater keeps the greatest keys, std::less the least. Among equal keys the lower slots come first.
template <template <class> class Before>
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}
  // False: no bearer with that key is among the first ones any more. It saves looking at the rest of its facts.
  [[nodiscard]] bool takes(float key) const { return most_ != 0 && !(full_ && Before<float>{}(last_.key, key)); }
  void offer(float key, std::size_t slot) {
    const Candidate candidate{key, static_cast<std::uint32_t>(slot)};
    if (!takes(key) || (full_ && !before(candidate, last_))) return;
    all_.push_back(candidate);
    if (all_.size() == 2 * most_) cut();
  }
  // In order; at most as many as were asked for.
  [[nodiscard]] std::span<const Candidate> sorted() {
    if (all_.size() > most_) cut();
    std::sort(all_.begin(), all_.end(), before);
    return all_;
  }

 private:
  static bool before(const Candidate& a, const Candidate& b) {
    return Before<float>{}(a.key, b.key) || (a.key == b.key && a.slot < b.slot);
  }
  void cut() {
    const auto last = all_.begin() + static_cast<std::ptrdiff_t>(most_) - 1;
    std::nth_element(all_.begin(), last, all_.end(), before);
    last_ = *last;
    full_ = true;
    all_.resize(most_);
  }
  std::size_t most_;
  std::vector<Candidate> all_;
  Candidate last_;  // once it is full: what a newcomer must come before
  bool full_ = false;
};

using Greatest = Best<std::greater>;
using Least = Best<std::less>;

}  // namespace splitplane::placement
