#include "engine/idle.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <immintrin.h>
#include <poll.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

namespace splitplane::datapath {
namespace {

constexpr unsigned kWaitpkg = 1U << 5;  // CPUID.(EAX=7,ECX=0):ECX

bool cpu_has_tpause() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kWaitpkg) != 0;
}

// C0.2, the deeper of the two states. The operating system may limit one wait (umwait_control), so the wait is
// repeated.
[[gnu::target("waitpkg")]] void tpause_until(std::uint64_t end) {
  while (rte_rdtsc() < end) _tpause(0, end);
}

int interrupt_fd(const WakeSource& source) {
  return rte_eth_dev_rx_intr_ctl_q_get_fd(source.port, source.queue);
}

// True if the wake source is the descriptor from which packets are read (tap), which cannot be switched on or off.
bool is_level(const WakeSource& source) {
  const bool level = rte_eth_dev_rx_intr_enable(source.port, source.queue) == -ENOTSUP;
  if (!level) rte_eth_dev_rx_intr_disable(source.port, source.queue);
  return level;
}

std::string name_of(const WakeSource& source) {
  std::array<char, RTE_ETH_NAME_MAX_LEN> device{};
  if (source.kind != WakeSource::Kind::port || rte_eth_dev_get_name_by_port(source.port, device.data()) != 0)
    return "a queue without one";
  return fmt::format("{} queue {}", device.data(), source.queue);
}

}  // namespace

Rester::Rester(std::vector<Wakeup*> wakeups, const std::vector<WakeSource>& sources)
    : wakeups_(std::move(wakeups)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      tpause_(cpu_has_tpause()),
      tsc_hz_(rte_get_tsc_hz()) {
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  static std::mutex log_level;  // one for the process, because workers start together
  const std::lock_guard guard(log_level);
  const int log_before = rte_log_get_level(rte_eth_dev_logtype);
  rte_log_set_level(static_cast<std::uint32_t>(rte_eth_dev_logtype), RTE_LOG_CRIT);  // "no interrupts" is no error
  for (const Wakeup* wakeup : wakeups_) {
    if (!add(wakeup->fd())) without_.emplace_back("the eventfd of other threads");
  }
  for (const WakeSource& source : sources) {
    if (source.kind == WakeSource::Kind::ring) continue;
    const bool level = source.kind == WakeSource::Kind::port && is_level(source);
    if (source.kind == WakeSource::Kind::port && add(interrupt_fd(source), level)) {
      ports_.push_back({source, level});
    } else {
      without_.push_back(name_of(source));
    }
  }
  rte_log_set_level(static_cast<std::uint32_t>(rte_eth_dev_logtype), static_cast<std::uint32_t>(log_before));
}

Rester::~Rester() {
  disarm();
  if (epoll_ >= 0) ::close(epoll_);
}

// Edge-triggered: the descriptor of an event (vhost, virtio_user, the eventfd of others) stays readable, because no
// code here reads from it. Level-triggered: a descriptor that is the queue itself is readable while packets are in it.
// Its driver may still hold them back at the edge (tap does until its signal has arrived).
bool Rester::add(int fd, bool level) const {
  if (fd < 0) return false;
  epoll_event event{.events = level ? EPOLLIN : EPOLLIN | EPOLLET, .data = {}};
  return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

void Rester::arm(Armed what) {
  for (Wakeup* wakeup : wakeups_) wakeup->announce();
  if (what == Armed::interrupts) {
    for (const auto& [source, level] : ports_) {
      (void)add(interrupt_fd(source), level);                 // it may have changed at a restart or a reconnection
      rte_eth_dev_rx_intr_enable(source.port, source.queue);  // -ENOTSUP: always on (tap)
    }
  }
  // The fence makes this visible before the caller looks at the queues.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  armed_ = what;
}

void Rester::disarm() {
  if (armed_ == Armed::nothing) return;
  for (Wakeup* wakeup : wakeups_) wakeup->awake();
  if (armed_ == Armed::interrupts) {
    for (const auto& [source, level] : ports_) rte_eth_dev_rx_intr_disable(source.port, source.queue);
  }
  armed_ = Armed::nothing;
}

bool Rester::sleep(power::Ticks ticks) {
  const auto seconds = ticks / tsc_hz_;
  const timespec timeout{.tv_sec = static_cast<time_t>(seconds),
                         .tv_nsec = static_cast<long>((ticks - seconds * tsc_hz_) * 1'000'000'000 / tsc_hz_)};
  std::array<epoll_event, 8> events;
  const int woken = ::epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
  if (woken >= 0 || errno == EINTR) return woken > 0;
  // For a kernel or a container without that call: two calls do the same.
  pollfd all{.fd = epoll_, .events = POLLIN, .revents = 0};
  return ::ppoll(&all, 1, &timeout, nullptr) > 0 && ::epoll_wait(epoll_, events.data(), events.size(), 0) > 0;
}

void Rester::pause(power::Ticks ticks) const {
  if (tpause_) {
    tpause_until(rte_rdtsc() + ticks);
  } else {
    spin(ticks);
  }
}

void Rester::spin(power::Ticks ticks) {
  const std::uint64_t end = rte_rdtsc() + ticks;
  while (rte_rdtsc() < end) _mm_pause();
}

power::Ticks Rester::measure_overshoot() {
  constexpr unsigned kSleeps = 50;
  const power::Ticks asked = tsc_hz_ / 50'000;  // 20 us
  std::vector<power::Ticks> over;
  for (unsigned i = 0; i < kSleeps; ++i) {
    const std::uint64_t from = rte_rdtsc();
    if (sleep(asked)) continue;  // a packet ended it
    const power::Ticks took = rte_rdtsc() - from;
    over.push_back(took > asked ? took - asked : 0);
  }
  if (over.empty()) return asked;
  std::sort(over.begin(), over.end());
  return over[over.size() / 2];
}

}  // namespace splitplane::datapath
