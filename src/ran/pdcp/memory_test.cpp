#include "ran/pdcp/memory.h"

#include "ran/pdcp/test_entities.h"

namespace splitplane::ran::pdcp::test {
namespace {

// A data PDU without security.
Bytes plain(std::uint32_t sn) {
  return {static_cast<std::uint8_t>(0x80 | sn >> 16), static_cast<std::uint8_t>(sn >> 8), static_cast<std::uint8_t>(sn),
          7};
}

struct Clear {
  Keys keys;
  explicit Clear(Home& home) : keys(home.keys(1, CipherAlgorithm::nea0)) {}
  [[nodiscard]] Security security() const { return {keys.cipher.get(), nullptr}; }
};

TEST(PdcpMemory, holds_its_pages_back_from_a_bearer_that_has_its_share) {
  Pool<int> pool(64);
  EXPECT_TRUE(may_take(pool, 31, 1));
  EXPECT_TRUE(may_take(pool, 32, 32));
  EXPECT_FALSE(may_take(pool, 64, 1));
  std::vector<int*> taken;
  while (pool.available() > 8) taken.push_back(pool.take());
  EXPECT_FALSE(may_take(pool, 1, 1)) << "an eighth is for bearers that have none";
  EXPECT_TRUE(may_take(pool, 0, 1));
  while (pool.available() > 4) taken.push_back(pool.take());
  EXPECT_FALSE(may_take(pool, 0, 1)) << "a sixteenth is for SDUs that move";
  EXPECT_TRUE(may_take(pool, 9, 4, Claim::kMoves));
  EXPECT_FALSE(may_take(pool, 9, 5, Claim::kMoves));
}

TEST(PdcpMemory, peers_that_leave_gaps_do_not_stop_other_bearers) {
  Home home(MemorySizes{});
  const Clear clear(home);
  std::vector<std::unique_ptr<Side>> evil;
  for (int bearer = 0; bearer < 40; ++bearer) {
    evil.push_back(std::make_unique<Side>(home, config_of(18), clear.security()));
    for (std::uint32_t directory = 31; directory < 32; --directory) {
      static_cast<void>(evil.back()->receive(plain(directory * 4096 + 70)));
    }
  }
  Side victim(home, config_of(18), clear.security());
  EXPECT_EQ(victim.send(pattern(50)), TxOutcome::sent);
  EXPECT_EQ(victim.receive(plain(1)), RxOutcome::accepted);
}

TEST(PdcpMemory, suspended_bearers_leave_waiting_pages_to_others) {
  Home home(MemorySizes{});
  const Clear clear(home);
  Config config = config_of(18);
  config.max_waiting = 1 << 20;
  std::vector<std::unique_ptr<Side>> sides;
  for (int i = 0; i < 12; ++i) {
    sides.push_back(std::make_unique<Side>(home, config, clear.security()));
    ASSERT_EQ(sides.back()->entity.suspend(*sides.back()), Refusal::kNone);
    ASSERT_EQ(sides.back()->send({1}), TxOutcome::waiting) << "bearer " << i;
    for (int j = 0; j < 2000; ++j) static_cast<void>(sides.back()->send({1}));
  }
}

}  // namespace
}  // namespace splitplane::ran::pdcp::test
