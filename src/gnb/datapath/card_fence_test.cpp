// A bearer moves between this worker and a card while its packets pass: a fence in a burst parts those that this worker
// numbers from those that the card does, and no packet is dropped, doubled, reordered or counted twice.
#include <gmock/gmock.h>

#include "gnb/datapath/test_gnb.h"
#include "gnb/datapath/uplink.h"
#include "returns/fence_frame.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;
using testing::ElementsAre;
using testing::IsEmpty;
using To = CardMoves::To;

constexpr std::uint64_t kMoveToken = 0x1122334455667788;

template <FeatureSet F>
struct MoveRig : test::TestGnb {
  MoveRig() { context->card_returns.connect(CardRequests(requests.get(), &reader)); }
  ~MoveRig() {
    while (context->card_returns.requests()->take()) {  // no buffers
    }
    (void)copies.drain();
    EXPECT_EQ(pool.in_use(), 0U);
  }
  // A packet of that bearer whose SDU has `bytes` octets.
  [[nodiscard]] Bytes packet(std::uint32_t index, unsigned bytes) const {
    N3Frame frame = to_bearer(index);
    frame.payload = test::inner_packet(bytes);
    return frame.make();
  }
  [[nodiscard]] static Bytes fence(const std::vector<std::uint32_t>& indices, std::uint64_t token = kMoveToken) {
    std::vector<BearerId> ids;
    for (const std::uint32_t index : indices) ids.push_back(BearerId{teid(index)});
    Bytes frame(fence_bytes(ids.size()));
    write_fence(token, ids, frame.data());
    return frame;
  }
  void begin(To to, std::uint32_t index) {
    context->card_moves.begin(
        kMoveToken, to, {{.id = BearerId{teid(index)}, .on_card = ran::make_on_card(config(index)), .at_host = {}}});
  }
  void run(const std::vector<Bytes>& frames) {
    Burst burst = test::burst_of(pool, frames);
    received += burst.size;
    function.process(burst);
    expect_balance(received);
  }
  void grant(std::uint32_t index, std::uint32_t next) {
    context->card_returns.grant(
        {.answers = {BearerId{teid(index)}, CardRequest::kUnasked}, .next = next, .lease_end = next + 1792},
        rte_rdtsc());
  }
  // As gnb/place does when the host numbers a bearer from `next` on.
  void arrives_at_host(std::uint32_t index, std::uint32_t next) {
    const auto frames = context->card_returns.take(BearerId{teid(index)});
    ran::BearerDownlink line = ran::make_downlink(config(index));
    line.pdcp_tx_next = line.rlc_tx_next = next;
    line.received = frames.size();
    for (const rte_mbuf* m : frames) line.bytes += m->data_len - kReturnedHeaderBytes;
    downlink[index] = line;
    context->card_moves.end();
    context->card_moves.deliver(frames);
  }

  test::Ring requests{16};
  Wakeup reader;
  test::Taken air, back;
  GnbDownlink<F, test::TestSink, SampledCycles> function{*context, test::TestSink{&air}, test::TestSink{&back}};
  std::uint64_t received = 0;
};

template <class T>
class GnbCardFence : public ::testing::Test {};
using WithBearers = ::testing::Types<std::integral_constant<FeatureSet, FeatureSet::mat>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone_drop>,
                                     std::integral_constant<FeatureSet, FeatureSet::clone>>;
TYPED_TEST_SUITE(GnbCardFence, WithBearers);

TYPED_TEST(GnbCardFence, parts_what_is_numbered_here_from_what_the_card_numbers) {
  MoveRig<TypeParam::value> rig;
  rig.begin(To::kCard, 1);
  rig.run(
      {rig.packet(1, 60), rig.packet(1, 61), rig.fence({1}), rig.packet(1, 62), rig.packet(3, 63), rig.packet(1, 64)});
  ASSERT_EQ(rig.air.frames.size(), 3U);
  EXPECT_EQ(rig.air.frames[0], rig.air_frame(1, 0, test::inner_packet(60)));
  EXPECT_EQ(rig.air.frames[1], rig.air_frame(1, 1, test::inner_packet(61)));
  EXPECT_EQ(rig.air.frames[2], rig.air_frame(3, 0, test::inner_packet(63))) << "another bearer stays";
  EXPECT_EQ(rig.context->card_moves.bearers()[0].at_host.pdcp_tx_next, 2U);
  EXPECT_EQ(rig.context->card_moves.bearers()[0].at_host.received, 2U);
  EXPECT_EQ(rig.context->card_returns.held(BearerId{rig.teid(1)}), 2U);
  EXPECT_EQ(rig.downlink[1].received, 2U) << "those that the card sent up";
  EXPECT_EQ(rig.context->stats.punted.get(), 1U) << "the fence";
  EXPECT_EQ(rig.at_stage(Stage::dl_bearer), 5U) << "each packet once";
  EXPECT_EQ(rig.at_stage(Stage::dl_headers), 3U);

  rig.grant(1, 2);
  rig.function.flush();
  ASSERT_EQ(rig.back.frames.size(), 2U);
  EXPECT_EQ(wire::load_be16(rig.back.frames[0].data() + 22), 62U);
  EXPECT_EQ(wire::load_be16(rig.back.frames[1].data() + 22), 64U);
  rig.expect_balance(rig.received);
}

TYPED_TEST(GnbCardFence, may_be_the_first_the_last_and_more_than_one_of_a_burst) {
  MoveRig<TypeParam::value> rig;
  rig.begin(To::kHost, 1);
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.run({rig.fence({1}), rig.packet(1, 60), rig.fence({1}), rig.fence({1}), rig.packet(1, 61), rig.fence({1})});
  EXPECT_EQ(rig.context->card_moves.n3_fences(), 4U);
  EXPECT_EQ(rig.context->card_moves.bearers()[0].held, 2U);
  EXPECT_EQ(rig.context->stats.punted.get(), 4U);
  EXPECT_FALSE(rig.context->card_moves.is_split());
  (void)rig.context->card_returns.close(BearerId{rig.teid(1)});
}

TYPED_TEST(GnbCardFence, of_another_token_is_a_frame_that_nobody_knows) {
  MoveRig<TypeParam::value> rig;
  rig.begin(To::kCard, 1);
  rig.run({rig.packet(1, 60), rig.fence({1}, kMoveToken + 1), rig.packet(1, 61)});
  EXPECT_EQ(rig.air.frames.size(), 2U);
  EXPECT_FALSE(rig.context->card_moves.bearers()[0].fenced);
  EXPECT_EQ(rig.context->stats.dropped() + rig.context->stats.punted.get(), 1U);
  (void)rig.punt.drain();
}

TYPED_TEST(GnbCardFence, behind_it_packets_of_a_whole_burst_wait) {
  MoveRig<TypeParam::value> rig;
  rig.begin(To::kCard, 1);
  std::vector<Bytes> frames{rig.fence({1})};
  for (unsigned i = 1; i < kBurst; ++i) frames.push_back(rig.packet(1, 60 + i));
  rig.run(frames);
  EXPECT_EQ(rig.context->card_returns.held(), kBurst - 1);
  EXPECT_THAT(rig.air.frames, IsEmpty());
  (void)rig.context->card_returns.close(BearerId{rig.teid(1)});
}

TYPED_TEST(GnbCardFence, what_waited_is_numbered_here_before_later_packets_when_the_host_goes_on) {
  MoveRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.begin(To::kHost, 1);
  rig.context->card_returns.freeze(BearerId{rig.teid(1)});
  rig.run({rig.packet(1, 60), rig.packet(1, 61)});
  rig.arrives_at_host(1, 500);
  EXPECT_EQ(rig.downlink[1].received, 2U);
  rig.run({rig.packet(1, 62)});
  ASSERT_EQ(rig.air.frames.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const bool polls = (500 + i + 1) % rig.config(1).poll_pdu == 0;
    EXPECT_EQ(rig.air.frames[i], rig.air_frame(1, 500 + i, test::inner_packet(60 + i), polls)) << i;
  }
  EXPECT_EQ(rig.downlink[1].received, 3U) << "each is counted once";
  EXPECT_EQ(rig.downlink[1].bytes, 60U + 61U + 62U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 503U);
  EXPECT_THAT(rig.back.frames, IsEmpty());
}

TYPED_TEST(GnbCardFence, what_waited_goes_out_in_the_next_round_without_later_packets) {
  MoveRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.context->card_returns.freeze(BearerId{rig.teid(1)});
  rig.run({rig.packet(1, 60)});
  rig.arrives_at_host(1, 7);
  rig.function.flush();
  EXPECT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.downlink[1].pdcp_tx_next, 8U);
  EXPECT_EQ(rig.downlink[1].received, 1U);
  rig.expect_balance(rig.received);
}

TYPED_TEST(GnbCardFence, what_waited_keeps_its_qos_flow) {
  MoveRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.context->card_returns.freeze(BearerId{rig.teid(1)});
  N3Frame of_flow = rig.to_bearer(1);
  of_flow.extensions = {{wire::gtpu::kExtensionPsc, {0x00, 0x40 | 33}}};
  rig.run({of_flow.make()});
  rig.arrives_at_host(1, 0);
  rig.function.flush();
  EXPECT_THAT(rig.air.frames, ElementsAre(rig.air_frame(1, 0, of_flow.payload, false, true, Qfi{33})));
}

TYPED_TEST(GnbCardFence, what_waited_of_a_bearer_that_is_released_meanwhile_is_dropped) {
  MoveRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.context->card_returns.freeze(BearerId{rig.teid(1)});
  rig.run({rig.packet(1, 60)});
  rig.arrives_at_host(1, 0);
  rig.downlink[1] = ran::make_released(rig.teid(1));
  rig.function.flush();
  EXPECT_EQ(rig.dropped(DropReason::teid_released), 1U);
  rig.expect_balance(rig.received);
}

TYPED_TEST(GnbCardFence, what_waited_at_the_end_of_the_worker_goes_out) {
  MoveRig<TypeParam::value> rig;
  rig.downlink[1] = ran::make_on_card(rig.config(1));
  rig.context->card_returns.freeze(BearerId{rig.teid(1)});
  rig.run({rig.packet(1, 60)});
  rig.arrives_at_host(1, 0);
  rig.function.finish();
  EXPECT_EQ(rig.air.frames.size(), 1U);
  rig.expect_balance(rig.received);
}

TYPED_TEST(GnbCardFence, on_the_side_of_the_air_is_counted_and_goes_no_further) {
  MoveRig<TypeParam::value> rig;
  test::Taken n3;
  GnbUplink<TypeParam::value, test::TestSink, SampledCycles> upward{*rig.context, test::TestSink{&n3}};
  const auto run = [&] {
    Burst burst = test::burst_of(rig.pool, {rig.from_ue(1, 0, Bytes(40, 0x45)), rig.fence({1})});
    upward.process(burst);
  };
  run();
  EXPECT_EQ(rig.dropped(DropReason::airhdr_bad_kind), 1U) << "no fence is awaited";
  rig.begin(To::kHost, 1);
  run();
  EXPECT_EQ(rig.context->card_moves.copies_fences(), 1U);
  EXPECT_EQ(rig.context->card_moves.n3_fences(), 0U);
  EXPECT_EQ(rig.dropped(DropReason::airhdr_bad_kind), 1U);
  EXPECT_EQ(n3.frames.size(), 2U);
  rig.expect_balance(4);
}

}  // namespace
}  // namespace splitplane::datapath
