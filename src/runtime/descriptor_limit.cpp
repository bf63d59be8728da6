#include "runtime/descriptor_limit.h"

#include <sys/resource.h>

#include "engine/eal.h"

namespace splitplane::app {

std::size_t descriptors_for(const ProgramConfig& config, std::size_t loops, std::size_t taps) {
  constexpr std::size_t kAlways =
      64;  // DPDK's and our own sockets, timers and libraries; clients of the control socket
  constexpr std::size_t kPerThread = 12;  // two pipes of DPDK, an eventfd, an epoll
  constexpr std::size_t kPerPort = 4, kPerQueue = 4, kPerTap = 2;
  const std::size_t threads = 1 + loops + 2;
  std::size_t need = kAlways + kPerThread * threads + kPerTap * taps;
  for (const auto& port : config.ports)
    need += kPerPort + kPerQueue * std::max<std::size_t>(port.rx_queues, port.tx_queues);
  const bool huge = config.memory.hugepages != MemoryConfig::Hugepages::kNever &&
                    datapath::Eal::free_hugepage_megabytes() >= config.memory.megabytes;
  return huge ? need + config.memory.megabytes / 2 : need;
}

Expected<void> raise_descriptor_limit(std::size_t need) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= need) return {};
  return fail("needs up to {} open files, and {} are allowed; allowed: `ulimit -n {}` before the start{}", need,
              limit.rlim_cur, need, need > 256 ? ", or a smaller memory.megabytes" : "");
}

}  // namespace splitplane::app
