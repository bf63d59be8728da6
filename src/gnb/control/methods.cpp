#include "gnb/control/methods.h"

#include <functional>
#include <utility>

#include "ran/control/bearer_methods.h"
#include "ran/control/session_methods.h"
#include "runtime/power_methods.h"
#include "runtime/tap_methods.h"

namespace splitplane::app {

void add_methods(MethodRegistry& registry, gnb::Instance& gnb) {
  const auto calls = [&gnb](auto member) { return std::bind_front(member, &gnb); };
  const WaitForDisk wait_for_disk = calls(&gnb::Instance::wait_for_disk);
  registry.add("bearer.add", bearer_add(calls(&gnb::Instance::add_bearers), wait_for_disk));
  registry.add("bearer.modify", bearer_modify(calls(&gnb::Instance::modify_bearer), wait_for_disk));
  registry.add("bearer.release", bearer_release(calls(&gnb::Instance::release_bearer), wait_for_disk));
  registry.add("bearer.reestablish", bearer_reestablish(calls(&gnb::Instance::reestablish_bearer)));
  registry.add("bearer.rekey", bearer_rekey(calls(&gnb::Instance::rekey_bearer)));
  registry.add("bearer.list", bearer_list(calls(&gnb::Instance::list_bearers)));
  registry.add("bearer.show", bearer_show(calls(&gnb::Instance::show_bearer)));
  registry.add("session.add", session_add(calls(&gnb::Instance::add_session), wait_for_disk));
  registry.add("session.release", session_release(calls(&gnb::Instance::release_session), wait_for_disk));
  registry.add("session.flow", session_flow(calls(&gnb::Instance::move_flow), wait_for_disk));
  registry.add("session.rekey", session_rekey(calls(&gnb::Instance::rekey_session)));
  registry.add("session.show", session_show(calls(&gnb::Instance::show_session)));
  registry.add("session.list", session_list(calls(&gnb::Instance::list_sessions)));
  registry.add("peer.list", without_params([&gnb] {
                 return gnb.peers().map([](Json rows) { return Json{{"peers", std::move(rows)}}; });
               }));
  registry.add("stats", without_params(calls(&gnb::Instance::stats)));
  registry.add("tap.on", tap_on(calls(&gnb::Instance::tap_on)));
  registry.add("tap.off", tap_off(calls(&gnb::Instance::tap_off)));
  registry.add("tap.list", without_params(calls(&gnb::Instance::list_taps)));
  registry.add("power.show", power_show(calls(&gnb::Instance::show_power), [&gnb] { return gnb.show_meter(); }));
  registry.add("power.set", power_set(calls(&gnb::Instance::set_power)));
  registry.add("baas.attach", [&gnb](Params& params) -> Expected<Json> {
    params.require("process");
    const auto process = params.integer("process", 1, INT32_MAX);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return gnb.attach_service(static_cast<int>(*process));
  });
  registry.add("baas.begin", [&gnb](Params& params) -> Expected<Json> {
    params.require("process");
    params.require("wakeups");
    params.require("can_wake");
    const auto process = params.integer("process", 1, INT32_MAX);
    std::vector<int> wakeups;
    if (const Json* const list = params.list("wakeups", baas::kMostCores); list != nullptr) {
      for (const Json& one : *list) wakeups.push_back(one.is_number_integer() ? one.get<int>() : -1);
    }
    const auto wakes = params.boolean("can_wake");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return gnb.begin_service(static_cast<int>(*process), wakeups, *wakes);
  });
  registry.add("baas.show", without_params(calls(&gnb::Instance::show_service)));
  registry.add("phy.show", without_params(calls(&gnb::Instance::show_phys)));
  registry.add("card.show", without_params(calls(&gnb::Instance::show_card)));
}

}  // namespace splitplane::app
