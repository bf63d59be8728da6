#include "placement/decision/best.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace splitplane::placement {
namespace {

RC_GTEST_PROP(Best, is_the_beginning_of_the_sorted_list, (const std::vector<std::uint8_t>& keys)) {
  const auto most = *rc::gen::inRange<std::size_t>(0, 40);
  Greatest greatest(most);
  Least least(most);
  std::vector<std::pair<float, std::uint32_t>> down, up;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    greatest.offer(keys[i], i);
    least.offer(keys[i], i);
    down.emplace_back(-static_cast<float>(keys[i]), i);
    up.emplace_back(static_cast<float>(keys[i]), i);
  }
  std::sort(down.begin(), down.end());
  std::sort(up.begin(), up.end());
  const auto first = greatest.sorted(), last = least.sorted();
  RC_ASSERT(first.size() == std::min(most, keys.size()) && last.size() == first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    RC_ASSERT(first[i].slot == down[i].second);
    RC_ASSERT(last[i].slot == up[i].second);
  }
}

}  // namespace
}  // namespace splitplane::placement
