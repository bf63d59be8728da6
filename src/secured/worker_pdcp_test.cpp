// The PDCP of two workers against each other: order, timers, and the account of what is held. What crosses between them
// is judged by tests/pdcp.
#include "secured/worker_pdcp.h"

#include <gtest/gtest.h>

#include <functional>

#include "engine/test_environment.h"
#include "secured/test_key_file.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;

constexpr std::uint64_t kMs = 1000;  // ticks

struct WorkerPdcpTest : testing::Test {
  std::unique_ptr<WorkerPdcp> end(Direction sends, std::size_t max_held = 64) {
    auto made = WorkerPdcp::create({.sends = sends, .pool = pool.get(), .max_held = max_held, .ticks_per_ms = kMs},
                                   file.keys());
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  static std::unique_ptr<SecuredBearer> bearer(WorkerPdcp& at, Count tx_next = Count{0}, Count rx_deliv = Count{0}) {
    auto made = at.make({.id = BearerId{7}, .security = ran::SecurityConfig{.key = 1, .t_reordering_ms = 10}}, tx_next,
                        rx_deliv);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  // The PDU of an SDU of three octets: SDAP header, and twice `n`.
  rte_mbuf* pdu(unsigned n) {
    const auto octet = static_cast<std::uint8_t>(n);
    gnb->outgoing.add(*sender, pool.make({0x09, octet, octet}));
    gnb->protect(gnb->outgoing);
    EXPECT_EQ(gnb->outgoing.item[0].outcome, ran::pdcp::TxOutcome::sent);
    gnb->outgoing.size = 0;
    return gnb->outgoing.item[0].buffer.detach();
  }
  // Hands PDUs to the receiver in one burst.
  void receive(std::initializer_list<rte_mbuf*> pdus, std::uint64_t now = 0) {
    for (rte_mbuf* one : pdus) ue->incoming.add(*receiver, one);
    const auto call = deliver();
    ue->receive(ue->incoming, now, call);
    for (unsigned i = 0; i < ue->incoming.size; ++i) ue->incoming.item[i].pdu.release();
    ue->incoming.size = 0;
  }
  std::function<void(BearerId, MbufBuffer)> deliver() {
    return [this](BearerId id, MbufBuffer sdu) {
      EXPECT_EQ(id.value, 7U);
      EXPECT_EQ(sdu.size(), 3U);
      delivered.push_back(sdu.data()[1]);
    };
  }
  void TearDown() override {
    if (receiver) ue->detach(*receiver);
    gnb->detach(*sender);
  }

  const test::TestKeyFile file{2};
  test::Pool pool;
  std::unique_ptr<WorkerPdcp> gnb = end(Direction::kDownlink), ue = end(Direction::kUplink);
  std::unique_ptr<SecuredBearer> sender = bearer(*gnb), receiver = bearer(*ue);
  std::vector<unsigned> delivered;
};

TEST_F(WorkerPdcpTest, what_is_in_order_is_delivered_at_once) {
  receive({pdu(1), pdu(2), pdu(3)});
  EXPECT_EQ(delivered, (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(ue->held(), 0U);
  EXPECT_TRUE(ue->idle());
}

TEST_F(WorkerPdcpTest, what_comes_too_early_waits_for_what_is_missing) {
  rte_mbuf* const first = pdu(1);
  receive({pdu(2), pdu(3)});
  EXPECT_TRUE(delivered.empty());
  EXPECT_EQ(ue->held(), 2U);
  EXPECT_FALSE(ue->idle());
  receive({first});
  EXPECT_EQ(delivered, (std::vector<unsigned>{1, 2, 3}));
  EXPECT_EQ(ue->held(), 0U);
  EXPECT_TRUE(ue->idle()) << "t-Reordering has stopped";
}

TEST_F(WorkerPdcpTest, but_no_longer_than_t_reordering) {
  rte_pktmbuf_free(pdu(1));
  receive({pdu(2)}, 5 * kMs);
  ue->serve(14 * kMs, deliver());
  EXPECT_TRUE(delivered.empty());
  EXPECT_LE(ue->next_work(), 16 * kMs);
  ue->serve(16 * kMs, deliver());
  EXPECT_EQ(delivered, std::vector<unsigned>{2});
  EXPECT_EQ(ue->held(), 0U);
  EXPECT_TRUE(ue->idle());
}

TEST_F(WorkerPdcpTest, while_the_peer_cannot_send_t_reordering_waits_but_not_for_ever) {
  rte_pktmbuf_free(pdu(1));
  receive({pdu(2)}, 5 * kMs);
  ue->pause_reordering(*receiver, 10 * kMs);
  ue->serve(5'000 * kMs, deliver());
  EXPECT_TRUE(delivered.empty());
  ue->serve(10'012 * kMs, deliver());
  EXPECT_EQ(delivered, std::vector<unsigned>{2}) << "no PDU has come since";
  rte_pktmbuf_free(pdu(3));
  receive({pdu(4)}, 10'020 * kMs);
  ue->pause_reordering(*receiver, 10'021 * kMs);
  receive({pdu(5)}, 10'040 * kMs);
  ue->serve(10'049 * kMs, deliver());
  EXPECT_EQ(delivered, std::vector<unsigned>{2}) << "from the next PDU on it is t-Reordering again";
  ue->serve(10'052 * kMs, deliver());
  EXPECT_EQ(delivered, (std::vector<unsigned>{2, 4, 5}));
  ue->pause_reordering(*receiver, 10'060 * kMs);
  EXPECT_TRUE(ue->idle()) << "nothing is held";
}

TEST_F(WorkerPdcpTest, a_bearer_that_ends_gives_back_what_it_held) {
  rte_pktmbuf_free(pdu(1));
  receive({pdu(2), pdu(3)});
  EXPECT_EQ(ue->detach(*receiver), 2U);
  EXPECT_EQ(receiver->received_until, 3U);
  receiver.reset();
  EXPECT_EQ(ue->held(), 0U);
  EXPECT_TRUE(ue->idle());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(WorkerPdcpTest, counts_go_on_where_they_are_said_to) {
  TearDown();
  sender = bearer(*gnb, Count{300}), receiver = bearer(*ue, Count{0}, Count{300});
  receive({pdu(1)});
  EXPECT_EQ(delivered, std::vector<unsigned>{1});
  EXPECT_EQ(sender->entity.tx().tx_next(), 301U);
}

TEST_F(WorkerPdcpTest, with_all_memory_in_use_a_pdu_is_refused) {
  ue->detach(*receiver);
  receiver.reset();
  ue = end(Direction::kUplink, 1);
  receiver = bearer(*ue);
  rte_pktmbuf_free(pdu(1));
  rte_mbuf* const second = pdu(2);
  rte_mbuf* const third = pdu(3);
  ue->incoming.add(*receiver, second);
  ue->incoming.add(*receiver, third);
  const auto call = deliver();
  ue->receive(ue->incoming, 0, call);
  EXPECT_EQ(ue->incoming.item[0].outcome, ran::pdcp::RxOutcome::accepted);
  EXPECT_EQ(ue->incoming.item[1].outcome, ran::pdcp::RxOutcome::no_memory);
  ue->incoming.item[1].pdu.release();
  ue->incoming.size = 0;
  EXPECT_EQ(ue->held(), 1U);
}

}  // namespace
}  // namespace splitplane::datapath
