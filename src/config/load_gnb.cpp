// The `workers` and `bearers` sections of a configuration.
#include <array>
#include <charconv>

#include "base/text.h"
#include "config/copies_limit.h"
#include "config/load.h"

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
constexpr std::array<std::string_view, 16> kBearerKeys{
    "count",    "upf",     "ul_teid", "dl_teid", "qfi",         "rlc",        "pdcp_sn", "sdap",
    "poll_pdu", "ue_ipv4", "ue_ipv6", "shard",   "require_psc", "n3_reorder", "am",      "card"};
constexpr std::array<std::string_view, 5> kAmKeys{"t_poll_retransmit_ms", "t_reassembly_ms", "t_status_prohibit_ms",
                                                  "max_retx", "max_unacked"};
constexpr std::array<std::string_view, 2> kReorderKeys{"window", "timer_ms"};
constexpr std::array<std::string_view, 5> kRlcNames{"am18", "am12", "um12", "um6", "tm"};
constexpr std::array<std::string_view, 2> kSdapKeys{"dl", "ul"};

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
  const YamlMap map = value.map(kBearerKeys);
  BearerGroupConfig group;
  ran::BearerConfig& bearer = group.first;
  map.read("count", group.count, 1, std::uint64_t{ran::kShards} << ran::kIndexBits);
  bearer.upf = map.required("upf").ip();
  bearer.uplink_teid.value = static_cast<std::uint32_t>(map.required("ul_teid").integer(1, 0xffffffff));
  read_bearer_modes(map, bearer);
  if (const auto v = map.find("shard")) group.shard = static_cast<unsigned>(v->integer(0, ran::kShards - 1));
  if (const auto v = map.find("card")) bearer.card = v->text("the name of a card");
  if (const auto wrong = ran::refuse(bearer)) throw Refusal{value.line(), value.key(), *wrong};
  return group;
}

}  // namespace

void read_bearer_modes(const YamlMap& map, ran::BearerConfig& bearer) {
  map.read("qfi", bearer.qfi.value, 0, 63);
  if (const auto v = map.find("rlc")) {
    (void)ran::parse_rlc_name(std::string(kRlcNames[v->one_of(kRlcNames)]), bearer.rlc_mode, bearer.rlc_sn_bits);
  }
  if (const auto v = map.find("pdcp_sn")) {
    bearer.pdcp_sn_bits = static_cast<std::uint8_t>(v->integer(12, 18));
    if (bearer.pdcp_sn_bits != 12 && bearer.pdcp_sn_bits != 18)
      v->refuse(fmt::format("is {}", bearer.pdcp_sn_bits), "12, 18");
  }
  if (const auto v = map.find("sdap")) {
    if (v->is_bool()) {
      bearer.sdap_header_dl = bearer.sdap_header_ul = v->boolean();
    } else {
      if (!v->is_map()) (void)v->boolean();
      const YamlMap sdap = v->map(kSdapKeys);
      sdap.read("dl", bearer.sdap_header_dl);
      sdap.read("ul", bearer.sdap_header_ul);
    }
  }
  map.read("poll_pdu", bearer.poll_pdu, 0);
  map.read("require_psc", bearer.require_psc);
  if (const auto v = map.find("n3_reorder")) {
    const YamlMap reorder = v->map(kReorderKeys);
    bearer.n3_reorder.emplace();
    reorder.read("window", bearer.n3_reorder->window, 2, ran::kMaxReorderWindow);
    reorder.read("timer_ms", bearer.n3_reorder->timer_ms, 1, ran::kMaxReorderTimerMs);
  }
  if (const auto v = map.find("am")) {
    const YamlMap am = v->map(kAmKeys);
    am.read("t_poll_retransmit_ms", bearer.arq.t_poll_retransmit_ms, 5, 4000);
    am.read("t_reassembly_ms", bearer.arq.t_reassembly_ms, 0, 200);
    am.read("t_status_prohibit_ms", bearer.arq.t_status_prohibit_ms, 0, 2400);
    am.read("max_retx", bearer.arq.max_retx, 1, 32);
    am.read("max_unacked", bearer.arq.max_unacked, 32, 131072);
    if (bearer.rlc_mode != RlcMode::kAm) v->refuse("stands at a bearer that is not AM", "with rlc: am12 or am18");
  }
  if (const auto v = map.find("dl_teid")) bearer.dl_teid = Teid{static_cast<std::uint32_t>(v->integer(1, 0xffffffff))};
  if (const auto v = map.find("ue_ipv4")) bearer.ue_ipv4 = v->ipv4();
  if (const auto v = map.find("ue_ipv6")) bearer.ue_ipv6 = v->ipv6();
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
