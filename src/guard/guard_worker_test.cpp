// A worker of the guard on a real thread between two ports, with commands while packets flow.
#include "guard/guard_worker.h"

#include <gtest/gtest.h>
#include <rte_ethdev.h>

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

// A port of net_ring gives back what is sent to it. So each way of a side has a port of its own: the test sends where
// the worker receives, and receives where the worker sends.
class RingPort {
 public:
  RingPort() {
    const auto name = "net_ring_" + datapath::test::unique_name("guard");
    auto port = datapath::Port::open({.name = name, .device = name}, pool_.get());
    EXPECT_TRUE(port) << port.error().message;
    port_ = *std::move(port);
  }
  ~RingPort() {
    (void)leave(0);
    port_.reset();
  }
  [[nodiscard]] std::uint16_t id() const { return port_->id(); }
  void enter(const Bytes& octets) {
    rte_mbuf* m = pool_.make(octets);
    ASSERT_EQ(rte_eth_tx_burst(id(), 0, &m, 1), 1U);
  }
  // What came, once there are `n`, or after ten seconds.
  std::vector<Bytes> leave(std::size_t n) {
    std::vector<Bytes> all;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    do {
      rte_mbuf* m = nullptr;
      while (rte_eth_rx_burst(id(), 0, &m, 1) == 1) {
        const auto* const at = rte_pktmbuf_mtod(m, const std::uint8_t*);
        all.emplace_back(at, at + m->data_len);
        rte_pktmbuf_free(m);
      }
    } while (all.size() < n && std::chrono::steady_clock::now() < deadline);
    return all;
  }

 private:
  datapath::test::Pool pool_;
  std::unique_ptr<datapath::Port> port_;
};

class GuardWorkerTest : public testing::Test {
 protected:
  GuardWorkerTest()
      : settings_(small_settings()),
        sources_(SourceTable::memory_bytes(settings_.sources)),
        flows_(FlowTable::memory_bytes(settings_.flows)),
        keys_(CookieJar::random_keys()),
        worker_(settings_, {sources_.span(), flows_.span(), &keys_, 1},
                {EthSource{client_in_.id(), 0}, EthSource{server_in_.id(), 0}, EthSink{client_out_.id(), 0, true},
                 EthSink{server_out_.id(), 0, true}}) {}
  void run(const power::Settings& policy) {
    worker_.power().set(policy);
    ASSERT_TRUE(worker_.start(GuardWorker::on_lcore(1)));
  }

  RingPort client_in_, server_in_, client_out_, server_out_;
  GuardSettings settings_;
  TableMemory sources_, flows_;
  CookieJar::Keys keys_;
  GuardWorker worker_;
};

TEST_F(GuardWorkerTest, challenges_proves_and_passes_between_two_ports) {
  ASSERT_TRUE(worker_.put_server(rule(Mode::kAuth))) << "before it runs";
  run({.kind = power::Kind::busy});
  const Frame syn;
  client_in_.enter(write(syn));
  const auto answers = client_out_.leave(1);
  ASSERT_EQ(answers.size(), 1U);
  const ReadBack answer = read_back(answers[0]);
  EXPECT_EQ(answer.frame.flags, kSyn | kAck);
  Frame rst = answer.frame.back();
  rst.flags = kRst;
  rst.sequence = answer.frame.acknowledgment;
  client_in_.enter(write(rst));
  client_in_.enter(write(syn));
  EXPECT_EQ(server_out_.leave(1), std::vector<Bytes>{write(syn)});
  Frame back = syn.back();
  back.flags = kSyn | kAck;
  server_in_.enter(write(back));
  EXPECT_EQ(client_out_.leave(1), std::vector<Bytes>{write(back)});
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
  client_in_.enter(write(syn));
  EXPECT_EQ(server_out_.leave(1).size(), 1U) << "nothing is protected";
  ASSERT_TRUE(worker_.put_server(rule(Mode::kAuth)));
  client_in_.enter(write(syn));
  EXPECT_EQ(client_out_.leave(1).size(), 1U);
  EXPECT_EQ(worker_.stats().servers[0].armed.get(), 1U);
  ServerRule wrong = rule(Mode::kAuth);
  wrong.prefix = 60;
  EXPECT_FALSE(worker_.put_server(wrong));
  ASSERT_TRUE(worker_.remove_server("web"));
  EXPECT_FALSE(worker_.remove_server("web"));
  client_in_.enter(write(syn));
  EXPECT_EQ(server_out_.leave(1).size(), 1U);
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
  client_in_.enter(write(Frame{}));
  EXPECT_EQ(server_out_.leave(1).size(), 1U);
}

}  // namespace
}  // namespace splitplane::guard
