// Bearers come, change and go through the mailbox while traffic flows and another thread reads the counters. A worker
// runs on a real lcore, beside a generator, a consumer of copies, a control thread and a reader. The test is above all
// for ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/test_lcore.h"
#include "engine/worker.h"
#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::N3Frame;

// A port that takes everything: counts, and frees as a driver does.
struct FreeingSink {
  std::uint64_t* sent = nullptr;
  unsigned send(rte_mbuf** mbufs, unsigned n) {
    rte_pktmbuf_free_bulk(mbufs, n);
    *sent += n;
    return n;
  }
};

struct ControlWhileTraffic : testing::Test {
  static constexpr std::uint64_t kPackets = 30'000;

  // The worker, on lcore 1.
  void work() {
    std::uint64_t ignored = 0;
    Gnb<FeatureSet::clone, RingSource, FreeingSink> gnb(*world_.context, {from_n3_.get()}, {from_air_.get()},
                                                        {&ignored}, {&sent_}, false);
    WorkerPower power(power::Settings{.kind = power::Kind::yield, .yield = {8, 50}});
    run_worker(gnb, power, mailbox_, world_.context->stats, stop_);
  }

  // Packets for bearers 1 to 8, of which 5 to 8 are not always there.
  void generate() {
    std::vector<test::Bytes> frames;
    for (std::uint32_t index = 1; index <= 8; ++index)
      frames.push_back(N3Frame{.teid = test::TestGnb::teid(index)}.make());
    for (std::uint64_t n = 0; n < kPackets;) {
      rte_mbuf* m = world_.pool.make(frames[n % frames.size()]);
      if (m == nullptr) {
        std::this_thread::yield();
        continue;
      }
      while (rte_ring_sp_enqueue(from_n3_.get(), m) != 0) std::this_thread::yield();
      ++n;
    }
  }

  void consume() {
    WorkerStats stats;
    while (!consumed_enough_.load(std::memory_order_acquire) || world_.copies.count() != 0) {
      if (consume_copies(world_.copies.get(), stats, FreeMbufs{}) == 0) std::this_thread::yield();
    }
    copies_seen_ = stats.stages[static_cast<std::size_t>(Stage::copies)].packets.get();
  }

  void read_counters() {
    std::uint64_t last = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
      const WorkerStats& s = world_.context->stats;
      const std::uint64_t now = s.received_total();
      EXPECT_GE(now, last);
      (void)s.dropped();
      for (const auto& stage : s.stages) (void)(stage.packets.get() + stage.sampled_cycles.get());
      last = now;
      std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
  }

  // The control thread's view: every change is a command of the worker.
  bool add(std::uint32_t index) {
    ran::BearerConfig config;
    config.id = BearerId{test::TestGnb::teid(index)};
    return mailbox_.execute([line = ran::make_downlink(config), slot = &world_.downlink[index]] { *slot = line; },
                            kPatience);
  }
  bool release(std::uint32_t index) {
    ran::BearerDownlink old;
    const bool done =
        mailbox_.execute([&old, slot = &world_.downlink[index]] { old = std::exchange(*slot, {}); }, kPatience);
    numbered_ += old.pdcp_tx_next;
    return done;
  }

  static constexpr std::chrono::milliseconds kPatience{30'000};
  test::TestGnb world_;
  test::Ring from_n3_{64}, from_air_{64};
  Mailbox mailbox_;
  std::atomic<bool> stop_{false}, consumed_enough_{false};
  std::uint64_t sent_ = 0, numbered_ = 0, copies_seen_ = 0;
};

TEST_F(ControlWhileTraffic, nothing_is_lost_between_the_threads) {
  test::OnLcore worker(1, [this] { work(); });
  ASSERT_TRUE(worker.launched());
  std::atomic<bool> generated{false};
  std::thread generator([&] {
    generate();
    generated.store(true);
  });
  std::thread consumer([this] { consume(); });
  std::thread reader([this] { read_counters(); });

  unsigned commands = 0;
  std::uint64_t injected = 0;
  while (!generated.load()) {
    if (rte_mbuf* m = world_.pool.make(test::arp_frame()); m != nullptr) {
      const bool taken = rte_ring_sp_enqueue(world_.inject.get(), m) == 0;
      if (!taken) rte_pktmbuf_free(m);
      injected += taken ? 1 : 0;
    }
    for (std::uint32_t index = 5; index <= 8; ++index) EXPECT_TRUE(add(index));
    for (std::uint32_t index = 5; index <= 8; ++index) EXPECT_TRUE(release(index));
    commands += 8;
  }
  generator.join();
  while (world_.context->stats.received_total() < kPackets) std::this_thread::yield();
  while (world_.inject.count() != 0) std::this_thread::yield();
  stop_.store(true);
  worker.wait();
  consumed_enough_.store(true, std::memory_order_release);
  consumer.join();
  reader.join();

  const WorkerStats& s = world_.context->stats;
  EXPECT_GT(commands, 0U);
  EXPECT_EQ(s.injected.get(), injected);
  EXPECT_EQ(s.received_total(), kPackets);
  world_.expect_balance(kPackets);
  EXPECT_EQ(s.transmitted_air.get(), sent_);
  EXPECT_EQ(world_.dropped(DropReason::teid_unknown) + sent_, kPackets);
  for (std::uint32_t index = 1; index <= 4; ++index) numbered_ += world_.downlink[index].pdcp_tx_next;
  EXPECT_EQ(numbered_, sent_) << "a bearer that goes takes its numbers along, no packet is numbered twice";
  EXPECT_EQ(s.copies.get(), copies_seen_);
  EXPECT_EQ(s.copies.get() + s.copies_lost.get(), sent_);
  (void)world_.punt.drain();  // of unknown TEIDs: the control thread would read them
  EXPECT_EQ(world_.pool.in_use(), 0U);
}

}  // namespace
}  // namespace splitplane::datapath
