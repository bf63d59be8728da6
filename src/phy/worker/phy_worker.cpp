#include "phy/worker/phy_worker.h"

#include <poll.h>
#include <rte_cycles.h>
#include <rte_launch.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "phy/slots/monotonic_time.h"

namespace splitplane::phy {
namespace {

constexpr Ns kLongest = 100'000'000;  // of a wait, whatever happens
constexpr unsigned kWakeup = 2, kTun = 3;

Ns monotonic_now() {
  return MonotonicTime(0).now();
}

}  // namespace

PhyWorker::PhyWorker(const Settings& settings, DatagramSocket p5, DatagramSocket p7)
    : ues_(settings.ues),
      phy_(settings.peer, std::move(p5), std::move(p7), settings.emulator, ues_.terminals(), settings.capture),
      tun_(settings.ues.tun->descriptor()),
      ns_per_tick_(1e9 / static_cast<double>(rte_get_tsc_hz())) {}

Expected<void> PhyWorker::start(unsigned lcore) {
  if (wakeup_.fd() < 0) return fail("no descriptor is left to wake the thread of the PHY");
  lcore_ = lcore;
  const auto entry = [](void* worker) {
    auto* const self = static_cast<PhyWorker*>(worker);
    self->loop();
    self->ended_.store(true, std::memory_order_release);
    return 0;
  };
  running_ = true;
  if (rte_eal_remote_launch(entry, this, lcore) == 0) return {};
  running_ = false;
  return fail("the thread of the PHY could not be started");
}

void PhyWorker::stop() {
  if (!running_) return;
  stop_ = true;
  wakeup_.wake();
  rte_eal_wait_lcore(lcore_);
  (void)ended_.load(std::memory_order_acquire);  // TSan does not see what DPDK waits for
  running_ = false;
}

bool PhyWorker::execute(std::function<void()> command) {
  if (running_) return mailbox_.execute(command);
  command();
  return true;
}

void PhyWorker::loop() {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel adds 50 us to each wait: a tenth of a slot
  std::uint64_t begin = rte_rdtsc();
  while (!stop_.load(std::memory_order_relaxed)) {
    mailbox_.run_pending();
    const unsigned packets = ues_.serve(rte_rdtsc());
    phy_.poll(monotonic_now());
    stats_.rounds.add(1);
    if (packets != 0) {
      tun_waits_ = false;
      continue;
    }
    const std::uint64_t end = rte_rdtsc();
    stats_.busy_cycles.add(end - begin);
    wait();
    begin = rte_rdtsc();
    stats_.asleep_cycles.add(begin - end);
  }
}

// A time of CLOCK_MONOTONIC; up to `now`: do not wait.
Ns PhyWorker::wait_until(Ns now) {
  const datapath::Time ticks = rte_rdtsc(), next = ues_.next_work(ticks);
  Ns until = std::min(phy_.next_event(now), now + kLongest);
  if (next <= ticks) return now;
  const double ahead = static_cast<double>(next - ticks) * ns_per_tick_;
  if (ahead < static_cast<double>(kLongest)) until = std::min(until, now + static_cast<Ns>(ahead));
  return until;
}

void PhyWorker::wait() {
  wakeup_.announce();
  mailbox_.run_pending();  // a command that came before the announcement would not wake the thread
  const Ns now = monotonic_now(), until = stop_.load(std::memory_order_relaxed) ? now : wait_until(now);
  if (until > now) {
    std::array<pollfd, 4> look{{{phy_.peer().p5().descriptor(), POLLIN, 0},
                                {phy_.peer().p7().descriptor(), POLLIN, 0},
                                {wakeup_.fd(), POLLIN, 0},
                                {tun_, POLLIN, 0}}};
    const Ns length = until - now;
    const timespec time{.tv_sec = static_cast<time_t>(length / 1'000'000'000),
                        .tv_nsec = static_cast<long>(length % 1'000'000'000)};
    stats_.waits.add(1);
    const nfds_t sources = tun_waits_ || tun_gone_ ? kTun : look.size();
    (void)::ppoll(look.data(), sources, &time, nullptr);
    std::uint64_t wakes = 0;
    if ((look[kWakeup].revents & POLLIN) != 0) [[maybe_unused]]
      const auto taken = ::read(wakeup_.fd(), &wakes, sizeof wakes);
    tun_waits_ = (look[kTun].revents & POLLIN) != 0;
    if ((look[kTun].revents & (POLLERR | POLLNVAL)) != 0) {
      tun_gone_ = true;
      log::error("the TUN device of the UEs is gone; their packets are dropped until the next start");
    }
  }
  wakeup_.awake();
}

}  // namespace splitplane::phy
