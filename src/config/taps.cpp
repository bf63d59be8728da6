#include "config/taps.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/lookup.h"
#include "engine/tap_lane.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 11> kTapKeys{"name",   "port",  "worker", "file",    "view",  "direction",
                                                    "max_mb", "files", "snap",   "buffers", "bearer"};
constexpr std::array<std::string_view, 3> kViews{"ethernet", "rlc-nr", "pdcp-nr"};  // as tap::View
constexpr std::array<std::string_view, 3> kDirections{"in", "out", "both"};
constexpr std::size_t kMostPath = 4000, kMostName = 32;
struct Range {
  std::uint64_t min, max;
};
constexpr Range kMaxMb{1, 1U << 20}, kFiles{1, 1000}, kSnap{64, 65000}, kBuffers{127, 1U << 20}, kBearer{1, 0xffffffff};

void set_direction(tap::Settings& tap, std::size_t word) {
  tap.in = word != 1;
  tap.out = word != 0;
}

std::string direction_of(const tap::Settings& tap) {
  return tap.in && tap.out ? "both" : tap.in ? "in" : "out";
}

std::optional<std::size_t> word(Params& params, std::string_view key, Keys words) {
  const auto text = params.text(key);
  if (!text) return std::nullopt;
  const auto at = std::find(words.begin(), words.end(), *text);
  if (at == words.end()) {
    params.refuse(key, fmt::format("'{}' is unknown; allowed: {}", printable(*text), comma_list(words)));
    return std::nullopt;
  }
  return static_cast<std::size_t>(at - words.begin());
}

}  // namespace

std::vector<tap::Settings> read_taps(const YamlValue& value) {
  std::vector<tap::Settings> taps;
  for (const auto& entry : value.list()) {
    const YamlMap map = entry.map(kTapKeys);
    tap::Settings tap;
    tap.port = map.required("port").text("the name of a port");
    const YamlValue file = map.required("file");
    tap.file = file.text("the path of a file");
    if (const auto v = map.find("name")) tap.name = v->name(kMostName);
    if (const auto v = map.find("worker")) tap.worker = v->text("the name of a worker");
    if (const auto v = map.find("view")) tap.view = static_cast<tap::View>(v->one_of(kViews));
    if (const auto v = map.find("direction")) set_direction(tap, v->one_of(kDirections));
    map.read("max_mb", tap.max_mb, kMaxMb.min, kMaxMb.max);
    map.read("files", tap.files, kFiles.min, kFiles.max);
    map.read("snap", tap.snap, kSnap.min, kSnap.max);
    map.read("buffers", tap.buffers, kBuffers.min, kBuffers.max);
    if (const auto v = map.find("bearer"))
      tap.bearer = static_cast<std::uint32_t>(v->integer(kBearer.min, kBearer.max));
    taps.push_back(std::move(tap));
  }
  return taps;
}

tap::Settings read_tap(Params& params) {
  tap::Settings tap;
  params.require("port");
  params.require("file");
  tap.port = params.text("port").value_or("");
  tap.file = params.text("file").value_or("");
  tap.name = params.text("name").value_or("");
  tap.worker = params.text("worker").value_or("");
  if (const auto v = word(params, "view", kViews)) tap.view = static_cast<tap::View>(*v);
  if (const auto v = word(params, "direction", kDirections)) set_direction(tap, *v);
  const auto number = [&](std::string_view key, Range range, unsigned& into) {
    if (const auto v = params.integer(key, range.min, range.max)) into = static_cast<unsigned>(*v);
  };
  number("max_mb", kMaxMb, tap.max_mb);
  number("files", kFiles, tap.files);
  number("snap", kSnap, tap.snap);
  number("buffers", kBuffers, tap.buffers);
  if (const auto v = params.integer("bearer", kBearer.min, kBearer.max)) tap.bearer = static_cast<std::uint32_t>(*v);
  return tap;
}

Json to_json(const tap::Settings& tap) {
  Json json{{"name", tap.name},
            {"port", tap.port},
            {"direction", direction_of(tap)},
            {"view", kViews[static_cast<std::size_t>(tap.view)]},
            {"file", tap.file},
            {"snap", tap.snap},
            {"buffers", tap.buffers}};
  if (!tap.worker.empty()) json["worker"] = tap.worker;
  if (tap.max_mb != 0) json["max_mb"] = tap.max_mb;
  if (tap.files != 1) json["files"] = tap.files;
  if (tap.bearer) json["bearer"] = *tap.bearer;
  return json;
}

void complete(tap::Settings& tap, const Config& config) {
  if (tap.name.empty()) {
    tap.name = tap.port;
    if (tap.view != tap::View::kEthernet) tap.name += fmt::format("-{}", kViews[static_cast<std::size_t>(tap.view)]);
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

std::optional<Finding> check_tap(const Config& config, const tap::Settings& tap) {
  if (!tap.name.empty() && !is_name(tap.name, kMostName))
    return Finding{"name", fmt::format("'{}' is no name; allowed: {}", printable(tap.name), name_rule(kMostName))};
  const bool control = std::any_of(tap.file.begin(), tap.file.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (tap.file.empty() || tap.file.size() > kMostPath || control)
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
                                       kViews[static_cast<std::size_t>(tap.view)], tap.port)};
  }
  if (!air && tap.bearer) {
    return Finding{"bearer", fmt::format("{} is no port of the section air; allowed: on such a port only", tap.port)};
  }
  if (tap.files > 1 && tap.max_mb == 0) {
    return Finding{"files", fmt::format("is {}, but a file has no limit; allowed: together with max_mb", tap.files)};
  }
  return std::nullopt;
}

std::optional<Finding> check_next_tap(const Config& config, std::span<const tap::Settings> others,
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

std::optional<Finding> check_taps(const Config& config) {
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
