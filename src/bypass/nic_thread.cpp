#include "bypass/nic_thread.h"

#include <ctime>
#include <exception>

#include "gpu/rings/launch.h"

namespace splitplane::bypass {
namespace {

constexpr std::uint64_t kDrainWithinNs = 1'000'000'000;  // without a packet
constexpr std::uint32_t kCrcBytes = 4;

std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

NicThread::Edge NicThread::edge(std::uint64_t now) const {
  const nicmodel::PeerCounters& peer = wire_.measured().counters();
  return {.at_ns = now,
          .received = peer.returned.get(),
          .octets = peer.returned_octets.get() + kCrcBytes * peer.returned.get(),
          .doorbells = hooks_.doorbells(),
          .packets = hooks_.packets(),
          .nic_cpu = thread_cpu_seconds(),
          .driver_cpu = hooks_.cpu_seconds()};
}

void NicThread::turn(std::uint64_t now) {
  const std::uint32_t moved = step_(now);
  // If engines have separate threads and cores are fewer than threads, the NIC must yield the core at once.
  if (moved == 0 && scenario_.thread_per_engine) {
    std::this_thread::yield();
  } else {
    idle_.note(moved != 0);
  }
}

void NicThread::start() {
  thread_ = std::thread([this] {
    try {
      run();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    done_.store(true, std::memory_order_release);
  });
}

void NicThread::run() {
  const auto cancelled = [this] { return cancelled_.load(std::memory_order_relaxed); };
  std::uint64_t now = gpu::steady_ns();
  const std::uint64_t warm_until = now + nanoseconds(scenario_.restore_order ? 0 : scenario_.warm_up_seconds);
  for (; now < warm_until && !cancelled(); now = gpu::steady_ns()) turn(now);
  drain();

  wire_.use_measured();
  wire_.pause(false);
  measuring_.store(true, std::memory_order_relaxed);
  now = gpu::steady_ns();
  first_ = edge(now);
  const std::uint64_t until = now + nanoseconds(scenario_.seconds);
  const bool counted = scenario_.packets != 0;
  for (; now < until && !cancelled() && !(counted && wire_.measured().counters().sent.get() >= scenario_.packets);
       now = gpu::steady_ns()) {
    turn(now);
  }
  due_ = wire_.measured().due(now);
  if (!counted) last_ = edge(now);
  drain();
  if (counted) last_ = edge(gpu::steady_ns());  // a run with a fixed number of packets ends with the last of them
  // Some more rounds, for the write-backs that return the driver's slots.
  for (int i = 0; i < 1000; ++i) turn(gpu::steady_ns());
}

std::int64_t NicThread::missing() const {
  const nicmodel::PeerCounters& w = wire_.warm_up().counters();
  const nicmodel::PeerCounters& m = wire_.measured().counters();
  const std::uint64_t back = w.returned.get() + m.returned.get() + hooks_.lost();
  return static_cast<std::int64_t>(w.sent.get() + m.sent.get() - back);
}

// Waits for packets under way. A packet is missing if it neither comes back nor counts as lost while no other packet
// moves.
void NicThread::drain() {
  wire_.pause(true);
  std::int64_t left = missing();
  std::uint64_t since = gpu::steady_ns();
  for (std::uint64_t now = since; left > 0 && now - since < kDrainWithinNs; now = gpu::steady_ns()) {
    turn(now);
    const std::int64_t still = missing();
    if (still == left) continue;
    left = still;
    since = now;
  }
}

void NicThread::fill(Result& result) const {
  result.seconds = static_cast<double>(last_.at_ns - first_.at_ns) * 1e-9;
  result.measured = last_.received - first_.received;
  result.measured_octets = last_.octets - first_.octets;
  result.doorbells = last_.doorbells - first_.doorbells;
  result.driver_packets = last_.packets - first_.packets;
  result.host_cpu_seconds = last_.driver_cpu - first_.driver_cpu;
  result.nic_cpu_seconds = last_.nic_cpu - first_.nic_cpu;
  const nicmodel::TrafficPeer& peer = wire_.measured();
  const nicmodel::PeerCounters& c = peer.counters();
  result.sent = c.sent.get();
  result.due = due_;
  result.received = c.returned.get();
  result.lost = peer.lost();
  result.corrupt = c.changed.get() + c.foreign.get();
  result.flow_disorder = c.reordered_in_flow.get();
  result.duplicated = c.duplicated.get();
  result.reordered = c.reordered.get();
  result.latency = peer.latency();
  result.series = peer.series().points();
  const nicmodel::PeerCounters& w = wire_.warm_up().counters();
  result.corrupt += w.changed.get() + w.foreign.get();
  result.missing = missing();
  result.sn_repeated = wire_.numbers().repeated();
  result.sn_missing = wire_.numbers().missing();
}

}  // namespace splitplane::bypass
