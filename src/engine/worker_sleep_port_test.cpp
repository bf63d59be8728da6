// A worker that sleeps on a real driver: an interrupt of the driver ends the sleep, also after the port or its peer was
// restarted.
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <sys/socket.h>

#include <optional>
#include <random>
#include <thread>

#include "engine/endpoints.h"
#include "engine/l2fwd.h"
#include "engine/lodging.h"
#include "engine/port.h"
#include "engine/test_environment.h"
#include "engine/test_lcore.h"
#include "engine/test_sleepy.h"
#include "engine/worker.h"

namespace splitplane::datapath {
namespace {

using namespace std::chrono_literals;
using test::cycles_of;
using test::kLost;
using test::sleepy;
using Clock = std::chrono::steady_clock;

// A worker on a real driver, in one process with its sender.
struct PortSleep : testing::Test {
  ~PortSleep() override { end(); }
  void begin(Port& port) {
    function_.emplace(EthSource{port.id(), 0}, EthSink{port.id(), 0}, stats_);
    thread_ = std::thread([this] { run_worker(*function_, power_, mailbox_, stats_, stop_); });
  }
  void end() {
    stop_.store(true);
    power_.wakeup().wake();
    if (thread_.joinable()) thread_.join();
  }
  // Sends one packet by `send` at a random moment and waits until the worker has taken it, about a thousand times.
  // Returns the longest wait.
  template <class Send>
  Clock::duration longest_wait(unsigned cycles, Send send) {
    std::mt19937 random(3);
    Clock::duration longest{};
    for (unsigned i = 0; i < cycles; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
      const std::uint64_t before = stats_.received_total();
      const auto sent = Clock::now();
      send();
      while (stats_.received_total() == before && Clock::now() - sent < 2s) std::this_thread::yield();
      longest = std::max(longest, Clock::now() - sent);
    }
    return longest;
  }

  test::Pool pool_{4096};
  WorkerPower power_{sleepy()};
  Mailbox mailbox_{&power_.wakeup()};
  WorkerStats stats_;
  std::atomic<bool> stop_{false};
  std::optional<L2fwd<EthSource, EthSink>> function_;
  std::thread thread_;
};

// A worker without packets of its own, which makes the rounds of another.
struct IdleHost {
  IdleHost() : thread([this] { run_worker(function, power, mailbox, stats, stop); }) {}
  ~IdleHost() {
    stop.store(true);
    power.wakeup().wake();
    thread.join();
  }
  struct Function {
    std::array<Lookahead<RingSource>, 1> lanes;
    std::array<Lookahead<RingSource>, 1>& queues() { return lanes; }
    void process(Lookahead<RingSource>&, Burst&) {}
    void flush() {}
  };
  test::Ring ring{64};
  Function function{{Lookahead<RingSource>(RingSource{ring.get()})}};
  WorkerPower power{sleepy()};
  Mailbox mailbox{&power.wakeup()};
  WorkerStats stats;
  std::atomic<bool> stop{false};
  std::thread thread;
};

// vhost and virtio_user: two drivers with interrupts.
struct VhostSleep : PortSleep {
  void SetUp() override {
#ifdef SPLITPLANE_TSAN
    GTEST_SKIP() << "SKIPPED: the two drivers share rings whose order ThreadSanitizer cannot see in DPDK's own library";
#endif
    socket_ = testing::TempDir() + test::unique_name("sleep") + std::to_string(::getpid()) + ".sock";
    number_ = test::unique_name("7");
    vhost_ = open("net_vhost" + number_ + ",iface=" + socket_ + ",queues=1");
    user_ = open("net_virtio_user" + number_ + ",path=" + socket_);
  }
  std::unique_ptr<Port> open(const std::string& device) {
    auto port = Port::open({.name = "p", .device = device}, pool_.get());
    if (!port) throw std::runtime_error(port.error().message);
    return *std::move(port);
  }
  void TearDown() override { end(); }

  // Sends one packet from this port and drops what came back before.
  void send(Port& from) {
    rte_mbuf* m = pool_.make(test::Bytes(64, 0x5a));
    while (rte_eth_tx_burst(from.id(), 0, &m, 1) == 0) std::this_thread::yield();
    std::array<rte_mbuf*, 32> back{};
    rte_pktmbuf_free_bulk(back.data(), rte_eth_rx_burst(from.id(), 0, back.data(), 32));
  }
  // Sends one packet and waits until it is back; how long that took.
  Clock::duration round_trip() {
    rte_mbuf* m = pool_.make(test::Bytes(64, 0x5a));
    const auto sent = Clock::now();
    while (rte_eth_tx_burst(user_->id(), 0, &m, 1) == 0) std::this_thread::yield();
    rte_mbuf* back = nullptr;
    while (rte_eth_rx_burst(user_->id(), 0, &back, 1) == 0 && Clock::now() - sent < 2s) std::this_thread::yield();
    rte_pktmbuf_free(back);
    return Clock::now() - sent;
  }

  std::string socket_, number_;
  std::unique_ptr<Port> vhost_, user_;
};

TEST_F(VhostSleep, a_packet_ends_the_sleep_of_the_host_of_a_worker_on_vhost) {
  begin(*vhost_);
  round_trip();
  IdleHost host;
  const auto loop = [](WorkerPower& power, Mailbox& mailbox) {
    return LodgingLoop{power, [&mailbox](const std::function<void()>& command, std::chrono::milliseconds patience) {
                         return mailbox.execute(command, patience);
                       }};
  };
  for (int stay = 0; stay < 10; ++stay) {
    ASSERT_EQ(lodge(loop(power_, mailbox_), loop(host.power, host.mailbox)), Lodged::kDone);
    Clock::duration longest{};
    std::mt19937 random(stay);
    const auto sleeps = host.stats.sleeps.get();
    for (unsigned i = 0; i < 50; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      longest = std::max(longest, round_trip());
    }
    EXPECT_LT(longest, kLost) << "stay " << stay;
    EXPECT_GT(host.stats.sleeps.get(), sleeps);
    ASSERT_TRUE(bring_home(loop(power_, mailbox_), loop(host.power, host.mailbox)));
    for (unsigned i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      longest = std::max(longest, round_trip());
    }
    EXPECT_LT(longest, kLost) << "at home after stay " << stay;
  }
  end();
}

TEST_F(VhostSleep, a_packet_ends_the_sleep_of_a_worker_on_vhost) {
  begin(*vhost_);
  round_trip();  // the connection is up then
  Clock::duration longest{};
  std::mt19937 random(2);
  for (unsigned i = 0; i < cycles_of(2000); ++i) {
    const std::uint64_t moment = rte_rdtsc() + random() % (60 * rte_get_tsc_hz() / 1'000'000);
    while (rte_rdtsc() < moment) rte_pause();
    longest = std::max(longest, round_trip());
  }
  end();
  RecordProperty("longest_us", std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(longest).count()));
  EXPECT_TRUE(power_.machine().interrupts) << "vhost has them";
  EXPECT_LT(longest, kLost);
  EXPECT_GT(stats_.wakeups.get(), 500U);
}

TEST_F(VhostSleep, a_packet_ends_the_sleep_of_a_worker_on_vhost_after_its_peer_came_back) {
  begin(*vhost_);
  round_trip();
  EXPECT_LT(longest_wait(200, [&] { send(*user_); }), kLost);
  user_.reset();
  user_ = open("net_virtio_user" + number_ + ",path=" + socket_);
  round_trip();  // packets may be lost while the two ends connect
  round_trip();
  const std::uint64_t before = stats_.wakeups.get();
  EXPECT_LT(longest_wait(200, [&] { send(*user_); }), kLost);
  EXPECT_GT(stats_.wakeups.get(), before + 100);
}

TEST_F(VhostSleep, a_packet_ends_the_sleep_of_a_worker_on_virtio_user_also_after_a_restart_of_its_port) {
  begin(*user_);
  std::this_thread::sleep_for(10ms);
  EXPECT_LT(longest_wait(500, [&] { send(*vhost_); }), kLost);
  EXPECT_TRUE(power_.machine().interrupts) << "virtio_user has them";
  EXPECT_GT(stats_.wakeups.get(), 250U);
  ASSERT_TRUE(mailbox_.execute([&] {
    EXPECT_EQ(rte_eth_dev_stop(user_->id()), 0);
    EXPECT_EQ(rte_eth_dev_start(user_->id()), 0);
  }));
  std::this_thread::sleep_for(50ms);
  const std::uint64_t before = stats_.wakeups.get();
  EXPECT_LT(longest_wait(500, [&] { send(*vhost_); }), kLost);
  EXPECT_GT(stats_.wakeups.get(), before + 250);
}

// The kernel's end of the tap: frames sent there are what the worker receives.
TEST_F(PortSleep, a_packet_ends_the_sleep_of_a_worker_on_tap) {
  const std::string name = "sptap" + std::to_string(::getpid() % 10000);
  auto tap = Port::open({.name = "tap", .device = "net_tap" + test::unique_name("7") + ",iface=" + name}, pool_.get());
  if (!tap) GTEST_SKIP() << "SKIPPED: " << tap.error().message;
  const int raw = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  ASSERT_GE(raw, 0);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
  ASSERT_GT(to.sll_ifindex, 0);
  begin(**tap);
  std::this_thread::sleep_for(50ms);
  const test::Bytes frame(64, 0x5a);
  const Clock::duration longest = longest_wait(500, [&] {
    EXPECT_EQ(::sendto(raw, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 64);
  });
  end();
  ::close(raw);
  EXPECT_TRUE(power_.machine().interrupts) << "tap's descriptor announces them";
  EXPECT_LT(longest, kLost);
  EXPECT_GT(stats_.wakeups.get(), 250U);
}

}  // namespace
}  // namespace splitplane::datapath
