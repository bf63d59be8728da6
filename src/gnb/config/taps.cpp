#include "gnb/config/taps.h"

#include <algorithm>

#include "base/text.h"
#include "config/yaml/yaml_value.h"
#include "engine/tap_lane.h"
#include "gnb/config/lookup.h"
#include "tap/settings_fields.h"

namespace splitplane::app {

void complete(tap::Settings& tap, const GnbConfig& config) {
  if (tap.name.empty()) {
    tap.name = tap.port;
    if (tap.view != tap::View::kEthernet)
      tap.name += fmt::format("-{}", tap::kViewNames[static_cast<std::size_t>(tap.view)]);
  }
  if (tap.snap == 0 || tap.snap > config.memory.mbuf_data_bytes) tap.snap = config.memory.mbuf_data_bytes;
}

bool uses_port(const WorkerConfig& worker, const std::string& port) {
  switch (worker.function) {
    case WorkerConfig::Function::kL2fwd:
      return worker.rx == port || worker.tx == port;
    case WorkerConfig::Function::kCopies:
      return false;
    default:
      return worker.n3 == port || worker.air == port;
  }
}

std::optional<Finding> check_tap(const GnbConfig& config, const tap::Settings& tap) {
  if (!tap.name.empty() && !is_name(tap.name, tap::kMostName))
    return Finding{"name", fmt::format("'{}' is no name; allowed: {}", printable(tap.name), name_rule(tap::kMostName))};
  const bool control = std::any_of(tap.file.begin(), tap.file.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (tap.file.empty() || tap.file.size() > tap::kMostPath || control)
    return Finding{"file", fmt::format("'{}' is no path; allowed: the path of a file", printable(tap.file, 120))};
  if (auto finding = check_port_name(config, "port", tap.port)) return finding;
  std::vector<std::string_view> workers;
  for (const auto& worker : config.workers) {
    if (uses_port(worker, tap.port)) workers.emplace_back(worker.name);
  }
  if (workers.empty()) return Finding{"port", fmt::format("no worker uses port {}; allowed: one in use", tap.port)};
  if (!tap.worker.empty() && std::find(workers.begin(), workers.end(), tap.worker) == workers.end()) {
    return Finding{"worker", fmt::format("'{}' is no worker that uses port {}; allowed: {}", printable(tap.worker),
                                         tap.port, comma_list(workers))};
  }
  const bool air = std::any_of(config.air.begin(), config.air.end(), [&](const auto& a) { return a.port == tap.port; });
  if (!air && tap.view != tap::View::kEthernet) {
    return Finding{"view", fmt::format("{} shows the air, and {} is no port of the section air; allowed: ethernet",
                                       tap::kViewNames[static_cast<std::size_t>(tap.view)], tap.port)};
  }
  if (!air && tap.bearer) {
    return Finding{"bearer", fmt::format("{} is no port of the section air; allowed: on such a port only", tap.port)};
  }
  if (tap.files > 1 && tap.max_mb == 0) {
    return Finding{"files", fmt::format("is {}, but a file has no limit; allowed: together with max_mb", tap.files)};
  }
  return std::nullopt;
}

std::optional<Finding> check_next_tap(const GnbConfig& config, std::span<const tap::Settings> others,
                                      const tap::Settings& tap) {
  if (auto finding = check_tap(config, tap)) return finding;
  if (others.size() >= kMostTaps)
    return Finding{"name", fmt::format("there are {} taps already; allowed: at most {}", others.size(), kMostTaps)};
  const auto octets_of = [&](const tap::Settings& t) {
    const auto ends = std::count_if(config.workers.begin(), config.workers.end(), [&](const WorkerConfig& worker) {
      return uses_port(worker, t.port) && (t.worker.empty() || t.worker == worker.name);
    });
    return static_cast<std::size_t>(ends) * datapath::TapLane::memory_bytes(t.buffers, t.snap);
  };
  std::size_t octets = octets_of(tap);
  for (const auto& other : others) {
    if (other.name == tap.name)
      return Finding{"name", fmt::format("'{}' is the name of another tap; allowed: a name of its own", tap.name)};
    if (other.file == tap.file) return Finding{"file", "is the file of another tap; allowed: a file of its own"};
    octets += octets_of(other);
  }
  if (octets > config.memory.megabytes << 20) {
    return Finding{"buffers", fmt::format("with these the buffers of all taps take {} MB, and memory.megabytes is {}; "
                                          "allowed: fewer buffers, a smaller snap or more memory",
                                          octets >> 20, config.memory.megabytes)};
  }
  return std::nullopt;
}

std::optional<Finding> check_taps(const GnbConfig& config) {
  std::vector<tap::Settings> taps;
  for (std::size_t i = 0; i < config.taps.size(); ++i) {
    tap::Settings tap = config.taps[i];
    complete(tap, config);
    if (auto finding = check_next_tap(config, taps, tap))
      return Finding{fmt::format("taps[{}].{}", i, finding->key), finding->text};
    taps.push_back(std::move(tap));
  }
  return std::nullopt;
}

}  // namespace splitplane::app
