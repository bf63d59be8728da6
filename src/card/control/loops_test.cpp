#include "card/control/loops.h"

#include <gtest/gtest.h>

#include <thread>

#include "card/control/ports.h"
#include "card/control/spec.h"
#include "card/control/test_config.h"

namespace splitplane::app {
namespace {

// The loops of a card without devices. The tests of this room have one lcore, so at most one loop is launched.
class CardLoopsTest : public testing::Test {
 protected:
  void make(unsigned cores) {
    config.cores.assign(cores, 0);
    loops.emplace(config);
    ASSERT_TRUE(ports.open(SOCKET_ID_ANY, {}));
    ASSERT_TRUE(ports.make_endpoints());
    const auto spec = load_spec(config);
    ASSERT_TRUE(spec) << spec.error().message;
    for (unsigned core = 0; core < cores; ++core) {
      auto card = nic::Card::make(*spec, {.capacity = 100, .core = core, .cores = cores});
      ASSERT_TRUE(card) << card.error().message;
      loops->add(*std::move(card));
    }
    const auto connected = loops->connect(ports.endpoints());
    ASSERT_TRUE(connected) << connected.error().message;
  }

  CardConfig config = test::unconnected_card("loops");
  CardPorts ports{config};
  std::optional<CardLoops> loops;
};

TEST_F(CardLoopsTest, a_command_is_executed_on_the_thread_of_a_running_loop) {
  make(1);
  std::thread::id on;
  const auto execute = [&] { return loops->execute(0, [&] { on = std::this_thread::get_id(); }); };
  ASSERT_TRUE(execute());
  EXPECT_EQ(on, std::this_thread::get_id()) << "the loop does not run yet";
  ASSERT_TRUE(loops->launch());
  ASSERT_TRUE(execute());
  EXPECT_NE(on, std::this_thread::get_id());
  loops->stop();
  EXPECT_FALSE((*loops)[0].thread.running);
  EXPECT_GT((*loops)[0].thread.cpu_cycles(), 0U);
  ASSERT_TRUE(execute());
  EXPECT_EQ(on, std::this_thread::get_id());
  loops->stop();  // a second call has no effect
}

TEST_F(CardLoopsTest, one_core_has_the_cards_name_and_several_have_numbers) {
  make(1);
  EXPECT_EQ((*loops)[0].name, "loops");
  EXPECT_TRUE((*loops)[0].alone);
}

TEST_F(CardLoopsTest, several_cores_share_the_bearers_of_one_card) {
  make(2);
  ASSERT_EQ(loops->size(), 2U);
  EXPECT_EQ((*loops)[1].name, "loops.1");
  EXPECT_TRUE((*loops)[0].together && (*loops)[1].together);
  std::vector<nic::CardBearer> bearers;
  for (std::uint32_t id = 1; id <= 20; ++id) {
    bearers.push_back({.id = BearerId{id}, .teid = Teid{id}});
  }
  ASSERT_TRUE(loops->cards().install(bearers, false));
  std::size_t served = 0;
  for (unsigned core = 0; core < loops->size(); ++core) {
    EXPECT_GT((*loops)[core].card->bearer_count(), 0U);
    served += (*loops)[core].card->bearer_count();
  }
  EXPECT_EQ(served, bearers.size());
}

TEST_F(CardLoopsTest, a_change_reaches_every_loop_and_the_lock_is_free_afterwards) {
  make(2);
  std::mutex mutex;
  std::vector<std::string> reached;
  loops->on_all(mutex, [&](CardLoop& loop) { reached.push_back(loop.name); });
  EXPECT_EQ(reached, (std::vector<std::string>{"loops.0", "loops.1"}));
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_F(CardLoopsTest, a_card_loop_serves_the_endpoint_that_it_was_given_last) {
  make(1);
  std::mutex mutex;
  loops->on_all(mutex, [](CardLoop& loop) {
    const auto is_ring = [&](unsigned port) {
      return std::holds_alternative<datapath::RingSource>(loop.alone->queues()[port].kind);
    };
    EXPECT_TRUE(is_ring(2));
    loop.set_endpoint(2, {.port = nic::kNoDevice});
    EXPECT_FALSE(is_ring(2));
    EXPECT_TRUE(is_ring(1)) << "the other ports are as before";
  });
}

}  // namespace
}  // namespace splitplane::app
