#include "guard/config/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/yaml_fields.h"
#include "guard/config/check.h"
#include "guard/config/fields.h"
#include "guard/config/server_text.h"
#include "runtime/config/loop_fields.h"
#include "runtime/config/read.h"

namespace splitplane::app {
namespace {

constexpr unsigned kGuardKeys = kServed | kObserved | kPorted;

GuardWorkerConfig read_loop(const YamlMap& map) {
  GuardWorkerConfig worker;
  read_fields(map, guard_worker_fields(), worker);
  read_policy(map, worker.policy);
  check_schedule(map, worker.schedule);
  return worker;
}

// One loop or several.
void read_loops(const YamlMap& map, GuardConfig& config) {
  config.workers.front() = read_loop(map);
  const auto list = map.find("workers");
  if (!list) return;
  for (const auto key : guard_worker_fields().names()) {
    if (map.find(key)) list->refuse(fmt::format("stands beside {}", key), "one of the two");
  }
  config.workers.clear();
  for (const auto& entry : list->list()) {
    const YamlMap worker = entry.map(guard_worker_fields().names());
    const YamlValue core = worker.required("core");
    const unsigned number = config.workers.emplace_back(read_loop(worker)).core;
    if (std::ranges::count(config.workers, number, &GuardWorkerConfig::core) > 1)
      core.refuse(fmt::format("is core {} again", number), "each core once");
  }
  if (config.workers.empty() || config.workers.size() > kMaxGuardWorkers)
    list->refuse(fmt::format("has {} workers", config.workers.size()), fmt::format("1 to {}", kMaxGuardWorkers));
}

void read_text(const YamlValue& value, const std::string& text, guard::ServerRule& rule,
               Expected<void> (*take)(std::string_view, guard::ServerRule&)) {
  if (const auto taken = take(text, rule); !taken) throw Refusal{value.line(), value.key(), taken.error().message};
}

guard::ServerRule read_server(const YamlValue& value) {
  const auto rows = guard_server_fields().where(kWholeServer);
  const YamlMap map = value.map(rows.names());
  guard::ServerRule rule;
  read_fields(map, rows, rule);
  const YamlValue address = map.required("address");
  read_text(address, address.text("an address such as 10.0.0.1, or a prefix such as 10.0.0.0/24"), rule, take_address);
  if (const auto v = map.find("ports")) {
    const std::string ports =
        v->is_word() ? v->text("a TCP port, or a range such as 8000-8099") : fmt::format("{}", v->integer(0, 65535));
    read_text(*v, ports, rule, take_ports);
  }
  return rule;
}

void read_file(const YamlValue& top, GuardConfig& config) {
  const YamlMap map = top.map(guard_keys());
  read_program(map, kGuardKeys, config);
  if (config.metrics && config.metrics->bearers != 0)
    map.required("metrics").refuse("has bearers, which a guard does not have", "listen alone");
  const YamlMap guard =
      map.required("guard").map(names_of(guard_fields(), guard_worker_fields(), guard_limit_fields()));
  read_fields(guard, guard_fields(), config);
  read_fields(guard, guard_limit_fields(), config.limits);
  read_loops(guard, config);
  if (const auto v = guard.find("servers")) {
    for (const auto& entry : v->list()) config.servers.push_back(read_server(entry));
  }
  if (const auto v = guard.find("sources"))
    read_fields(v->map(guard_source_fields().names()), guard_source_fields(), config.sources);
  if (const auto v = guard.find("flows"))
    read_fields(v->map(guard_flow_fields().names()), guard_flow_fields(), config.flows);
}

}  // namespace

std::vector<std::string_view> guard_keys() {
  return names_of(program_fields(kGuardKeys), guard_file_fields());
}

MemoryNeeds memory_needs(const GuardConfig& config) {
  return memory_of_ports(config);
}

GuardTableBytes table_bytes(const GuardConfig& config) {
  return {guard::SourceTable::memory_bytes(config.sources), guard::FlowTable::memory_bytes(config.flows)};
}

Expected<GuardConfig> read_guard(const Document& document) {
  return make_config<GuardConfig>(document, read_file, check_guard);
}

}  // namespace splitplane::app
