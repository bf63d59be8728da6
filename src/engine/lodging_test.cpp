// A loop whose rounds another worker's thread makes: packets of rings in order, wake-ups, commands, and every way to
// end.
#include "engine/lodging.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "engine/endpoints.h"
#include "engine/test_environment.h"
#include "engine/test_sleepy.h"
#include "engine/worker.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using test::kLost;
using test::sleepy;
using Clock = std::chrono::steady_clock;

// Takes numbered packets from a ring, and notes who took them.
struct NumberedTaker {
  std::array<Lookahead<RingSource>, 1> lanes;
  std::atomic<std::uint32_t> taken{0}, wrong{0};
  std::atomic<std::thread::id> thread{};
  std::atomic<std::uint64_t> due{power::kNever}, served{0};

  std::array<Lookahead<RingSource>, 1>& queues() { return lanes; }
  void process(Lookahead<RingSource>&, Burst& burst) {
    for (unsigned i = 0; i < burst.size; ++i) {
      const auto number = *rte_pktmbuf_mtod(burst.mbuf[i], const std::uint8_t*);
      if (number != static_cast<std::uint8_t>(taken.load())) wrong.fetch_add(1);
      taken.fetch_add(1);
    }
    rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
  }
  void flush() {
    thread.store(std::this_thread::get_id());
    if (const std::uint64_t now = rte_rdtsc(); now >= due.load()) {
      due.store(power::kNever);
      served.store(now);
    }
  }
  [[nodiscard]] std::uint64_t next_work(std::uint64_t) const { return due.load(); }
};

struct LodgingWorker {
  explicit LodgingWorker(const power::Settings& settings)
      : function{.lanes = {Lookahead<RingSource>(RingSource{ring.get()})}}, power(settings) {
    thread = std::thread([this] {
      run_worker(function, power, mailbox, stats, stop);
      has_ended.store(true);
    });
    while (stats.rounds.get() == 0) std::this_thread::sleep_for(100us);
  }
  ~LodgingWorker() { end(); }

  void tell_to_stop() {
    stop.store(true);
    power.wakeup().wake();
  }
  void end() {
    tell_to_stop();
    if (thread.joinable()) thread.join();
  }
  [[nodiscard]] LodgingLoop loop() {
    return {power, [this](const std::function<void()>& command, std::chrono::milliseconds patience) {
              return mailbox.execute(command, std::min(patience, 500ms));
            }};
  }
  void send() {
    rte_mbuf* const m = pool.make({static_cast<std::uint8_t>(sent)});
    while (rte_ring_sp_enqueue(ring.get(), m) != 0) std::this_thread::yield();
    ++sent;
    power.wakeup().wake();
  }
  [[nodiscard]] Clock::duration cpu_time() {
    clockid_t clock{};
    timespec spent{};
    if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || ::clock_gettime(clock, &spent) != 0) return 1h;
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }
  [[nodiscard]] bool takes_all(Clock::duration patience = 10s) const {
    const auto end = Clock::now() + patience;
    while (function.taken.load() != sent && Clock::now() < end) std::this_thread::sleep_for(50us);
    return function.taken.load() == sent && function.wrong.load() == 0;
  }
  [[nodiscard]] bool runs_on(const LodgingWorker& other) const {
    const auto end = Clock::now() + 5s;
    while (function.thread.load() != other.thread.get_id() && Clock::now() < end) std::this_thread::sleep_for(50us);
    return function.thread.load() == other.thread.get_id();
  }

  test::Pool pool;
  test::Ring ring{64};
  NumberedTaker function;
  WorkerPower power;
  Mailbox mailbox{&power.wakeup()};
  WorkerStats stats;
  std::atomic<bool> stop{false}, has_ended{false};
  std::uint32_t sent = 0;
  std::thread thread;
};

const power::Settings kBusy{.kind = power::Kind::busy};
const power::Settings kYield{.kind = power::Kind::yield, .yield = {8, 50}};

// Its thread hangs in a command until the end.
class HangingLoop {
 public:
  explicit HangingLoop(LodgingWorker& worker)
      : thread_([this, &worker] {
          (void)worker.mailbox.execute([this] {
            begun_ = true;
            while (hangs_) std::this_thread::sleep_for(1ms);
          });
        }) {
    while (!begun_) std::this_thread::sleep_for(1ms);
  }
  ~HangingLoop() { end(); }
  void end() {
    hangs_ = false;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> hangs_{true}, begun_{false};
  std::thread thread_;
};

// A host may get no CPU time when it shall take the guest, on a machine with more busy threads than cores.
Lodged lodge_surely(LodgingWorker& guest, LodgingWorker& host) {
  Lodged done{};
  for (int tries = 0; tries < 50; ++tries) {
    done = lodge(guest.loop(), host.loop());
    if (done != Lodged::kHostSilent && done != Lodged::kGuestSilent) break;
  }
  return done;
}

class Lodging : public testing::TestWithParam<power::Settings> {
 protected:
  LodgingWorker guest_{GetParam()}, host_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Policies, Lodging, testing::Values(kBusy, kYield, sleepy()),
                         [](const auto& i) { return std::string(power::kKindNames[std::size_t(i.param.kind)]); });

TEST_P(Lodging, the_host_makes_the_rounds_and_the_guests_thread_sleeps) {
  guest_.send();
  ASSERT_TRUE(guest_.takes_all());
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  guest_.send();
  host_.send();
  EXPECT_TRUE(guest_.takes_all() && host_.takes_all());
  EXPECT_TRUE(guest_.runs_on(host_) && host_.runs_on(host_));
  const auto rounds = guest_.stats.rounds.get();
  guest_.send();
  EXPECT_TRUE(guest_.takes_all());
  EXPECT_GT(guest_.stats.rounds.get(), rounds);
  ASSERT_TRUE(bring_home(guest_.loop(), host_.loop()));
  guest_.send();
  host_.send();
  EXPECT_TRUE(guest_.takes_all() && host_.takes_all());
  EXPECT_TRUE(guest_.runs_on(guest_) && host_.runs_on(host_));
}

TEST_P(Lodging, no_packet_is_lost_or_overtaken_however_often_the_loop_moves) {
  std::atomic<bool> done{false};
  std::thread sender([&] {
    std::mt19937 random(1);
    while (!done) {
      for (auto n = random() % 40; n > 0; --n) guest_.send();
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 7));
    EXPECT_TRUE(bring_home(guest_.loop(), host_.loop()));
  }
  done = true;
  sender.join();
  EXPECT_TRUE(guest_.takes_all()) << guest_.function.wrong << " out of order, " << guest_.function.taken << " of "
                                  << guest_.sent;
  EXPECT_EQ(guest_.stats.received_total(), guest_.sent);
}

TEST_P(Lodging, what_wakes_the_guest_wakes_its_host) {
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  std::mt19937 random(2);
  Clock::duration longest{};
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    const auto begin = Clock::now();
    if (i % 3 == 0) {
      guest_.send();
      ASSERT_TRUE(guest_.takes_all());
    } else if (i % 3 == 1) {
      ASSERT_TRUE(guest_.mailbox.execute([] {}));
    } else {
      host_.send();
      ASSERT_TRUE(host_.takes_all());
    }
    longest = std::max(longest, Clock::now() - begin);
  }
  EXPECT_LT(longest, kLost);
  // A timer of the guest, which it sets in a command.
  const auto begin = rte_rdtsc();
  ASSERT_TRUE(guest_.mailbox.execute([&] { guest_.function.due = begin + rte_get_tsc_hz() / 20; }));
  const auto end = Clock::now() + 5s;
  while (guest_.function.served == 0 && Clock::now() < end) std::this_thread::sleep_for(1ms);
  const auto late = guest_.function.served.load() - begin;
  EXPECT_GE(late, rte_get_tsc_hz() / 20);
  EXPECT_LT(late, rte_get_tsc_hz() * kLost.count() / 1000);
}

TEST_P(Lodging, a_guest_that_has_to_stop_ends_and_its_host_goes_on) {
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  for (int i = 0; i < 30; ++i) guest_.send();
  guest_.end();
  EXPECT_TRUE(guest_.takes_all(0s)) << "what it had is served before it ends";
  host_.send();
  EXPECT_TRUE(host_.takes_all());
  EXPECT_TRUE(bring_home(guest_.loop(), host_.loop())) << "nothing is left to do";
}

TEST_P(Lodging, a_host_that_has_to_stop_sends_its_guests_home) {
  LodgingWorker third(GetParam());
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  ASSERT_EQ(lodge_surely(third, host_), Lodged::kDone);
  host_.end();
  guest_.send();
  third.send();
  EXPECT_TRUE(guest_.takes_all() && third.takes_all());
  EXPECT_TRUE(guest_.runs_on(guest_) && third.runs_on(third));
}

TEST_P(Lodging, of_two_guests_each_goes_home_alone) {
  LodgingWorker third(GetParam());
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  ASSERT_EQ(lodge_surely(third, host_), Lodged::kDone);
  ASSERT_TRUE(bring_home(guest_.loop(), host_.loop()));
  guest_.send();
  third.send();
  host_.send();
  EXPECT_TRUE(guest_.takes_all() && third.takes_all() && host_.takes_all());
  EXPECT_TRUE(guest_.runs_on(guest_) && third.runs_on(host_) && host_.runs_on(host_));
}

TEST_P(Lodging, all_may_be_told_to_stop_at_once) {
  ASSERT_EQ(lodge_surely(guest_, host_), Lodged::kDone);
  host_.tell_to_stop();
  guest_.tell_to_stop();
  guest_.end();
  host_.end();
  EXPECT_TRUE(guest_.has_ended && host_.has_ended);
}

TEST(LodgingFaults, a_host_that_does_not_listen_gets_no_guest) {
  LodgingWorker guest(kBusy), host(kBusy);
  HangingLoop hanging(host);
  EXPECT_EQ(lodge(guest.loop(), host.loop()), Lodged::kHostSilent);
  guest.send();
  EXPECT_TRUE(guest.takes_all());
  EXPECT_TRUE(guest.runs_on(guest));
  hanging.end();
  guest.send();
  EXPECT_TRUE(guest.takes_all());
  EXPECT_TRUE(guest.runs_on(guest)) << "the host has not taken it later";
}

TEST(LodgingFaults, a_guest_that_does_not_listen_stays) {
  LodgingWorker guest(kBusy), host(kBusy);
  HangingLoop hanging(guest);
  EXPECT_EQ(lodge(guest.loop(), host.loop()), Lodged::kGuestSilent);
  hanging.end();
  guest.send();
  EXPECT_TRUE(guest.takes_all());
  EXPECT_TRUE(guest.runs_on(guest));
}

// It has heard that its guest shall go, and hangs before its round is over.
TEST(LodgingFaults, a_guest_goes_home_late_when_its_host_goes_on_late) {
  LodgingWorker guest(kBusy), host(kBusy);
  std::atomic<bool> hangs{false};
  ASSERT_TRUE(host.mailbox.execute([&] {
    // A P-state that is refused is asked for in each round, behind the commands of that round.
    host.power.use({.speed = {1, 0.5}, .take = [&](unsigned) {
                      while (hangs) std::this_thread::sleep_for(1ms);
                      return false;
                    }});
    host.power.set(kBusy);
  }));
  ASSERT_EQ(lodge_surely(guest, host), Lodged::kDone);
  LodgingLoop hanging = host.loop();
  hanging.execute = [&host, &hangs](const std::function<void()>& command, std::chrono::milliseconds patience) {
    return host.mailbox.execute(
        [&] {
          command();
          hangs = true;
        },
        patience);
  };
  EXPECT_FALSE(bring_home(guest.loop(), hanging));
  EXPECT_NE(guest.power.hosting().offered(), nullptr) << "its host has it still";
  hangs = false;
  guest.send();
  EXPECT_TRUE(guest.takes_all());
  EXPECT_TRUE(guest.runs_on(guest));
  EXPECT_EQ(guest.power.hosting().offered(), nullptr);
  guest.end();
  host.end();
}

// The control thread gives up at any moment of a guest that is slow to leave.
TEST(LodgingFaults, a_guest_that_is_withdrawn_goes_on_whenever_that_happens) {
  class NoRounds final : public Guest {
   public:
    NoRounds(Hosting& home, Wakeup& wakeup, const std::atomic<bool>& stop) : Guest(home, wakeup, stop, {}, 1) {}
    unsigned round(std::span<power::QueueRound>) override { return 0; }
    [[nodiscard]] power::Ticks next_work(power::Ticks) override { return power::kNever; }
  };
  Hosting home;
  Wakeup wakeup;
  const std::atomic<bool> stop{false};
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    home.leave();
    const auto before = random() % 200, behind = random() % 200;
    std::thread loop([&] {
      for (auto n = before; n > 0; --n) rte_pause();
      if (!home.leaves()) return;
      NoRounds guest(home, wakeup, stop);
      home.stay(guest);
    });
    for (auto n = behind; n > 0; --n) rte_pause();
    if (i % 3 == 0) {
      while (home.offered() == nullptr) rte_pause();
    }
    home.withdraw();
    loop.join();
    ASSERT_EQ(home.offered(), nullptr);
  }
}

TEST(LodgingFaults, a_host_has_room_for_so_many) {
  LodgingWorker host(kYield);
  std::vector<std::unique_ptr<LodgingWorker>> guests;
  for (std::size_t i = 0; i < Hosting::kMostGuests; ++i) {
    guests.push_back(std::make_unique<LodgingWorker>(kYield));
    ASSERT_EQ(lodge_surely(*guests.back(), host), Lodged::kDone);
  }
  LodgingWorker more(kYield);
  EXPECT_EQ(lodge(more.loop(), host.loop()), Lodged::kNoRoom);
  more.send();
  EXPECT_TRUE(more.takes_all());
  EXPECT_TRUE(more.runs_on(more));
  for (auto& guest : guests) guest->send();
  for (auto& guest : guests) EXPECT_TRUE(guest->takes_all());
}

TEST(LodgingFaults, a_host_that_does_not_listen_stops_no_packet_of_the_guest) {
  LodgingWorker guest(kBusy), host(kBusy);
  HangingLoop hanging(host);
  std::atomic<bool> done{false};
  std::thread lodging([&] {
    EXPECT_EQ(lodge(guest.loop(), host.loop()), Lodged::kHostSilent);
    done = true;
  });
  while (!done) {
    guest.send();
    EXPECT_TRUE(guest.takes_all(200ms)) << "it is asked to leave only when the host answers";
    std::this_thread::sleep_for(1ms);
  }
  lodging.join();
  hanging.end();
}

TEST(LodgingPower, a_core_without_rounds_goes_to_its_slowest_p_state_and_back) {
  LodgingWorker guest(kBusy), host(kBusy);
  std::atomic<unsigned> taken{9};
  ASSERT_TRUE(guest.mailbox.execute([&] {
    guest.power.use({.speed = {1, 0.5, 0.25}, .take = [&](unsigned p_state) {
                       taken = p_state;
                       return true;
                     }});
    guest.power.set(kBusy);
  }));
  guest.send();
  ASSERT_TRUE(guest.takes_all());
  ASSERT_EQ(lodge_surely(guest, host), Lodged::kDone);
  EXPECT_EQ(taken, 2U);
  EXPECT_EQ(guest.power.speed(), 0.25F);
  ASSERT_TRUE(bring_home(guest.loop(), host.loop()));
  guest.send();
  ASSERT_TRUE(guest.takes_all());
  EXPECT_EQ(taken, 0U);
  EXPECT_EQ(guest.power.speed(), 1.0F);
  guest.end();
}

TEST(LodgingPower, a_core_that_refuses_its_slowest_p_state_is_asked_again_while_it_sleeps) {
  LodgingWorker guest(kBusy), host(kBusy);
  std::atomic<int> refusals{2};
  std::atomic<unsigned> asked_for_slowest{0};
  ASSERT_TRUE(guest.mailbox.execute([&] {
    guest.power.use({.speed = {1, 0.5}, .take = [&](unsigned p_state) {
                       if (p_state == 0) return true;
                       asked_for_slowest.fetch_add(1);
                       return refusals.fetch_sub(1) <= 0;
                     }});
    guest.power.set(kBusy);
  }));
  guest.send();
  ASSERT_TRUE(guest.takes_all());
  ASSERT_EQ(lodge_surely(guest, host), Lodged::kDone);
  EXPECT_EQ(guest.power.speed(), 1.0F);
  const auto end = Clock::now() + 4 * Hosting::kAsksAgain;
  while (guest.power.speed() != 0.5F && Clock::now() < end) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(guest.power.speed(), 0.5F);
  EXPECT_EQ(guest.stats.p_state_retries.get(), 2U);
  std::this_thread::sleep_for(Hosting::kAsksAgain + 100ms);
  EXPECT_EQ(asked_for_slowest, 3U) << "what it has is not asked for again";
  const auto begin = Clock::now();
  ASSERT_TRUE(bring_home(guest.loop(), host.loop()));
  guest.send();
  ASSERT_TRUE(guest.takes_all());
  EXPECT_LT(Clock::now() - begin, kLost);
  EXPECT_EQ(guest.power.speed(), 1.0F);
  guest.end();
}

TEST(LodgingPower, a_guest_goes_home_at_once_while_its_core_refuses) {
  LodgingWorker guest(kBusy), host(kBusy);
  ASSERT_TRUE(guest.mailbox.execute([&] {
    guest.power.use({.speed = {1, 0.5}, .take = [](unsigned p_state) { return p_state == 0; }});
    guest.power.set(kBusy);
  }));
  guest.send();
  ASSERT_TRUE(guest.takes_all());
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(lodge_surely(guest, host), Lodged::kDone);
    const auto begin = Clock::now();
    ASSERT_TRUE(bring_home(guest.loop(), host.loop()));
    guest.send();
    ASSERT_TRUE(guest.takes_all());
    ASSERT_TRUE(guest.runs_on(guest));
    EXPECT_LT(Clock::now() - begin, Clock::duration(Hosting::kAsksAgain) / 2) << "its sleep was ended";
  }
  guest.end();
}

TEST(LodgingCycles, a_guests_cycles_are_its_own_and_its_thread_uses_none) {
  LodgingWorker guest(kBusy), host(kBusy);
  const std::uint64_t begin = rte_rdtsc();
  ASSERT_EQ(lodge_surely(guest, host), Lodged::kDone);
  const auto all = [](const WorkerStats& s) {
    return s.busy_cycles.get() + s.idle_cycles.get() + s.asleep_cycles.get();
  };
  const std::uint64_t guest_before = all(guest.stats), host_before = all(host.stats);
  const auto cpu_before = guest.cpu_time();
  const std::uint64_t polled = guest.stats.idle_cycles.get();
  std::this_thread::sleep_for(100ms);
  const std::uint64_t of_guest = all(guest.stats) - guest_before, of_host = all(host.stats) - host_before;
  const std::uint64_t elapsed = rte_rdtsc() - begin;
  EXPECT_LE(of_guest, elapsed);
  EXPECT_GT(of_guest, elapsed / 2) << "asleep while the host does something else";
  EXPECT_LE(of_host + guest.stats.idle_cycles.get() - polled, elapsed) << "its host's core did both";
  EXPECT_LT(guest.cpu_time() - cpu_before, 1ms);
}

}  // namespace
}  // namespace splitplane::datapath
