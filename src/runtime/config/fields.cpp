#include "runtime/config/fields.h"

#include <array>
#include <utility>

#include "runtime/config/loop_fields.h"

namespace splitplane::app {
namespace {

constexpr std::array<std::string_view, 2> kLogFormats{"human", "json"};
constexpr std::array<std::string_view, 4> kLogLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kHugepages{"auto", "require", "never"};
// clang-format off
constexpr std::array<fields::Field, 8> kProgramRows{
    fields::name<&ProgramConfig::file_prefix>("file_prefix", kMaxPrefix, {
        .help = "Name of the running instance: DPDK's file prefix, lock file and control socket",
        .more = "A second instance of the same name is refused."}),
    fields::socket<&ProgramConfig::control>("control", {
        .help = "Control socket, of which only its owner may ask",
        .special = "absent: `/run/splitplane/<file_prefix>.sock` for root, else `$XDG_RUNTIME_DIR/splitplane/<file_prefix>.sock`",
        .more = "Without `XDG_RUNTIME_DIR` it is under `/tmp/splitplane-<uid>`.",
        .in = kServed}),
    fields::word<kLogLevels, &ProgramConfig::log_level>("log_level", {.help = "What is logged to standard error"}),
    fields::word<kLogFormats, &ProgramConfig::log_json>("log_format", {
        .help = "Form of the log", .special = "json: one JSON object a line", .more = "See [operate.md](operate.md).",
        .in = kServed}),
    fields::by_hand<ProgramConfig>("metrics", R"({"$ref": "#/$defs/metrics"})", {
        .help = "OpenMetrics over HTTP at /metrics", .special = "absent: none", .in = kObserved}),
    fields::directory<&ProgramConfig::sysfs_root>("sysfs_root", {
        .help = "Directory under which the cores' frequencies are read and set, and NUMA nodes read",
        .more = "See [power.md](power.md) and [nic.md](nic.md).",
        .in = kObserved}),
    fields::by_hand<ProgramConfig>("memory", R"({"$ref": "#/$defs/memory"})", {.help = "DPDK's memory"}),
    fields::by_hand<ProgramConfig>("ports",
        R"({"type": "object", "minProperties": 1, "propertyNames": {"$ref": "#/$defs/entryName"}, "additionalProperties": {"$ref": "#/$defs/port"}})", {
        .help = "DPDK ports by name", .special = "needed but with `phy`", .in = kPorted}),
};
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
        .help = "Buffers in each port's pool, and in that of `splitplane phy`", .special = "a power of two less one wastes least"}),
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
// clang-format on
constexpr fields::Fields<ProgramConfig> kProgramFields(kProgramRows);
constexpr fields::Fields<MetricsConfig> kMetricsFields(kMetricsRows);
constexpr fields::Fields<MemoryConfig> kMemoryFields(kMemoryRows);
constexpr fields::Fields<PortConfig> kPortFields(kPortRows);

}  // namespace

fields::Fields<ProgramConfig> program_fields(unsigned keys) {
  return kProgramFields.where(keys);
}
fields::Fields<MetricsConfig> metrics_fields() {
  return kMetricsFields;
}
fields::Fields<MemoryConfig> memory_fields() {
  return kMemoryFields;
}
fields::Fields<PortConfig> port_fields() {
  return kPortFields;
}

std::vector<fields::Section> program_sections() {
  std::vector<fields::Section> sections{{"file", fields::keys_of(kProgramFields)},
                                        {"metrics", fields::keys_of(kMetricsFields)},
                                        {"memory", fields::keys_of(kMemoryFields)},
                                        {"port", fields::keys_of(kPortFields)}};
  for (auto& policy : policy_sections()) sections.push_back(std::move(policy));
  return sections;
}

}  // namespace splitplane::app
