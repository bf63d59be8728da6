// The methods of a card in the control protocol, made of what the card does: what a host installs on it, and asks it.
// docs/design/nic.md has the members.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "card/protocol/bearer.h"
#include "control/registry.h"

namespace splitplane::app {

// All or none. Known bearers are replaced and keep their numbers, unless `restart`.
using InstallOnCard = std::function<Expected<void>(std::span<const nic::CardBearer> bearers, bool restart)>;
[[nodiscard]] MethodRegistry::Handler card_install(InstallOnCard install);

[[nodiscard]] MethodRegistry::Handler card_remove(std::function<Expected<void>(std::span<const BearerId> ids)> remove);
[[nodiscard]] MethodRegistry::Handler card_peer(std::function<Expected<void>(const nic::CardPeer& peer)> set);
[[nodiscard]] MethodRegistry::Handler card_peer_gone(std::function<Expected<void>(unsigned number)> unset);

[[nodiscard]] MethodRegistry::Handler card_marks(std::function<Expected<void>(const nic::CardMarks& tos)> set);

// COUNTs below the second may be given to the first's packets; all or none.
using SetLeases = std::function<Expected<void>(std::span<const nic::CardLease> leases)>;
[[nodiscard]] MethodRegistry::Handler card_lease(SetLeases set);

// Bearers that come from the host; all or none.
[[nodiscard]] MethodRegistry::Handler card_begin(
    std::function<Expected<void>(std::span<const nic::CardBeginning> bearers)> begin);
// A fence behind everything that the card has sent of these bearers to their VFs, and their numbers at that moment.
struct FencedByCard {
  unsigned n3 = 0, copies = 0;  // how many fences went to the VFs for packets of N3, and for clones
  std::vector<nic::BearerNumbers> numbers;
};
using FenceCard = std::function<Expected<FencedByCard>(std::span<const BearerId> ids, std::uint64_t token)>;
[[nodiscard]] MethodRegistry::Handler card_fence(FenceCard fence);

using CardNumbersOf = std::function<Expected<std::vector<nic::BearerNumbers>>(std::span<const BearerId> ids)>;
// Up to `limit` bearers with an identity greater than `after`, in ascending order.
using CardNumbersAfter =
    std::function<Expected<std::vector<nic::BearerNumbers>>(std::uint32_t after, std::size_t limit)>;
[[nodiscard]] MethodRegistry::Handler card_numbers(CardNumbersOf of, CardNumbersAfter after);

}  // namespace splitplane::app
