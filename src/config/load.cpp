#include "config/load.h"

#include <sys/stat.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/paths.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "config/check.h"
#include "config/device.h"
#include "config/taps.h"
#include "config/yaml_slip.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxControlPath = 107;  // sockaddr_un::sun_path less its NUL
constexpr std::array<std::string_view, 23> kTopKeys{
    "file_prefix",   "control", "journal",    "log_level", "log_format", "instance", "max_bearers", "metrics", "lookup",
    "foreign_teids", "memory",  "ports",      "n3",        "air",        "workers",  "bearers",     "taps",    "ue",
    "gen",           "sink",    "sysfs_root", "card",      "cards"};
constexpr std::array<std::string_view, 2> kLookups{"teid", "ue_address"};
constexpr std::array<std::string_view, 2> kLogFormats{"human", "json"};
constexpr std::array<std::string_view, 2> kMetricsKeys{"listen", "bearers"};
constexpr std::array<std::string_view, 4> kLogLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kHugepages{"auto", "require", "never"};
constexpr std::array<std::string_view, 4> kMemoryKeys{"hugepages", "megabytes", "mbufs", "mbuf_data_bytes"};
constexpr std::array<std::string_view, 8> kPortKeys{"device",         "rx_queues", "tx_queues",   "rx_descriptors",
                                                    "tx_descriptors", "mtu",       "promiscuous", "checksum"};
constexpr std::array<std::string_view, 11> kN3Keys{"port",
                                                   "ipv4",
                                                   "ipv6",
                                                   "gateway_ipv4",
                                                   "gateway_ipv6",
                                                   "peer_mac",
                                                   "vlan",
                                                   "any_source",
                                                   "echo",
                                                   "error_indications_per_s",
                                                   "released_teid_silence_s"};
constexpr std::array<std::string_view, 3> kEchoKeys{"interval_s", "timeout_s", "retries"};
constexpr std::array<std::string_view, 2> kAirKeys{"port", "peer_mac"};

MetricsConfig read_metrics(const YamlValue& value) {
  constexpr const char* kAllowed = "an address and a TCP port such as 127.0.0.1:9464 or [::1]:9464";
  const YamlMap map = value.map(kMetricsKeys);
  const YamlValue listen = map.required("listen");
  const std::string text = listen.text(kAllowed);
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  const std::string port = colon == std::string::npos ? "" : text.substr(colon + 1);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  const unsigned long number = digits ? std::stoul(port) : 0;
  if (!address || address->is_v6() != brackets || number == 0 || number > 65535) {
    listen.refuse(fmt::format("'{}' is no address with a port", printable(text)), kAllowed);
  }
  MetricsConfig metrics{.address = *address, .port = static_cast<std::uint16_t>(number)};
  map.read("bearers", metrics.bearers, 0, 10000);
  return metrics;
}

MemoryConfig read_memory(const YamlValue& value) {
  const YamlMap map = value.map(kMemoryKeys);
  MemoryConfig memory;
  if (const auto v = map.find("hugepages"))
    memory.hugepages = static_cast<MemoryConfig::Hugepages>(v->one_of(kHugepages));
  map.read("megabytes", memory.megabytes, 32, 1U << 20);
  map.read("mbufs", memory.mbufs, 1023, (1U << 22) - 1);
  map.read("mbuf_data_bytes", memory.mbuf_data_bytes, 128, 65000);
  return memory;
}

std::vector<PortConfig> read_ports(const YamlValue& value) {
  std::vector<PortConfig> ports;
  for (const auto& [name, entry] : value.named()) {
    const YamlMap map = entry.map(kPortKeys);
    PortConfig port;
    port.name = name;
    const YamlValue device = map.required("device");
    port.device = device.text("a DPDK device such as net_af_packet0,iface=eth1 or 0000:3b:00.0");
    if (const auto parsed = parse_device(port.device); !parsed) {
      throw Refusal{device.line(), device.key(), parsed.error().message};
    }
    map.read("rx_queues", port.rx_queues, 1, 64);
    map.read("tx_queues", port.tx_queues, 1, 64);
    map.read("rx_descriptors", port.rx_descriptors, 64, 16384);
    map.read("tx_descriptors", port.tx_descriptors, 64, 16384);
    map.read("mtu", port.mtu, 68, 9600);
    map.read("promiscuous", port.promiscuous);
    if (const auto v = map.find("checksum")) {
      port.checksum = static_cast<datapath::ChecksumMode>(v->one_of(datapath::kChecksumModeNames));
    }
    ports.push_back(std::move(port));
  }
  if (ports.empty()) value.refuse("is empty", "at least one port");
  return ports;
}

IpAddress unicast(const YamlValue& value, IpAddress address) {
  const auto& o = address.octets();
  const bool multicast = address.is_v6() ? o[0] == 0xff : o[0] >= 224;
  if (multicast || address == IpAddress::v4({}) || address == IpAddress::v6({})) {
    value.refuse(fmt::format("{} is no unicast address", address.to_string()), "the address of one host");
  }
  return address;
}

std::vector<N3Config> read_n3(const YamlValue& value) {
  std::vector<N3Config> list;
  for (const auto& entry : value.list()) {
    const YamlMap map = entry.map(kN3Keys);
    N3Config n3;
    n3.port = map.required("port").text("the name of a port");
    if (const auto v = map.find("ipv4")) n3.ipv4 = unicast(*v, v->ipv4());
    if (const auto v = map.find("ipv6")) n3.ipv6 = unicast(*v, v->ipv6());
    if (const auto v = map.find("gateway_ipv4")) n3.gateway_ipv4 = unicast(*v, v->ipv4());
    if (const auto v = map.find("gateway_ipv6")) n3.gateway_ipv6 = unicast(*v, v->ipv6());
    if (const auto v = map.find("peer_mac")) n3.peer_mac = v->mac();
    map.read("vlan", n3.vlan, 1, 4094);
    map.read("any_source", n3.any_source);
    if (const auto v = map.find("echo")) {
      const YamlMap echo = v->map(kEchoKeys);
      echo.read("interval_s", n3.echo.interval_s, 0, 3600);
      echo.read("timeout_s", n3.echo.timeout_s, 1, 60);
      echo.read("retries", n3.echo.retries, 0, 10);
    }
    map.read("error_indications_per_s", n3.error_indications_per_s, 0, 10000);
    map.read("released_teid_silence_s", n3.released_teid_silence_s, 0, 3600);
    list.push_back(std::move(n3));
  }
  return list;
}

std::vector<AirConfig> read_air(const YamlValue& value) {
  std::vector<AirConfig> list;
  for (const auto& entry : value.list()) {
    const YamlMap map = entry.map(kAirKeys);
    AirConfig air;
    air.port = map.required("port").text("the name of a port");
    map.read("peer_mac", air.peer_mac);
    list.push_back(std::move(air));
  }
  return list;
}

std::string read_journal_path(const YamlValue& value) {
  const std::string allowed = "none, or a path from / on, of at most 200 octets";
  std::string path = value.text(allowed);
  if (path == "none") return {};
  if (!path.starts_with('/') || path.ends_with('/') || path.size() > 200)
    value.refuse(fmt::format("'{}' is no such path", printable(path)), allowed);
  return path;
}

void read_document(const YAML::Node& document, Config& config) {
  const YamlMap map = YamlValue(document, "", 1, config.lines).map(kTopKeys);
  if (const auto v = map.find("file_prefix")) config.file_prefix = v->name(32);
  config.control = control_path(config.file_prefix);
  if (const auto v = map.find("control")) config.control = read_path(*v);
  config.journal = journal_path(config.file_prefix);
  if (const auto v = map.find("journal")) config.journal = read_journal_path(*v);
  if (const auto v = map.find("log_level")) config.log_level = kLogLevels[v->one_of(kLogLevels)];
  if (const auto v = map.find("log_format")) config.log_json = v->one_of(kLogFormats) == 1;
  if (const auto v = map.find("metrics")) config.metrics = read_metrics(*v);
  map.read("instance", config.instance, 0, (1U << ran::kInstanceBits) - 1);
  if (const auto v = map.find("max_bearers")) {
    config.max_bearers = v->integer(ran::kShards, std::uint64_t{ran::kShards} << ran::kIndexBits);
    if (config.max_bearers % ran::kShards != 0) {
      v->refuse(fmt::format("{} cannot be shared evenly", config.max_bearers),
                fmt::format("a multiple of {}", ran::kShards));
    }
  }
  if (const auto v = map.find("lookup")) config.lookup = static_cast<Config::Lookup>(v->one_of(kLookups));
  map.read("foreign_teids", config.foreign_teids, 0, std::uint64_t{ran::kShards} << ran::kIndexBits);
  if (const auto v = map.find("sysfs_root")) config.sysfs_root = read_directory(*v);
  if (const auto v = map.find("memory")) config.memory = read_memory(*v);
  config.ports = read_ports(map.required("ports"));
  if (const auto v = map.find("ue")) {
    config.ue = read_ue(*v);
    constexpr std::array<std::string_view, 7> kUeTopKeys{"file_prefix", "control", "log_level", "log_format",
                                                         "memory",      "ports",   "ue"};
    map.only(kUeTopKeys, "does not belong in a file for `splitplane ue`");
    return;
  }
  if (const auto v = map.find("card")) {
    config.card = read_card(*v, config.ports);
    constexpr std::array<std::string_view, 9> kNicTopKeys{
        "file_prefix", "control", "log_level", "log_format", "metrics", "sysfs_root", "memory", "ports", "card"};
    map.only(kNicTopKeys, "does not belong in a file for `splitplane nic`");
    return;
  }
  if (const auto v = map.find("gen")) config.gen = read_gen(*v);
  if (const auto v = map.find("sink")) config.sink = read_sink(*v);
  if (config.is_traffic()) {
    constexpr std::array<std::string_view, 6> kTrafficTopKeys{"file_prefix", "log_level", "memory",
                                                              "ports",       "gen",       "sink"};
    map.only(kTrafficTopKeys, "does not belong in a file for `splitplane gen` or `splitplane sink`");
    return;
  }
  if (const auto v = map.find("n3")) config.n3 = read_n3(*v);
  if (const auto v = map.find("air")) config.air = read_air(*v);
  const auto cards = map.find("cards");
  if (cards && !map.find("workers"))
    cards->refuse("stands in a file without workers", "with workers, or card, the section of `splitplane nic`");
  config.workers = read_workers(map.required("workers"));
  if (const auto& v = cards) config.cards = read_cards(*v);
  if (const auto v = map.find("bearers")) config.bearers = read_bearers(*v);
  if (const auto v = map.find("taps")) config.taps = read_taps(*v);
}

Expected<std::string> read_file(const std::string& path) {
  const std::string name = printable(path, 200);
  if (const auto refused = refuse_to_read(path))
    return fail("{}: cannot be read: {}; allowed: a YAML file", name, *refused);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail("{}: cannot be read: {}; allowed: a YAML file", name, std::strerror(errno));
  if (static_cast<std::size_t>(info.st_size) > kMaxFileBytes) {
    return fail("{}: has {} octets; allowed: at most {}", name, info.st_size, kMaxFileBytes);
  }
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) return fail("{}: cannot be read: {}; allowed: a YAML file", name, std::strerror(errno));
  return text;
}

// The line of a second document in the text, 0 if there is none. Not YAML::LoadAll: yaml-cpp 0.7 never comes back from
// it when a document begins with a comma (its issue 1040), since it takes nothing from the text and finds a document
// again.
int second_document(const std::string& text) {
  class Starts : public YAML::EventHandler {
   public:
    int line = 0;
    void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  } starts;
  std::istringstream in(text);
  YAML::Parser parser(in);
  return parser.HandleNextDocument(starts) && parser.HandleNextDocument(starts) ? starts.line : 0;
}

}  // namespace

std::string read_path(const YamlValue& value) {
  const std::string allowed = fmt::format("a path of 1 to {} octets", kMaxControlPath);
  std::string path = value.text(allowed);
  if (path.empty() || path.size() > kMaxControlPath) value.refuse(fmt::format("has {} octets", path.size()), allowed);
  return path;
}

std::string read_directory(const YamlValue& value) {
  const std::string allowed = "the path of a directory from / on, of at most 200 octets";
  std::string path = value.text(allowed);
  if (!path.starts_with('/') || path.size() > 200)
    value.refuse(fmt::format("'{}' is no such path", printable(path)), allowed);
  return path;
}

Expected<Config> parse_config(const std::string& text, const std::string& file) {
  Config config;
  config.file = printable(file, 200);
  try {
    if (const int line = second_document(text); line > 0) {
      return fail("{}:{}: file: something stands behind the end of the YAML document; allowed: one document",
                  config.file, line);
    }
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull())
      return fail("{}:1: file: is empty; allowed: a configuration (see config/demo.yaml)", config.file);
    read_document(document, config);
  } catch (const Refusal& refusal) {
    // A line without its colon is a text where a map should stand.
    if (refusal.text.starts_with("is the text '") && refusal.text.find("; allowed: a map") != std::string::npos) {
      if (const auto slip = find_yaml_slip(text, refusal.line))
        return fail("{}:{}: file: {}", config.file, slip->line, slip->text);
    }
    return fail("{}:{}: {}: {}", config.file, refusal.line, refusal.key.empty() ? "file" : refusal.key, refusal.text);
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 1 : error.mark.line + 1;
    if (const auto slip = find_yaml_slip(text, line))
      return fail("{}:{}: file: {}", config.file, slip->line, slip->text);
    return fail("{}:{}: file: is no YAML: {}; allowed: YAML 1.2", config.file, line, printable(error.msg, 120));
  }
  if (const auto finding = check_references(config)) return fail("{}", located(config, *finding));
  return config;
}

std::string to_string(const MetricsConfig& metrics) {
  const std::string host = metrics.address.to_string();
  return fmt::format("{}{}{}:{}", metrics.address.is_v6() ? "[" : "", host, metrics.address.is_v6() ? "]" : "",
                     metrics.port);
}

Expected<Config> load_config(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_config(*text, path);
}

ran::BearerConfig bearer_at(const BearerGroupConfig& group, std::size_t i) {
  ran::BearerConfig bearer = group.first;
  bearer.uplink_teid.value += static_cast<std::uint32_t>(i);
  if (bearer.ue_ipv4) bearer.ue_ipv4 = bearer.ue_ipv4->plus(i);
  if (bearer.ue_ipv6) bearer.ue_ipv6 = bearer.ue_ipv6->plus(i);
  if (bearer.dl_teid) bearer.dl_teid->value += static_cast<std::uint32_t>(i);
  return bearer;
}

}  // namespace splitplane::app
