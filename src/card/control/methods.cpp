#include "card/control/methods.h"

#include <functional>

#include "card/protocol/methods.h"
#include "runtime/power_methods.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, CardPlane& card) {
  const auto calls = [&card](auto member) { return std::bind_front(member, &card); };
  registry.add("stats", without_params(calls(&CardPlane::stats)));
  registry.add("power.show", power_show(calls(&CardPlane::show_power)));
  registry.add("power.set", power_set(calls(&CardPlane::set_power)));
  registry.add("card.show", without_params(calls(&CardPlane::show_card)));
  registry.add("card.install", card_install(calls(&CardPlane::install_on_card)));
  registry.add("card.remove", card_remove(calls(&CardPlane::remove_from_card)));
  registry.add("card.peer", card_peer(calls(&CardPlane::set_card_peer)));
  registry.add("card.marks", card_marks(calls(&CardPlane::set_card_marks)));
  registry.add("card.peer_gone", card_peer_gone(calls(&CardPlane::unset_card_peer)));
  registry.add("card.lease", card_lease(calls(&CardPlane::set_leases)));
  registry.add("card.begin", card_begin(calls(&CardPlane::begin_on_card)));
  registry.add("card.fence", card_fence(calls(&CardPlane::fence_card)));
  registry.add("card.numbers", card_numbers(calls(&CardPlane::card_numbers), calls(&CardPlane::card_numbers_after)));
}

}  // namespace splitplane::app
