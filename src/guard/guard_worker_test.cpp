// A worker of the guard on a real thread between two ports, with commands while packets flow.
#include "guard/guard_worker.h"

#include <gtest/gtest.h>
#include <rte_eth_ring.h>

#include <chrono>
#include <thread>

#include "engine/port.h"
#include "engine/test_lcore.h"
#include "guard/state/test_memory.h"
#include "guard/test_bump.h"

namespace splitplane::guard {
namespace {

using namespace test;
using namespace std::chrono_literals;
using datapath::EthSink;
using datapath::EthSource;

// A port of net_ring whose two rings the test holds.
class RingPort {
 public:
  RingPort() : in_(512), out_(512), name_(datapath::test::unique_name("guard_ring")) {
    rte_ring* in = in_.get();
    rte_ring* out = out_.get();
    port_ = rte_eth_from_rings(name_.c_str(), &in, 1, &out, 1, 0);
    EXPECT_GE(port_, 0);
    rte_eth_conf conf{};
    EXPECT_EQ(rte_eth_dev_configure(id(), 1, 1, &conf), 0);
    EXPECT_EQ(rte_eth_rx_queue_setup(id(), 0, 512, 0, nullptr, pool_.get()), 0);
    EXPECT_EQ(rte_eth_tx_queue_setup(id(), 0, 512, 0, nullptr), 0);
    EXPECT_EQ(rte_eth_dev_start(id()), 0);
  }
  ~RingPort() {
    rte_eth_dev_stop(id());
    rte_eth_dev_close(id());
  }
  [[nodiscard]] std::uint16_t id() const { return static_cast<std::uint16_t>(port_); }
  void enter(const Bytes& octets) { ASSERT_EQ(rte_ring_sp_enqueue(in_.get(), pool_.make(octets)), 0); }
  // What came out, once there are `n`.
  std::vector<Bytes> leave(std::size_t n) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (out_.count() < n && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
    return out_.drain();
  }

 private:
  datapath::test::Pool pool_;
  datapath::test::Ring in_, out_;
  std::string name_;
  int port_ = -1;
};

class GuardWorkerTest : public testing::Test {
 protected:
  GuardWorkerTest()
      : settings_(small_settings()),
        sources_(SourceTable::memory_bytes(settings_.sources)),
        flows_(FlowTable::memory_bytes(settings_.flows)),
        keys_(CookieJar::random_keys()),
        worker_(settings_, {sources_.span(), flows_.span(), &keys_, 1},
                {EthSource{client_.id(), 0}, EthSource{server_.id(), 0}, EthSink{client_.id(), 0, true},
                 EthSink{server_.id(), 0, true}}) {}
  void run(const power::Settings& policy) {
    worker_.power().set(policy);
    ASSERT_TRUE(worker_.start(GuardWorker::on_lcore(1)));
  }

  RingPort client_, server_;
  GuardSettings settings_;
  TableMemory sources_, flows_;
  CookieJar::Keys keys_;
  GuardWorker worker_;
};

TEST_F(GuardWorkerTest, challenges_proves_and_passes_between_two_ports) {
  ASSERT_TRUE(worker_.put_server(rule(Mode::kAuth))) << "before it runs";
  run({.kind = power::Kind::busy});
  const Frame syn;
  client_.enter(write(syn));
  const auto answers = client_.leave(1);
  ASSERT_EQ(answers.size(), 1U);
  const ReadBack answer = read_back(answers[0]);
  EXPECT_EQ(answer.frame.flags, kSyn | kAck);
  Frame rst = answer.frame.back();
  rst.flags = kRst;
  rst.sequence = answer.frame.acknowledgment;
  client_.enter(write(rst));
  client_.enter(write(syn));
  EXPECT_EQ(server_.leave(1), std::vector<Bytes>{write(syn)});
  Frame back = syn.back();
  back.flags = kSyn | kAck;
  server_.enter(write(back));
  EXPECT_EQ(client_.leave(1), std::vector<Bytes>{write(back)});
  worker_.stop();
  const GuardStats& stats = worker_.stats();
  EXPECT_EQ(stats.of(Side::kClient, Outcome::challenged_rst).get(), 1U);
  EXPECT_EQ(stats.of(Side::kClient, Outcome::proved_rst).get(), 1U);
  EXPECT_EQ(stats.of(Side::kClient, Outcome::passed_proven).get(), 1U);
  EXPECT_EQ(stats.of(Side::kServer, Outcome::passed_server).get(), 1U);
  EXPECT_EQ(stats.sum(Side::kClient), worker_.worker_stats().received[0].get());
  EXPECT_EQ(stats.sum(Side::kServer), worker_.worker_stats().received[1].get());
}

TEST_F(GuardWorkerTest, rules_change_while_it_runs_and_sleeps) {
  run({.kind = power::Kind::yield, .yield = {3, 1000}});
  const Frame syn;
  client_.enter(write(syn));
  EXPECT_EQ(server_.leave(1).size(), 1U) << "nothing is protected";
  ASSERT_TRUE(worker_.put_server(rule(Mode::kAuth)));
  client_.enter(write(syn));
  EXPECT_EQ(client_.leave(1).size(), 1U);
  EXPECT_EQ(worker_.stats().servers[0].armed.get(), 1U);
  ServerRule wrong = rule(Mode::kAuth);
  wrong.prefix = 60;
  EXPECT_FALSE(worker_.put_server(wrong));
  ASSERT_TRUE(worker_.remove_server("web"));
  EXPECT_FALSE(worker_.remove_server("web"));
  client_.enter(write(syn));
  EXPECT_EQ(server_.leave(1).size(), 1U);
  std::uint32_t seconds = 0;
  EXPECT_TRUE(worker_.execute([&](WorkerGuard& guard) { seconds = guard.time.seconds; }));
  worker_.stop();
  EXPECT_EQ(worker_.worker_stats().received_total(), 3U);
}

TEST_F(GuardWorkerTest, a_thread_that_cannot_start_is_said_and_the_worker_may_be_started_again) {
  EXPECT_FALSE(worker_.start({.start = [](const std::function<void()>&) { return false; }, .join = [] {}}));
  worker_.stop();
  run({.kind = power::Kind::busy});
  worker_.stop();
  run({.kind = power::Kind::busy});
  client_.enter(write(Frame{}));
  EXPECT_EQ(server_.leave(1).size(), 1U);
}

}  // namespace
}  // namespace splitplane::guard
