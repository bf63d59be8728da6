#include "power/calibrate/sweep.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "power/sensor/average.h"

namespace splitplane::power::calibrate {
namespace {

using Clock = std::chrono::steady_clock;

// Threads that load cores until it ends.
class Load {
 public:
  Load(std::span<const unsigned> cores, bool pauses) {
    for (const unsigned core : cores) {
      threads_.emplace_back([this, core, pauses] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(core, &set);
        if (::sched_setaffinity(0, sizeof set, &set) != 0) {
          error_.store(errno);
          return;
        }
        pauses ? pause() : work();
      });
    }
  }
  ~Load() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  [[nodiscard]] int error() const { return error_.load(); }

 private:
  void pause() const {
    while (!stop_.load(std::memory_order_relaxed)) _mm_pause();
  }
  // Loads, stores and arithmetic in the first level of cache, as of a packet loop.
  void work() const {
    std::array<std::uint64_t, 1024> memory{};
    std::uint64_t x = 88172645463325252;
    while (!stop_.load(std::memory_order_relaxed)) {
      for (std::uint64_t& word : memory) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        word += x;
      }
      asm volatile("" : : "r"(memory.data()) : "memory");
    }
  }
  std::atomic<bool> stop_{false};
  std::atomic<int> error_{0};
  std::vector<std::thread> threads_;  // last: the others are there when they begin
};

std::uint64_t clock_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

Expected<double> read_scope(sensor::Source& source, const std::string& scope) {
  const auto readings = source.sample(clock_ns());
  if (!readings) return tl::unexpected(readings.error());
  double watts = 0;
  bool any = false;
  for (const sensor::Reading& reading : *readings) {
    if (reading.scope != scope) continue;
    any = true;
    watts += reading.watts;
  }
  if (!any) return fail("sensor {} reads nothing of scope {}", source.name(), scope);
  return watts;
}

Expected<double> mean_of(const SweepSettings& settings, sensor::Source& source) {
  const auto step = std::chrono::duration<double>(std::min(0.5, settings.mean_s / 4));
  std::this_thread::sleep_for(std::chrono::duration<double>(settings.settle_s));
  sensor::Average average(static_cast<std::uint64_t>(settings.mean_s * 1e9));
  const auto end = Clock::now() + std::chrono::duration<double>(settings.mean_s);
  for (;;) {
    const auto watts = read_scope(source, settings.scope);
    if (!watts) return watts;
    average.add(*watts, clock_ns());
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(step);
  }
  if (std::isnan(average.mean())) return fail("sensor {} read no watts in {} s", source.name(), settings.mean_s);
  return average.mean();
}

Expected<double> watts_under(const SweepSettings& settings, sensor::Source& source, std::span<const unsigned> cores,
                             bool pauses) {
  const Load load(cores, pauses);
  auto watts = mean_of(settings, source);
  if (load.error() != 0) return fail("a core of the sweep cannot be used: {}", std::strerror(load.error()));
  return watts;
}

// 0, 1, 2, 4, 8 ... and all.
std::vector<unsigned> steps_to(std::size_t all) {
  std::vector<unsigned> steps{0};
  for (unsigned n = 1; n < all; n *= 2) steps.push_back(n);
  if (all > 0) steps.push_back(static_cast<unsigned>(all));
  return steps;
}

}  // namespace

Expected<std::vector<Point>> sweep(const SweepSettings& settings, sensor::Source& source,
                                   const std::function<void(const std::string&)>& say) {
  std::vector<Point> points;
  const std::span<const unsigned> cores(settings.cores);
  const auto nominal = settings.khz.empty() ? 0 : settings.khz.front() / 1e3;
  const auto add = [&](unsigned count, bool pauses, double mhz) -> Expected<void> {
    say(fmt::format("{} cores {}{}", count, pauses ? "in PAUSE" : "at work",
                    mhz == 0 ? "" : fmt::format(" at {:.0f} MHz", mhz)));
    const auto watts = watts_under(settings, source, cores.first(count), pauses);
    if (!watts) return tl::unexpected(watts.error());
    points.push_back({.active = pauses ? 0 : count, .pausing = pauses ? count : 0, .mhz = mhz, .watts = *watts});
    return {};
  };
  for (const unsigned count : steps_to(cores.size())) {
    if (const auto added = add(count, false, nominal); !added) return tl::unexpected(added.error());
  }
  const auto all = static_cast<unsigned>(cores.size());
  if (const auto added = add(all, true, nominal); !added) return tl::unexpected(added.error());
  for (unsigned p_state = 1; p_state < settings.khz.size(); ++p_state) {
    if (!settings.set_frequency(p_state)) return fail("{} kHz is refused", settings.khz[p_state]);
    if (const auto added = add(all, false, settings.khz[p_state] / 1e3); !added) return tl::unexpected(added.error());
  }
  return points;
}

}  // namespace splitplane::power::calibrate
