// The identities of a card's bearers in ascending order, in which the control plane reads their numbers page by page.
// A card of several cores has one order for each core. It holds the bearers whose identity leads to that core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "card/affinity.h"

namespace splitplane::nic {

class BearerOrder {
 public:
  BearerOrder(unsigned core, unsigned cores) : core_(core), cores_(cores) {}

  // True if the bearer leads to this core. The others are ignored below.
  [[nodiscard]] bool is_own(std::uint32_t id) const { return core_of(id, cores_) == core_; }
  // None of `ids` is in the order yet.
  void enter(std::vector<std::uint32_t> ids);
  // All own ones among `ids` are in the order.
  void leave(std::vector<std::uint32_t> ids);

  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> all() const { return ids_; }
  // At most `limit` identities, beginning after `after`.
  [[nodiscard]] std::span<const std::uint32_t> page(std::uint32_t after, std::size_t limit) const;

 private:
  unsigned core_, cores_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace splitplane::nic
