#include "guard/control/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/yaml/yaml_value.h"
#include "control/field_params.h"
#include "guard/config/check.h"
#include "guard/config/fields.h"
#include "guard/config/server_text.h"
#include "runtime/power_methods.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxListedFlows = 1000;
constexpr std::size_t kMaxNameOctets = 20;

using Taker = Expected<void> (*)(std::string_view, guard::ServerRule&);

void take(Params& params, std::string_view key, Taker taker, guard::ServerRule& rule) {
  const auto text = params.text(key);
  if (!text) return;
  if (const auto taken = taker(*text, rule); !taken) params.refuse(key, taken.error().message);
}

// The name of a server in a request, which may be one that is not there.
std::string read_name(Params& params) {
  params.require("name");
  std::string name = params.text("name").value_or("");
  if (!name.empty() && !is_name(name, kMaxNameOctets))
    params.refuse("name", fmt::format("'{}' is no name; allowed: {}", printable(name), name_rule(kMaxNameOctets)));
  return name;
}

}  // namespace

MethodRegistry::Handler guard_add(std::function<Expected<Json>(const guard::ServerRule& rule)> add) {
  return [add = std::move(add)](Params& params) -> Expected<Json> {
    guard::ServerRule rule;
    (void)read_name(params);
    (void)read_fields(params, guard_server_fields().where(kWholeServer), rule);
    take(params, "address", take_address, rule);
    take(params, "ports", take_ports, rule);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return add(rule);
  };
}

MethodRegistry::Handler guard_set(
    std::function<Expected<Json>(const std::string& name, const ChangeRule& change)> set) {
  return [set = std::move(set)](Params& params) -> Expected<Json> {
    const std::string name = read_name(params);
    const auto rows = guard_server_fields().where(kServerChange).optional();
    guard::ServerRule given;
    const auto names = read_fields(params, rows, given);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    if (names.empty()) return fail("nothing to change; allowed: {}", comma_list(rows.names()));
    return set(name, [&](guard::ServerRule& rule) {
      for (const fields::Field* row : rows.list()) {
        if (std::ranges::find(names, row->name) != names.end()) row->set(&rule, row->get(&given));
      }
    });
  };
}

MethodRegistry::Handler guard_remove(std::function<Expected<Json>(const std::string& name)> remove) {
  return [remove = std::move(remove)](Params& params) -> Expected<Json> {
    const std::string name = read_name(params);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return remove(name);
  };
}

MethodRegistry::Handler guard_sources(std::function<Expected<Json>()> count,
                                      std::function<Expected<Json>(const IpAddress& client, SourceAction action)> one) {
  return [count = std::move(count), one = std::move(one)](Params& params) -> Expected<Json> {
    const auto client = params.address("address");
    const std::string word = params.text("action").value_or("show");
    const auto at = std::ranges::find(kSourceActionNames, word);
    if (at == kSourceActionNames.end()) params.refuse("action", "allowed are " + comma_list(kSourceActionNames));
    const auto action = static_cast<SourceAction>(at - kSourceActionNames.begin());
    if (!client && action != SourceAction::kShow) params.require("address");
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return client ? one(*client, action) : count();
  };
}

MethodRegistry::Handler guard_flows(std::function<Expected<Json>(std::size_t limit)> list) {
  return [list = std::move(list)](Params& params) -> Expected<Json> {
    const std::size_t limit = params.integer("limit", 0, kMaxListedFlows).value_or(100);
    if (const auto fault = params.fault()) return fail("{}", *fault);
    return list(limit);
  };
}

void add_methods(MethodRegistry& registry, GuardInstance& guard) {
  const auto calls = [&guard](auto member) { return std::bind_front(member, &guard); };
  registry.add("stats", without_params(calls(&GuardInstance::stats)));
  registry.add("power.show", power_show(calls(&GuardInstance::show_power)));
  registry.add("power.set", power_set(calls(&GuardInstance::set_power)));
  registry.add("guard.show", without_params(calls(&GuardInstance::show)));
  registry.add("guard.add", guard_add(calls(&GuardInstance::add_server)));
  registry.add("guard.set", guard_set(calls(&GuardInstance::set_server)));
  registry.add("guard.remove", guard_remove(calls(&GuardInstance::remove_server)));
  registry.add("guard.sources", guard_sources(calls(&GuardInstance::count_sources), calls(&GuardInstance::one_source)));
  registry.add("guard.flows", guard_flows(calls(&GuardInstance::list_flows)));
  registry.add("guard.rotate", without_params(calls(&GuardInstance::rotate_keys)));
  registry.add("guard.events", without_params(calls(&GuardInstance::events)));
}

}  // namespace splitplane::app
