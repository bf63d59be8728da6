// RLC AM with retransmission on a gNB worker: real mbufs, the STATUS PDUs of a peer written by hand, and the account of
// buffers.
#include "arq/arq.h"

#include <gtest/gtest.h>

#include "gnb/datapath/test_arq.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::kArqBearer;
using test::kEpoch;
using Rig = test::ArqRig<>;

class ArqPath : public test::AnyWindows {};
INSTANTIATE_TEST_SUITE_P(Windows, ArqPath, testing::Bool(), test::window_place);

TEST_P(ArqPath, keeps_what_was_sent_until_it_is_acknowledged) {
  Rig rig;
  rig.send(3);
  EXPECT_EQ(rig.context->arq->unacked(), 3U);
  EXPECT_EQ(rig.pool.in_use(), 3U);
  rig.status(2);
  rig.serve();
  EXPECT_EQ(rig.context->arq->unacked(), 1U);
  rig.status(3);
  rig.serve();
  EXPECT_EQ(rig.pool.in_use(), 0U);
  EXPECT_EQ(rig.air.frames.size(), 3U);
  EXPECT_EQ(rig.context->stats.rlc_retransmitted.get(), 0U);
  EXPECT_EQ(rig.context->stats.rlc_control.get(), 2U);
}

TEST_P(ArqPath, the_last_pdu_of_a_burst_polls) {
  Rig rig;
  rig.send(4, true);
  std::vector<bool> polls;
  for (const Bytes& frame : rig.air.frames) polls.push_back(rig.polls(frame));
  EXPECT_EQ(polls, (std::vector{false, false, false, true}));
}

TEST_P(ArqPath, sends_what_a_status_misses_again_octet_for_octet) {
  Rig rig;
  rig.send(4, true);
  const std::vector<Bytes> first = rig.air.frames;
  rig.status(4, {{.sn = 1}, {.sn = 3}});
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 6U);
  EXPECT_EQ(rig.air.frames[4], first[1]);
  EXPECT_EQ(rig.air.frames[5], first[3]);  // the last one polls, as it did
  EXPECT_EQ(rig.context->stats.rlc_retransmitted.get(), 2U);
  EXPECT_EQ(rig.context->stats.rlc_own.get(), 2U);
  rig.status(4);
  rig.serve();
  EXPECT_EQ(rig.pool.in_use(), 0U);
}

TEST_P(ArqPath, a_retransmission_that_polls_is_a_copy_and_the_window_keeps_the_original) {
  Rig rig;
  rig.send(3, true);
  const Bytes second = rig.air.frames[1];
  rig.status(3, {{.sn = 1}});
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 4U);
  EXPECT_TRUE(rig.polls(rig.air.frames[3]));
  Bytes unpolled = rig.air.frames[3];
  unpolled[24] &= static_cast<std::uint8_t>(~kPollBit);
  EXPECT_EQ(unpolled, second);
}

TEST_P(ArqPath, a_port_that_passes_mbufs_gets_copies) {
  test::ArqRig<test::PassingSink> rig;
  rig.send(2, true);
  EXPECT_EQ(rig.pool.in_use(), 2U);
  const Bytes first = rig.air.frames[0];
  rig.status(2, {{.sn = 0}});
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 3U);
  Bytes again = rig.air.frames[2];
  again[24] &= static_cast<std::uint8_t>(~kPollBit);
  EXPECT_EQ(again, first);
}

TEST_P(ArqPath, refuses_sdus_before_numbering_when_the_window_is_full_and_goes_on_after_an_acknowledgement) {
  Rig rig({.arq = {.max_unacked = 32}});
  rig.send(40);
  EXPECT_EQ(rig.air.frames.size(), 32U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 8U);
  EXPECT_EQ(rig.drops[kArqBearer].downlink, 8U);
  EXPECT_EQ(rig.downlink[kArqBearer].pdcp_tx_next, 32U);
  rig.status(10);
  rig.serve();
  rig.send(20);
  EXPECT_EQ(rig.air.frames.size(), 42U);
  EXPECT_EQ(rig.sn_of(rig.air.frames.back()), 41U);
}

TEST_P(ArqPath, refuses_sdus_before_numbering_when_as_many_octets_wait_and_goes_on_after_an_acknowledgement) {
  Rig rig({.arq = {.max_unacked_octets = 5000}});
  rig.send(200);
  const std::size_t sent = rig.air.frames.size();
  EXPECT_LT(sent, 200U);
  EXPECT_LE(rig.bearer().octets(), 5000U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 200 - sent);
  EXPECT_EQ(rig.downlink[kArqBearer].pdcp_tx_next, sent);
  rig.send(kBurst, true);
  EXPECT_EQ(rig.air.frames.size(), sent) << "nor a burst of them";
  rig.status(static_cast<std::uint32_t>(sent));
  for (int i = 0; i < 3; ++i) rig.serve();  // each gives some back
  EXPECT_EQ(rig.bearer().octets(), 0U);
  rig.send(kBurst, true);
  EXPECT_GT(rig.air.frames.size(), sent);
  EXPECT_LE(rig.bearer().octets(), 5000U);
}

TEST_P(ArqPath, t_poll_retransmit_sends_the_last_one_again_with_a_poll) {
  Rig rig({.arq = {.t_poll_retransmit_ms = 5}});
  rig.send(2);
  rig.serve();
  EXPECT_EQ(rig.air.frames.size(), 2U);
  rte_delay_ms(8);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 3U);
  EXPECT_EQ(rig.sn_of(rig.air.frames[2]), 1U);
  EXPECT_TRUE(rig.polls(rig.air.frames[2]));
}

TEST_P(ArqPath, a_status_that_is_wrong_changes_nothing_and_is_counted) {
  Rig rig;
  rig.send(2);
  rig.status(3);
  rig.status(2, {{.sn = 1, .has_so = true, .so_start = 5000, .so_end = 5001}});
  rig.serve();
  EXPECT_EQ(rig.context->arq->unacked(), 2U);
  EXPECT_EQ(rig.malformed(), 2U);
}

TEST_P(ArqPath, uplink_pdus_are_delivered_once_and_polls_answered) {
  Rig rig;
  const Bytes sdu = test::inner_packet(60, 1);
  const auto pdu = [&](std::uint32_t sn, bool poll) {
    Bytes from_airhdr = ran::test::uplink_pdu(rig.config(kArqBearer), sn, sn, Qfi{9}, sdu);
    from_airhdr[3] = kEpoch;
    if (poll) from_airhdr[10] |= kPollBit;
    return from_airhdr;
  };
  rig.from_air(pdu(0, false));
  rig.from_air(pdu(2, false));
  rig.from_air(pdu(2, false));
  EXPECT_EQ(rig.n3.frames.size(), 2U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U);
  rig.from_air(pdu(1, true));
  EXPECT_EQ(rig.n3.frames.size(), 3U);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  const auto status = wire::rlc::parse_status(wire::Octets(rig.air.frames[0]).subspan(kAirRlcOffset),
                                              rig.config(kArqBearer).rlc_sn_bits);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->ack_sn, 3U);
  EXPECT_EQ(status->nack_blocks, 0U);
}

TEST_P(ArqPath, a_hole_is_reported_after_t_reassembly) {
  Rig rig({.arq = {.t_reassembly_ms = 2}});
  const Bytes sdu = test::inner_packet(60, 1);
  for (const std::uint32_t sn : {0U, 3U}) {
    Bytes pdu = ran::test::uplink_pdu(rig.config(kArqBearer), sn, sn, Qfi{9}, sdu);
    pdu[3] = kEpoch;
    rig.from_air(pdu);
  }
  rig.serve();
  EXPECT_TRUE(rig.air.frames.empty());
  rte_delay_ms(4);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 1U);
  const auto status = wire::rlc::parse_status(wire::Octets(rig.air.frames[0]).subspan(kAirRlcOffset),
                                              rig.config(kArqBearer).rlc_sn_bits);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->ack_sn, 4U);
  wire::rlc::Nack nack;
  ASSERT_TRUE(wire::rlc::NackCursor(*status).next(nack));
  EXPECT_EQ(nack.sn, 1U);
  EXPECT_EQ(nack.range, 2U);
}

TEST_P(ArqPath, reestablishment_numbers_what_is_unacknowledged_anew_and_sends_it) {
  Rig rig;
  rig.send(4);
  const std::vector<Bytes> first = rig.air.frames;
  rig.status(2);
  rig.serve();
  rig.context->arq->reestablish(rig.bearer(), kEpoch + 1, rte_rdtsc());
  EXPECT_EQ(rig.bearer().next(), 2U);
  rig.serve();
  ASSERT_EQ(rig.air.frames.size(), 6U);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rig.sn_of(rig.air.frames[4 + i]), i);
    const Bytes& again = rig.air.frames[4 + i];
    EXPECT_EQ(Bytes(again.begin() + 27, again.end()), Bytes(first[2 + i].begin() + 27, first[2 + i].end()));
  }
  for (const Bytes& frame : rig.air.frames)
    EXPECT_EQ(frame[kEpochOffset], kEpoch + (&frame >= &rig.air.frames[4] ? 1 : 0));
  rig.status(2);  // of the epoch before
  rig.serve();
  EXPECT_EQ(rig.context->arq->unacked(), 2U);
  EXPECT_EQ(rig.dropped(DropReason::rlc_other_epoch), 1U);
}

TEST_P(ArqPath, at_max_retx_the_bearer_gives_its_buffers_back_and_sends_nothing_until_it_is_reestablished) {
  Rig rig({.arq = {.max_retx = 2}});
  rig.send(3);
  for (int i = 0; i < 3; ++i) {
    rig.status(3, {{.sn = 1}});
    rig.serve();
  }
  EXPECT_TRUE(rig.bearer().failed);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
  EXPECT_EQ(rig.pool.in_use(), 0U);
  const std::size_t sent = rig.air.frames.size();
  rig.send(2);
  EXPECT_EQ(rig.air.frames.size(), sent);
  EXPECT_EQ(rig.dropped(DropReason::rlc_window_full), 2U);
  rig.context->arq->reestablish(rig.bearer(), kEpoch + 1, rte_rdtsc());
  EXPECT_FALSE(rig.bearer().failed);
  EXPECT_EQ(rig.bearer().limit(), rig.bearer().max_unacked);
}

TEST_P(ArqPath, padding_behind_a_status_is_none_of_it) {
  Rig rig;
  rig.send(2);
  Bytes pdu(10 + 200);
  wire::store_be64(pdu.data(),
                   wire::airhdr::encode(
                       {.direction = Direction::kUplink, .epoch = kEpoch, .bearer = BearerId{rig.teid(kArqBearer)}}));
  wire::rlc::StatusWriter writer(wire::MutableOctets(pdu).subspan(10), 18);
  pdu.resize(10 + writer.finish(2));
  Bytes frame = Rig::from_ue(pdu);
  frame.resize(60);
  Burst burst = test::burst_of(rig.pool, {frame});
  rig.upward.process(burst);
  rig.serve();
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
}

TEST_P(ArqPath, an_sdu_that_pdcp_does_not_take_is_no_hole) {
  Rig rig;
  Bytes pdu = ran::test::uplink_pdu(rig.config(kArqBearer), 0, 0, Qfi{9}, test::inner_packet(60, 1));
  pdu[3] = kEpoch;
  pdu[13] = 0x00;  // PDCP D/C: control
  rig.from_air(pdu);
  EXPECT_EQ(rig.dropped(DropReason::pdcp_control), 1U);
  EXPECT_EQ(rig.bearer().receive.next(), 1U);
}

TEST_P(ArqPath, a_peer_beyond_max_unacked_takes_no_window_memory) {
  Rig rig({.arq = {.max_unacked = 64}});
  const auto arrives = [&](std::uint32_t sn) {
    Bytes pdu = ran::test::uplink_pdu(rig.config(kArqBearer), sn, sn, Qfi{9}, test::inner_packet(60, 1));
    pdu[3] = kEpoch;
    rig.from_air(pdu);
  };
  arrives(64);
  EXPECT_EQ(rig.dropped(DropReason::rlc_duplicate), 1U);
  EXPECT_EQ(rig.bearer().receive.next_highest(), 0U);
  arrives(63);
  EXPECT_EQ(rig.n3.frames.size(), 1U);
}

TEST_P(ArqPath, what_the_port_does_not_take_is_missed_and_sent_later) {
  Rig rig;
  rig.send(2);
  rig.air.room = 0;
  rig.status(2, {{.sn = 0}});
  rig.serve();
  EXPECT_EQ(rig.context->stats.rlc_tx_lost.get(), 1U);
  rig.air.room = 100;
  rig.status(2, {{.sn = 0}});
  rig.serve();
  EXPECT_EQ(rig.air.frames.size(), 3U);
}

TEST_P(ArqPath, a_release_gives_everything_back) {
  Rig rig;
  rig.send(10);
  rig.status(10, {{.sn = 4, .has_range = true, .range = 3}});
  auto old = rig.context->arq_bearers.exchange(rig.teid(kArqBearer), nullptr);
  rig.context->arq->detach(*old);
  EXPECT_EQ(rig.pool.in_use(), 0U);
  EXPECT_EQ(rig.context->arq->unacked(), 0U);
  rig.serve();
}

}  // namespace
}  // namespace splitplane::datapath
