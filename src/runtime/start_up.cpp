#include "runtime/start_up.h"

#include <pthread.h>
#include <sched.h>

#include <cstring>

#include "base/log.h"

namespace splitplane::app {

Expected<datapath::Eal> start_eal(const ProgramConfig& config, const std::vector<unsigned>& cores) {
  datapath::EalSettings settings{.file_prefix = config.file_prefix, .megabytes = config.memory.megabytes};
  const std::size_t free = datapath::Eal::free_hugepage_megabytes();
  settings.hugepages = config.memory.hugepages != MemoryConfig::Hugepages::kNever && free >= config.memory.megabytes;
  if (!settings.hugepages && config.memory.hugepages != MemoryConfig::Hugepages::kNever) {
    log::warn(
        "no hugepages: {} MiB wanted, {} MiB free; running on ordinary memory, which costs TLB misses and "
        "excludes secondary processes",
        config.memory.megabytes, free);
  }
  settings.worker_cores = cores;
  for (const auto& port : config.ports) {
    if (datapath::is_pci_address(port.device)) settings.pci.push_back(port.device);
    if (port.device.starts_with("net_virtio_user")) settings.few_files = true;
  }
  auto eal = datapath::Eal::start(settings);
  if (eal) log::run_beside_caller();  // this thread now avoids the workers' cores
  return eal;
}

Expected<Pool> make_pool(const std::string& owner, const std::string& name, const MemoryConfig& memory, int socket) {
  constexpr unsigned kCached = 256;  // per lcore
  const auto room = static_cast<std::uint16_t>(memory.mbuf_data_bytes + RTE_PKTMBUF_HEADROOM);
  Pool pool(rte_pktmbuf_pool_create(name.c_str(), memory.mbufs, kCached, 0, room, socket));
  if (pool) return pool;
  return fail("{}: no memory for {} packet buffers; allowed: a larger memory.megabytes or a smaller memory.mbufs",
              owner, memory.mbufs);
}

datapath::PortSettings port_settings(const PortConfig& config) {
  return {.name = config.name,
          .device = config.device,
          .rx_queues = config.rx_queues,
          .tx_queues = config.tx_queues,
          .rx_descriptors = config.rx_descriptors,
          .tx_descriptors = config.tx_descriptors,
          .mtu = config.mtu,
          .promiscuous = config.promiscuous,
          .checksums = config.checksum};
}

void apply_schedule(const std::string& worker, const ScheduleConfig& schedule) {
  if (schedule.kind != ScheduleConfig::Kind::kFifo) return;
  const sched_param priority{.sched_priority = static_cast<int>(schedule.fifo_priority)};
  if (const int error = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &priority); error != 0)
    log::warn("worker {}: SCHED_FIFO not taken ({}); it runs as any other thread", worker, std::strerror(error));
}

}  // namespace splitplane::app
