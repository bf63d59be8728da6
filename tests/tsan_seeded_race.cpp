// A worker pair with a deliberate fault: two workers, one of them on an lcore of DPDK as in production, count packets
// in the same plain integer. ThreadSanitizer must report it although tests/tsan-suppressions.txt is in force; with the
// argument "clean" each has its own integer, and nothing may be reported.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/eal.h"
#include "engine/test_lcore.h"
#include "engine/test_visible_pool.h"
#include "engine/worker.h"

namespace splitplane::datapath {

// A function for run_worker() that takes mbufs from its own ring and counts them.
struct SeededRace {
  struct Queue {
    rte_ring* ring = nullptr;
    unsigned receive(Burst& burst) {
      burst.size = rte_ring_sc_dequeue_burst(ring, reinterpret_cast<void**>(burst.mbuf.data()), kBurst, nullptr);
      return burst.size;
    }
    unsigned take_left(Burst& burst) { return receive(burst); }
  };
  std::array<Queue, 1> lanes;
  std::uint64_t* counter = nullptr;

  std::array<Queue, 1>& queues() { return lanes; }
  [[gnu::noinline]] void process(Queue&, Burst& burst) {
    *counter += burst.size;  // the fault, when the counter is not ours alone
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  }
  void flush() {}
};

struct Worker {
  SeededRace function;
  WorkerStats stats;
  Mailbox mailbox;
  const std::atomic<bool>* stop = nullptr;

  void run() {
    WorkerPower power(power::Settings{.kind = power::Kind::yield, .yield = {8, 50}});
    run_worker(function, power, mailbox, stats, *stop);
  }
};

int main_of(bool race) {
  auto eal = Eal::start({.file_prefix = "splitplane-race-" + std::to_string(getpid()),
                         .megabytes = 64,
                         .hugepages = false,
                         .worker_cores = {0}});
  if (!eal) {
    std::fprintf(stderr, "%s\n", eal.error().message.c_str());
    return 2;
  }
  const std::string runtime = rte_eal_get_runtime_dir();
  if (test::use_visible_pools() < 0) return 2;
  rte_mempool* const pool = rte_pktmbuf_pool_create("race", 1023, 0, 0, 512, SOCKET_ID_ANY);
  std::atomic<bool> stop{false};
  std::array<std::uint64_t, 2> counters{};
  std::array<Worker, 2> workers;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    rte_ring* const ring =
        rte_ring_create(("race" + std::to_string(i)).c_str(), 64, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (pool == nullptr || ring == nullptr) return 2;
    workers[i].function.lanes[0].ring = ring;
    workers[i].function.counter = &counters[race ? 0 : i];
    workers[i].stop = &stop;
  }
  test::OnLcore first(1, [&workers] { workers[0].run(); });
  std::thread second([&workers] { workers[1].run(); });

  constexpr std::uint64_t kPackets = 20'000;
  for (std::uint64_t n = 0; n < kPackets;) {
    rte_mbuf* const m = rte_pktmbuf_alloc(pool);
    if (m != nullptr && rte_ring_sp_enqueue(workers[n % 2].function.lanes[0].ring, m) == 0) {
      ++n;
    } else {
      rte_pktmbuf_free(m);
      std::this_thread::yield();
    }
  }
  while (workers[0].stats.received_total() + workers[1].stats.received_total() < kPackets) std::this_thread::yield();
  stop.store(true);
  second.join();
  first.wait();
  std::printf("%s: counted %llu of %llu\n", race ? "race" : "clean",
              static_cast<unsigned long long>(counters[0] + counters[1]), static_cast<unsigned long long>(kPackets));
  std::error_code ignored;
  std::filesystem::remove_all(runtime, ignored);
  return 0;
}

}  // namespace splitplane::datapath

int main(int argc, char** argv) {
  return splitplane::datapath::main_of(argc > 1 && std::strcmp(argv[1], "race") == 0);
}
