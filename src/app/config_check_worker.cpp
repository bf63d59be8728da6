// Checks of workers (ports, queues, shards, cores, dispatching) and of bearers (numbers, addresses, capacity).
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/cli_suggest.h"
#include "app/config_check.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

std::string key_of(const WorkerConfig& worker, std::string_view key) { return fmt::format("workers.{}.{}", worker.name, key); }

const WorkerConfig* dispatcher_of(const Config& config, const std::string& name) {
  for (const auto& worker : config.workers) {
    if (std::find(worker.to.begin(), worker.to.end(), name) != worker.to.end()) return &worker;
  }
  return nullptr;
}

const PortConfig* find_port(const Config& config, const std::string& name) {
  const auto at = std::find_if(config.ports.begin(), config.ports.end(), [&](const PortConfig& p) { return p.name == name; });
  return at == config.ports.end() ? nullptr : &*at;
}

template <class Entry>
std::optional<Finding> check_role(const WorkerConfig& worker, const char* role, const std::string& port,
                                  const std::vector<Entry>& entries) {
  std::vector<std::string_view> allowed;
  for (const auto& entry : entries) {
    if (entry.port == port) return std::nullopt;
    allowed.emplace_back(entry.port);
  }
  return Finding{key_of(worker, role), fmt::format("'{}' is no port in the section {}; allowed: {}", printable(port), role,
                                                   allowed.empty() ? "none, the section is empty" : comma_list(allowed))};
}

std::optional<Finding> check_worker_ports(const Config& config, const WorkerConfig& worker) {
  if (worker.function != Function::kL2fwd) {
    if (auto finding = check_role(worker, "n3", worker.n3, config.n3)) return finding;
    return check_role(worker, "air", worker.air, config.air);
  }
  for (const auto& [role, port] : {std::pair{"rx", worker.rx}, {"tx", worker.tx}}) {
    if (find_port(config, port)) continue;
    std::vector<std::string_view> allowed;
    for (const auto& p : config.ports) allowed.emplace_back(p.name);
    return Finding{key_of(worker, role), fmt::format("there is no port '{}'; allowed: {}", printable(port), comma_list(allowed))};
  }
  return std::nullopt;
}

std::optional<Finding> check_dispatch(const Config& config, const WorkerConfig& worker) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < worker.to.size(); ++i) {
    const std::string& name = worker.to[i];
    const std::string key = key_of(worker, fmt::format("to[{}]", i));
    const auto target = std::find_if(config.workers.begin(), config.workers.end(),
                                     [&](const WorkerConfig& w) { return w.name == name && w.function == Function::kGnb; });
    if (target == config.workers.end()) {
      std::vector<std::string_view> allowed;
      for (const auto& w : config.workers) {
        if (w.function == Function::kGnb) allowed.emplace_back(w.name);
      }
      return Finding{key, fmt::format("'{}' is no gnb worker; allowed: {}", printable(name),
                                      allowed.empty() ? "none, there is no gnb worker" : comma_list(allowed))};
    }
    if (!seen.insert(name).second) return Finding{key, fmt::format("worker {} appears twice; allowed: once", name)};
    if (dispatcher_of(config, name) != &worker) {
      return Finding{key, fmt::format("worker {} is fed by another dispatch worker; allowed: one dispatcher a worker", name)};
    }
    if (target->n3 != worker.n3 || target->air != worker.air) {
      return Finding{key, fmt::format("worker {} has other ports (n3 {}, air {}); allowed: the dispatcher's own, n3 {} and air {}",
                                      name, target->n3, target->air, worker.n3, worker.air)};
    }
  }
  return std::nullopt;
}

// Who receives from which queue of which port, and who sends on which.
class Queues {
 public:
  explicit Queues(const Config& config) : config_(config) {}

  std::optional<Finding> receive(const WorkerConfig& worker, const char* role, const std::string& port, bool all) {
    const unsigned queues = find_port(config_, port)->rx_queues;
    if (!all && worker.queue >= queues) return beyond(worker, port, "receive", queues);
    const auto [reader, first] = readers_.emplace(port, &worker);
    if (!first && (reader->second->function != Function::kL2fwd || worker.function != Function::kL2fwd)) {
      return Finding{key_of(worker, role),
                     fmt::format("worker {} receives from port {} too, and a port does not know whose shard a packet is; allowed: a "
                                 "port each, or a dispatch worker that feeds both", reader->second->name, port)};
    }
    for (unsigned q = all ? 0 : worker.queue; q < (all ? queues : worker.queue + 1U); ++q) {
      if (!rx_.emplace(std::pair{port, q}, &worker).second) return taken(worker, port, "receive", rx_.at({port, q}));
    }
    return std::nullopt;
  }

  std::optional<Finding> send(const WorkerConfig& worker, const std::string& port) {
    const unsigned queues = find_port(config_, port)->tx_queues;
    if (worker.queue >= queues) return beyond(worker, port, "transmit", queues);
    const auto [at, free] = tx_.emplace(std::pair{port, unsigned{worker.queue}}, &worker);
    if (!free) return taken(worker, port, "transmit", at->second);
    senders_.insert(port);
    return std::nullopt;
  }

  // A queue that nobody reads loses what the device puts there.
  std::optional<Finding> unread() const {
    for (const auto& port : config_.ports) {
      const bool received = readers_.contains(port.name);
      if (!received && !senders_.contains(port.name)) {
        return Finding{"ports." + port.name, "is used by no worker; allowed: a port that a worker names"};
      }
      for (unsigned q = 0; received && q < port.rx_queues; ++q) {
        if (rx_.contains({port.name, q})) continue;
        return Finding{fmt::format("ports.{}.rx_queues", port.name),
                       fmt::format("is {}, but no worker reads queue {}; allowed: as many queues as are read", port.rx_queues, q)};
      }
    }
    return std::nullopt;
  }

 private:
  static Finding beyond(const WorkerConfig& worker, const std::string& port, const char* what, unsigned queues) {
    return {key_of(worker, "queue"), fmt::format("is {}, but port {} has {} {} queue(s); allowed: 0 to {}", worker.queue, port,
                                                 queues, what, queues - 1)};
  }
  static Finding taken(const WorkerConfig& worker, const std::string& port, const char* what, const WorkerConfig* other) {
    return {key_of(worker, "queue"), fmt::format("{} queue {} of port {} belongs to worker {}; allowed: one of its own", what,
                                                 worker.queue, port, other->name)};
  }

  const Config& config_;
  std::map<std::pair<std::string, unsigned>, const WorkerConfig*> rx_, tx_;
  std::map<std::string, const WorkerConfig*> readers_;
  std::set<std::string> senders_;
};

std::optional<Finding> check_queues(const Config& config) {
  Queues queues(config);
  for (const auto& worker : config.workers) {
    std::optional<Finding> finding;
    if (worker.function == Function::kL2fwd) {
      finding = queues.receive(worker, "rx", worker.rx, false);
      if (!finding) finding = queues.send(worker, worker.tx);
    } else {
      const bool dispatch = worker.function == Function::kDispatch;
      const bool fed = dispatcher_of(config, worker.name) != nullptr;
      if (!fed) finding = queues.receive(worker, "n3", worker.n3, dispatch);
      if (!fed && !finding) finding = queues.receive(worker, "air", worker.air, dispatch);
      if (!dispatch && !finding) finding = queues.send(worker, worker.n3);
      if (!dispatch && !finding) finding = queues.send(worker, worker.air);
    }
    if (finding) return finding;
  }
  return queues.unread();
}

std::optional<Finding> check_shards_and_cores(const Config& config) {
  for (std::size_t i = 0; i < config.workers.size(); ++i) {
    const WorkerConfig& a = config.workers[i];
    for (std::size_t j = 0; j < i; ++j) {
      const WorkerConfig& b = config.workers[j];
      const bool gnb = a.function == Function::kGnb && b.function == Function::kGnb;
      if (gnb && a.shard_first <= b.shard_last && b.shard_first <= a.shard_last) {
        return Finding{key_of(a, "shards"),
                       fmt::format("{}-{} overlaps {}-{} of worker {}; allowed: shards that no other worker owns", a.shard_first,
                                   a.shard_last, b.shard_first, b.shard_last, b.name)};
      }
      const bool yields = a.policy.kind == PolicyConfig::Kind::kYield && b.policy.kind == PolicyConfig::Kind::kYield;
      if (a.core == b.core && !yields) {
        return Finding{key_of(a, "core"), fmt::format("{} is the core of worker {} too; allowed: a core of its own, or policy "
                                                      "yield for both", a.core, b.name)};
      }
    }
  }
  return std::nullopt;
}

// First and last value of one number of a group; two groups may not meet.
struct Range {
  std::string first, last;  // comparable as octets
  std::size_t group = 0;
};

std::string octets(const IpAddress& a) { return {a.octets().begin(), a.octets().end()}; }

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::optional<Finding> overlap(std::vector<Range> ranges, const char* key, const char* what) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first > ranges[i - 1].last) {
      continue;
    }
    const auto [low, high] = std::minmax(ranges[i - 1].group, ranges[i].group);
    return Finding{fmt::format("bearers[{}].{}", high, key),
                   fmt::format("{} that bearers[{}] has too; allowed: ranges (first value, count) that do not meet", what, low)};
  }
  return std::nullopt;
}

std::optional<Finding> check_ranges(const Config& config) {
  std::map<std::string, std::vector<Range>> teids;  // by UPF
  std::vector<Range> ipv4, ipv6;
  for (std::size_t i = 0; i < config.bearers.size(); ++i) {
    const auto& group = config.bearers[i];
    const ran::BearerConfig first = group.first;
    const ran::BearerConfig last = bearer_at(group, group.count - 1);
    const auto wraps = [&](const char* key) {
      return Finding{fmt::format("bearers[{}].{}", i, key),
                     fmt::format("with count {} it runs past the last value; allowed: a lower one", group.count)};
    };
    if (last.uplink_teid < first.uplink_teid) return wraps("ul_teid");
    teids[first.upf.to_string()].push_back({big_endian(first.uplink_teid.value), big_endian(last.uplink_teid.value), i});
    for (const auto& [key, from, to, into] : {std::tuple{"ue_ipv4", first.ue_ipv4, last.ue_ipv4, &ipv4},
                                              {"ue_ipv6", first.ue_ipv6, last.ue_ipv6, &ipv6}}) {
      if (!from) continue;
      if (octets(*to) < octets(*from)) return wraps(key);
      into->push_back({octets(*from), octets(*to), i});
    }
  }
  for (auto& [upf, ranges] : teids) {
    if (auto finding = overlap(std::move(ranges), "ul_teid", "holds a TEID of the same UPF")) return finding;
  }
  if (auto finding = overlap(std::move(ipv4), "ue_ipv4", "holds a UE address")) return finding;
  return overlap(std::move(ipv6), "ue_ipv6", "holds a UE address");
}

std::optional<Finding> check_group(const Config& config, std::size_t i, std::array<std::size_t, ran::kShards>& in_shard) {
  const auto& group = config.bearers[i];
  const bool v6 = group.first.upf.is_v6();
  bool owned = false;
  for (const auto& worker : config.workers) {
    const bool owns = worker.function == Function::kGnb &&
                      (!group.shard || (*group.shard >= worker.shard_first && *group.shard <= worker.shard_last));
    if (!owns) continue;
    owned = true;
    const auto n3 = std::find_if(config.n3.begin(), config.n3.end(), [&](const N3Config& n) { return n.port == worker.n3; });
    if (n3 == config.n3.end() || (v6 ? n3->ipv6 : n3->ipv4)) continue;
    return Finding{fmt::format("bearers[{}].upf", i),
                   fmt::format("{} is IPv{}, but n3 port {} of worker {} has no such address; allowed: the family of our address",
                               group.first.upf.to_string(), v6 ? 6 : 4, worker.n3, worker.name)};
  }
  if (!owned) {
    return Finding{fmt::format("bearers[{}]{}", i, group.shard ? ".shard" : ""),
                   "no gnb worker would own them; allowed: a shard within some gnb worker's shards"};
  }
  if (group.shard && (in_shard[*group.shard] += group.count) > config.max_bearers / ran::kShards) {
    return Finding{fmt::format("bearers[{}].count", i),
                   fmt::format("makes {} bearers in shard {}; allowed: at most max_bearers / {} = {}", in_shard[*group.shard],
                               *group.shard, ran::kShards, config.max_bearers / ran::kShards)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> check_workers(const Config& config) {
  for (const auto& worker : config.workers) {
    if (auto finding = check_worker_ports(config, worker)) return finding;
  }
  for (const auto& worker : config.workers) {
    if (auto finding = check_dispatch(config, worker)) return finding;
  }
  if (auto finding = check_shards_and_cores(config)) return finding;
  return check_queues(config);
}

std::optional<Finding> check_bearers(const Config& config) {
  std::size_t shards = 0;
  for (const auto& worker : config.workers) {
    if (worker.function == Function::kGnb) shards += worker.shard_last - worker.shard_first + 1;
  }
  const std::size_t capacity = config.max_bearers / ran::kShards * shards;
  std::array<std::size_t, ran::kShards> in_shard{};
  std::size_t sum = 0;
  for (std::size_t i = 0; i < config.bearers.size(); ++i) {
    if (auto finding = check_group(config, i, in_shard)) return finding;
    sum += config.bearers[i].count;
    if (sum > capacity) {
      return Finding{fmt::format("bearers[{}].count", i),
                     fmt::format("makes {} bearers; allowed: at most {} ({} of {} shards of max_bearers {} have a worker)", sum,
                                 capacity, shards, ran::kShards, config.max_bearers)};
    }
  }
  return check_ranges(config);
}

}  // namespace splitplane::app
