#include "placement/numa_plan.h"

#include <rte_lcore.h>
#include <rte_memory.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/table.h"
#include "runtime/config/device.h"

namespace splitplane::app {
namespace {

namespace fs = std::filesystem;

// The link cpuN/nodeM.
NumaNode node_of_core(const std::string& sysfs, unsigned core) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fmt::format("{}/devices/system/cpu/cpu{}", sysfs, core), error)) {
    const std::string name = entry.path().filename().string();
    unsigned node = 0;
    const char* const end = name.data() + name.size();
    if (name.starts_with("node") && std::from_chars(name.data() + 4, end, node).ptr == end) return node;
  }
  return std::nullopt;
}

// -1 on a machine of one node.
NumaNode node_of_device(const std::string& sysfs, const std::string& address) {
  std::ifstream file(fmt::format("{}/bus/pci/devices/{}/numa_node", sysfs, address));
  int node = -1;
  return file >> node && node >= 0 ? NumaNode(static_cast<unsigned>(node)) : std::nullopt;
}

struct Found {
  NumaNode node;
  std::string from = "unknown";
};

// The node of the first of the ports that is a PCI device with a known node.
Found by_device(const ProgramConfig& config, const std::string& sysfs, const std::vector<std::string>& ports) {
  for (const auto& port : config.ports) {
    if (std::find(ports.begin(), ports.end(), port.name) == ports.end()) continue;
    const auto device = parse_device(port.device);
    if (!device || device->driver != Driver::kPci) continue;
    if (const NumaNode node = node_of_device(sysfs, device->name)) return {node, "device " + device->name};
  }
  return {};
}

std::string text_of(NumaNode node) {
  return node ? std::to_string(*node) : "-";
}

class Planner {
 public:
  explicit Planner(const std::string& sysfs) : sysfs_(sysfs) {}

  PlacementPlan plan(const GnbConfig& config) {
    for (const auto& card : config.cards) plan_link(config, card);
    for (const auto& worker : config.workers) {
      if (!placed(worker.name)) plan_.others.push_back(place(worker.name, worker.core, worker.numa));
    }
    plan_pools(config);
    return std::move(plan_);
  }

  PlacementPlan plan(const CardConfig& card) {
    const NumaNode core = node_of_core(sysfs_, card.cores.front());
    Found found = by_device(card, sysfs_, {card.n3, card.air});
    if (card.numa) found = {card.numa, "file"};
    if (!found.node && core) found = {core, fmt::format("core {}", card.cores.front())};
    std::vector<PlacedLoop> loops;
    for (const unsigned on : card.cores) {
      const bool one = card.cores.size() == 1;
      loops.push_back({one ? card.name : fmt::format("{}.{}", card.name, loops.size()), on, node_of_core(sysfs_, on)});
    }
    plan_.cards.push_back({card.name, found.node, found.from, std::move(loops), card.vfs});
    for (const auto& port : card.ports) plan_.pools[port.name] = found.node;
    compare(plan_.cards.back());
    return std::move(plan_);
  }

 private:
  void warn(std::string text) { plan_.warnings.push_back(std::move(text)); }

  void check_node(const std::string& who, NumaNode node) {
    std::error_code error;
    if (!node || fs::exists(fmt::format("{}/devices/system/node/node{}", sysfs_, *node), error)) return;
    warn(fmt::format("{} is to be on node {}, which this machine does not have", who, *node));
  }

  PlacedLoop place(const std::string& name, unsigned core, NumaNode wanted) {
    const NumaNode node = node_of_core(sysfs_, core);
    check_node("worker " + name, wanted);
    if (wanted && node && *wanted != *node)
      warn(fmt::format("worker {} is to be on node {}, and its core {} is on node {}", name, *wanted, core, *node));
    return {name, core, node ? node : wanted};
  }

  void compare(const PlacedCard& card) {
    check_node("card " + card.name, card.node);
    for (const auto& loop : card.loops) {
      if (!card.node || !loop.node || *card.node == *loop.node) continue;
      warn(
          fmt::format("worker {} is on node {} (core {}), and its card {} on node {}: every packet crosses from one "
                      "to the other",
                      loop.name, *loop.node, loop.core, card.name, *card.node));
    }
  }

  void plan_link(const GnbConfig& config, const CardLinkConfig& card) {
    Found found = by_device(config, sysfs_, card.vfs);
    if (card.numa) found = {card.numa, "file"};
    plan_.cards.push_back({card.name, found.node, found.from, {}, card.vfs});
    const auto behind = [&](const std::string& port) {
      return std::find(card.vfs.begin(), card.vfs.end(), port) != card.vfs.end();
    };
    for (const auto& worker : config.workers) {
      const bool uses = behind(worker.n3) || behind(worker.air) || behind(worker.rx) || behind(worker.tx);
      if (uses) plan_.cards.back().loops.push_back(place(worker.name, worker.core, worker.numa));
    }
    compare(plan_.cards.back());
  }

  bool placed(const std::string& worker) const {
    return std::any_of(plan_.cards.begin(), plan_.cards.end(), [&](const PlacedCard& card) {
      return std::any_of(card.loops.begin(), card.loops.end(), [&](const auto& loop) { return loop.name == worker; });
    });
  }

  // A port's buffers are on the node of its device. Without a device they are on the node of its reader, which touches
  // every octet.
  void plan_pools(const GnbConfig& config) {
    for (const auto& port : config.ports) {
      NumaNode node = by_device(config, sysfs_, {port.name}).node;
      for (const auto& worker : config.workers) {
        if (node) break;
        const bool uses =
            worker.n3 == port.name || worker.air == port.name || worker.rx == port.name || worker.tx == port.name;
        if (uses) node = worker.numa ? worker.numa : node_of_core(sysfs_, worker.core);
      }
      plan_.pools[port.name] = node;
    }
  }

  const std::string& sysfs_;
  PlacementPlan plan_;
};

}  // namespace

PlacementPlan plan_placement(const GnbConfig& config, const std::string& sysfs) {
  return Planner(sysfs).plan(config);
}

PlacementPlan plan_placement(const CardConfig& card, const std::string& sysfs) {
  return Planner(sysfs).plan(card);
}

std::string to_string(const PlacementPlan& plan) {
  if (plan.cards.empty()) return {};
  const auto loops_of = [](const std::vector<PlacedLoop>& loops) {
    std::vector<std::string> texts;
    for (const auto& loop : loops)
      texts.push_back(fmt::format("{} (core {}, node {})", loop.name, loop.core, text_of(loop.node)));
    return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
  };
  const auto pools_of = [&](const std::vector<std::string>& ports) {
    std::vector<std::string> texts;
    for (const auto& port : ports) {
      const auto at = plan.pools.find(port);
      texts.push_back(fmt::format("{} (node {})", port, at == plan.pools.end() ? "-" : text_of(at->second)));
    }
    return texts.empty() ? "-" : fmt::format("{}", fmt::join(texts, ", "));
  };
  Table table({"card", "node", "known from", "workers", "VFs and the node of their buffers"});
  for (const auto& card : plan.cards)
    table.add({card.name, text_of(card.node), card.from, loops_of(card.loops), pools_of(card.vfs)});
  std::string out = table.to_string();
  if (!plan.others.empty()) out += fmt::format("without a card: {}\n", loops_of(plan.others));
  for (const auto& warning : plan.warnings) out += fmt::format("warning: {}\n", warning);
  return out;
}

int socket_of(NumaNode node) {
  for (unsigned i = 0; node && i < rte_socket_count(); ++i) {
    if (rte_socket_id_by_idx(i) == static_cast<int>(*node)) return static_cast<int>(*node);
  }
  return SOCKET_ID_ANY;
}

}  // namespace splitplane::app
