#include "card_pass.h"

#include <fmt/format.h>
#include <pthread.h>
#include <rte_ring_elem.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <thread>

#include "engine/worker.h"

namespace splitplane::bench {
namespace {

using datapath::Burst;
using datapath::kBurst;

constexpr unsigned kEntries = 1024;    // of a ring
constexpr unsigned kOnTheirWay = 512;  // buffers that were fed and not yet released: no ring is ever full
constexpr unsigned kVfs = 1;

void stay_on(unsigned core) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(core, &cpus);
  (void)pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);  // a core that does not exist was refused before
}

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

struct RingCard::Core {
  unsigned core = 0;
  std::unique_ptr<nic::Card> card;
  datapath::WorkerStats stats;
  std::optional<nic::CardFunction> alone;
  std::optional<nic::CardCore> together;
  bool has_n3 = false, has_air = false;
  double busy_ms = 0;  // CPU time in rounds with packets, of the last pass
};

// The packets in and out of a pass.
struct RingCard::Ports {
  Buffers& buffers;
  BufferSource source{&buffers};
  alignas(64) std::atomic<unsigned> fed{0};
  alignas(64) std::atomic<unsigned> released{0};
};

rte_ring* RingCard::ring(const char* name, unsigned element_bytes) {
  const std::string unique = fmt::format("{}{}", name, rings_.size());
  rte_ring* const made =
      rte_ring_create_elem(unique.c_str(), element_bytes, kEntries, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  if (made == nullptr) throw std::runtime_error("no memory for the bench's rings");
  rings_.push_back(made);
  return made;
}

RingCard::RingCard(const nic::SpecFile& spec, const std::vector<unsigned>& cores) {
  const auto count = static_cast<unsigned>(cores.size());
  std::vector<nic::CardEndpoint> endpoints;
  for (unsigned port = 0; port < nic::kFirstVf + kVfs; ++port)
    endpoints.push_back({.in = ring("in", sizeof(void*)), .out = ring("out", sizeof(void*))});
  n3_ = endpoints[nic::kN3Port].in;
  air_ = endpoints[nic::kAirPort].out;
  std::vector<std::vector<nic::CoreLink>> links(count, std::vector<nic::CoreLink>(count));
  for (unsigned from = 0; from < count; ++from) {
    for (unsigned to = 0; to < count; ++to) {
      if (from == to) continue;
      links[from][to] = {.frames = ring("frames", sizeof(void*)), .outputs = ring("outputs", nic::kCoreOutputBytes)};
    }
  }
  for (unsigned self = 0; self < count; ++self) {
    auto core = std::make_unique<Core>();
    auto card = nic::Card::make(spec, {.name = fmt::format("card{}", self), .vfs = kVfs, .core = self, .cores = count});
    if (!card) throw std::runtime_error(card.error().message);
    core->core = cores[self];
    core->card = *std::move(card);
    core->has_n3 = nic::owner_of(nic::kN3Port, count) == self;
    core->has_air = nic::owner_of(nic::kAirPort, count) == self;
    if (count == 1) {
      core->alone.emplace(*core->card, endpoints, core->stats);
    } else {
      nic::CardCoreSettings own{.self = self, .cores = count, .endpoints = endpoints, .to = links[self], .from = {}};
      for (unsigned from = 0; from < count; ++from) own.from.push_back(links[from][self]);
      core->together.emplace(*core->card, std::move(own), core->stats);
    }
    cores_.push_back(std::move(core));
  }
}

RingCard::~RingCard() {
  cores_.clear();
  for (rte_ring* ring : rings_) rte_ring_free(ring);
}

double RingCard::install(const std::vector<nic::CardBearer>& bearers) {
  std::vector<nic::Card*> cards;
  for (const auto& core : cores_) cards.push_back(core->card.get());
  nic::CardCores control(std::move(cards), [](unsigned, const std::function<void()>& command) {
    command();
    return true;
  });
  const double begin = thread_ms();
  const auto done = control.install(bearers, false);
  const double took = thread_ms() - begin;
  if (!done) throw std::runtime_error(done.error().message);
  std::vector<nic::CardLease> leases;
  for (const nic::CardBearer& b : bearers) leases.emplace_back(b.id, 0x7fffffff);
  if (const auto leased = control.set_leases(leases); !leased) throw std::runtime_error(leased.error().message);
  return took;
}

unsigned RingCard::feed(Ports& ports) const {
  const unsigned fed = ports.fed.load(std::memory_order_relaxed);
  if (fed - ports.released.load(std::memory_order_acquire) + kBurst > kOnTheirWay) return 0;
  Burst burst;
  if (ports.source.receive(burst) == 0) return 0;
  (void)rte_ring_sp_enqueue_bulk(n3_, reinterpret_cast<void* const*>(burst.mbuf.data()), burst.size, nullptr);
  ports.fed.store(fed + burst.size, std::memory_order_relaxed);
  return burst.size;
}

unsigned RingCard::empty(Ports& ports) const {
  Burst burst;
  unsigned packets = 0;
  while (datapath::RingSource{air_}.receive(burst) != 0) {
    for (unsigned i = 0; i < burst.size; ++i) release(burst.mbuf[i], ports.buffers.frame());
    ports.released.store(ports.released.load(std::memory_order_relaxed) + burst.size, std::memory_order_release);
    packets += burst.size;
  }
  return packets;
}

void RingCard::run(Core& core, Ports& ports) const {
  stay_on(core.core);
  Burst burst;
  datapath::QueueLook look;
  core.busy_ms = 0;
  double last = thread_ms();
  while (ports.released.load(std::memory_order_acquire) < ports.buffers.count()) {
    unsigned packets = core.has_n3 ? feed(ports) : 0;
    packets += core.alone ? datapath::one_round<false>(*core.alone, burst, core.stats, look)
                          : datapath::one_round<false>(*core.together, burst, core.stats, look);
    if (core.has_air) packets += empty(ports);
    const double now = thread_ms();
    if (packets != 0) core.busy_ms += now - last;
    last = now;
  }
}

RingCard::Took RingCard::pass(Buffers& buffers) {
  Ports ports{.buffers = buffers};
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (const auto& core : cores_) threads.emplace_back([&, c = core.get()] { run(*c, ports); });
  for (std::thread& thread : threads) thread.join();
  Took took{.wall_ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count()};
  for (const auto& core : cores_) took.busy_ns = std::max(took.busy_ns, core->busy_ms * 1e6);
  return took;
}

nic::CardCounters RingCard::counters() const {
  nic::CardCounters all;
  for (const auto& core : cores_) nic::add(all, core->card->counters());
  return all;
}

std::uint64_t RingCard::handed() const {
  std::uint64_t frames = 0;
  for (const auto& core : cores_) frames += core->together ? core->together->counters().frames_handed : 0;
  return frames;
}

}  // namespace splitplane::bench
