// The buffering service as a real process that is killed (SIGKILL) under load, half of the times in the middle of a
// ring operation: the test steps it with ptrace until a ring's head and tail differ. The process shares only the rings
// with the worker. SPLITPLANE_KILLS sets how often; `make accept PART=baas` uses 1,000.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <set>

#include "arq/arq.h"
#include "baas/buffering.h"
#include "engine/test_environment.h"
#include "wire/rlc.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

constexpr std::uint64_t kKillTicksPerMs = 200'000;
constexpr unsigned kEntries = 1024;
constexpr unsigned kBits = 18;

// A ring in memory that stays shared over fork().
class SharedRing {
 public:
  SharedRing() : bytes_(static_cast<std::size_t>(rte_ring_get_memsize_elem(sizeof(baas::Message), kEntries))) {
    at_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::runtime_error("no memory for a ring");
    if (rte_ring_init(get(), "killed", kEntries, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0)
      throw std::runtime_error("no ring");
  }
  ~SharedRing() { ::munmap(at_, bytes_); }
  SharedRing(const SharedRing&) = delete;
  SharedRing& operator=(const SharedRing&) = delete;
  [[nodiscard]] rte_ring* get() const { return static_cast<rte_ring*>(at_); }
  // Between the moves of head and tail of one end.
  [[nodiscard]] bool is_taken_from() const { return get()->cons.head != get()->cons.tail; }
  [[nodiscard]] bool is_put_to() const { return get()->prod.head != get()->prod.tail; }

 private:
  std::size_t bytes_;
  void* at_;
};

class KilledService {
 public:
  [[nodiscard]] baas::Channel channel() const { return {to_service_.get(), to_worker_.get()}; }
  void start() {
    child_ = ::fork();
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    WorkerStats stats;
    baas::Buffering buffering(
        {.channels = {channel()}, .max_copies = 512, .ticks_per_ms = kKillTicksPerMs, .now = rte_rdtsc()}, stats);
    Burst burst;
    for (;;) {
      auto& queue = buffering.queues().front();
      if (queue.receive(burst) != 0) buffering.process(queue, burst);
      buffering.flush();
    }
  }
  // True: it was killed between the moves of a ring's head and tail.
  bool kill(bool inside) {
    bool found = false;
    if (inside && ::ptrace(PTRACE_ATTACH, child_, nullptr, nullptr) == 0) {
      ::waitpid(child_, nullptr, 0);
      for (unsigned step = 0; step < 4000 && !found; ++step) {
        found = to_service_.is_taken_from() || to_worker_.is_put_to();
        if (found || ::ptrace(PTRACE_SINGLESTEP, child_, nullptr, nullptr) != 0) break;
        ::waitpid(child_, nullptr, 0);
      }
    }
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
    return found;
  }
  [[nodiscard]] bool lives() const { return ::waitpid(child_, nullptr, WNOHANG) == 0; }
  ~KilledService() {
    if (child_ > 0) (void)kill(false);
  }

 private:
  SharedRing to_service_, to_worker_;
  pid_t child_ = 0;
};

unsigned kills() {
  const char* const wanted = std::getenv("SPLITPLANE_KILLS");
  return wanted == nullptr ? 60 : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
}

TEST(ArqServiceProcess, killed_at_any_instruction_costs_no_sdu_and_no_buffer) {
  constexpr unsigned kBearers = 64;
  test::Pool pool(8191, 256);
  KilledService service;
  Arq arq({.sends = Direction::kDownlink,
           .pool = pool.get(),
           .max_unacked = 2048,
           .ticks_per_ms = kKillTicksPerMs,
           .now = rte_rdtsc(),
           .service = {service.channel()},
           .max_bearers = kBearers});
  std::vector<std::unique_ptr<ArqBearer>> bearers;
  std::vector<std::set<std::uint32_t>> got(kBearers);  // numbers, by bearer
  std::vector<std::uint32_t> polled(kBearers);
  for (std::uint32_t i = 0; i < kBearers; ++i) {
    ran::BearerConfig config;
    config.id = BearerId{i + 1};
    config.rlc_mode = RlcMode::kAm;
    config.rlc_sn_bits = config.pdcp_sn_bits = kBits;
    // On a busy machine the service polls while the UE, which is this thread, waits: 32 polls outlast that.
    config.arq = {.t_poll_retransmit_ms = 100, .max_retx = 32, .max_unacked = 256};
    bearers.push_back(arq.make(config, 1));
  }
  const std::uint32_t seed = std::random_device{}();
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  double loss = 0.05;
  const auto arrives = [&](rte_mbuf* m) {
    if (std::uniform_real_distribution<>(0, 1)(random) < loss) return;
    const std::uint8_t* const rlc = octets(m) + kAirRlcOffset;
    const unsigned bearer = octets(m)[m->data_len - 1];
    got[bearer].insert(wire::load_be24(rlc) & 0x3ffff);
    if ((rlc[0] & kPollBit) != 0) polled[bearer] = 1;
  };
  std::uint64_t slowest = 0;
  const auto round = [&](bool sends) {
    const std::uint64_t begin = rte_rdtsc();
    if (sends) {
      ArqBearer& bearer = *bearers[below(kBearers)];
      for (unsigned n = 1 + below(8); n != 0 && arq.has_room() && ran::rlc::before(bearer.next(), bearer.limit());
           --n) {
        Bytes frame(kAirRlcOffset + 12);
        wire::rlc::write_am({&frame[kAirRlcOffset], 3}, kBits, {.poll = n == 1, .sn = bearer.next()});
        frame.back() = static_cast<std::uint8_t>(bearer.id - 1);
        rte_mbuf* const m = pool.make(frame);
        rte_mbuf_refcnt_update(m, 1);
        arq.keep(bearer, m, rte_rdtsc());
        arrives(m);
        rte_pktmbuf_free(m);
      }
    }
    arq.serve(
        rte_rdtsc(), false,
        [&](rte_mbuf** mbufs, unsigned n) {
          for (unsigned i = 0; i < n; ++i) arrives(mbufs[i]);
          rte_pktmbuf_free_bulk(mbufs, n);
          return n;
        },
        [](ArqBearer&) {});
    slowest = std::max(slowest, rte_rdtsc() - begin);
    // The UE answers polls, and says what it misses now and then.
    const unsigned i = below(kBearers);
    if (std::exchange(polled[i], 0) == 0 && below(8) != 0) return;
    Bytes pdu(1200);
    wire::rlc::StatusWriter writer{wire::MutableOctets(pdu), kBits};
    const std::uint32_t highest = got[i].empty() ? 0 : *got[i].rbegin() + 1;
    for (std::uint32_t sn = highest > 600 ? highest - 600 : 0; sn < highest; ++sn) {
      if (!got[i].contains(sn)) (void)writer.add({.sn = sn});
    }
    pdu.resize(writer.finish(highest));
    (void)arq.receive_status(*bearers[i], pdu, rte_rdtsc());
  };

  const unsigned all = kills();
  unsigned inside = 0;
  // On a busy machine fewer kills meet a ring operation, so there are more of them.
  for (unsigned n = 0; n < all || (inside < all / 8 && n < 4 * all); ++n) {
    arq.service()->connect();
    service.start();
    const std::uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * (1 + below(8));
    while (rte_rdtsc() < end) round(true);
    inside += service.kill(n % 2 == 0) ? 1 : 0;
    arq.service()->disconnect();
    for (unsigned rounds = below(50); rounds != 0; --rounds) round(true);
  }
  EXPECT_GE(inside, all / 8) << "of " << all << " kills, so many were inside a ring operation";
  loss = 0;
  arq.service()->connect();
  service.start();
  const std::uint64_t end = rte_rdtsc() + 20 * rte_get_tsc_hz();
  while (arq.unacked() != 0 && rte_rdtsc() < end) round(false);
  EXPECT_EQ(arq.unacked(), 0U) << "seed " << seed;
  EXPECT_TRUE(service.lives());
  std::uint64_t sdus = 0;
  for (std::uint32_t i = 0; i < kBearers; ++i) {
    EXPECT_FALSE(bearers[i]->failed) << "bearer " << i << ", seed " << seed;
    EXPECT_EQ(got[i].size(), bearers[i]->next()) << "bearer " << i << ", seed " << seed;
    sdus += got[i].size();
    arq.detach(*bearers[i]);
  }
  EXPECT_EQ(pool.in_use(), 0U);
  std::printf(
      "%u kills, %u of them inside a ring operation; %lu SDUs, none lost; slowest round of the worker %.2f ms\n", all,
      inside, sdus, 1e3 * static_cast<double>(slowest) / static_cast<double>(rte_get_tsc_hz()));
}

}  // namespace
}  // namespace splitplane::datapath
