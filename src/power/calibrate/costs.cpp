#include "power/calibrate/costs.h"

#include <immintrin.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "power/governor/sysfs.h"
#include "power/sensor/c_states.h"
#include "power/sensor/read_value.h"

namespace splitplane::power::calibrate {
namespace {

constexpr double kLate = 0.95;  // what is later than this share is mostly the machine taking the core away
constexpr unsigned kWaits = 400;

double now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

Expected<void> run_on(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return fail("core {}: {}", core, std::strerror(errno));
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // as a worker does
  return {};
}

// The least of some tries, as the machine only ever adds to it.
double pause_ns() {
  constexpr int kTries = 20, kPauses = 10'000;
  double least = 1e18;
  for (int i = 0; i < kTries; ++i) {
    const double from = now_ns();
    for (int n = 0; n < kPauses; ++n) _mm_pause();
    least = std::min(least, (now_ns() - from) / kPauses);
  }
  return least;
}

// Sleeps as a worker does (engine/idle.cpp).
Sleeps sleep_by_timer(unsigned count, unsigned us) {
  const governor::Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  const timespec length{.tv_sec = 0, .tv_nsec = static_cast<long>(us) * 1000};
  epoll_event event{};
  Sleeps sleeps;
  const double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
  for (unsigned i = 0; i < count; ++i) {
    const double from = now_ns();
    ::epoll_pwait2(epoll.get(), &event, 1, &length, nullptr);
    sleeps.over_ns.push_back(now_ns() - from - us * 1e3);
  }
  sleeps.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  return sleeps;
}

// Another thread writes to an eventfd each 500 us, and says when it began to.
Expected<Sleeps> sleep_until_woken(unsigned waker) {
  const governor::Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC)), wakeup(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wakeup.get(), &event) != 0)
    return fail("epoll: {}", std::strerror(errno));
  std::atomic<double> sent{0};
  std::atomic<bool> stop{false};
  std::atomic<int> error{0};
  std::thread thread([&] {
    if (!run_on(waker)) error.store(errno);
    const timespec between{.tv_sec = 0, .tv_nsec = 500'000};
    while (!stop.load()) {
      ::nanosleep(&between, nullptr);
      const std::uint64_t one = 1;
      sent.store(now_ns());
      if (::write(wakeup.get(), &one, sizeof one) < 0) error.store(errno);
    }
  });
  Sleeps sleeps;
  const timespec longest{.tv_sec = 1, .tv_nsec = 0};
  double cpu = 0;
  for (unsigned i = 0; i <= kWaits; ++i) {
    const int woken = ::epoll_pwait2(epoll.get(), &event, 1, &longest, nullptr);
    if (i == 0) cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);  // the first sleep began before the other thread
    if (i > 0 && woken == 1) sleeps.over_ns.push_back(now_ns() - sent.load());
  }
  sleeps.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
  stop.store(true);
  thread.join();
  if (error.load() != 0) return fail("core {}: {}", waker, std::strerror(error.load()));
  return sleeps;
}

double mean_below(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  values.resize(std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(values.size()) * share)));
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::uint64_t whole(double ns) {
  return ns <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(ns));
}

}  // namespace

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

std::vector<Cost> costs_of_timed(const Sleeps& sleeps) {
  const double system_call = sleeps.cpu_ns / static_cast<double>(sleeps.over_ns.size());
  const double least = quantile(sleeps.over_ns, 0.1), mean = mean_below(sleeps.over_ns, kLate);
  return {
      {"system_call", whole(system_call), fmt::format("CPU time of a timed sleep, mean of {}", sleeps.over_ns.size())},
      {"c1_exit", 0, "is in system_call and in the lateness"},
      {"timer_late", whole(least - system_call), "lateness that 9 of 10 sleeps exceed, less system_call"},
      {"timer_late_mean", whole(mean - least), "mean of the rest, without the latest 5 %"}};
}

std::vector<Cost> costs_of_woken(const Sleeps& sleeps, std::uint64_t system_call_ns) {
  if (sleeps.over_ns.empty()) return {{"interrupt", std::nullopt, "no event came"}};
  const double cpu = sleeps.cpu_ns / static_cast<double>(sleeps.over_ns.size());
  return {{"interrupt", whole(cpu - static_cast<double>(system_call_ns)),
           fmt::format("CPU time of a sleep that an event ends, less system_call; from the event to the first step it "
                       "was {:.0f} ns (median)",
                       quantile(sleeps.over_ns, 0.5))}};
}

std::vector<Cost> costs_of_deep_states(const std::string& root, unsigned core) {
  const auto states = sensor::read_c_states(root, core);
  if (!states) return {{"c6_after", std::nullopt, states.error().message + "; use --no-c6"}};
  for (std::size_t i = states->size(); i-- > 0;) {
    const sensor::CState& state = (*states)[i];
    if (state.disabled || state.depth() != sensor::Depth::deeper) continue;
    const auto target =
        sensor::read_count(fmt::format("{}/devices/system/cpu/cpu{}/cpuidle/state{}/residency", root, core, i));
    const std::string how = fmt::format("{}, as its driver says", state.name);
    return {{"c6_after", target ? std::optional(*target * 1000) : std::nullopt, target ? how : target.error().message},
            {"c6_exit", std::uint64_t{state.latency_us} * 1000, how}};
  }
  return {{"c6_after", std::nullopt, "no state deeper than C1 is allowed; use --no-c6"}};
}

Expected<std::vector<Cost>> measure_costs(const CostSettings& settings) {
  std::vector<Cost> costs;
  Expected<void> done;
  // A thread of its own, with a core and timers that the caller keeps.
  std::thread thread([&] {
    done = run_on(settings.core);
    if (!done) return;
    costs.push_back({"pause_step", whole(pause_ns()), "least mean of 10000 PAUSE"});
    const auto timed = costs_of_timed(sleep_by_timer(settings.sleeps, settings.sleep_us));
    costs.insert(costs.end(), timed.begin(), timed.end());
    if (settings.waker == settings.core) {
      costs.push_back({"interrupt", std::nullopt, "needs a second core for the thread that wakes"});
      return;
    }
    const auto woken = sleep_until_woken(settings.waker);
    if (!woken) {
      done = tl::unexpected(woken.error());
      return;
    }
    const auto woken_costs = costs_of_woken(*woken, *timed[0].ns);
    costs.insert(costs.end(), woken_costs.begin(), woken_costs.end());
  });
  thread.join();
  if (!done) return tl::unexpected(done.error());
  const auto deep = costs_of_deep_states(settings.root, settings.core);
  costs.insert(costs.end(), deep.begin(), deep.end());
  return costs;
}

std::string cost_words(const std::vector<Cost>& costs) {
  std::string text;
  for (const Cost& cost : costs) {
    if (cost.ns) text += fmt::format("{}--cost {}={}", text.empty() ? "" : " ", cost.name, *cost.ns);
  }
  return text;
}

}  // namespace splitplane::power::calibrate
