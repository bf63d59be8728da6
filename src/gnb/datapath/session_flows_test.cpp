// QoS flows that move from one bearer of a session to another one, on a gNB worker: their packets keep their order in
// both directions.
#include <gmock/gmock.h>

#include "gnb/datapath/gnb.h"
#include "gnb/datapath/test_arq.h"

namespace splitplane::datapath::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The session's bearers: DRB 1 is the default, DRB 2 has flows 1 and 63, DRB 5 has flow 2.
constexpr std::uint32_t kDefault = 8, kOld = 9, kNew = 10;
constexpr std::uint8_t kFlow = 1;

// A packet whose last octet names it.
Bytes named(std::uint8_t name) {
  Bytes packet = inner_packet(40);
  packet.back() = name;
  return packet;
}

class SessionFlows : public testing::Test, public ArqRig<> {
 protected:
  SessionFlows() { add_session(kDefault); }
  ~SessionFlows() override {
    if (bearer_of(kOld) != nullptr) context->arq_bearers.exchange(teid(kOld), nullptr);
  }
  ArqBearer* bearer_of(std::uint32_t index) { return context->arq_bearers.find(teid(index)); }
  // RLC of the old bearer keeps SDUs until they are acknowledged.
  void acknowledge_old() {
    context->arq_bearers.exchange(teid(kOld), context->arq->make(config(kOld), kEpoch));
    ran::BearerDownlink& line = *context->bearers.bearer_line(teid(kOld));
    line.options |= ran::kAcknowledged;
    ran::set_epoch(line, kEpoch);
    set_count_limit(*context, line);
  }
  void begin(FlowMoves::Rest rest, std::uint64_t deadline = UINT64_MAX) {
    context->flow_moves.begin({.session = Teid{teid(kDefault)},
                               .qfi = Qfi{kFlow},
                               .old = BearerId{teid(kOld)},
                               .number = 3,
                               .rest = rest,
                               .deadline = deadline,
                               .last_deadline = UINT64_MAX,
                               .held = {}});
    ran::set_flow(*context->bearers.downlink_line(teid(kDefault)), Qfi{kFlow}, ran::kMovingFlow);
  }
  FlowMoves::Rest unacknowledged() {
    return {.is_acknowledged = true, .until = bearer_of(kOld)->retx.next(), .epoch = kEpoch};
  }
  // One downlink packet of the session; its payload names it.
  void to_session(std::uint8_t qfi, std::uint8_t payload, std::uint32_t source = kUpfIpv4) {
    N3Frame frame = to_bearer(kDefault);
    frame.source = source;
    frame.extensions = {{wire::gtpu::kExtensionPsc, {0x00, qfi}}};
    frame.payload = named(payload);
    process({frame.make()});
    ++received;
  }
  // What went to the air since the last call: index of the bearer, and the payload.
  std::vector<std::pair<std::uint32_t, std::uint8_t>> on_air() {
    std::vector<std::pair<std::uint32_t, std::uint8_t>> seen;
    for (const Bytes& frame : air.frames) {
      seen.emplace_back(ran::index_of(wire::load_be32(&frame[18])), frame.back());
    }
    air.frames.clear();
    return seen;
  }
  void ack(std::uint32_t sn) {
    Bytes pdu(10 + 200);
    wire::store_be64(pdu.data(), wire::airhdr::encode({.direction = Direction::kUplink,
                                                       .rlc_sn_bits = 18,
                                                       .pdcp_sn_bits = 18,
                                                       .epoch = kEpoch,
                                                       .bearer = BearerId{teid(kOld)}}));
    wire::rlc::StatusWriter writer(wire::MutableOctets(pdu).subspan(10), 18);
    pdu.resize(10 + writer.finish(sn));
    from_air(pdu);
    ++received;
  }

  // An uplink SDU on a bearer, or an end marker; `number` counts RLC's and PDCP's PDUs of the bearer.
  void from_ue_on(std::uint32_t index, std::uint32_t number, std::uint8_t payload, bool is_marker = false) {
    Bytes pdu = ran::test::uplink_pdu(config(index), number, number, Qfi{kFlow}, is_marker ? Bytes{} : named(payload));
    if (is_marker) pdu.back() &= 0x7f;
    if (bearer_of(index) != nullptr) pdu[3] = kEpoch;
    Burst burst = burst_of(pool, {from_ue(pdu)});
    upward.process(burst);
    ++received;
  }
  void marker(std::uint32_t index, std::uint32_t number) { from_ue_on(index, number, 0, true); }
  // The payloads that went to N3 since the last call.
  std::vector<unsigned> on_n3() {
    std::vector<unsigned> seen;
    for (const Bytes& frame : n3.frames) seen.push_back(frame.back());
    n3.frames.clear();
    return seen;
  }

  std::uint64_t received = 0;
};

using Seen = std::pair<std::uint32_t, std::uint8_t>;

TEST_F(SessionFlows, downlink_packets_wait_until_the_old_bearer_has_its_acknowledgements) {
  acknowledge_old();
  to_session(kFlow, 1);
  to_session(kFlow, 2);
  EXPECT_THAT(on_air(), ElementsAre(Seen{kOld, 1}, Seen{kOld, 2}));
  begin(unacknowledged());
  to_session(kFlow, 3);
  to_session(2, 4);
  to_session(kFlow, 5);
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 4})) << "other flows do not wait";
  EXPECT_EQ(context->stats.flow_held.get(), 2U);
  ack(1);
  function.flush();
  EXPECT_THAT(on_air(), IsEmpty());
  ack(2);
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 3}, Seen{kNew, 5}));
  to_session(kFlow, 6);
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 6}));
  EXPECT_EQ(context->stats.flow_held.get(), 0U);
  expect_balance(received);
}

TEST_F(SessionFlows, a_reestablished_bearer_is_waited_for_by_its_new_numbers) {
  acknowledge_old();
  for (std::uint8_t payload = 1; payload <= 3; ++payload) to_session(kFlow, payload);
  ack(2);
  begin(unacknowledged());
  to_session(kFlow, 9);
  context->arq->reestablish(*bearer_of(kOld), kEpoch + 1, rte_rdtsc());
  on_air();
  function.flush();
  EXPECT_THAT(on_air(), IsEmpty()) << "one SDU is sent again as number 0";
  bearer_of(kOld)->failed = true;
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 9})) << "after a radio link failure nothing is waited for";
}

TEST_F(SessionFlows, the_wait_begins_anew_with_a_reestablished_bearer) {
  acknowledge_old();
  to_session(kFlow, 1);
  begin(unacknowledged(), rte_rdtsc());
  to_session(kFlow, 2);
  context->arq->reestablish(*bearer_of(kOld), kEpoch + 1, rte_rdtsc());
  on_air();
  function.flush();
  EXPECT_THAT(on_air(), IsEmpty()) << "the UE cannot have acknowledged anything yet";
  FlowMoves::Move& move = *context->flow_moves.find(teid(kDefault), kFlow);
  EXPECT_GT(move.deadline, rte_rdtsc());
  move.deadline = rte_rdtsc();
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 2})) << "once for each change";
}

TEST_F(SessionFlows, a_ue_that_reestablishes_again_and_again_does_not_keep_packets_here) {
  acknowledge_old();
  to_session(kFlow, 1);
  begin(unacknowledged(), rte_rdtsc());
  to_session(kFlow, 2);
  context->flow_moves.find(teid(kDefault), kFlow)->last_deadline = rte_rdtsc();
  context->arq->reestablish(*bearer_of(kOld), kEpoch + 1, rte_rdtsc());
  on_air();
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 2}));
}

TEST_F(SessionFlows, what_is_sent_once_is_not_waited_for) {
  to_session(kFlow, 1);
  begin({});
  to_session(kFlow, 2);
  EXPECT_THAT(on_air(), ElementsAre(Seen{kOld, 1}));
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 2}));
  EXPECT_TRUE(context->flow_moves.empty());
  expect_balance(received);
}

TEST_F(SessionFlows, a_time_ends_the_wait) {
  acknowledge_old();
  to_session(kFlow, 1);
  begin(unacknowledged(), rte_rdtsc());
  to_session(kFlow, 2);
  EXPECT_LE(function.next_work(0), rte_rdtsc());
  on_air();
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 2}));
}

TEST_F(SessionFlows, a_flow_that_turns_back_finds_its_old_bearer) {
  acknowledge_old();
  to_session(kFlow, 1);
  begin(unacknowledged());
  to_session(kFlow, 2);
  context->flow_moves.find(teid(kDefault), kFlow)->number = 2;
  ack(1);
  on_air();
  function.flush();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kOld, 2}));
}

TEST_F(SessionFlows, strangers_do_not_wait_and_a_session_that_goes_drops_what_waits) {
  context->n3.source_mask = ~0U;
  begin({.not_before = UINT64_MAX});
  to_session(kFlow, 1, kUpfIpv4 ^ 1U);
  EXPECT_EQ(dropped(DropReason::not_from_upf), 1U);
  to_session(kFlow, 2);
  EXPECT_EQ(context->flow_moves.held(), 1U);
  EXPECT_EQ(context->flow_moves.close(Teid{teid(kNew)}), 0U);
  EXPECT_EQ(context->flow_moves.close(Teid{teid(kDefault)}), 1U);
  EXPECT_TRUE(context->flow_moves.empty());
}

TEST_F(SessionFlows, too_many_packets_end_the_wait) {
  begin({.not_before = UINT64_MAX});
  FlowMoves::Move& move = *context->flow_moves.find(teid(kDefault), kFlow);
  rte_mbuf* const one = pool.make(Bytes(60));
  rte_mbuf_refcnt_set(one, FlowMoves::kMostHeld);
  for (std::size_t i = 1; i < FlowMoves::kMostHeld; ++i) context->flow_moves.hold(move, one);
  serve_moves(*context, 0);
  EXPECT_NE(context->flow_moves.find(teid(kDefault), kFlow), nullptr);
  context->flow_moves.hold(move, one);
  serve_moves(*context, 0);
  EXPECT_EQ(context->flow_moves.find(teid(kDefault), kFlow), nullptr);
  Burst burst;
  while (context->flow_moves.take_ready(burst) != 0) rte_pktmbuf_free_bulk(burst.mbuf.data(), burst.size);
}

TEST_F(SessionFlows, uplink_sdus_of_the_new_bearer_wait_for_the_end_marker_on_the_old_one) {
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 3);
  from_ue_on(kNew, 1, 4);
  EXPECT_THAT(on_n3(), ElementsAre(1U));
  EXPECT_EQ(context->stats.flow_held.get(), 2U);
  EXPECT_EQ(context->session_uplinks.held(BearerId{teid(kNew)}), 2U);
  from_ue_on(kOld, 1, 2);
  marker(kOld, 2);
  EXPECT_THAT(on_n3(), ElementsAre(2U, 3U, 4U));
  from_ue_on(kNew, 2, 5);
  EXPECT_THAT(on_n3(), ElementsAre(5U));
  EXPECT_EQ(dropped(DropReason::sdap_end_marker), 1U);
  EXPECT_EQ(uplink[kOld].received, 2U);
  EXPECT_EQ(uplink[kNew].pdcp_rx_next, 3U);
  EXPECT_EQ(context->stats.flow_held.get(), 0U);
  expect_balance(received);
}

TEST_F(SessionFlows, an_end_marker_that_overtook_on_rlc_am_waits_for_what_was_before_it) {
  acknowledge_old();
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 4);
  marker(kOld, 3);
  from_ue_on(kOld, 1, 2);
  EXPECT_THAT(on_n3(), ElementsAre(1U, 2U)) << "number 2 is missing";
  marker(kOld, 3);
  EXPECT_EQ(dropped(DropReason::rlc_duplicate), 1U);
  from_ue_on(kOld, 2, 3);
  EXPECT_THAT(on_n3(), ElementsAre(3U, 4U));
  expect_balance(received);
}

TEST_F(SessionFlows, an_end_marker_of_rlc_before_it_began_anew_says_nothing) {
  acknowledge_old();
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 4);
  marker(kOld, 3);  // 1 and 2 are missing, and the UE sends them again with other numbers
  context->arq->reestablish(*bearer_of(kOld), kEpoch + 1, rte_rdtsc());
  context->session_uplinks.look_at_ends(*bearer_of(kOld));
  upward.serve_sessions();
  EXPECT_THAT(on_n3(), ElementsAre(1U));
  EXPECT_EQ(context->session_uplinks.held(BearerId{teid(kNew)}), 1U);
  context->session_uplinks.tick(rte_rdtsc() + rte_get_tsc_hz());
  upward.serve_sessions();
  EXPECT_THAT(on_n3(), ElementsAre(4U));
}

TEST_F(SessionFlows, an_end_marker_that_never_comes_is_not_waited_for_long) {
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 2);
  EXPECT_NE(context->session_uplinks.next_work(), ran::sdap::kNever);
  upward.serve_sessions();
  EXPECT_THAT(on_n3(), ElementsAre(1U));
  context->session_uplinks.tick(rte_rdtsc() + rte_get_tsc_hz());
  upward.serve_sessions();
  EXPECT_THAT(on_n3(), ElementsAre(2U));
  EXPECT_EQ(context->session_uplinks.given_up(), 1U);
  EXPECT_EQ(context->session_uplinks.next_work(), ran::sdap::kNever);
}

using Counted = std::array<std::uint64_t, 4>;  // SDUs and octets downlink, then uplink

TEST_F(SessionFlows, a_downlink_packet_counts_for_its_own_flow_once_also_if_the_flow_moves) {
  const std::uint64_t octets = named(0).size();
  to_session(kFlow, 1);
  to_session(33, 2);  // no rule: the default bearer
  begin({});
  to_session(kFlow, 3);
  EXPECT_EQ(counted(kDefault, kFlow), (Counted{1, octets, 0, 0})) << "what waits is not counted yet";
  function.flush();
  to_session(kFlow, 4);
  EXPECT_THAT(on_air(), ElementsAre(Seen{kOld, 1}, Seen{kDefault, 2}, Seen{kNew, 3}, Seen{kNew, 4}));
  EXPECT_EQ(counted(kDefault, kFlow), (Counted{3, 3 * octets, 0, 0}));
  EXPECT_EQ(counted(kDefault, 33), (Counted{1, octets, 0, 0}));
  EXPECT_EQ(counted(kDefault, 9), Counted{});
}

TEST_F(SessionFlows, a_packet_without_a_container_counts_for_the_flow_that_it_gets) {
  N3Frame frame = to_bearer(kDefault);
  process({frame.make()});
  frame.extensions.clear();
  frame.payload = named(1);
  const Counted before = counted(kDefault, 9);
  process({frame.make()});
  const Counted after = counted(kDefault, 9);
  EXPECT_EQ(after[0] - before[0], 1U);
  EXPECT_EQ(after[1] - before[1], named(1).size());
}

TEST_F(SessionFlows, the_flows_of_a_session_count_what_its_bearers_received_also_what_they_drop) {
  context->n3.source_mask = ~0U;
  to_session(kFlow, 1, kUpfIpv4 ^ 1U);
  begin({.not_before = UINT64_MAX});
  to_session(kFlow, 2, kUpfIpv4 ^ 1U);
  EXPECT_EQ(dropped(DropReason::not_from_upf), 2U);
  const ran::BearerDownlink& old = *context->bearers.bearer_line(teid(kOld));
  EXPECT_EQ(counted(kDefault, kFlow), (Counted{old.received, old.bytes, 0, 0}));
}

TEST_F(SessionFlows, an_uplink_sdu_counts_when_its_turn_comes_and_an_end_marker_never) {
  const std::uint64_t octets = named(0).size();
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 3);
  EXPECT_EQ(counted(kDefault, kFlow), (Counted{0, 0, 1, octets}));
  marker(kOld, 1);
  from_ue_on(kNew, 1, 4);
  EXPECT_THAT(on_n3(), ElementsAre(1U, 3U, 4U));
  EXPECT_EQ(counted(kDefault, kFlow), (Counted{0, 0, 3, 3 * octets}));
}

TEST_F(SessionFlows, packets_of_a_session_without_counters_pass) {
  (void)context->flow_counters.close(Teid{teid(kDefault)});
  to_session(kFlow, 1);
  from_ue_on(kOld, 0, 2);
  EXPECT_THAT(on_air(), ElementsAre(Seen{kOld, 1}));
  EXPECT_THAT(on_n3(), ElementsAre(2U));
  EXPECT_EQ(context->flow_counters.find(teid(kDefault)), nullptr);
}

TEST_F(SessionFlows, a_worker_that_ends_sends_what_waits) {
  begin({.not_before = UINT64_MAX});
  to_session(kFlow, 1);
  from_ue_on(kOld, 0, 2);
  from_ue_on(kNew, 0, 3);
  function.finish();
  upward.finish();
  EXPECT_THAT(on_air(), ElementsAre(Seen{kNew, 1}));
  EXPECT_THAT(on_n3(), ElementsAre(2U, 3U));
  EXPECT_EQ(context->stats.flow_held.get(), 0U);
  expect_balance(received);
}

TEST_F(SessionFlows, a_session_that_goes_drops_the_uplink_that_waits) {
  from_ue_on(kOld, 0, 1);
  from_ue_on(kNew, 0, 2);
  EXPECT_EQ(context->session_uplinks.close(ran::test::make_session_config(teid(kDefault))), 1U);
  EXPECT_FALSE(context->session_uplinks.waits());
}

TEST_F(SessionFlows, rlc_control_and_wrong_pdus_of_a_session_are_served_as_those_of_any_bearer) {
  Bytes pdcp_control = ran::test::uplink_pdu(config(kOld), 0, 0, Qfi{kFlow}, inner_packet(40));
  pdcp_control[10 + 3] &= 0x7f;
  from_air(pdcp_control);
  EXPECT_EQ(dropped(DropReason::pdcp_control), 1U);
  Bytes segment = ran::test::uplink_pdu(config(kOld), 0, 0, Qfi{kFlow}, inner_packet(40));
  segment[10] |= 0x10;
  from_air(segment);
  EXPECT_EQ(dropped(DropReason::rlc_segment), 1U);
  from_air(ran::test::uplink_pdu(config(kOld), 0, 0, Qfi{kFlow}, {}));
  EXPECT_EQ(dropped(DropReason::pdu_too_short), 1U);
  EXPECT_THAT(on_n3(), IsEmpty());
}

}  // namespace
}  // namespace splitplane::datapath::test
