// How many buffers of its port a gnb worker may keep: packets that it leaves to a consumer of copies or keeps for
// retransmission, SDUs that wait for order, and segments that wait for the rest of their SDU. Each limit is a share of
// the port's buffers, and the shares leave some to the traffic even if all are used up: 1/2, 1/4, 1/8.
#pragma once

#include <algorithm>

#include "gnb/config/config.h"

namespace splitplane::app {

// max_copies of a worker whose file does not say: as many as are about 1 ms of copies at 14 Mpps, or fewer where the
// port has fewer buffers.
inline constexpr std::size_t kCopiesByDefault = 0;
inline constexpr std::size_t kAbout1MsOfCopies = 16384;

// The worker's part of the port's buffers divided by `by`: the workers that take packets from there share it.
[[nodiscard]] inline std::size_t part_of_buffers(const GnbConfig& config, const WorkerConfig& worker, std::size_t by) {
  const auto sharing = std::count_if(config.workers.begin(), config.workers.end(), [&](const WorkerConfig& w) {
    return w.function == WorkerConfig::Function::kGnb && w.n3 == worker.n3;
  });
  return (config.memory.mbufs + 1) / by / static_cast<std::size_t>(std::max<std::ptrdiff_t>(sharing, 1));
}
[[nodiscard]] inline std::size_t most_copies(const GnbConfig& config, const WorkerConfig& worker) {
  return part_of_buffers(config, worker, 2);
}
// Uplink SDUs that PDCP holds until those before them come.
[[nodiscard]] inline std::size_t most_for_order(const GnbConfig& config, const WorkerConfig& worker) {
  return part_of_buffers(config, worker, 4);
}
// Uplink segments of RLC in full mode.
[[nodiscard]] inline std::size_t most_segments(const GnbConfig& config, const WorkerConfig& worker) {
  return part_of_buffers(config, worker, 8);
}

[[nodiscard]] inline std::size_t copies_of(const GnbConfig& config, const WorkerConfig& worker) {
  const std::size_t wanted = worker.max_copies == kCopiesByDefault ? kAbout1MsOfCopies : worker.max_copies;
  return std::min(wanted, most_copies(config, worker));
}

}  // namespace splitplane::app
