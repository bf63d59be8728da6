#include "gnb/config/check_workers.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "engine/limits.h"
#include "gnb/config/copies_limit.h"
#include "gnb/config/lookup.h"

namespace splitplane::app {
namespace {

using Function = WorkerConfig::Function;

std::string key_of(const WorkerConfig& worker, std::string_view key) {
  return fmt::format("workers.{}.{}", worker.name, key);
}

const WorkerConfig* dispatcher_of(const GnbConfig& config, const std::string& name) {
  for (const auto& worker : config.workers) {
    if (std::find(worker.to.begin(), worker.to.end(), name) != worker.to.end()) return &worker;
  }
  return nullptr;
}

template <class Entry>
std::optional<Finding> check_role(const WorkerConfig& worker, const char* role, const std::string& port,
                                  const std::vector<Entry>& entries) {
  std::vector<std::string_view> allowed;
  for (const auto& entry : entries) {
    if (entry.port == port) return std::nullopt;
    allowed.emplace_back(entry.port);
  }
  return Finding{key_of(worker, role),
                 fmt::format("'{}' is no port in the section {}; allowed: {}", printable(port), role,
                             allowed.empty() ? "none, the section is empty" : comma_list(allowed))};
}

std::optional<Finding> check_worker_ports(const GnbConfig& config, const WorkerConfig& worker) {
  if (worker.function != Function::kL2fwd && worker.function != Function::kCopies) {
    if (auto finding = check_role(worker, "n3", worker.n3, config.n3)) return finding;
    return worker.air.empty() ? std::nullopt : check_role(worker, "air", worker.air, config.air);
  }
  for (const auto& [role, port] : {std::pair{"rx", worker.rx}, {"tx", worker.tx}}) {
    const bool absent = worker.function == Function::kCopies && port.empty();
    if (absent) continue;
    if (auto finding = check_port_name(config, key_of(worker, role), port)) return finding;
  }
  return std::nullopt;
}

// The gnb worker that entry i of a list names, or what is wrong with the entry.
Expected<const WorkerConfig*> named_gnb(const GnbConfig& config, const std::vector<std::string>& list, std::size_t i) {
  const std::string& name = list[i];
  if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), name) !=
      list.begin() + static_cast<std::ptrdiff_t>(i)) {
    return fail("worker {} appears twice; allowed: once", printable(name));
  }
  std::vector<std::string_view> allowed;
  for (const auto& worker : config.workers) {
    if (worker.function != Function::kGnb) continue;
    if (worker.name == name) return &worker;
    allowed.emplace_back(worker.name);
  }
  return fail("'{}' is no gnb worker; allowed: {}", printable(name),
              allowed.empty() ? "none, there is no gnb worker" : comma_list(allowed));
}

std::optional<Finding> check_dispatch(const GnbConfig& config, const WorkerConfig& worker) {
  if (worker.to.size() > datapath::kMaxWorkers) {
    return Finding{key_of(worker, "to"),
                   fmt::format("names {} workers; allowed: at most {}", worker.to.size(), datapath::kMaxWorkers)};
  }
  if (worker.function == Function::kDispatch) {
    const unsigned queues = find_port(config, worker.n3)->rx_queues + find_port(config, worker.air)->rx_queues;
    if (queues > datapath::kMaxQueues) {
      return Finding{key_of(worker, "n3"),
                     fmt::format("ports {} and {} have {} receive queues together; allowed: at most {}", worker.n3,
                                 worker.air, queues, datapath::kMaxQueues)};
    }
  }
  for (std::size_t i = 0; i < worker.to.size(); ++i) {
    const std::string key = key_of(worker, fmt::format("to[{}]", i));
    const auto target = named_gnb(config, worker.to, i);
    if (!target) return Finding{key, target.error().message};
    const WorkerConfig& gnb = **target;
    if (dispatcher_of(config, gnb.name) != &worker) {
      return Finding{
          key, fmt::format("worker {} is fed by another dispatch worker; allowed: one dispatcher a worker", gnb.name)};
    }
    if (gnb.n3 != worker.n3 || gnb.air != worker.air) {
      return Finding{
          key, fmt::format("worker {} has other ports (n3 {}, air {}); allowed: the dispatcher's own, n3 {} and air {}",
                           gnb.name, gnb.n3, gnb.air, worker.n3, worker.air)};
    }
  }
  return std::nullopt;
}

// A worker's copies have one consumer: the ring between them is single-consumer.
std::optional<Finding> check_copies(const GnbConfig& config, const WorkerConfig& worker) {
  for (std::size_t i = 0; i < worker.from.size(); ++i) {
    const std::string key = key_of(worker, fmt::format("from[{}]", i));
    const auto source = named_gnb(config, worker.from, i);
    if (!source) return Finding{key, source.error().message};
    if ((*source)->features != datapath::FeatureSet::clone) {
      return Finding{key, fmt::format("worker {} makes no copies; allowed: one with features clone", (*source)->name)};
    }
    for (const auto& other : config.workers) {
      if (&other == &worker) break;
      if (std::find(other.from.begin(), other.from.end(), (*source)->name) == other.from.end()) continue;
      return Finding{key, fmt::format("worker {} consumes the copies of {} already; allowed: one consumer a worker",
                                      other.name, (*source)->name)};
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_copy_octets(const WorkerConfig& worker) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;  // a burst of the longest frames of any port, and more
  if (worker.max_copy_octets == 0) return std::nullopt;
  if (worker.baas == WorkerConfig::Baas::kNone)
    return Finding{key_of(worker, "max_copy_octets"),
                   "stands at a worker that keeps nothing for retransmission; "
                   "allowed: with baas: inline or process"};
  if (worker.max_copy_octets >= kLeast) return std::nullopt;
  return Finding{key_of(worker, "max_copy_octets"),
                 fmt::format("is {}; allowed: 0, or at least {}", worker.max_copy_octets, kLeast)};
}

// What lies on the ring to the consumer of copies is of the port's buffers: if the consumer hangs, it stays there.
std::optional<Finding> check_max_copies(const GnbConfig& config, const WorkerConfig& worker) {
  const std::size_t most = most_copies(config, worker);
  if (worker.function != Function::kGnb || worker.max_copies == kCopiesByDefault || worker.max_copies <= most)
    return std::nullopt;
  return Finding{key_of(worker, "max_copies"),
                 fmt::format("is {}, and memory.mbufs {}: a consumer of copies that hangs, or a UE that acknowledges "
                             "nothing, would stop the traffic; allowed: at most {} here",
                             worker.max_copies, config.memory.mbufs, most)};
}

// Who receives from which queue of which port, and who sends on which.
class Queues {
 public:
  explicit Queues(const GnbConfig& config) : config_(config) {}

  std::optional<Finding> receive(const WorkerConfig& worker, const char* role, const std::string& port, bool all) {
    const unsigned queues = find_port(config_, port)->rx_queues;
    if (!all && worker.queue >= queues) return beyond(worker, port, "receive", queues);
    const auto [reader, first] = readers_.emplace(port, &worker);
    // A card knows whose a packet is: each queue of its VFs has the packets of one worker.
    if (!first && card_before(config_, port) == nullptr &&
        (reader->second->function != Function::kL2fwd || worker.function != Function::kL2fwd)) {
      return Finding{
          key_of(worker, role),
          fmt::format(
              "worker {} receives from port {} too, and a port does not know whose shard a packet is; allowed: a "
              "port each, or a dispatch worker that feeds both",
              reader->second->name, port)};
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

  // A queue that no worker reads drops what the device puts there.
  std::optional<Finding> unread() const {
    for (const auto& port : config_.ports) {
      const bool received = readers_.contains(port.name);
      if (!received && !senders_.contains(port.name)) {
        return Finding{"ports." + port.name, "is used by no worker; allowed: a port that a worker names"};
      }
      for (unsigned q = 0; received && q < port.rx_queues; ++q) {
        if (rx_.contains({port.name, q})) continue;
        return Finding{
            fmt::format("ports.{}.rx_queues", port.name),
            fmt::format("is {}, but no worker reads queue {}; allowed: as many queues as are read", port.rx_queues, q)};
      }
    }
    return std::nullopt;
  }

 private:
  static Finding beyond(const WorkerConfig& worker, const std::string& port, const char* what, unsigned queues) {
    return {key_of(worker, "queue"), fmt::format("is {}, but port {} has {} {} queue(s); allowed: 0 to {}",
                                                 worker.queue, port, queues, what, queues - 1)};
  }
  static Finding taken(const WorkerConfig& worker, const std::string& port, const char* what,
                       const WorkerConfig* other) {
    return {key_of(worker, "queue"), fmt::format("{} queue {} of port {} belongs to worker {}; allowed: one of its own",
                                                 what, worker.queue, port, other->name)};
  }

  const GnbConfig& config_;
  std::map<std::pair<std::string, unsigned>, const WorkerConfig*> rx_, tx_;
  std::map<std::string, const WorkerConfig*> readers_;
  std::set<std::string> senders_;
};

std::optional<Finding> check_queues(const GnbConfig& config) {
  Queues queues(config);
  for (const auto& worker : config.workers) {
    std::optional<Finding> finding;
    if (worker.function == Function::kL2fwd) {
      finding = queues.receive(worker, "rx", worker.rx, false);
      if (!finding) finding = queues.send(worker, worker.tx);
    } else if (worker.function == Function::kCopies) {
      if (!worker.rx.empty()) finding = queues.receive(worker, "rx", worker.rx, true);
    } else {
      const bool dispatch = worker.function == Function::kDispatch;
      const bool fed = dispatcher_of(config, worker.name) != nullptr;
      if (!fed) finding = queues.receive(worker, "n3", worker.n3, dispatch);
      const bool has_air = !worker.air.empty();
      if (!fed && !finding && has_air) finding = queues.receive(worker, "air", worker.air, dispatch);
      if (!dispatch && !finding) finding = queues.send(worker, worker.n3);
      if (!dispatch && !finding && has_air) finding = queues.send(worker, worker.air);
    }
    if (finding) return finding;
  }
  return queues.unread();
}

std::optional<Finding> check_shards_and_cores(const GnbConfig& config) {
  for (std::size_t i = 0; i < config.workers.size(); ++i) {
    const WorkerConfig& a = config.workers[i];
    for (std::size_t j = 0; j < i; ++j) {
      const WorkerConfig& b = config.workers[j];
      const bool gnb = a.function == Function::kGnb && b.function == Function::kGnb;
      if (gnb && a.shard_first <= b.shard_last && b.shard_first <= a.shard_last) {
        return Finding{key_of(a, "shards"),
                       fmt::format("{}-{} overlaps {}-{} of worker {}; allowed: shards that no other worker owns",
                                   a.shard_first, a.shard_last, b.shard_first, b.shard_last, b.name)};
      }
      if (const auto refused = refuse_shared_core(a, b)) return Finding{key_of(a, "core"), *refused};
    }
  }
  return std::nullopt;
}

// `paper` and `l3fwd` sleep only where interrupts wake them, which no configuration knows.
bool always_sleeps(const WorkerConfig& worker) {
  return worker.policy.kind == power::Kind::yield || worker.policy.kind == power::Kind::budget;
}

constexpr std::size_t kMostServed = 32;  // of baas::kMostWorkers; lcores from 64 on are the service's

// The service has a ring from each worker for each of its cores, which one loop of its own serves.
std::optional<Finding> check_baas(const GnbConfig& config) {
  const auto served = std::ranges::count_if(config.workers, uses_service);
  if (!config.baas) {
    if (served == 0) return std::nullopt;
    const auto& worker = *std::ranges::find_if(config.workers, uses_service);
    return Finding{key_of(worker, "baas"),
                   "is process, and the section baas is absent; allowed: with that section, or inline"};
  }
  if (static_cast<std::size_t>(served) > kMostServed)
    return Finding{"baas", fmt::format("serves {} workers; allowed: at most {}", served, kMostServed)};
  if (served == 0) return Finding{"baas", "serves no worker; allowed: with a gnb worker that has baas: process"};
  if (config.memory.hugepages == MemoryConfig::Hugepages::kNever)
    return Finding{"baas", "is a process that shares memory, and memory.hugepages is never; allowed: auto or require"};
  const auto& of_service = config.baas->metrics;
  if (of_service && config.metrics && collide(*of_service, *config.metrics)) {
    return Finding{"baas.metrics.listen",
                   fmt::format("is {}, and the gNB's own metrics.listen is {}; allowed: another port or address",
                               to_string(*of_service), to_string(*config.metrics))};
  }
  for (const WorkerConfig& worker : config.workers) {
    for (const unsigned core : config.baas->cores) {
      WorkerConfig own;
      own.core = core;
      own.policy = config.baas->policy;
      own.schedule = config.baas->schedule;
      if (refuse_shared_core(own, worker)) {
        return Finding{"baas.cores",
                       fmt::format("core {} is the core of worker {} too; allowed: a core of its own, or loops that "
                                   "sleep (policy yield or budget, schedule other) on both sides",
                                   core, worker.name)};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

// A loop that never sleeps, or that the kernel takes from its core for no other, leaves a neighbour there nothing.
std::optional<std::string> refuse_shared_core(const WorkerConfig& a, const WorkerConfig& b) {
  if (a.core != b.core) return std::nullopt;
  const bool awake = !always_sleeps(a) || !always_sleeps(b);
  const bool fifo = a.schedule.kind == ScheduleConfig::Kind::kFifo || b.schedule.kind == ScheduleConfig::Kind::kFifo;
  if (!awake && !fifo) return std::nullopt;
  return fmt::format("{} is the core of worker {} too; allowed: a core of its own, or {} for both", a.core, b.name,
                     awake ? "policy yield or budget" : "schedule other");
}

std::optional<Finding> check_workers(const GnbConfig& config) {
  for (const auto& worker : config.workers) {
    if (auto finding = check_worker_ports(config, worker)) return finding;
  }
  for (const auto& worker : config.workers) {
    if (auto finding = check_dispatch(config, worker)) return finding;
    if (auto finding = check_copies(config, worker)) return finding;
    if (auto finding = check_max_copies(config, worker)) return finding;
    if (auto finding = check_copy_octets(worker)) return finding;
  }
  if (auto finding = check_shards_and_cores(config)) return finding;
  if (auto finding = check_baas(config)) return finding;
  return check_queues(config);
}

}  // namespace splitplane::app
