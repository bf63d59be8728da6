#include "card/bearer_order.h"

#include <algorithm>

namespace splitplane::nic {

void BearerOrder::enter(std::vector<std::uint32_t> ids) {
  std::erase_if(ids, [this](std::uint32_t id) { return !is_own(id); });
  std::ranges::sort(ids);
  const auto old = static_cast<std::ptrdiff_t>(ids_.size());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  std::inplace_merge(ids_.begin(), ids_.begin() + old, ids_.end());
}

void BearerOrder::leave(std::vector<std::uint32_t> ids) {
  std::erase_if(ids, [this](std::uint32_t id) { return !is_own(id); });
  std::ranges::sort(ids);
  auto gone = ids.begin();
  std::size_t kept = 0;
  for (const std::uint32_t id : ids_) {
    if (gone != ids.end() && *gone == id) {
      ++gone;
    } else {
      ids_[kept++] = id;
    }
  }
  ids_.resize(kept);
}

std::span<const std::uint32_t> BearerOrder::page(std::uint32_t after, std::size_t limit) const {
  const auto first = std::ranges::upper_bound(ids_, after);
  return {first, std::min(limit, static_cast<std::size_t>(ids_.end() - first))};
}

}  // namespace splitplane::nic
