// Downlink packets of bearers that a card numbers: packets that the card passed up go back to it, and each is accounted
// for.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "gnb/datapath/test_gnb.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

template <FeatureSet F>
struct ReturnRig : test::TestGnb {
  ReturnRig() { downlink[1] = ran::make_on_card(config(1)); }
  ~ReturnRig() {
    while (context->card_returns.requests() && asked()) {  // no buffers
    }
  }
  void run(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    received += burst.size;
    function.process(burst);
    expect_balance(received);
  }
  // The layout that the P4 programs read, written here independently.
  [[nodiscard]] Bytes returned(std::uint32_t index, std::uint8_t rqi_qfi, const Bytes& sdu) const {
    Bytes frame(context->air_header.begin(), context->air_header.end());
    frame.insert(frame.end(), {0x21, rqi_qfi, 0, 0});
    for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<std::uint8_t>(teid(index) >> shift));
    frame.insert(frame.end(), {static_cast<std::uint8_t>(sdu.size() >> 8), static_cast<std::uint8_t>(sdu.size())});
    frame.insert(frame.end(), sdu.begin(), sdu.end());
    return frame;
  }

  // Packets for bearer 1, numbered by the length of their SDUs from `first` on.
  void run_numbered(unsigned first, unsigned n) {
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < n; ++i) {
      N3Frame frame = to_bearer(1);
      frame.payload = test::inner_packet(100 + first + i);
      frames.push_back(frame.make());
    }
    run(frames);
  }
  // Lengths of the SDUs that went back, less 100; those without an SDU are left out.
  [[nodiscard]] std::vector<unsigned> numbers_back() const {
    std::vector<unsigned> numbers;
    for (const Bytes& frame : back.frames) {
      const unsigned bytes = wire::load_be16(frame.data() + 14 + wire::airhdr::kLengthOffset);
      if (bytes != 0) numbers.push_back(bytes - 100);
    }
    return numbers;
  }
  void flush_later(std::uint64_t ms = 1) {
    context->card_returns.flush(function_back, rte_rdtsc() + ms * rte_get_tsc_hz() / 1000);
  }
  // As the link does after a request.
  void grant(std::uint32_t next, std::uint32_t lease_end, std::uint32_t in_flight) {
    const auto request = asked();
    context->card_returns.grant({request.value_or(CardRequest{BearerId{teid(1)}, 0}), next, lease_end, in_flight},
                                rte_rdtsc());
  }
  [[nodiscard]] std::optional<CardRequest> asked() { return context->card_returns.requests()->take(); }
  void ask_a_link() { context->card_returns.connect(CardRequests(requests.get(), &reader)); }
  [[nodiscard]] std::uint32_t credit() { return ran::card_credit(downlink[1]); }

  test::Ring requests{4};
  Wakeup reader;
  test::Taken air, back;
  test::TestSink function_back{&back};
  GnbDownlink<F, test::TestSink, SampledCycles> function{*context, test::TestSink{&air}, test::TestSink{&back}};
  std::uint64_t received = 0;
};

template <class T>
class GnbReturned : public ::testing::Test {};
using WithBearers = ::testing::Types<std::integral_constant<FeatureSet, FeatureSet::mat>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone_drop>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone>>;
TYPED_TEST_SUITE(GnbReturned, WithBearers);

TYPED_TEST(GnbReturned, goes_back_without_a_number_while_the_host_serves_its_own) {
  ReturnRig<TypeParam::value> rig;
  N3Frame reflective = rig.to_bearer(1), plain = rig.to_bearer(1), tagged = rig.to_bearer(1);
  reflective.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 0x40 | 33}}};
  plain.extensions.clear();
  tagged.tags = {7, 9};
  tagged.ip_options = Bytes{1, 1, 1, 1};
  rig.run({reflective.make(), rig.to_bearer(2).make(), plain.make(), tagged.make()});
  EXPECT_EQ(rig.back.frames,
            (std::vector<Bytes>{rig.returned(1, 0x40 | 33, reflective.payload), rig.returned(1, 9, plain.payload),
                                rig.returned(1, 9, tagged.payload)}));
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(2, 0, rig.to_bearer(2).payload));
  EXPECT_EQ(rig.context->stats.returned.get(), 3U);
  EXPECT_EQ(rig.downlink[1].received, 3U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 0U) << "the card numbers it";
  EXPECT_EQ(rig.at_stage(Stage::dl_headers), 1U);
  (void)rig.copies.drain();
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, what_would_not_fit_the_air_behind_the_cards_headers_is_lost_here) {
  ReturnRig<TypeParam::value> rig;
  N3Frame longest = rig.to_bearer(1), longer = rig.to_bearer(1);
  longest.payload = test::inner_packet(rig.context->air_frame_bytes - 14 - 10 - 7);
  longer.payload = test::inner_packet(longest.payload.size() + 1);
  rig.run({longer.make(), longest.make()});
  EXPECT_EQ(rig.back.frames, (std::vector<Bytes>{rig.returned(1, 9, longest.payload), rig.returned(1, 0, Bytes{})}));
  EXPECT_EQ(rig.context->stats.settled.get(), 1U);
  EXPECT_EQ(rig.dropped(DropReason::above_mtu), 1U);
  EXPECT_EQ(rig.drops[1].downlink, 1U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, packets_over_ipv6_are_settled_as_those_over_ipv4) {
  ReturnRig<TypeParam::value> rig;
  N3Frame longer = rig.to_bearer(1);
  longer.payload = test::inner_packet(rig.context->air_frame_bytes - 14 - 10 - 7 + 1);
  longer.ipv6 = true;
  N3Frame of_other = longer, unequal = longer;
  of_other.destination_v6[15] ^= 1;
  unequal.padding = 4;
  rig.run({longer.make(), of_other.make(), unequal.make()});
  EXPECT_EQ(rig.back.frames, (std::vector<Bytes>{rig.returned(1, 0, Bytes{})})) << "the card counts the first one only";
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

// The session's TEID is bearer 8's; flows 1 and 63 are bearer 9's.
TYPED_TEST(GnbReturned, packets_of_a_session_go_back_and_are_settled_by_bearer) {
  ReturnRig<TypeParam::value> rig;
  rig.add_session(8);
  for (const std::uint32_t index : {8U, 9U}) {
    ran::BearerDownlink& line = *rig.context->bearers.bearer_line(rig.teid(index));
    line = ran::make_on_card(rig.config(index));
  }
  N3Frame of_flow = rig.to_bearer(8), of_default = rig.to_bearer(8), longer = rig.to_bearer(8);
  of_flow.extensions = longer.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 63}}};
  of_default.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 33}}};
  longer.payload = test::inner_packet(rig.context->air_frame_bytes);
  rig.run({of_flow.make(), of_default.make(), longer.make()});
  EXPECT_EQ(rig.back.frames,
            (std::vector<Bytes>{rig.returned(9, 63, of_flow.payload), rig.returned(8, 33, of_default.payload),
                                rig.returned(9, 0, Bytes{})}));
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, what_the_port_does_not_take_goes_later_and_in_order) {
  ReturnRig<TypeParam::value> rig;
  rig.downlink[2] = ran::make_on_card(rig.config(2));
  rig.back.room = 3;
  std::vector<N3Frame> frames;
  for (const std::uint32_t index : {1U, 2U, 1U, 1U, 2U, 1U}) {
    frames.push_back(rig.to_bearer(index));
    frames.back().payload = test::inner_packet(100 + frames.size());
  }
  rig.run({frames[0].make(), frames[1].make(), frames[2].make(), frames[3].make(), frames[4].make()});
  EXPECT_EQ(rig.context->stats.returned.get(), 3U);
  EXPECT_EQ(rig.context->stats.card_held.get(), 2U);
  EXPECT_EQ(rig.context->card_returns.held(BearerId{rig.teid(2)}), 1U);
  rig.back.room = ~0U;
  rig.run({frames[5].make()});
  EXPECT_EQ(rig.back.frames.size(), 3U) << "behind those that wait";
  rig.flush_later();
  ASSERT_EQ(rig.back.frames.size(), 6U);
  EXPECT_EQ(rig.back.frames[3], rig.returned(1, 9, frames[3].payload));
  EXPECT_EQ(rig.back.frames[4], rig.returned(2, 9, frames[4].payload));
  EXPECT_EQ(rig.back.frames[5], rig.returned(1, 9, frames[5].payload));
  EXPECT_EQ(rig.context->stats.returned.get(), 6U);
  EXPECT_EQ(rig.context->stats.card_held.get(), 0U);
  rig.expect_balance(6);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TYPED_TEST(GnbReturned, a_released_bearer_of_a_card_is_one_just_released) {
  ReturnRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_released(rig.teid(1));
  rig.downlink[3] = ran::make_on_card(rig.config(3));
  N3Frame other_instance = rig.to_bearer(3);
  other_instance.teid = ran::make_teid(4, ShardId{1}, 3);
  rig.run({rig.to_bearer(1).make(), other_instance.make()});
  EXPECT_EQ(rig.dropped(DropReason::teid_released), 1U);
  EXPECT_EQ(rig.dropped(DropReason::teid_unknown), 1U) << "another TEID on the same line";
  EXPECT_TRUE(rig.back.frames.empty());
}

using CardCredit = ReturnRig<FeatureSet::mat>;

TEST(GnbCardCredit, the_first_packet_waits_for_one_grant_and_the_next_ones_behind_it) {
  CardCredit rig;
  rig.ask_a_link();
  rig.run_numbered(0, 2);
  EXPECT_TRUE(rig.back.frames.empty());
  EXPECT_EQ(rig.context->stats.card_held.get(), 2U);
  EXPECT_LT(rig.function.next_work(rte_rdtsc()), ~std::uint64_t{0});
  rig.run_numbered(2, 1);
  rig.grant(0, 1792, 3);
  EXPECT_FALSE(rig.asked()) << "once per grant";
  rig.run_numbered(3, 1);
  EXPECT_TRUE(rig.back.frames.empty()) << "none overtakes those that are ready";
  rig.flush_later();
  EXPECT_EQ(rig.numbers_back(), (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(rig.credit(), CardReturns::kMostCredit - 1);
  rig.run_numbered(4, 1);
  EXPECT_EQ(rig.numbers_back().size(), 5U) << "at once";
  EXPECT_EQ(rig.context->stats.card_held.get(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbCardCredit, is_asked_for_when_half_of_it_is_used) {
  CardCredit rig;
  rig.ask_a_link();
  rig.grant(0, 1792, 1);
  for (unsigned i = 0; i < 500; i += 20) rig.run_numbered(i, 20);
  EXPECT_FALSE(rig.asked());
  rig.run_numbered(500, 1);
  ASSERT_TRUE(rig.asked());
  for (unsigned i = 501; i < 981; i += 20) rig.run_numbered(i, 20);
  EXPECT_FALSE(rig.asked());
  rig.run_numbered(981, 20);
  EXPECT_EQ(rig.numbers_back().size(), 1000U);
  EXPECT_EQ(rig.context->stats.card_held.get(), 1U);
}

// The card's side of a bearer, as p4/numbers.p4i has it.
struct ModelCard {
  std::uint32_t next = 0, limit = 1792, waiting = 0, lost = 0;
  void direct() {
    const bool is_direct = waiting == 0 && next < (limit > 1023 ? limit - 1023 : 0);
    ++(is_direct ? next : waiting);
  }
  void returned() {
    waiting -= waiting != 0 ? 1 : 0;
    ++(next < limit ? next : lost);
  }
};

#if defined(SPLITPLANE_ASAN) || defined(SPLITPLANE_TSAN)
constexpr int kTurns = 20, kSteps = 400;
#else
constexpr int kTurns = 40, kSteps = 1500;
#endif

// Bursts, delays and renewals at random: whatever the order of events is, the card loses nothing. Grants have a clock
// of their own, because a card's core that takes nothing for 20 ms is believed to have found nothing, and a busy
// machine makes a pause of this one as long. It runs behind the worker's clock by the length of a turn, which must be
// less than the two seconds that a packet waits.
TEST(GnbCardCredit, never_exceeds_the_lease) {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  std::uint64_t returned = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    CardCredit rig;
    std::uint64_t now = rte_rdtsc();
    rig.ask_a_link();
    ModelCard card;
    std::size_t up = 0, numbered = 0;  // packets on their way up; returned frames that the card has numbered
    std::uint32_t sent = 0;
    std::optional<CardGrant> under_way;
    std::uint32_t n3 = 0, up_pace = 0, card_pace = 0, grant_pace = 1;  // each of them is fast, slow, or hangs a while
    for (int step = 0; step < kSteps; ++step, now += rte_get_tsc_hz() / 50'000) {
      if (step % 30 == 0) {
        n3 = std::array{0U, 4U, 40U, 300U}[below(4)];
        up_pace = std::array{0U, 10U, 100U, 500U}[below(4)];
        card_pace = std::array{0U, 0U, 64U, 1000U}[below(4)];
        grant_pace = std::array{1U, 5U, 100U}[below(3)];
      }
      for (std::uint32_t i = below(n3 + 1); i != 0; --i) {
        const std::uint32_t before = card.waiting;
        card.direct();
        up += card.waiting - before;
      }
      for (std::uint32_t i = below(up_pace + 1); i != 0 && up != 0 && rig.context->card_returns.held() < 200; --i, --up)
        rig.run_numbered(sent++ % 900, 1);
      rig.flush_later();
      for (std::uint32_t i = below(card_pace + 1); i != 0 && numbered < rig.back.frames.size(); --i, ++numbered)
        card.returned();
      if (under_way) {
        if (below(grant_pace) == 0) rig.context->card_returns.grant(*std::exchange(under_way, {}), now);
      } else if (const auto request = below(50) == 0
                                          ? std::optional(CardRequest{BearerId{rig.teid(1)}, CardRequest::kUnasked})
                                          : rig.asked()) {
        const std::uint32_t next = card.next;
        if (below(8) != 0) card.limit = std::max(card.limit, next + 1792);  // the disk may be full
        under_way = CardGrant{*request, next, card.limit, card.waiting};
      }
    }
    ASSERT_EQ(card.lost, 0U) << "turn " << turn;
    EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 0U);
    // Everything goes on when the card and the disk answer again.
    for (int step = 0; step < 200 && rig.context->card_returns.held() != 0; ++step) {
      for (; numbered < rig.back.frames.size(); ++numbered) card.returned();
      if (!under_way) {
        if (const auto request = rig.asked()) {
          card.limit = std::max(card.limit, card.next + 1792);
          under_way = CardGrant{*request, card.next, card.limit, card.waiting};
        }
      }
      if (under_way) rig.context->card_returns.grant(*std::exchange(under_way, {}), rte_rdtsc());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      rig.flush_later(6);
    }
    EXPECT_EQ(rig.context->card_returns.held(), 0U) << "turn " << turn;
    EXPECT_EQ(rig.context->stats.returned.get(), sent);
    returned += sent;
  }
  EXPECT_GT(returned, 5ULL * kTurns * kSteps / 3) << "the leases were short";
}

TEST(GnbCardCredit, without_a_lease_in_time_a_packet_is_dropped_and_the_card_told) {
  CardCredit rig;
  rig.ask_a_link();
  rig.run_numbered(0, 2);
  ASSERT_TRUE(rig.asked());
  rig.grant(100, 100, 2);  // the disk is full
  EXPECT_EQ(rig.context->stats.card_held.get(), 2U);
  rig.flush_later(20);
  EXPECT_TRUE(rig.asked()) << "again";
  rig.flush_later(CardReturns::kMostMs + 50);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  EXPECT_EQ(rig.drops[1].downlink, 2U);
  EXPECT_EQ(rig.context->stats.settled.get(), 2U);
  ASSERT_EQ(rig.back.frames.size(), 2U);
  EXPECT_EQ(wire::load_be16(rig.back.frames[0].data() + 14 + wire::airhdr::kLengthOffset), 0U);
  EXPECT_EQ(teid_of_returned(rig.back.frames[0].data()), rig.teid(1));
  rig.expect_balance(2);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbCardCredit, packets_that_wait_are_bounded) {
  CardCredit rig;
  rig.ask_a_link();
  rig.context->card_returns.limit(3);
  rig.run_numbered(0, 5);
  EXPECT_EQ(rig.context->stats.card_held.get(), 3U);
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  rig.grant(0, 1792, 5);
  rig.flush_later();
  EXPECT_EQ(rig.numbers_back(), (std::vector<unsigned>{0, 1, 2}));
  EXPECT_EQ(rig.context->stats.settled.get(), 2U);
}

TEST(GnbCardCredit, at_the_end_of_counts_packets_are_dropped_at_once) {
  CardCredit rig;
  rig.ask_a_link();
  rig.run_numbered(0, 3);
  rig.grant(ran::kCountEnd - 1, ran::kCountEnd, 3);
  rig.flush_later();
  EXPECT_EQ(rig.numbers_back(), (std::vector<unsigned>{0}));
  rig.grant(ran::kCountEnd, ran::kCountEnd, 2);
  rig.run_numbered(3, 1);
  EXPECT_EQ(rig.dropped(DropReason::count_exhausted), 3U);
  rig.flush_later();
  EXPECT_EQ(rig.context->stats.settled.get(), 3U);
}

TEST(GnbCardCredit, of_an_earlier_run_of_the_card_is_worth_nothing) {
  CardCredit rig;
  rig.ask_a_link();
  rig.grant(0, 1792, 0);
  EXPECT_EQ(rig.credit(), CardReturns::kMostCredit);
  rig.context->card_returns.revoke(BearerId{rig.teid(1)}, rte_rdtsc());
  rig.run_numbered(0, 2);
  EXPECT_TRUE(rig.back.frames.empty());
  rig.grant(1792, 1792 + 128, 2);
  rig.flush_later();
  EXPECT_EQ(rig.numbers_back().size(), 2U);
  EXPECT_EQ(rig.credit(), 126U);
}

TEST(GnbCardCredit, what_waits_is_dropped_with_its_bearer_and_at_the_end) {
  CardCredit rig;
  rig.ask_a_link();
  rig.run_numbered(0, 2);
  rig.context->stats.drop(DropReason::teid_released, rig.context->card_returns.close(BearerId{rig.teid(1)}));
  EXPECT_EQ(rig.dropped(DropReason::teid_released), 2U);
  EXPECT_EQ(rig.context->stats.card_held.get(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
  rig.run_numbered(0, 2);
  rig.function.finish();
  EXPECT_EQ(rig.dropped(DropReason::count_lease_ended), 2U);
  EXPECT_EQ(rig.context->stats.settled.get(), 2U) << "the card lives on";
  EXPECT_EQ(rig.context->stats.card_held.get(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST(GnbCardCredit, a_card_that_waits_in_vain_is_told_when_none_of_the_bearer_is_here) {
  CardCredit rig;
  rig.ask_a_link();
  const BearerId id{rig.teid(1)};
  rig.run_numbered(0, 1);
  settle_all(*rig.context, id, rte_rdtsc());
  settle_all(*rig.context, id, rte_rdtsc());
  EXPECT_EQ(rig.context->stats.card_resettled.get(), 0U) << "a packet waits here";
  rig.grant(0, 1792, 3);
  rig.flush_later();
  rig.back.frames.clear();
  settle_all(*rig.context, id, rte_rdtsc());
  EXPECT_EQ(rig.context->stats.card_resettled.get(), 1U);
  rig.flush_later();
  EXPECT_EQ(rig.back.frames, std::vector<Bytes>{rig.returned(1, 1, Bytes{})});
  rig.run_numbered(1, 1);
  settle_all(*rig.context, id, rte_rdtsc());
  EXPECT_EQ(rig.context->stats.card_resettled.get(), 1U) << "a packet came meanwhile";
}

}  // namespace
}  // namespace splitplane::datapath
