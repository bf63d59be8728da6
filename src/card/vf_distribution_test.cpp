// How a card spreads its packets over the host's VFs: evenly, for any number of VFs, and always to one VF for a bearer.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "card/card.h"
#include "card/test_bearers.h"

namespace splitplane::nic {
namespace {

using datapath::test::Bytes;
using datapath::test::kUpfMac;
using datapath::test::N3Frame;

constexpr std::uint32_t kBearers = 65'536;
constexpr std::array<unsigned, 5> kNumbersOfVfs{1, 3, 5, 8, 64};

std::uint32_t teid_of(std::uint32_t i) {
  return ran::make_teid(2, ShardId{static_cast<std::uint8_t>(i / 1024)}, i % 1024);
}

std::unique_ptr<Card> make_card(const char* program, unsigned vfs) {
  const auto spec = read_spec(spec_path("", program));
  EXPECT_TRUE(spec) << spec.error().message;
  if (!spec) return nullptr;
  auto card = Card::make(*spec, {.vfs = vfs});
  EXPECT_TRUE(card) << card.error().message;
  return card ? std::move(*card) : nullptr;
}

// How far the fullest or the emptiest VF is from an even share, as a part of that share.
double unevenness(const std::vector<std::uint64_t>& packets) {
  const double even = static_cast<double>(std::accumulate(packets.begin(), packets.end(), std::uint64_t{0})) /
                      static_cast<double>(packets.size());
  const auto [least, most] = std::minmax_element(packets.begin(), packets.end());
  return std::max(static_cast<double>(*most) - even, even - static_cast<double>(*least)) / even;
}

class VfDistribution : public testing::TestWithParam<unsigned> {
 protected:
  // Sends frames of `at` one at a time through the card and returns how many came to each output port.
  template <class Take>
  void run(Card& card, const std::vector<Bytes>& frames, Take take) {
    for (std::size_t at = 0; at < frames.size();) {
      std::array<rte_mbuf*, datapath::kBurst> mbufs;
      unsigned n = 0;
      while (n < mbufs.size() && at < frames.size()) mbufs[n++] = pool.make(frames[at++]);
      card.process(mbufs.data(), n, kN3Port);
      for (unsigned port = 0; port < card.ports(); ++port) {
        for (rte_mbuf* m : card.out(port).mbufs) {
          take(port, m);
          rte_pktmbuf_free(m);
        }
        card.out(port).mbufs.clear();
      }
    }
  }

  datapath::test::Pool pool;
};

TEST_P(VfDistribution, round_robin_is_even_within_a_percent) {
  const unsigned vfs = GetParam();
  const auto card = make_card("p4wire", vfs);
  ASSERT_TRUE(card);
  ASSERT_TRUE(card->spread(kN3Port));
  std::vector<std::uint64_t> packets(vfs);
  std::uint64_t elsewhere = 0;
  const std::vector<Bytes> frames(20'000, N3Frame{}.make());
  run(*card, frames, [&](unsigned port, rte_mbuf*) { ++(port >= kFirstVf ? packets[port - kFirstVf] : elsewhere); });
  EXPECT_EQ(elsewhere, 0U);
  EXPECT_EQ(std::accumulate(packets.begin(), packets.end(), std::uint64_t{0}), frames.size());
  EXPECT_LE(unevenness(packets), 0.01);
  RecordProperty("unevenness_percent", fmt::format("{:.3f}", 100 * unevenness(packets)));
}

// Paper P4: VFD inside `gnb`.
TEST_P(VfDistribution, what_gnb_gives_to_the_host_in_turn_is_even_within_a_percent) {
  const unsigned vfs = GetParam();
  const auto card = make_card("gnb-clone-marker", vfs);
  ASSERT_TRUE(card);
  ASSERT_TRUE(card->set_spread(0, vfs, VfSpread::kTurn));
  const CardBearer hosts{.id = BearerId{teid_of(1)}, .teid = Teid{teid_of(1)}, .place = Place::kHost, .vf_n3 = 0};
  ASSERT_TRUE(card->install({&hosts, 1}));
  std::vector<std::uint64_t> packets(vfs);
  std::uint64_t elsewhere = 0;
  N3Frame of_host, of_none;
  of_host.teid = teid_of(1);
  std::vector<Bytes> frames(20'000, of_host.make());
  for (std::size_t i = 0; i < frames.size(); i += 3) frames[i] = of_none.make();
  run(*card, frames, [&](unsigned port, rte_mbuf*) { ++(port >= kFirstVf ? packets[port - kFirstVf] : elsewhere); });
  EXPECT_EQ(elsewhere, 0U);
  EXPECT_LE(unevenness(packets), 0.01);
  RecordProperty("unevenness_percent", fmt::format("{:.3f}", 100 * unevenness(packets)));
  // A frame that is dropped takes no turn.
  if (vfs == 1) return;
  Bytes settled(24);
  wire::ethernet::write(settled, kUpfMac.octets, kUpfMac.octets, wire::ethernet::kTypeAirhdr);
  settled[14] = 0x21;
  unsigned last = ~0U, repeated = 0;
  for (int i = 0; i < 100; ++i) {
    rte_mbuf* one = pool.make(settled);
    card->process(&one, 1, kFirstVf);
    run(*card, {of_host.make()},
        [&](unsigned port, rte_mbuf*) { repeated += std::exchange(last, port) == port ? 1 : 0; });
  }
  EXPECT_EQ(repeated, 0U);
}

TEST_P(VfDistribution, by_hash_a_tunnel_keeps_its_vf_and_all_have_a_share) {
  const unsigned vfs = GetParam();
  const auto card = make_card("gnb-clone-marker", vfs);
  ASSERT_TRUE(card);
  ASSERT_TRUE(card->set_spread(0, vfs, VfSpread::kHash));
  constexpr std::size_t kTeidAt = 46;
  constexpr std::uint32_t kTunnels = 4096;
  std::vector<Bytes> frames(std::size_t{2} * kTunnels, N3Frame{}.make());
  for (std::uint32_t i = 0; i < frames.size(); ++i) wire::store_be32(frames[i].data() + kTeidAt, teid_of(i % kTunnels));
  std::vector<std::uint64_t> packets(vfs);
  std::vector<unsigned> vf_of(kTunnels, ~0U);
  std::uint64_t changed = 0, elsewhere = 0;
  run(*card, frames, [&](unsigned port, rte_mbuf* m) {
    if (port < kFirstVf) return void(++elsewhere);
    const std::uint32_t teid = wire::load_be32(rte_pktmbuf_mtod(m, std::uint8_t*) + kTeidAt);
    unsigned& known = vf_of[ran::shard_of(teid).value * 1024U + ran::index_of(teid)];
    changed += known != ~0U && known != port - kFirstVf ? 1 : 0;
    known = port - kFirstVf;
    ++packets[known];
  });
  EXPECT_EQ(elsewhere + changed, 0U);
  // 64 buckets: with 5 VFs one has 13 of them and another one 12.
  EXPECT_LE(unevenness(packets), 0.10);
  EXPECT_FALSE(card->set_spread(0, vfs + 1, VfSpread::kHash));
  ASSERT_TRUE(card->set_spread(0, vfs, VfSpread::kBearer));
  std::uint64_t first = 0;
  run(*card, frames, [&](unsigned port, rte_mbuf*) { first += port == kFirstVf ? 1 : 0; });
  EXPECT_EQ(first, frames.size()) << "frames of no bearer go to the punt VF again";
}

TEST_P(VfDistribution, bearers_are_even_within_five_percent_and_never_change_their_vf) {
  const unsigned vfs = GetParam();
  const auto card = make_card("gnb-mat", vfs);
  ASSERT_TRUE(card);
  std::vector<CardBearer> bearers(kBearers);
  for (std::uint32_t i = 0; i < kBearers; ++i) {
    bearers[i] = {.id = BearerId{teid_of(i)}, .teid = Teid{teid_of(i)}, .place = Place::kHost, .vf_n3 = i % vfs};
  }
  const auto installed = card->install(bearers);
  ASSERT_TRUE(installed) << installed.error().message;

  const Bytes frame = N3Frame{}.make();
  constexpr std::size_t kTeidAt = 46;
  std::vector<unsigned> vf_of(kBearers, ~0U);
  std::vector<std::uint64_t> packets(vfs);
  std::uint64_t changed = 0, elsewhere = 0;
  std::vector<std::uint32_t> order(kBearers);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (int round = 0; round < 3; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Bytes> frames(kBearers, frame);
    for (std::size_t i = 0; i < kBearers; ++i) wire::store_be32(frames[i].data() + kTeidAt, teid_of(order[i]));
    run(*card, frames, [&](unsigned port, rte_mbuf* m) {
      if (port < kFirstVf) return void(++elsewhere);
      const std::uint32_t teid = wire::load_be32(rte_pktmbuf_mtod(m, std::uint8_t*) + kTeidAt);
      unsigned& known = vf_of[ran::shard_of(teid).value * 1024U + ran::index_of(teid)];
      changed += known != ~0U && known != port - kFirstVf ? 1 : 0;
      known = port - kFirstVf;
      ++packets[known];
    });
    // Between the rounds other bearers are installed anew; no bearer moves by that.
    ASSERT_TRUE(card->install(std::span(bearers).first(1000)));
  }
  EXPECT_EQ(elsewhere, 0U);
  EXPECT_EQ(changed, 0U);
  EXPECT_EQ(std::accumulate(packets.begin(), packets.end(), std::uint64_t{0}), 3 * kBearers);
  EXPECT_LE(unevenness(packets), 0.05);
  RecordProperty("unevenness_percent", fmt::format("{:.3f}", 100 * unevenness(packets)));
}

INSTANTIATE_TEST_SUITE_P(AnyNumber, VfDistribution, testing::ValuesIn(kNumbersOfVfs),
                         [](const auto& chosen) { return "of_" + std::to_string(chosen.param); });

}  // namespace
}  // namespace splitplane::nic
