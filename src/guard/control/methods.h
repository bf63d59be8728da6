// The methods guard.* of the control protocol: how their params are read, made of what a guard does.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "control/registry.h"
#include "guard/control/instance.h"
#include "guard/rules/servers.h"

namespace splitplane::app {

[[nodiscard]] MethodRegistry::Handler guard_add(std::function<Expected<Json>(const guard::ServerRule& rule)> add);
// `change` sets what the request names in a rule, which it is given as it is.
using ChangeRule = std::function<void(guard::ServerRule& rule)>;
[[nodiscard]] MethodRegistry::Handler guard_set(
    std::function<Expected<Json>(const std::string& name, const ChangeRule& change)> set);
[[nodiscard]] MethodRegistry::Handler guard_remove(std::function<Expected<Json>(const std::string& name)> remove);
[[nodiscard]] MethodRegistry::Handler guard_sources(
    std::function<Expected<Json>()> count,
    std::function<Expected<Json>(const IpAddress& client, SourceAction action)> one);
[[nodiscard]] MethodRegistry::Handler guard_flows(std::function<Expected<Json>(std::size_t limit)> list);

// `guard` must outlive the registry.
void add_methods(MethodRegistry& registry, GuardInstance& guard);

}  // namespace splitplane::app
