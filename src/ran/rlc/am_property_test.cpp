// Two AM entities over a bad air. When delivery is eventual, each SDU is delivered exactly once and intact, a STATUS
// never acknowledges a missing SDU, and all memory is given back. SPLITPLANE_SEED sets the first seed,
// SPLITPLANE_RLC_ROUNDS the number of rounds.
#include <set>

#include "ran/rlc/test_air.h"

namespace splitplane::ran::rlc::test {
namespace {

struct Case {
  AmConfig config;
  MemorySizes memory = kSmall;
  AirQuality air;
  std::uint32_t begin = 0;
  std::uint32_t largest_grant = 3000;
};

Case random_case(Random& random) {
  Case c;
  c.config = random.percent(50) ? am12() : am18();
  constexpr std::uint16_t kPolls[] = {0, 1, 4, 32};
  c.config.poll_pdu = kPolls[random() % 4];
  c.config.poll_byte = random.percent(30) ? 3000 : 0;
  c.config.t_status_prohibit = random.percent(30) ? 0 : random() % 30;
  c.config.t_reassembly = random.percent(20) ? 0 : random() % 40;
  c.config.t_poll_retransmit = 5 + random() % 60;
  c.config.max_queued = 500;
  constexpr std::uint32_t kBegins[] = {0, 4000, 262100, 0xFFFFFF80U};
  c.begin = kBegins[random() % 4];
  constexpr std::uint32_t kGrants[] = {40, 200, 3000};
  c.largest_grant = kGrants[random() % 3];
  c.air = {.loss_percent = random() % 30,
           .burst_percent = random() % 4,
           .duplicate_percent = random() % 20,
           .most_delay = random.percent(30) ? 0 : random() % 30};
  if (random.percent(30)) {  // a sender that is short of everything
    c.memory.sent_pages = 3;
    c.memory.queue_pages = 3;
    c.memory.intervals = random() % 3;
    c.memory.directories = 6;
  }
  c.memory.segments = c.memory.assemblies = 20000;
  return c;
}

// One of the two entities, with the SDUs that it was given and what became of them.
class Peer {
 public:
  Peer(const Case& c, Random& random) : side(c.config, c.memory), random_(random), bits_(c.config.sn_bits) {
    side.entity->restart_at(c.begin);
  }
  void offer() {
    const Bytes sdu = numbered(accepted_, random_.percent(80) ? 4 + random_() % 100 : 4 + random_() % 2000);
    if (side.send(sdu)) sdus_.emplace(accepted_++, sdu);
  }
  void discard_one() {
    const std::uint32_t victim = accepted_ == 0 ? 0 : random_() % accepted_;
    if (!side.entity->discard(victim)) return;
    ASSERT_FALSE(numbers_.contains(victim)) << "an SDU that has an SN was discarded";
    sdus_.erase(victim);
  }
  Bytes pull(std::size_t grant, const Peer& other) {
    const std::uint32_t next = side.sender().next();
    const Bytes pdu = side.pull(grant);
    EXPECT_LE(pdu.size(), grant);
    if (side.sender().next() != next) {
      const auto ordinal = static_cast<std::uint32_t>(side.sender().last_ordinal());
      numbers_.emplace(ordinal, next);
      ordinals_.emplace(next, ordinal);
    }
    if (!pdu.empty() && !wire::rlc::is_am_data(pdu[0])) check_status(pdu, other);
    return pdu;
  }
  void receive(const Bytes& pdu, const Peer& other) {
    side.receive(pdu);
    for (const Bytes& sdu : std::exchange(side.delivered, {})) {
      const auto it = other.sdus_.find(number_of(sdu));
      ASSERT_NE(it, other.sdus_.end());
      ASSERT_EQ(it->second, sdu);
      ASSERT_TRUE(received_.insert(it->first).second) << "delivered twice";
    }
    side.release(random_() % 100);
  }
  [[nodiscard]] bool is_done(const Peer& other) const {
    return other.received_.size() == sdus_.size() && side.retx().unacked() == 0;
  }
  void check_notices() {
    side.release();
    std::set<std::uint32_t> unique(side.released.begin(), side.released.end());
    EXPECT_EQ(unique.size(), side.released.size()) << "notified twice";
    EXPECT_EQ(unique.size(), sdus_.size());
  }

  AmSide side;

 private:
  // All SDUs below ACK_SN that no NACK names were delivered here.
  void check_status(const Bytes& pdu, const Peer& other) const {
    const auto status = wire::rlc::parse_status(pdu, bits_);
    ASSERT_TRUE(status);
    const std::uint32_t base = side.receiver().next();
    const std::uint32_t ack = from_base(base, status->ack_sn, bits_);
    ASSERT_LE(ack - base, window_size(bits_));
    std::set<std::uint32_t> missing;
    wire::rlc::Nack nack;
    for (wire::rlc::NackCursor cursor(*status); cursor.next(nack);) {
      for (unsigned i = 0; i < nack.range; ++i) missing.insert(from_base(base, nack.sn, bits_) + i);
    }
    for (const std::uint32_t sn : missing) ASSERT_LT(sn - base, ack - base);
    for (const auto& [sn, ordinal] : other.ordinals_) {
      if (before(sn, ack) && !missing.contains(sn)) {
        ASSERT_TRUE(received_.contains(ordinal)) << "SN " << sn << " is missing and acknowledged";
      }
    }
  }

  Random& random_;
  unsigned bits_;
  std::uint32_t accepted_ = 0;
  std::map<std::uint32_t, Bytes> sdus_;              // by ordinal, without the discarded ones
  std::map<std::uint32_t, std::uint32_t> numbers_;   // ordinal: SN
  std::map<std::uint32_t, std::uint32_t> ordinals_;  // SN: ordinal
  std::set<std::uint32_t> received_;                 // ordinals of the other's SDUs
};

void run_am(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const Case c = random_case(random);
  Peer a(c, random), b(c, random);
  Air to_b(random, c.air), to_a(random, c.air);
  const auto step = [&](Time now) {
    a.side.tick(now);
    b.side.tick(now);
    const auto grants = [&](Peer& from, const Peer& other, Air& air) {
      for (unsigned n = random() % 6; n != 0; --n) {
        const std::size_t grant = random.percent(30) ? random() % 16 : random() % c.largest_grant;
        if (const Bytes pdu = from.pull(grant, other); !pdu.empty()) air.put(pdu, now);
      }
    };
    grants(a, b, to_b);
    grants(b, a, to_a);
    to_b.arrive(now, [&](const Bytes& pdu) { b.receive(pdu, a); });
    to_a.arrive(now, [&](const Bytes& pdu) { a.receive(pdu, b); });
  };
  Time now = 0;
  for (; now < 400 && !testing::Test::HasFatalFailure(); ++now) {
    for (unsigned n = random() % 4; n != 0; --n) (random.percent(70) ? a : b).offer();
    if (random.percent(10)) a.discard_one();
    step(now);
  }
  for (; now < 200000 && !(a.is_done(b) && b.is_done(a)) && !testing::Test::HasFatalFailure(); ++now) step(now);
  ASSERT_TRUE(a.is_done(b) && b.is_done(a)) << "something was never delivered or acknowledged";
  a.check_notices();
  b.check_notices();
  EXPECT_EQ(a.side.home.pool.live() + b.side.home.pool.live(), 0U);
  if (c.air.most_delay == 0) {  // else a STATUS may be older than what was acknowledged since
    EXPECT_EQ(a.side.retx().counters().status_malformed + b.side.retx().counters().status_malformed, 0U);
  }
}

TEST(AmProperty, each_sdu_exactly_once_over_any_air) {
  const std::uint64_t seed = from_environment("SPLITPLANE_SEED", 1);
  const std::uint64_t rounds = from_environment("SPLITPLANE_RLC_ROUNDS", 15);
  for (std::uint64_t i = 0; i < rounds && !HasFailure(); ++i) run_am(seed + i);
}

}  // namespace
}  // namespace splitplane::ran::rlc::test
