#include "quiet.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace splitplane::bench {

Jitter measure_jitter(unsigned milliseconds) {
  const double hz = static_cast<double>(rte_get_tsc_hz());
  const auto gap_cycles = static_cast<std::uint64_t>(hz * 2e-6);
  const std::uint64_t begin = rte_rdtsc();
  const std::uint64_t end = begin + static_cast<std::uint64_t>(hz * milliseconds / 1e3);
  std::uint64_t last = begin, lost = 0, worst = 0;
  while (last < end) {
    const std::uint64_t now = rte_rdtsc();
    if (now - last > gap_cycles) lost += now - last;
    worst = std::max(worst, now - last);
    last = now;
  }
  return {100.0 * static_cast<double>(lost) / static_cast<double>(last - begin), static_cast<double>(worst) / hz * 1e6};
}

double measure_round_trip_ns(unsigned other_core) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return -1;
  constexpr unsigned kTrips = 20000;
  struct alignas(128) Line {
    std::atomic<unsigned> value{0};
  } ping, pong;
  std::thread other([&] {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(other_core, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    for (unsigned i = 1; i <= kTrips; ++i) {
      while (ping.value.load(std::memory_order_acquire) != i) {
      }
      pong.value.store(i, std::memory_order_release);
    }
  });
  std::vector<double> trips;
  trips.reserve(kTrips);
  for (unsigned i = 1; i <= kTrips; ++i) {
    const std::uint64_t begin = rte_rdtsc();
    ping.value.store(i, std::memory_order_release);
    while (pong.value.load(std::memory_order_acquire) != i) {
    }
    trips.push_back(static_cast<double>(rte_rdtsc() - begin));
  }
  other.join();
  std::nth_element(trips.begin(), trips.begin() + kTrips / 2, trips.end());
  return trips[kTrips / 2] / static_cast<double>(rte_get_tsc_hz()) * 1e9;
}

}  // namespace splitplane::bench
