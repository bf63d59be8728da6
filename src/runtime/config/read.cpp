#include "runtime/config/read.h"

#include <array>

#include "base/paths.h"
#include "base/text.h"
#include "config/yaml/path_value.h"
#include "config/yaml_fields.h"
#include "runtime/config/device.h"

namespace splitplane::app {
namespace {

MemoryConfig read_memory(const YamlValue& value) {
  MemoryConfig memory;
  read_fields(value.map(memory_fields().names()), memory_fields(), memory);
  return memory;
}

std::vector<PortConfig> read_ports(const YamlValue& value) {
  std::vector<PortConfig> ports;
  for (const auto& [name, entry] : value.named()) {
    const YamlMap map = entry.map(port_fields().names());
    PortConfig port;
    port.name = name;
    const YamlValue device = map.required("device");
    port.device = device.text("a DPDK device such as net_af_packet0,iface=eth1 or 0000:3b:00.0");
    if (const auto parsed = parse_device(port.device); !parsed) {
      throw Refusal{device.line(), device.key(), parsed.error().message};
    }
    read_fields(map, port_fields(), port);
    ports.push_back(std::move(port));
  }
  if (ports.empty()) value.refuse("is empty", "at least one port");
  return ports;
}

// Whose control socket it is. A request must not reach another instance because a key is misspelt, or the file is no
// configuration.
void read_place(const YamlMap& map, ProgramConfig& config) {
  constexpr std::array<std::string_view, 2> kKeys{"file_prefix", "control"};
  map.refuse_misspelt(kKeys);
  if (!map.find("phy")) (void)map.required("ports");
  if (const auto v = map.find("file_prefix")) config.file_prefix = v->name(kMaxPrefix);
  if (const auto v = map.find("control")) config.control = read_path(*v);
}

}  // namespace

MetricsConfig read_metrics(const YamlValue& value) {
  constexpr const char* kAllowed = "an address and a TCP port such as 127.0.0.1:9464 or [::1]:9464";
  const YamlMap map = value.map(metrics_fields().names());
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
  read_fields(map, metrics_fields(), metrics);
  return metrics;
}

void read_program(const YamlMap& map, unsigned keys, ProgramConfig& config) {
  read_fields(map, program_fields(keys).optional(), config);
  if (config.control.empty()) config.control = control_path(config.file_prefix);
  if (const auto v = map.find("metrics")) config.metrics = read_metrics(*v);
  if (const auto v = map.find("memory")) config.memory = read_memory(*v);
  if ((keys & kPorted) != 0) config.ports = read_ports(map.required("ports"));
}

Expected<std::string> control_of_file(const std::string& path) {
  ProgramConfig config;
  return Document::load(path)
      .and_then([&](const Document& document) {
        return document.read(config, [&](const YamlValue& top) { read_place(top.map(), config); });
      })
      .map([&] { return config.control.empty() ? control_path(config.file_prefix) : config.control; });
}

}  // namespace splitplane::app
