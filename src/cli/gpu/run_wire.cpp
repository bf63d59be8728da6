#include "cli/gpu/run_wire.h"

#include <fmt/format.h>
#include <rte_mempool.h>

#include <optional>

#include "base/text.h"
#include "bypass/result_json.h"
#include "bypass/wire_run.h"
#include "cli/gpu/run_text.h"
#include "engine/eal.h"
#include "engine/port.h"
#include "nicmodel/pcap_wire.h"
#include "nicmodel/port/port_wire.h"
#include "runtime/instance_lock.h"
#include "runtime/stop_flag.h"

namespace splitplane::app {
namespace {

constexpr const char* kPrefix = "splitplane-gpu";

struct PoolDelete {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};

// The port and what it needs, in the order in which it is made.
struct PortSide {
  InstanceLock lock;
  datapath::Eal eal;
  std::unique_ptr<rte_mempool, PoolDelete> pool;
  std::unique_ptr<datapath::Port> port;
  std::unique_ptr<nicmodel::PortWire> wire;
};

Expected<std::unique_ptr<PortSide>> open_port(const std::string& device) {
  auto lock = InstanceLock::acquire(kPrefix);
  if (!lock) return tl::unexpected(lock.error());
  datapath::EalSettings settings{.file_prefix = kPrefix, .megabytes = 128, .hugepages = false};
  if (datapath::is_pci_address(device)) settings.pci.push_back(device);
  auto eal = datapath::Eal::start(settings);
  if (!eal) return tl::unexpected(eal.error());
  std::unique_ptr<PortSide> side(new PortSide{*std::move(lock), *std::move(eal), nullptr, nullptr, nullptr});
  side->pool.reset(rte_pktmbuf_pool_create("gpu", 16383, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY));
  if (!side->pool) return fail("no memory for the port's buffers");
  auto port = datapath::Port::open({.name = "wire", .device = device}, side->pool.get());
  if (!port) return tl::unexpected(port.error());
  side->port = *std::move(port);
  side->wire = std::make_unique<nicmodel::PortWire>(side->port->id(), std::uint16_t{0}, side->pool.get());
  return side;
}

}  // namespace

int gpu_run_on_wire(const GpuRunOptions& o, const bypass::Scenario& scenario, CliOutput& output) {
  StopFlag& stop = StopFlag::instance();
  stop.catch_signals();
  std::unique_ptr<PortSide> port;
  std::unique_ptr<nicmodel::PcapWire> pcap;
  if (!o.port.empty()) {
    auto made = open_port(o.port);
    if (!made) return end_gpu_run(kExitFailed, output, made.error().message);
    port = *std::move(made);
  } else {
    auto made = nicmodel::PcapWire::open({.replay = o.pcap_in, .record = o.pcap_out});
    if (!made) return end_gpu_run(kExitBadUsage, output, made.error().message);
    pcap = *std::move(made);
  }
  output.out << soft_nic_line(scenario, "frames of others");
  output.out.flush();
  nicmodel::Wire& wire = port ? static_cast<nicmodel::Wire&>(*port->wire) : *pcap;
  bypass::Live before;
  const auto observer = [&](const bypass::Live& now) {
    if (now.seconds - before.seconds >= 1) {
      output.out << wire_line(now);
      output.out.flush();
      before = now;
    }
    const bool over = pcap != nullptr && pcap->done();
    return !stop.requested() && !over && (o.until_stopped || now.seconds < scenario.seconds);
  };
  const auto made = bypass::run_on_wire(scenario, wire, observer, pcap ? scenario.window : 0);
  if (!made) return end_gpu_run(kExitFailed, output, made.error().message);
  output.out << wire_summary(*made);
  if (pcap) {
    if (auto flushed = pcap->flush(); !flushed) return end_gpu_run(kExitFailed, output, flushed.error().message);
  }
  return made->is_sound() ? kExitGood : kExitFailed;
}

}  // namespace splitplane::app
