#include "config/load_gnb.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "config/copies_limit.h"
#include "config/yaml/yaml_value.h"
#include "config/yaml_fields.h"
#include "ran/bearer_fields.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 18> kWorkerKeys{
    "numa",  "slow_clock", "core", "function", "features", "n3",   "air",        "rx",       "tx",
    "queue", "shards",     "to",   "from",     "policy",   "baas", "max_copies", "schedule", "fifo_priority"};
constexpr std::array<std::string_view, 13> kGnbKeys{"numa",       "core",     "function",     "features", "n3",
                                                    "air",        "queue",    "shards",       "policy",   "baas",
                                                    "max_copies", "schedule", "fifo_priority"};
constexpr std::array<std::string_view, 2> kBaas{"none", "inline"};
constexpr std::array<std::string_view, 10> kL2fwdKeys{"numa", "slow_clock", "core",   "function", "rx",
                                                      "tx",   "queue",      "policy", "schedule", "fifo_priority"};
constexpr std::array<std::string_view, 9> kDispatchKeys{"numa", "core",   "function", "n3",           "air",
                                                        "to",   "policy", "schedule", "fifo_priority"};
constexpr std::array<std::string_view, 8> kCopiesKeys{"numa", "core",   "function", "from",
                                                      "rx",   "policy", "schedule", "fifo_priority"};
constexpr std::array<std::string_view, 4> kFunctions{"gnb", "l2fwd", "dispatch", "copies"};  // as in WorkerConfig

// How many, and where: what a group has beside the keys of its first bearer.
constexpr std::uint64_t kMaxCount = std::uint64_t{ran::kShards} << ran::kIndexBits;
constexpr std::array<fields::Field, 2> kGroupRows{
    fields::integer<&BearerGroupConfig::count>("count", 1, kMaxCount,
                                               {.help = "How many bearers",
                                                .special = "TEIDs and UE addresses go up by one each",
                                                .more = "Ranges of two groups may not meet."}),
    fields::integer<&BearerGroupConfig::shard>("shard", 0, ran::kShards - 1,
                                               {.help = "Put all of them in this shard", .special = "absent: spread"}),
};
constexpr fields::Fields<BearerGroupConfig> kGroupFields(kGroupRows);

Keys keys_of(WorkerConfig::Function function) {
  switch (function) {
    case WorkerConfig::Function::kL2fwd:
      return kL2fwdKeys;
    case WorkerConfig::Function::kDispatch:
      return kDispatchKeys;
    case WorkerConfig::Function::kCopies:
      return kCopiesKeys;
    default:
      return kGnbKeys;
  }
}

// "0-127": a first and a last shard.
void read_shards(const YamlValue& value, WorkerConfig& worker) {
  const std::string allowed = "a range such as 0-127 within 0-255";
  const std::string text = value.text(allowed);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, worker.shard_first);
  const bool dash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '-';
  const auto last = std::from_chars(dash ? first.ptr + 1 : end, end, worker.shard_last);
  if (!dash || last.ec != std::errc{} || last.ptr != end || worker.shard_first > worker.shard_last ||
      worker.shard_last >= ran::kShards) {
    value.refuse(fmt::format("'{}' is no range of shards", printable(text)), allowed);
  }
}

std::vector<std::string> worker_names(const YamlMap& map, std::string_view key) {
  const YamlValue value = map.required(key);
  std::vector<std::string> names;
  for (const auto& item : value.list()) names.push_back(item.text("the name of a gnb worker"));
  if (names.empty()) value.refuse("is empty", "the names of gnb workers");
  return names;
}

std::string port_name(const YamlMap& map, std::string_view key) {
  return map.required(key).text("the name of a port");
}

WorkerConfig read_worker(const std::string& name, const YamlValue& value) {
  const YamlMap map = value.map(kWorkerKeys);
  WorkerConfig worker;
  worker.name = name;
  const std::size_t function = map.required("function").one_of(kFunctions);
  worker.function = static_cast<WorkerConfig::Function>(function);
  map.only(keys_of(worker.function), fmt::format("does not belong to function {}", kFunctions[function]));
  worker.core = static_cast<unsigned>(map.required("core").integer(0, 1023));
  if (const auto v = map.find("numa")) worker.numa = static_cast<unsigned>(v->integer(0, kMaxNumaNode));
  if (const auto v = map.find("policy")) worker.policy = read_policy(*v);
  read_schedule(map, worker.schedule);
  map.read("queue", worker.queue, 0, 63);
  if (worker.function == WorkerConfig::Function::kL2fwd) {
    map.read("slow_clock", worker.slow_clock, 0.05, 1);
    worker.rx = port_name(map, "rx");
    worker.tx = port_name(map, "tx");
    return worker;
  }
  if (worker.function == WorkerConfig::Function::kCopies) {
    if (map.find("rx")) worker.rx = port_name(map, "rx");
    if (worker.rx.empty() || map.find("from")) worker.from = worker_names(map, "from");
    return worker;
  }
  worker.n3 = port_name(map, "n3");
  worker.air = port_name(map, "air");
  if (worker.function == WorkerConfig::Function::kDispatch) {
    worker.to = worker_names(map, "to");
    return worker;
  }
  if (const auto v = map.find("features")) {
    worker.features = static_cast<datapath::FeatureSet>(v->one_of(datapath::kFeatureSetNames));
  }
  if (const auto v = map.find("shards")) read_shards(*v, worker);
  if (const auto v = map.find("baas")) {
    worker.baas_inline = v->one_of(kBaas) == 1;
    if (worker.baas_inline && worker.features != datapath::FeatureSet::clone) {
      v->refuse("is inline, but the features have no copies", "inline with features: clone");
    }
  }
  worker.max_copies = kCopiesByDefault;
  map.read("max_copies", worker.max_copies, 1024, 1U << 20);
  return worker;
}

BearerGroupConfig read_group(const YamlValue& value) {
  const auto bearer_fields = ran::bearer_fields(ran::kInFile);
  const YamlMap map = value.map(names_of(kGroupFields, bearer_fields));
  BearerGroupConfig group;
  read_fields(map, kGroupFields, group);
  read_fields(map, bearer_fields, group.first);
  if (const auto wrong = ran::refuse(group.first)) throw Refusal{value.line(), value.key(), *wrong};
  return group;
}

}  // namespace

fields::Section bearers_section() {
  return {"bearers", fields::keys_of(kGroupFields) + fields::keys_of(ran::bearer_fields(ran::kInFile))};
}

std::vector<WorkerConfig> read_workers(const YamlValue& value) {
  std::vector<WorkerConfig> workers;
  for (const auto& [name, entry] : value.named()) workers.push_back(read_worker(name, entry));
  if (workers.empty()) value.refuse("is empty", "at least one worker");
  return workers;
}

std::vector<BearerGroupConfig> read_bearers(const YamlValue& value) {
  std::vector<BearerGroupConfig> groups;
  for (const auto& entry : value.list()) groups.push_back(read_group(entry));
  return groups;
}

}  // namespace splitplane::app
