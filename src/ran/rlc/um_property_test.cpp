// Two UM entities over an air. Without loss each SDU arrives exactly once in any order. With loss it arrives at most
// once and intact. Nothing is held once t-Reassembly has expired.
#include <set>

#include "ran/rlc/test_air.h"
#include "ran/rlc/um_entity.h"

namespace splitplane::ran::rlc::test {
namespace {

void run_um(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const bool lossy = random.percent(50);
  const UmConfig config{.sn_bits = static_cast<std::uint8_t>(random.percent(50) ? 6 : 12), .t_reassembly = 60};
  // Without loss, few SDUs are under way, so the window of SN 6 does not pass over them. None is later than
  // t-Reassembly.
  const Time delay = random() % (config.sn_bits == 6 && !lossy ? 8 : 50);
  const AirQuality quality =
      lossy ? AirQuality{random() % 30, random() % 4, random() % 20, delay} : AirQuality{0, 0, random() % 20, delay};
  Home home;
  UmSend<Buffer> sender(config, home.memory);
  UmReceive<Buffer> receiver(config, home.memory);
  constexpr std::uint32_t kBegins[] = {0, 60, 4090, 0xFFFFFFF0U};
  const std::uint32_t begin = kBegins[random() % 4];
  sender.restart_at(begin);
  receiver.restart_at(begin);
  Air air(random, quality);
  std::map<std::uint32_t, Bytes> sdus;
  std::set<std::uint32_t> received;
  const auto arrive = [&](const Bytes& pdu, Time now) {
    receiver.receive(home.make(pdu), now, [&](auto parts) {
      const Bytes sdu = joined(parts);
      const auto it = sdus.find(number_of(sdu));
      ASSERT_NE(it, sdus.end());
      ASSERT_EQ(it->second, sdu);
      received.insert(it->first);
    });
  };
  std::uint32_t ordinal = 0;
  for (Time now = 0; now < 1000; ++now) {
    receiver.tick(now);
    if (now < 700 && random.percent(60)) {
      Bytes sdu = numbered(ordinal, 4 + random() % 300);
      Buffer buffer = home.make(sdu);
      if (sender.send(buffer)) sdus.emplace(ordinal++, std::move(sdu));
    }
    for (unsigned n = random() % 4; n != 0; --n) {
      wire::test::HeapOctets out(random() % 400);
      const auto pdu = sender.pull(Octets(out).size());
      if (const std::size_t bytes = pdu.write(out.all()); bytes != 0) {
        const Octets all = Octets(out).first(bytes);
        air.put({all.begin(), all.end()}, now);
      }
    }
    air.arrive(now, [&](const Bytes& pdu) { arrive(pdu, now); });
    ASSERT_LE(receiver.next_highest() - receiver.next_reassembly(), window_size(config.sn_bits));
  }
  EXPECT_EQ(sender.waiting(), 0U);
  EXPECT_EQ(receiver.counters().contradictions, 0U);
  if (!lossy) {
    EXPECT_EQ(received.size(), sdus.size());
    EXPECT_EQ(receiver.held(), 0U);
    EXPECT_TRUE(home.memory.unused());
    EXPECT_EQ(home.pool.live(), 0U);
  }
  EXPECT_LE(receiver.held(), 1U);  // at most a missing tail that nothing follows
}

TEST(UmProperty, each_sdu_at_most_once_and_all_of_them_without_loss) {
  const std::uint64_t seed = from_environment("SPLITPLANE_SEED", 1);
  const std::uint64_t rounds = from_environment("SPLITPLANE_RLC_ROUNDS", 60);
  for (std::uint64_t i = 0; i < rounds && !HasFailure(); ++i) run_um(seed + i);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
