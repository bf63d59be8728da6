#include "traffic/config/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "ran/bearer_table.h"
#include "runtime/config/lookup.h"
#include "traffic/packet_maker.h"

namespace splitplane::app {
namespace {

std::optional<Finding> check_sizes(const TrafficConfig& config, const GenConfig& gen) {
  const bool down = gen.direction == Direction::kDownlink;
  const bool outer_ipv6 = gen.gnb_ipv6.has_value();
  // Behind the Ethernet header: IP, UDP and GTP-U with a PSC, or airhdr, RLC, PDCP and SDAP.
  const unsigned headers = !down ? 8 + 7 : (outer_ipv6 ? 40 : 20) + 8 + 16;
  const PortConfig& port = *find_port(config, gen.port);
  for (const auto& size : gen.sizes) {
    const unsigned least = traffic::smallest_inner(gen.inner_ipv6);
    if (size.bytes >= least && size.bytes + headers <= port.mtu) continue;
    return Finding{
        "gen.sizes",
        fmt::format("has {} octets; allowed: {} to {} (headers and stamp, and the MTU of port {} less {} "
                    "octets of headers)",
                    size.bytes, least, port.mtu - std::min<unsigned>(headers, port.mtu), port.name, headers)};
  }
  return std::nullopt;
}

std::optional<Finding> check_bearer(const GenConfig& gen, const GenBearersConfig& bearers, const std::string& key) {
  const ran::BearerConfig last = bearer_at(bearers, bearers.count - 1);
  const std::uint64_t end = std::uint64_t{bearers.first.id.value} + (bearers.count - 1) / bearers.shards +
                            ((std::uint64_t{std::min(bearers.shards, bearers.count)} - 1) << ran::kIndexBits);
  if (end > 0xffffffff || last.id.value < bearers.first.id.value) {
    return Finding{key + ".count", fmt::format("{} identities run past the last one; allowed: fewer", bearers.count)};
  }
  if (!(gen.inner_ipv6 ? bearers.first.ue_ipv6 : bearers.first.ue_ipv4)) {
    const char* family = gen.inner_ipv6 ? "ipv6" : "ipv4";
    return Finding{key, fmt::format("has no UE address; allowed: with ue_{}, since gen.inner is {}", family, family)};
  }
  if (gen.direction == Direction::kUplink) return std::nullopt;
  if (bearers.first.upf == IpAddress{}) {
    return Finding{key, "does not say from which UPF the packets come; allowed: with upf"};
  }
  const bool v6 = bearers.first.upf.is_v6();
  if (v6 ? gen.gnb_ipv6 : gen.gnb_ipv4) return std::nullopt;
  return Finding{key + ".upf", fmt::format("is {}, and the gNB's address of that family is not given; allowed: with "
                                           "gen.gnb_{}",
                                           bearers.first.upf.to_string(), v6 ? "ipv6" : "ipv4")};
}

// Two flows of one bearer would both number its uplink. On N3 they may: there the gNB numbers.
std::optional<Finding> check_overlap(const GenConfig& gen) {
  struct Range {
    std::uint64_t first, end;
    std::size_t entry;
  };
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < gen.bearers.size(); ++i) {
    const GenBearersConfig& b = gen.bearers[i];
    for (std::uint32_t shard = 0; shard < std::min(b.shards, b.count); ++shard) {
      const std::uint64_t first = b.first.id.value + (std::uint64_t{shard} << ran::kIndexBits);
      ranges.push_back({first, first + (b.count - 1 - shard) / b.shards + 1, i});
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const Range &before = ranges[i - 1], &range = ranges[i];
    if (range.first >= before.end) continue;
    return Finding{
        fmt::format("gen.bearers[{}]", std::max(before.entry, range.entry)),
        fmt::format("has the bearer {:#010x}, which is in gen.bearers[{}] already; allowed: each once, as its "
                    "uplink has one sequence of numbers",
                    range.first, std::min(before.entry, range.entry))};
  }
  return std::nullopt;
}

std::optional<Finding> check_gen(const TrafficConfig& config, const GenConfig& gen) {
  if (auto finding = check_port_name(config, "gen.port", gen.port)) return finding;
  if (!gen.replay.empty()) {
    if (!gen.bearers.empty() || !gen.gnb_control.empty()) {
      return Finding{"gen.replay", "stands beside bearers or gnb_control; allowed: a replay or bearers"};
    }
    return std::nullopt;
  }
  if (gen.rate == 0) return Finding{"gen", "has no rate; allowed: with rate, in packets a second"};
  if (gen.bearers.empty() && gen.gnb_control.empty()) {
    return Finding{"gen", "has no bearers; allowed: with bearers, gnb_control or replay"};
  }
  if (auto finding = check_sizes(config, gen)) return finding;
  for (std::size_t i = 0; i < gen.bearers.size(); ++i) {
    if (auto finding = check_bearer(gen, gen.bearers[i], fmt::format("gen.bearers[{}]", i))) return finding;
  }
  return gen.direction == Direction::kUplink ? check_overlap(gen) : std::nullopt;
}

}  // namespace

MemoryNeeds memory_needs(const TrafficConfig& config) {
  return memory_of_ports(config);
}

std::optional<Finding> check_traffic(const TrafficConfig& config) {
  if (auto finding = check_devices(config)) return finding;
  if (auto finding = check_room(config, memory_needs(config))) return finding;
  if (config.gen) {
    if (auto finding = check_gen(config, *config.gen)) return finding;
  }
  if (config.sink) {
    if (auto finding = check_port_name(config, "sink.port", config.sink->port)) return finding;
  }
  for (const auto& port : config.ports) {
    const bool used = (config.gen && config.gen->port == port.name) || (config.sink && config.sink->port == port.name);
    if (!used) {
      return Finding{"ports." + port.name, "is not used; allowed: the ports that gen.port and sink.port name"};
    }
  }
  return std::nullopt;
}

}  // namespace splitplane::app
