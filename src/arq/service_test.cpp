// RLC AM whose windows are in a buffering service: the service is killed at any point and started again, stands still,
// has small rings or little memory, and RLC is re-established meanwhile. Nothing that was accepted may be lost, and
// every buffer comes back. The UE is a model of its own: a set of numbers.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <random>
#include <set>

#include "arq/arq.h"
#include "baas/test_service.h"
#include "engine/test_environment.h"
#include "wire/rlc.h"

namespace splitplane::datapath {
namespace {

using baas::test::TestService;
using test::Bytes;

constexpr std::uint64_t kTicksPerMs = 100'000;  // timers run out within fractions of a millisecond

struct Peer {
  std::map<std::uint32_t, std::uint32_t> got;  // SDU by number, of this epoch
  std::set<std::uint32_t> delivered;           // SDUs, of all epochs
  std::uint32_t highest = 0;
  std::uint8_t epoch = 1;
  bool polled = false;

  void receive(rte_mbuf* m, unsigned sn_bits) {
    const std::uint8_t* const frame = octets(m);
    if (frame[kEpochOffset] != epoch) return;
    const std::uint8_t* const rlc = frame + kAirRlcOffset;
    const std::uint32_t low = sn_bits == 12 ? wire::load_be16(rlc) & 0xfff : wire::load_be24(rlc) & 0x3ffff;
    // The number nearest to the highest one.
    std::uint32_t sn = ran::rlc::from_base(highest - (1U << (sn_bits - 1)), low, sn_bits);
    const std::uint32_t sdu = wire::load_be32(rlc + (sn_bits == 12 ? 2 : 3));
    const auto [at, fresh] = got.emplace(sn, sdu);
    EXPECT_EQ(at->second, sdu) << "number " << sn << " was used twice";
    if (fresh) delivered.insert(sdu);
    highest = std::max(highest, sn + 1);
    polled = polled || (rlc[0] & kPollBit) != 0;
  }
  // A PDU arrives that this test has never seen: its clone was lost.
  void take_unseen(std::uint32_t sn) {
    got.emplace(sn, UINT32_MAX);
    highest = std::max(highest, sn + 1);
  }
  [[nodiscard]] Bytes status(unsigned sn_bits) const {
    Bytes pdu(1200);
    wire::rlc::StatusWriter writer(wire::MutableOctets(pdu), sn_bits);
    std::uint32_t sn = 0, ack = highest;
    // What is long acknowledged needs no look: holes are at the end.
    sn = highest > 3000 ? highest - 3000 : 0;
    for (; sn < highest; ++sn) {
      if (got.contains(sn)) continue;
      if (!writer.add({.sn = sn & ran::rlc::sn_mask(sn_bits)})) {
        ack = sn;
        break;
      }
    }
    pdu.resize(writer.finish(ack & ran::rlc::sn_mask(sn_bits)));
    return pdu;
  }
  void begin_epoch(std::uint8_t next) {
    epoch = next;
    got.clear();
    highest = 0;
  }
};

// A worker with acknowledged bearers, the service, and a UE for each bearer.
class ServiceRig {
 public:
  ServiceRig(TestService::Settings settings, unsigned bearers, std::size_t max_unacked, std::uint32_t seed)
      : service(settings), random(seed) {
    arq.emplace(Arq::Settings{.sends = Direction::kDownlink,
                              .pool = pool.get(),
                              .max_unacked = max_unacked,
                              .ticks_per_ms = kTicksPerMs,
                              .now = rte_rdtsc(),
                              .service = {service.channel()},
                              .max_bearers = bearers});
    for (unsigned i = 0; i < bearers; ++i) {
      ran::BearerConfig config;
      config.id = BearerId{i + 1};
      config.rlc_mode = RlcMode::kAm;
      config.rlc_sn_bits = config.pdcp_sn_bits = i % 2 == 0 ? 18 : 12;
      config.arq.max_unacked = 512;
      config.arq.t_poll_retransmit_ms = 5;
      config.arq.max_retx = 32;
      configs.push_back(config);
      all.push_back(arq->make(config, 1));
      peers.emplace_back();
    }
  }
  ~ServiceRig() {
    for (auto& bearer : all) arq->detach(*bearer);
    EXPECT_EQ(pool.in_use(), 0U);
  }

  void connect() {
    arq->service()->connect();
    service.start();
  }
  void kill() {
    service.kill();
    arq->service()->disconnect();
  }
  void send(unsigned i, unsigned n) {
    ArqBearer& bearer = *all[i];
    for (; n != 0 && arq->has_room() && ran::rlc::before(bearer.next(), bearer.limit()); --n) {
      Bytes frame(kAirRlcOffset + 12);
      const unsigned bits = configs[i].rlc_sn_bits;
      const unsigned header = bits == 12 ? 2 : 3;
      wire::rlc::write_am({&frame[kAirRlcOffset], header}, bits,
                          {.poll = n == 1, .sn = bearer.next() & ran::rlc::sn_mask(bits)});
      frame[kEpochOffset] = bearer.epoch;
      frame.back() = static_cast<std::uint8_t>(i);
      wire::store_be32(&frame[kAirRlcOffset + header], next_sdu);
      rte_mbuf* const m = pool.make(frame);
      ASSERT_NE(m, nullptr);
      sent[i].insert(next_sdu++);
      rte_mbuf_refcnt_update(m, 1);
      arq->keep(bearer, m, rte_rdtsc());
      if (!lost()) peers[i].receive(m, bits);
      rte_pktmbuf_free(m);
    }
  }
  void answer(unsigned i) {
    peers[i].polled = false;
    const Bytes pdu = peers[i].status(configs[i].rlc_sn_bits);
    if (!lost() && peers[i].epoch == all[i]->epoch) (void)arq->receive_status(*all[i], pdu, rte_rdtsc());
  }
  void worker_round() {
    arq->serve(
        rte_rdtsc(), false,
        [this](rte_mbuf** mbufs, unsigned n) {
          for (unsigned i = 0; i < n; ++i) {
            const unsigned bearer = bearer_of(mbufs[i]);
            if (!lost()) peers[bearer].receive(mbufs[i], configs[bearer].rlc_sn_bits);
            rte_pktmbuf_free(mbufs[i]);
          }
          return n;
        },
        [](ArqBearer&) {});
  }
  void reestablish(unsigned i) {
    const auto next = static_cast<std::uint8_t>(all[i]->epoch + 1);
    arq->reestablish(*all[i], next, rte_rdtsc());
    peers[i].begin_epoch(next);
  }
  // A perfect air and a service that works, until everything is acknowledged.
  void settle() {
    loss = 0;
    if (!service.buffering) connect();
    for (unsigned round = 0; round < 20'000 && arq->unacked() != 0; ++round) {
      for (unsigned i = 0; i < all.size(); ++i) {
        if (peers[i].polled || round % 8 == 7) answer(i);
      }
      worker_round();
      service.round();
      worker_round();
    }
    EXPECT_EQ(arq->unacked(), 0U);
    for (unsigned i = 0; i < all.size(); ++i) {
      EXPECT_EQ(peers[i].delivered, sent[i]) << "bearer " << i;
      EXPECT_FALSE(all[i]->failed);
      EXPECT_TRUE(ran::rlc::before(all[i]->next(), all[i]->limit())) << "the window is open again";
    }
    EXPECT_EQ(service.buffering->held(), 0U);
    EXPECT_EQ(service.buffering->held_in_windows(), 0U);
    EXPECT_TRUE(service.buffering->balanced());
    EXPECT_EQ(pool.in_use(), 0U);
  }

  TestService service;
  std::mt19937 random;
  double loss = 0.1;
  test::Pool pool{8191, 256};
  std::optional<Arq> arq;
  std::vector<ran::BearerConfig> configs;
  std::vector<std::unique_ptr<ArqBearer>> all;
  std::vector<Peer> peers;
  std::map<unsigned, std::set<std::uint32_t>> sent;
  std::uint32_t next_sdu = 0;

 private:
  bool lost() { return std::uniform_real_distribution<>(0, 1)(random) < loss; }
  [[nodiscard]] static unsigned bearer_of(rte_mbuf* m) { return octets(m)[m->data_len - 1]; }
};

#ifdef SPLITPLANE_ASAN
constexpr unsigned kSteps = 200;
#else
constexpr unsigned kSteps = 600;
#endif

void play(ServiceRig& rig, unsigned steps) {
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(rig.random); };
  bool stands_still = false;
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned i = below(static_cast<unsigned>(rig.all.size()));
    switch (below(16)) {
      case 0:
        if (rig.service.buffering) rig.kill();
        break;
      case 1:
        if (!rig.service.buffering) rig.connect();
        break;
      case 2:
        stands_still = !stands_still;
        break;
      case 3:
        if (below(4) == 0) rig.reestablish(i);
        break;
      case 4:
        rig.service.take_some();  // killed between two bursts, with what it said unsaid
        break;
      case 5:
      case 6:
      case 7:
        rig.answer(i);
        break;
      case 8:
      case 9:
        rig.worker_round();
        break;
      case 10:
      case 11:
        if (!stands_still) rig.service.round();
        break;
      default:
        rig.send(i, 1 + below(40));
    }
  }
}

TEST(ArqService, nothing_is_lost_however_often_the_service_is_killed) {
  rc::check([](std::uint32_t seed) {
    ServiceRig rig({.max_copies = 2048, .ticks_per_ms = kTicksPerMs}, 4, 2048, seed);
    play(rig, kSteps);
    rig.settle();
    RC_ASSERT(!testing::Test::HasFailure());
  });
}

TEST(ArqService, nothing_is_lost_over_rings_that_are_nearly_always_full) {
  rc::check([](std::uint32_t seed) {
    ServiceRig rig({.max_copies = 2048, .entries = 96, .ticks_per_ms = kTicksPerMs}, 4, 2048, seed);
    play(rig, kSteps);
    rig.settle();
    RC_ASSERT(!testing::Test::HasFailure());
  });
}

TEST(ArqService, a_service_without_memory_is_told_again_when_it_has_some) {
  // 65 pages for 200 bearers that each need one at least.
  ServiceRig rig({.max_copies = 8, .entries = 4096, .ticks_per_ms = kTicksPerMs}, 200, 4096, 1);
  rig.connect();
  for (unsigned i = 0; i < 200; ++i) rig.send(i, 3);
  for (unsigned n = 0; n < 4; ++n) {
    rig.worker_round();
    rig.service.round();
  }
  EXPECT_GT(rig.service.buffering->counters().no_room.get(), 0U);
  rig.settle();
  EXPECT_GT(rig.arq->service()->counters().no_room, 0U);
}

TEST(ArqService, without_a_service_frames_wait_and_the_limit_holds) {
  ServiceRig rig({.max_copies = 2048, .ticks_per_ms = kTicksPerMs}, 1, 2048, 1);
  rig.send(0, 2000);
  EXPECT_EQ(rig.arq->unacked(), 512U) << "max_unacked of the bearer";
  rig.worker_round();
  EXPECT_TRUE(rig.arq->idle());
  rig.settle();
  rig.send(0, 10);
  rig.settle();
}

TEST(ArqService, a_worker_that_the_service_cannot_wake_looks_for_its_messages) {
  for (const bool wakes : {true, false}) {
    ServiceRig rig({.max_copies = 2048, .ticks_per_ms = kTicksPerMs}, 1, 2048, 1);
    const auto longest_sleep = [&] {
      const Time now = rte_rdtsc();
      return rig.arq->next_work(now) - now;
    };
    rig.arq->service()->connect(wakes);
    rig.service.start();
    rig.worker_round();
    EXPECT_GT(longest_sleep(), kTicksPerMs) << "nothing is held";
    rig.send(0, 5);
    rig.worker_round();
    EXPECT_EQ(longest_sleep() <= kTicksPerMs, !wakes);
    rig.settle();
    EXPECT_GT(longest_sleep(), kTicksPerMs) << "nothing is held any more";
    // The service says what became of these, too.
    const std::uint32_t before_it = rig.all[0]->next();
    ASSERT_TRUE(rig.arq->note_missing(*rig.all[0], 2));
    rig.worker_round();
    EXPECT_EQ(longest_sleep() <= kTicksPerMs, !wakes);
    for (std::uint32_t sn = before_it; sn < before_it + 2; ++sn) rig.peers[0].take_unseen(sn);
    rig.service.round();
    rig.answer(0);
    rig.service.round();
    rig.worker_round();
    EXPECT_EQ(rig.all[0]->next_ack(), before_it + 2);
    EXPECT_GT(longest_sleep(), kTicksPerMs) << "they are acknowledged";
    rig.send(0, 5);
    rig.worker_round();
    rig.kill();
    EXPECT_GT(longest_sleep(), kTicksPerMs) << "no service, no message";
    rig.settle();
  }
}

TEST(ArqService, messages_that_fit_nothing_change_nothing) {
  ServiceRig rig({.max_copies = 2048, .ticks_per_ms = kTicksPerMs}, 2, 2048, 1);
  rig.loss = 0;
  rig.connect();
  rig.send(0, 5);
  rig.worker_round();
  using baas::Kind;
  const auto say = [&](baas::Message m) { ASSERT_TRUE(baas::send(rig.service.channel().to_worker, &m, 1)); };
  for (std::uint32_t slot : {5U, 1U << 20, 0xffff'ffffU}) {
    say({.kind = Kind::kSend, .slot = slot});
    say({.kind = Kind::kRelease, .flags = 200, .bearer = slot, .sn = slot, .slot = slot});
  }
  for (const Kind kind : {Kind::kAcknowledged, Kind::kFailed, Kind::kTellAgain}) {
    say({.kind = kind, .bytes = 77, .bearer = 0});
    say({.kind = kind, .bytes = 1, .bearer = 4'000'000'000U});
  }
  say({.kind = static_cast<Kind>(250)});
  rig.worker_round();
  EXPECT_EQ(rig.arq->unacked(), 5U);
  EXPECT_EQ(rig.arq->service()->counters().strays, 1U);
  rig.settle();
}

TEST(ArqService, elements_that_fit_nothing_do_not_stop_the_service) {
  rc::check([](const std::vector<std::array<std::uint32_t, 4>>& garbage) {
    TestService service({.ticks_per_ms = kTicksPerMs});
    service.start();
    for (const auto& words : garbage) {
      baas::Message m;
      std::memcpy(static_cast<void*>(&m), words.data(), sizeof m);
      m.kind = static_cast<baas::Kind>(static_cast<unsigned>(m.kind) % 14);
      m.bearer %= 4;  // the service makes room for numbers as the worker gives them out: densely
      if (m.kind == baas::Kind::kOpen && m.flags % 4 != 0) m.flags = m.flags % 2 == 0 ? 12 : 18;
      (void)baas::send(service.channel().to_service, &m, 1);
    }
    service.round();
  });
}

}  // namespace
}  // namespace splitplane::datapath
