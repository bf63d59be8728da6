// RLC AM on a gNB worker at its limits: shared memory is used up, or a peer exceeds the limits or uses other numbers.
#include "gnb/datapath/test_arq.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::kArqBearer;
using test::kEpoch;
using Rig = test::ArqRig<>;

class ArqLimits : public test::AnyWindows {};
INSTANTIATE_TEST_SUITE_P(Windows, ArqLimits, testing::Bool(), test::window_place);

TEST_P(ArqLimits, a_poll_beyond_max_unacked_is_answered) {
  Rig rig({.arq = {.max_unacked = 64}});
  Bytes pdu = ran::test::uplink_pdu(rig.config(kArqBearer), 70, 70, Qfi{9}, test::inner_packet(60, 1));
  pdu[3] = kEpoch;
  pdu[10] |= kPollBit;
  rig.from_air(pdu);
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U);
  EXPECT_EQ(rig.bearer().receive.counters().outside_window, 1U);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  const auto status = wire::rlc::parse_status(wire::Octets(rig.air.frames[0]).subspan(kAirRlcOffset),
                                              rig.config(kArqBearer).rlc_sn_bits);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->ack_sn, 0U);
}

TEST_P(ArqLimits, a_status_fits_the_mtu_that_the_air_has_now) {
  Rig rig({.arq = {.t_reassembly_ms = 1, .t_status_prohibit_ms = 0}});
  const auto status_bytes = [&] {
    rte_delay_ms(2);
    rig.air.frames.clear();
    rig.context->arq->show_epoch(rig.bearer());
    rig.serve();
    return rig.air.frames.empty() ? 0 : rig.air.frames.back().size();
  };
  for (std::uint32_t sn = 0; sn < 300; sn += 2) {
    Bytes pdu = ran::test::uplink_pdu(rig.config(kArqBearer), sn, sn, Qfi{9}, test::inner_packet(60, 1));
    pdu[3] = kEpoch;
    rig.from_air(pdu);
  }
  for (unsigned n = 0; n < 3; ++n) {  // t-Reassembly: of the first hole, then of those behind it
    rte_delay_ms(3);
    rig.serve();
  }
  EXPECT_GT(status_bytes(), 400U) << "it has 149 holes";
  rig.context->arq->set_status_frame(120);
  EXPECT_LE(status_bytes(), 120U);
  EXPECT_GT(status_bytes(), 100U) << "as many holes as fit";
  rig.context->arq->set_status_frame(9000);
  EXPECT_GT(status_bytes(), 400U) << "as at the start, and no more";
}

TEST_P(ArqLimits, a_status_with_many_holes_of_one_sdu_sends_its_frame_once) {
  Rig rig;
  rig.send(2, true);
  const std::vector<Bytes> first = rig.air.frames;
  for (std::uint64_t round = 1; round < 4; ++round) {
    rig.status(2, {{.sn = 0, .has_so = true, .so_start = 0, .so_end = 4},
                   {.sn = 0, .has_so = true, .so_start = 10, .so_end = 14},
                   {.sn = 0, .has_so = true, .so_start = 20}});
    rig.serve();
    rig.serve();
    ASSERT_EQ(rig.air.frames.size(), 2U + round);
    EXPECT_EQ(rig.context->stats.rlc_retransmitted.get(), round);
    EXPECT_EQ(Bytes(rig.air.frames.back().begin() + 25, rig.air.frames.back().end()),
              Bytes(first[0].begin() + 25, first[0].end()));
  }
}

// Forged PDUs on the air have moved the peer's numbers, so each of its STATUS PDUs is invalid. New SDUs go on to come.
// So t-PollRetransmit restarts each time, and no SDU is sent often enough to reach maxRetxThreshold.
TEST_P(ArqLimits, a_peer_with_other_numbers_is_a_radio_link_failure_in_bounded_time) {
  Rig rig({.arq = {.t_poll_retransmit_ms = 5, .max_retx = 2}});
  int rounds = 0;
  for (; rounds < 200 && !rig.bearer().failed; ++rounds) {
    rig.send(1);
    rig.status(rig.bearer().next() + 1000);
    rig.serve();
    rte_delay_ms(2);
  }
  EXPECT_TRUE(rig.bearer().failed);
  EXPECT_GE(rounds, 16);
  rig.serve();
  EXPECT_EQ(rig.context->stats.rlc_peer_lost.get(), 1U);
  EXPECT_EQ(rig.context->stats.rlc_max_retx.get(), 0U);
  EXPECT_GE(rig.malformed(), 16U);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
  rig.context->arq->reestablish(rig.bearer(), kEpoch + 1, rte_rdtsc());
  EXPECT_FALSE(rig.bearer().failed);
  EXPECT_FALSE(rig.bearer().retx.peer_lost());
}

TEST_P(ArqLimits, invalid_status_pdus_of_a_stranger_beside_those_of_the_peer_are_no_failure) {
  Rig rig({.arq = {.t_poll_retransmit_ms = 5, .max_retx = 2}});
  for (int rounds = 0; rounds < 100; ++rounds) {
    rig.send(1);
    for (int i = 0; i < 5; ++i) rig.status(rig.bearer().next() + 1000);
    rig.status(rig.bearer().next());
    rig.serve();
    rte_delay_ms(1);
  }
  EXPECT_FALSE(rig.bearer().failed);
  EXPECT_EQ(rig.malformed(), 500U);
}

// 34 bearers get 63 PDUs each out of order, one per page of window memory. They need more pages than there are.
TEST_P(ArqLimits, bearers_that_take_all_window_memory_leave_rx_next_its_way_and_others_a_share) {
  Arq arq({.ticks_per_ms = rte_get_tsc_hz() / 1000, .now = rte_rdtsc()});
  std::vector<std::unique_ptr<ArqBearer>> bearers;
  const auto arrives = [&](ArqBearer& bearer, std::uint32_t sn) {
    Bytes pdu(4);
    wire::rlc::write_am(wire::MutableOctets(pdu), 18, {.sn = sn});
    return arq.receive(bearer, pdu, rte_rdtsc());
  };
  for (std::uint32_t id = 1; id < 36; ++id) {
    ran::BearerConfig config;
    config.id = BearerId{id};
    config.rlc_mode = RlcMode::kAm;
    config.rlc_sn_bits = config.pdcp_sn_bits = 18;
    config.acknowledged = true;
    bearers.push_back(arq.make(config, kEpoch));
  }
  for (std::uint32_t i = 1; i < 64; ++i) {
    for (std::uint32_t b = 0; b < 34; ++b) (void)arrives(*bearers[b], 64 * i);
  }
  EXPECT_EQ(arrives(*bearers[34], 64), ran::rlc::Received::kDelivered) << "one that comes new";
  for (auto& bearer : bearers) {
    ASSERT_EQ(arrives(*bearer, 0), ran::rlc::Received::kDelivered);
    EXPECT_EQ(bearer->receive.next(), 1U);
  }
  // The peers send the rest again in order, and all of it arrives.
  for (std::uint32_t sn = 1; sn < 64 * 64; ++sn) {
    for (auto& bearer : bearers) (void)arrives(*bearer, sn);
  }
  for (auto& bearer : bearers) {
    EXPECT_EQ(bearer->receive.next(), 64U * 64U);
    arq.detach(*bearer);
  }
}

ran::BearerConfig on_card(ran::ArqConfig arq = {}) {
  ran::BearerConfig config;
  config.card = "card0";
  config.arq = arq;
  return config;
}

// What a card sent for this worker's bearer: a frame as on the air, clones of which come back to the worker.
Bytes card_frame(const Rig& rig, std::uint32_t sn, std::uint8_t epoch = kEpoch) {
  Bytes frame = rig.air_frame(kArqBearer, sn, test::inner_packet(60, 1));
  frame[kEpochOffset] = epoch;
  return frame;
}
void clone_comes(Rig& rig, const Bytes& frame) {
  Burst burst = test::burst_of(rig.pool, {frame});
  rig.upward.process(burst);
}

TEST_P(ArqLimits, clones_of_what_a_card_sent_are_kept_and_sent_again) {
  Rig rig(on_card());
  std::vector<Bytes> frames;
  for (std::uint32_t sn = 0; sn < 4; ++sn) clone_comes(rig, frames.emplace_back(card_frame(rig, sn)));
  EXPECT_EQ(rig.context->stats.card_copies.get(), 4U);
  EXPECT_EQ(rig.context->arq->unacked(), 4U);
  EXPECT_TRUE(rig.air.frames.empty()) << "the card has sent them";
  rig.status(4, {{.sn = 2}});
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  frames[2][24] |= kPollBit;
  EXPECT_EQ(rig.air.frames[0], frames[2]);
  rig.status(4);
  rig.serve();
  EXPECT_EQ(rig.pool.in_use(), 0U);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
}

TEST_P(ArqLimits, a_lost_clone_is_no_harm_unless_the_ue_misses_that_sdu) {
  Rig rig(on_card());
  for (const std::uint32_t sn : {0U, 1U, 4U, 5U}) clone_comes(rig, card_frame(rig, sn));
  rig.serve();
  EXPECT_EQ(rig.context->stats.card_copies_lost.get(), 2U);
  rig.status(3, {{.sn = 1}});  // 2 arrived, of which no clone came
  rig.serve();
  EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 0U);
  EXPECT_EQ(rig.air.frames.size(), 1U);
  rig.status(6, {{.sn = 3}});
  rig.serve();
  EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 1U);
  EXPECT_EQ(rig.context->arq->take_gone(), std::vector{rig.teid(kArqBearer)});
  rig.status(6, {{.sn = 3}});
  rig.serve();
  EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 1U) << "said once";
  rig.context->arq->reestablish(rig.bearer(), kEpoch + 1, rte_rdtsc());
  EXPECT_EQ(rig.bearer().next(), rig.service ? rig.bearer().away->held : rig.context->arq->unacked());
  clone_comes(rig, card_frame(rig, rig.bearer().next(), kEpoch + 1));
  EXPECT_EQ(rig.context->stats.card_copies.get(), 5U);
}

// A card's last PDUs, of which no clone comes any more.
void lose_clones(Rig& rig, std::uint32_t count) {
  ASSERT_TRUE(rig.context->arq->note_missing(rig.bearer(), count));
  rig.context->arq->watch(rig.bearer(), rte_rdtsc());
  rig.serve();
}

TEST_P(ArqLimits, last_sdus_without_a_copy_do_not_stop_a_bearer_since_one_before_them_polls) {
  Rig rig(on_card({.t_poll_retransmit_ms = 5, .max_unacked = 32}));
  clone_comes(rig, card_frame(rig, 0));
  clone_comes(rig, card_frame(rig, 1));
  lose_clones(rig, 30);
  EXPECT_EQ(rig.bearer().next(), rig.bearer().limit());
  rte_delay_ms(8);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_EQ(rig.sn_of(rig.air.frames[0]), 1U) << "the last one that has a copy";
  EXPECT_TRUE(rig.polls(rig.air.frames[0]));
  EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 0U) << "the UE may have the others";
  rig.status(32);
  rig.serve();
  EXPECT_EQ(rig.bearer().next_ack(), 32U);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
}

TEST_P(ArqLimits, a_bearer_without_any_copy_is_named_for_reestablishment) {
  for (const bool begins_anew : {false, true}) {
    Rig rig(on_card({.t_poll_retransmit_ms = 5, .max_unacked = 32}));
    lose_clones(rig, 32);
    if (begins_anew && rig.service) {
      rig.service->kill();
      rig.context->arq->service()->disconnect();
      rig.context->arq->service()->connect();
      rig.service->start();
      rig.serve();
    }
    EXPECT_EQ(rig.bearer().next(), rig.bearer().limit());
    EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 0U);
    rte_delay_ms(8);
    rig.serve();
    EXPECT_EQ(rig.context->stats.rlc_copy_gone.get(), 1U);
    EXPECT_EQ(rig.context->arq->take_gone(), std::vector{rig.teid(kArqBearer)});
    rig.context->arq->reestablish(rig.bearer(), kEpoch + 1, rte_rdtsc());
    EXPECT_LT(rig.bearer().next(), rig.bearer().limit());
  }
}

TEST_P(ArqLimits, a_clone_of_another_epoch_or_one_that_is_known_is_dropped) {
  Rig rig(on_card());
  clone_comes(rig, card_frame(rig, 0));
  clone_comes(rig, card_frame(rig, 0));
  clone_comes(rig, card_frame(rig, 1, kEpoch - 1));
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_other_epoch), 1U);
  EXPECT_EQ(rig.context->arq->unacked(), 1U);
}

TEST_P(ArqLimits, what_a_card_sent_last_is_asked_for_although_it_did_not_poll) {
  Rig rig(on_card({.t_poll_retransmit_ms = 5}));
  clone_comes(rig, card_frame(rig, 0));
  rig.serve();
  rte_delay_ms(8);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  EXPECT_TRUE(rig.polls(rig.air.frames[0]));
}

TEST_P(ArqLimits, a_clone_of_a_bearer_that_no_card_serves_is_refused) {
  Rig rig;
  clone_comes(rig, card_frame(rig, 0));
  EXPECT_EQ(rig.dropped(DropReason::airhdr_modes_wrong), 1U);
  EXPECT_EQ(rig.bearer().next(), 0U);
}

TEST_P(ArqLimits, a_forged_clone_far_ahead_takes_no_window) {
  Rig rig(on_card({.max_unacked = 64}));
  clone_comes(rig, card_frame(rig, 64));
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U);
  EXPECT_EQ(rig.bearer().next(), 0U);
}

// The window says how many SDUs fit a page. Clones that are lost at its end must not stop the bearer.
TEST_P(ArqLimits, clones_lost_at_the_end_of_a_page_are_passed_over) {
  Rig rig(on_card());
  for (std::uint32_t sn = 0; sn < 62; ++sn) clone_comes(rig, card_frame(rig, sn));
  for (std::uint32_t sn = 65; sn < 70; ++sn) clone_comes(rig, card_frame(rig, sn));
  EXPECT_EQ(rig.bearer().next(), 70U);
  rig.serve();
  rig.status(70);
  for (int i = 0; i < 2; ++i) rig.serve();
  EXPECT_EQ(rig.bearer().next_ack(), 70U);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
}

}  // namespace
}  // namespace splitplane::datapath
