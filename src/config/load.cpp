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
#include "config/load_gnb.h"
#include "config/taps.h"
#include "config/yaml/path_value.h"
#include "config/yaml/yaml_slip.h"
#include "config/yaml_fields.h"

namespace splitplane::app {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::array<std::string_view, 23> kTopKeys{
    "file_prefix",   "control", "journal",    "log_level", "log_format", "instance", "max_bearers", "metrics", "lookup",
    "foreign_teids", "memory",  "ports",      "n3",        "air",        "workers",  "bearers",     "taps",    "ue",
    "gen",           "sink",    "sysfs_root", "card",      "cards"};
constexpr std::array<std::string_view, 2> kLookups{"teid", "ue_address"};
constexpr std::array<std::string_view, 2> kLogFormats{"human", "json"};
constexpr std::array<std::string_view, 4> kLogLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kHugepages{"auto", "require", "never"};
// clang-format off
constexpr std::array<fields::Field, 2> kMetricsRows{
    fields::by_hand<MetricsConfig>("listen",
        R"({"type": "string", "pattern": "^([0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9A-Fa-f:.]+\\]):0*[1-9][0-9]{0,4}$"})", {
        .help = "Address and TCP port, such as 127.0.0.1:9464 or [::1]:9464", .required = true}),
    fields::integer<&MetricsConfig::bearers>("bearers", 0, 10000, {
        .help = "Bearers that have metrics of their own, in the order of their identities"}),
};
constexpr std::array<fields::Field, 4> kMemoryRows{
    fields::word<kHugepages, &MemoryConfig::hugepages>("hugepages", {
        .help = "Whether DPDK takes hugepages",
        .special = "auto: those that are free, else ordinary memory with a warning",
        .more = "`require`: no start without them. `never`: ordinary memory."}),
    fields::integer<&MemoryConfig::megabytes>("megabytes", 32, 1U << 20, {
        .help = "Memory for DPDK; every port's pool and the bearers must fit",
        .more = "Without hugepages a buffer takes a page of 4 KiB: 256 MB for 65535 buffers."}),
    fields::integer<&MemoryConfig::mbufs>("mbufs", 1023, (1U << 22) - 1, {
        .help = "Buffers in each port's pool", .special = "a power of two less one wastes least"}),
    fields::integer<&MemoryConfig::mbuf_data_bytes>("mbuf_data_bytes", 128, 65000, {
        .help = "Octets for a frame in one buffer, behind the headroom",
        .more = "A port's MTU and 22 octets must fit."}),
};
constexpr std::array<fields::Field, 8> kPortRows{
    fields::by_hand<PortConfig>("device",
        R"({"type": "string", "pattern": "^(net_(null|ring|pcap|memif|tap|af_packet|af_xdp|vhost|virtio_user)[0-9]*|eth_vhost[0-9]*|([0-9A-Fa-f]{4}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\\.[0-7])(,[^,=\\s]+=[^,\\s]+)*$"})", {
        .help = "DPDK device: a driver with an index and its arguments, such as net_af_packet0,iface=eth1, or a PCI address",
        .required = true}),
    fields::integer<&PortConfig::rx_queues>("rx_queues", 1, 64, {
        .help = "Receive queues", .more = "Every receive queue of a port that is read must be read by some worker."}),
    fields::integer<&PortConfig::tx_queues>("tx_queues", 1, 64, {.help = "Transmit queues"}),
    fields::integer<&PortConfig::rx_descriptors>("rx_descriptors", 64, 16384, {.help = "Descriptors of a receive queue"}),
    fields::integer<&PortConfig::tx_descriptors>("tx_descriptors", 64, 16384, {.help = "Descriptors of a transmit queue"}),
    fields::integer<&PortConfig::mtu>("mtu", 68, 9600, {
        .help = "MTU that is set on the device",
        .more = "A frame must fit in `memory.mbuf_data_bytes`. 1600 leaves room for GTP-U around an inner packet of 1500 octets."}),
    fields::flag<&PortConfig::promiscuous>("promiscuous", {.help = "Receive frames to any MAC address"}),
    fields::word<datapath::kChecksumModeNames, &PortConfig::checksum>("checksum", {
        .help = "Who verifies the IPv4 and UDP checksums of what arrives on N3",
        .special = "absent: offload if the device can, else off"}),
};
constexpr std::array<fields::Field, 3> kEchoRows{
    fields::integer<&N3Config::echo, &EchoConfig::interval_s>("interval_s", 0, 3600, {
        .help = "Time between Echo Requests to one UPF", .special = "0: none are sent"}),
    fields::integer<&N3Config::echo, &EchoConfig::timeout_s>("timeout_s", 1, 60, {
        .help = "How long an answer may take: T3-RESPONSE", .clause = "TS 29.281 7.2"}),
    fields::integer<&N3Config::echo, &EchoConfig::retries>("retries", 0, 10, {
        .help = "How often an unanswered request is repeated before the path is down", .special = "N3-REQUESTS less one"}),
};
constexpr std::array<fields::Field, 11> kN3Rows{
    fields::text<&N3Config::port>("port", "the name of a port", {.help = "Name of a port", .required = true}),
    fields::host_ipv4<&N3Config::ipv4>("ipv4", {
        .help = "Our IPv4 address; GTP-U to it is for us", .more = "`ipv4` or `ipv6` must be there, or both."}),
    fields::host_ipv6<&N3Config::ipv6>("ipv6", {.help = "Our IPv6 address; GTP-U to it is for us"}),
    fields::host_ipv4<&N3Config::gateway_ipv4>("gateway_ipv4", {
        .help = "Next hop to every UPF", .special = "absent: each is on the link"}),
    fields::host_ipv6<&N3Config::gateway_ipv6>("gateway_ipv6", {
        .help = "Next hop to every UPF", .special = "absent: each is on the link"}),
    fields::mac<&N3Config::peer_mac>("peer_mac", {
        .help = "MAC address of the next hop", .special = "absent: found by ARP and neighbour discovery"}),
    fields::integer<&N3Config::vlan>("vlan", 1, 4094, {
        .help = "Receives and sends with this 802.1Q tag only", .special = "absent: untagged only",
        .more = "Not behind a card."}),
    fields::flag<&N3Config::any_source>("any_source", {
        .help = "A bearer's G-PDUs, Error Indications and End Markers may come from another address than its UPF's"}),
    fields::group<N3Config>("echo", kEchoRows, {
        .help = "Supervision of the UPFs that have bearers, by GTP-U Echo", .more = "See [gtpu.md](gtpu.md)."}),
    fields::integer<&N3Config::error_indications_per_s>("error_indications_per_s", 0, 10000, {
        .help = "Error Indications to one peer, and as many Supported Extension Headers Notifications",
        .special = "0: none", .more = "It is an average; after a pause as many go out at once."}),
    fields::integer<&N3Config::released_teid_silence_s>("released_teid_silence_s", 0, 3600, {
        .help = "How long a TEID that was just released draws no Error Indication"}),
};
constexpr std::array<fields::Field, 2> kAirRows{
    fields::text<&AirConfig::port>("port", "the name of a port", {.help = "Name of a port", .required = true}),
    fields::mac<&AirConfig::peer_mac>("peer_mac", {.help = "Destination of downlink frames"}),
};
// clang-format on
constexpr fields::Fields<MetricsConfig> kMetricsFields(kMetricsRows);
constexpr fields::Fields<MemoryConfig> kMemoryFields(kMemoryRows);
constexpr fields::Fields<PortConfig> kPortFields(kPortRows);
constexpr fields::Fields<N3Config> kN3Fields(kN3Rows);
constexpr fields::Fields<AirConfig> kAirFields(kAirRows);

MetricsConfig read_metrics(const YamlValue& value) {
  constexpr const char* kAllowed = "an address and a TCP port such as 127.0.0.1:9464 or [::1]:9464";
  const YamlMap map = value.map(kMetricsFields.names());
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
  read_fields(map, kMetricsFields, metrics);
  return metrics;
}

MemoryConfig read_memory(const YamlValue& value) {
  MemoryConfig memory;
  read_fields(value.map(kMemoryFields.names()), kMemoryFields, memory);
  return memory;
}

std::vector<PortConfig> read_ports(const YamlValue& value) {
  std::vector<PortConfig> ports;
  for (const auto& [name, entry] : value.named()) {
    const YamlMap map = entry.map(kPortFields.names());
    PortConfig port;
    port.name = name;
    const YamlValue device = map.required("device");
    port.device = device.text("a DPDK device such as net_af_packet0,iface=eth1 or 0000:3b:00.0");
    if (const auto parsed = parse_device(port.device); !parsed) {
      throw Refusal{device.line(), device.key(), parsed.error().message};
    }
    read_fields(map, kPortFields, port);
    ports.push_back(std::move(port));
  }
  if (ports.empty()) value.refuse("is empty", "at least one port");
  return ports;
}

std::vector<N3Config> read_n3(const YamlValue& value) {
  std::vector<N3Config> list;
  for (const auto& entry : value.list()) read_fields(entry.map(kN3Fields.names()), kN3Fields, list.emplace_back());
  return list;
}

std::vector<AirConfig> read_air(const YamlValue& value) {
  std::vector<AirConfig> list;
  for (const auto& entry : value.list()) read_fields(entry.map(kAirFields.names()), kAirFields, list.emplace_back());
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
    map.only(kNicTopKeys, "does not belong in a file for `splitplane card`");
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
    cards->refuse("stands in a file without workers", "with workers, or card, the section of `splitplane card`");
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

fields::Section metrics_section() {
  return {"metrics", fields::keys_of(kMetricsFields)};
}
fields::Section memory_section() {
  return {"memory", fields::keys_of(kMemoryFields)};
}
fields::Section port_section() {
  return {"port", fields::keys_of(kPortFields)};
}
fields::Section n3_section() {
  return {"n3", fields::keys_of(kN3Fields)};
}
fields::Section air_section() {
  return {"air", fields::keys_of(kAirFields)};
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

Expected<Config> load_config(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_config(*text, path);
}

}  // namespace splitplane::app
