#include "engine/port.h"

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/log.h"
#include "engine/dpdk_log.h"
#include "engine/driver/driver_calls.h"
#include "engine/driver/driver_gate.h"
#include "engine/driver/gated_port.h"
#include "engine/driver/other_end.h"
#include "engine/driver/vhost_wake.h"

namespace splitplane::datapath {
namespace {

Expected<std::uint16_t> find_port(const PortSettings& settings, const std::string& device_name) {
  std::uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(device_name.c_str(), &id) != 0) {
    return fail("port {}: device '{}' is not there", settings.name, settings.device);
  }
  return id;
}

// A Toeplitz key that repeats its first two octets gives the same hash if source and destination change places (Woo and
// Park, "Scalable TCP session monitoring with symmetric receive-side scaling", 2012). 40 octets are what most NICs
// take.
std::vector<std::uint8_t> symmetric_key(std::size_t octets) {
  std::vector<std::uint8_t> key(octets == 0 ? 40 : octets);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = i % 2 == 0 ? 0x6d : 0x5a;
  return key;
}

// The kernel's own spreading (PACKET_FANOUT_HASH) takes addresses and ports, and is symmetric.
bool spreads_symmetrically(std::string_view device) {
  return device.starts_with("net_af_packet");
}

// Configures queues within the limits of the device.
Expected<ChecksumMode> set_up(const PortSettings& settings, std::uint16_t id, rte_mempool* pool, bool interrupts) {
  rte_eth_dev_info info{};
  if (const int error = rte_eth_dev_info_get(id, &info); error != 0) {
    return fail("port {}: no device information ({})", settings.name, rte_strerror(-error));
  }
  if (settings.rx_queues > info.max_rx_queues || settings.tx_queues > info.max_tx_queues) {
    return fail("port {}: {} rx and {} tx queues asked for; device '{}' has at most {} and {}", settings.name,
                settings.rx_queues, settings.tx_queues, settings.device, info.max_rx_queues, info.max_tx_queues);
  }
  constexpr std::uint64_t kChecksums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  const bool can_verify = (info.rx_offload_capa & kChecksums) == kChecksums;
  const ChecksumMode checksums = settings.checksums.value_or(can_verify ? ChecksumMode::offload : ChecksumMode::off);
  if (checksums == ChecksumMode::offload && !can_verify) {
    return fail("port {}: checksum: device '{}' verifies none; allowed: software, off", settings.name, settings.device);
  }
  rte_eth_conf conf{};  // no other offloads: MBUF_FAST_FREE would break shared mbufs
  if (checksums == ChecksumMode::offload) conf.rxmode.offloads = kChecksums;
  if (checksums == ChecksumMode::offload) conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
  conf.intr_conf.rxq = interrupts ? 1 : 0;
  std::vector<std::uint8_t> key = symmetric_key(info.hash_key_size);
  if (settings.spread_by_address && settings.rx_queues > 1) {
    const std::uint64_t by_address = info.flow_type_rss_offloads & RTE_ETH_RSS_IP;
    if (by_address != 0) {
      conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
      conf.rx_adv_conf.rss_conf = {key.data(), static_cast<std::uint8_t>(key.size()), by_address};
    } else if (!spreads_symmetrically(settings.device)) {
      log::warn(
          "port {}: its device cannot spread packets by address; both directions of a connection may meet "
          "different workers",
          settings.name);
    }
  }
  if (const int error = rte_eth_dev_configure(id, settings.rx_queues, settings.tx_queues, &conf); error != 0) {
    return fail("port {}: configure failed ({})", settings.name, rte_strerror(-error));
  }
  std::uint16_t rx = settings.rx_descriptors, tx = settings.tx_descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(id, &rx, &tx);
  for (std::uint16_t queue = 0; queue < settings.rx_queues; ++queue) {
    if (const int error = rte_eth_rx_queue_setup(id, queue, rx, rte_eth_dev_socket_id(id), nullptr, pool); error != 0) {
      return fail("port {}: rx queue {} failed ({})", settings.name, queue, rte_strerror(-error));
    }
  }
  for (std::uint16_t queue = 0; queue < settings.tx_queues; ++queue) {
    if (const int error = rte_eth_tx_queue_setup(id, queue, tx, rte_eth_dev_socket_id(id), nullptr); error != 0) {
      return fail("port {}: tx queue {} failed ({})", settings.name, queue, rte_strerror(-error));
    }
  }
  // Drivers without an MTU setting refuse it; the buffers then limit their frames. AF_PACKET claims 1518 octets
  // whatever its rings hold, so the MTU of the interface counts there.
  const std::uint32_t frame_bytes = settings.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  if (frame_bytes > info.max_rx_pktlen) {
    log::debug("port {}: MTU {} is beyond what the driver can be told; the interface's own counts", settings.name,
               settings.mtu);
  } else if (const int error = rte_eth_dev_set_mtu(id, settings.mtu); error != 0 && error != -ENOTSUP) {
    log::warn("port {}: MTU {} not taken ({})", settings.name, settings.mtu, rte_strerror(-error));
  }
  if (const int error = rte_eth_dev_start(id); error != 0) {
    if (const auto missing = missing_other_end(settings.device)) return fail("port {}: {}", settings.name, *missing);
    return fail("port {}: start failed ({})", settings.name, rte_strerror(-error));
  }
  if (settings.promiscuous) {
    if (const int error = rte_eth_promiscuous_enable(id); error != 0 && error != -ENOTSUP) {
      log::warn("port {}: promiscuous mode not taken ({})", settings.name, rte_strerror(-error));
    }
  }
  return checksums;
}

// Called after begin_to_close() of a port, when the port is gone.
void end_listening_for_virtio() {
  wait_for_interrupt_thread();  // that thread runs the port's alarms, which are skipped
  DriverGate::virtio().end_to_close();
}

// For a port that could not be made.
void stop_listening_for_virtio() {
  DriverGate::virtio().begin_to_close();
  end_listening_for_virtio();
}

}  // namespace

std::pair<std::string, std::string> split_devargs(std::string_view device) {
  const auto comma = device.find(',');
  if (comma == std::string_view::npos) return {std::string(device), {}};
  return {std::string(device.substr(0, comma)), std::string(device.substr(comma + 1))};
}

bool is_pci_address(std::string_view device) {
  const auto dot = device.rfind('.');
  const auto colon = device.find(':');
  return dot != std::string_view::npos && colon != std::string_view::npos && colon < dot &&
         std::all_of(
             device.begin(), device.end(),
             [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.'; });
}

Port::Port(PortSettings settings, std::uint16_t id, std::string vdev)
    : settings_(std::move(settings)), id_(id), vdev_(std::move(vdev)) {}

bool Port::is_vhost() const {
  return settings_.device.starts_with("net_vhost") || settings_.device.starts_with("eth_vhost");
}

// Call it before a worker may poll the port.
Expected<void> Port::gate() {
  if (!is_memif() && !is_vhost()) return {};
  if (is_memif() ? !memif_handlers_are_gated() : !vhost_handlers_are_gated()) {
    return fail(
        "port {}: device '{}' could end this process when its other end leaves, because this build of DPDK keeps its "
        "driver's handlers to itself; allowed: DPDK as shared libraries, or another kind of device",
        settings_.name, settings_.device);
  }
  DriverGate& gate = is_memif() ? DriverGate::memif() : DriverGate::vhost();
  gated_ = std::make_unique<GatedPort>(gate, id_, settings_.rx_queues, settings_.tx_queues);
  if (is_memif()) gate.begin_to_listen();
  return {};
}

Expected<std::unique_ptr<Port>> Port::open(const PortSettings& settings, rte_mempool* pool) {
  const OpeningPort opening(settings.name, settings.device);
  const auto [device_name, arguments] = split_devargs(settings.device);
  const bool pci = is_pci_address(settings.device);
  // A PCI device may be virtio too.
  const bool virtio = pci || settings.device.starts_with("net_virtio_user");
  if (virtio) DriverGate::virtio().begin_to_listen();
  if (!pci) {
    if (const int error = rte_eal_hotplug_add("vdev", device_name.c_str(), arguments.c_str()); error != 0) {
      if (virtio) stop_listening_for_virtio();
      if (const auto missing = missing_other_end(settings.device)) return fail("port {}: {}", settings.name, *missing);
      return fail("port {}: device '{}' could not be made ({})", settings.name, settings.device, rte_strerror(-error));
    }
  }
  const auto id = find_port(settings, device_name);
  if (!id) {
    if (virtio) stop_listening_for_virtio();
    return tl::unexpected(id.error());
  }
  std::unique_ptr<Port> port(new Port(settings, *id, pci ? std::string{} : device_name));
  port->virtio_ = virtio;
  auto checksums = set_up(settings, *id, pool, true);  // interrupts let a worker sleep until a packet comes
  // Too few vectors for one per queue: some drivers say so here, others when they start.
  if (!checksums) checksums = set_up(settings, *id, pool, false);
  if (!checksums) return tl::unexpected(checksums.error());
  port->checksums_ = *checksums;
  if (const auto gated = port->gate(); !gated) return tl::unexpected(gated.error());
  if (port->is_vhost()) wake_vhost_thread();
  return port;
}

Port::~Port() {
  // memif's handlers know a port by its memory, so none may run from before the port stops until it is gone.
  const bool handled = gated_ && is_memif();
  if (handled) DriverGate::memif().begin_to_close();
  if (virtio_) DriverGate::virtio().begin_to_close();
  if (rte_eth_dev_stop(id_) != 0) log::warn("port {}: stop failed", settings_.name);
  if (handled) wait_for_interrupt_thread();
  rte_eth_dev_close(id_);
  if (handled && DriverGate::memif().end_to_close()) take_back_memif_handlers();
  if (!vdev_.empty()) rte_eal_hotplug_remove("vdev", vdev_.c_str());
  if (virtio_) end_listening_for_virtio();
  forget_dpdk_port(settings_.name);
}

MacAddress Port::mac() const {
  rte_ether_addr address{};
  rte_eth_macaddr_get(id_, &address);
  MacAddress mac;
  std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), mac.octets.begin());
  return mac;
}

PortCounters Port::counters() const {
  rte_eth_stats s{};
  const std::lock_guard guard(counting_);
  rte_eth_stats_get(id_, &s);
  const PortCounters now{s.ipackets, s.opackets, s.ibytes, s.obytes, s.imissed, s.ierrors, s.oerrors, s.rx_nombuf};
#define SPLITPLANE_KEEP(field, unit, help) counted_.field = std::max(counted_.field, now.field);
  SPLITPLANE_PORT_COUNTERS(SPLITPLANE_KEEP)
#undef SPLITPLANE_KEEP
  return counted_;
}

bool Port::passes_mbufs() const {
  return settings_.device.starts_with("net_ring");
}

}  // namespace splitplane::datapath
