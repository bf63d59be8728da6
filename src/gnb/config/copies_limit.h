// How many packets a gnb worker may leave to a consumer of copies, or keep for retransmission. They are of the buffers
// of its port, so that more would leave none to the traffic if they are not given back.
#pragma once

#include <algorithm>

#include "gnb/config/config.h"

namespace splitplane::app {

// max_copies of a worker whose file does not say: as many as are about 1 ms of copies at 14 Mpps, or fewer where the
// port has fewer buffers.
inline constexpr std::size_t kCopiesByDefault = 0;
inline constexpr std::size_t kAbout1MsOfCopies = 16384;

// Half of the port's buffers, shared by the workers that take packets from there.
[[nodiscard]] inline std::size_t most_copies(const GnbConfig& config, const WorkerConfig& worker) {
  const auto sharing = std::count_if(config.workers.begin(), config.workers.end(), [&](const WorkerConfig& w) {
    return w.function == WorkerConfig::Function::kGnb && w.n3 == worker.n3;
  });
  return (config.memory.mbufs + 1) / 2 / static_cast<std::size_t>(std::max<std::ptrdiff_t>(sharing, 1));
}

[[nodiscard]] inline std::size_t copies_of(const GnbConfig& config, const WorkerConfig& worker) {
  const std::size_t wanted = worker.max_copies == kCopiesByDefault ? kAbout1MsOfCopies : worker.max_copies;
  return std::min(wanted, most_copies(config, worker));
}

}  // namespace splitplane::app
