// What tells bearers and packets apart beyond a TEID: QoS flows of a session, IPv6 below GTP-U, marks, octets.
#include <gmock/gmock.h>

#include "card/test_card.h"
#include "wire/ipv4.h"

namespace splitplane::nic {
namespace {

using test::air_frame;
using test::bearer;
using test::Bytes;
using test::from_ue;
using test::N3Frame;
using test::TestCard;
using test::vf_port;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The TEID is that of bearer 1, which has all flows but 5 and 6 (bearer 2) and 7 (bearer 3, at the host).
std::vector<CardBearer> session() {
  std::vector<CardBearer> all{bearer(1), bearer(2), bearer(3, Place::kHost)};
  all[0].has_flows = true;
  for (CardBearer* one : {&all[1], &all[2]}) one->session = all[0].teid;
  all[1].flows = 1U << 5 | 1U << 6;
  all[2].flows = 1U << 7;
  return all;
}

N3Frame with_flow(const CardBearer& session, std::uint8_t qfi) {
  N3Frame frame = test::to(session);
  frame.extensions = {{wire::gtpu::kExtensionPsc, {0x00, qfi}}};
  return frame;
}

TEST(CardFlows, the_qfi_names_the_bearer_of_a_session) {
  for (const char* program : {"gnb-mat", "gnb-clone", "gnb-clone-marker"}) {
    TestCard card(program);
    const auto all = session();
    card.install(all);
    N3Frame without = with_flow(all[0], 0);
    without.extensions.clear();
    const Bytes sdu = without.payload;
    card.feed({with_flow(all[0], 9).make(), with_flow(all[0], 5).make(), with_flow(all[0], 0x40 | 6).make(),
               with_flow(all[0], 7).make(), without.make(), with_flow(all[0], 5).make()},
              kN3Port);
    Bytes reflective = air_frame(all[1], 1, 1, sdu, false, Qfi{6});
    reflective[14 + 10 + 6] |= 0x40;  // RQI
    EXPECT_THAT(card.take(kAirPort),
                ElementsAre(air_frame(all[0], 0, 0, sdu, false, Qfi{9}), air_frame(all[1], 0, 0, sdu, false, Qfi{5}),
                            reflective, air_frame(all[0], 1, 1, sdu, false, Qfi{7}),
                            air_frame(all[1], 2, 2, sdu, false, Qfi{5})));
    EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(with_flow(all[0], 7).make()));
    (void)card.take(vf_port(test::kCopies));
  }
}

TEST(CardFlows, what_the_host_returns_names_its_bearer) {
  TestCard card("gnb-mat");
  const auto all = session();
  card.install(all);
  const Bytes sdu = test::to(all[0]).payload;
  // Flow 5 is bearer 2's, but this packet had none, and the host found bearer 1.
  card.feed({test::returned(all[0], sdu, 5), test::returned(all[1], sdu, 5)}, vf_port(test::kWorkerN3));
  EXPECT_THAT(card.take(kAirPort),
              ElementsAre(air_frame(all[0], 0, 0, sdu, false, Qfi{5}), air_frame(all[1], 0, 0, sdu, false, Qfi{5})));
}

TEST(CardFlows, uplink_of_a_session_is_the_hosts_which_keeps_the_order_of_flows_that_move) {
  TestCard card("gnb-mat");
  const auto all = session();
  card.install(all);
  card.resolve_peer();
  const Bytes sdu = datapath::test::inner_packet(60);
  card.feed({from_ue(all[0], 0, sdu), from_ue(all[1], 0, sdu)}, kAirPort);
  EXPECT_THAT(card.take(vf_port(test::kWorkerAir)), ElementsAre(from_ue(all[0], 0, sdu), from_ue(all[1], 0, sdu)));
}

TEST(CardFlows, another_session_and_changed_flows_lead_elsewhere) {
  TestCard card("gnb-mat");
  auto all = session();
  card.install(all);
  all[1].flows = 1U << 6;
  card.install({all[1]});
  card.feed({with_flow(all[0], 5).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(all[0], 0, 0, test::to(all[0]).payload, false, Qfi{5})));
  CardBearer second = bearer(4);
  second.session = all[0].teid;
  second.flows = 1U << 6;
  const auto refused = card.card->install({&second, 1});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("its TEID and QFI is that of bearer"));
  second.session = {};
  EXPECT_FALSE(card.card->install({&second, 1})) << "flows of no session";
  ASSERT_TRUE(card.card->remove(std::array{all[1].id}));
  card.feed({with_flow(all[0], 6).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(all[0], 1, 1, test::to(all[0]).payload, false, Qfi{6})));
}

TEST(CardFlows, a_program_without_that_key_refuses_flows) {
  TestCard card("gnb-clone-ue");
  auto all = session();
  for (CardBearer& one : all) one.ue_ipv4 = IpAddress::v4({10, 45, 0, static_cast<std::uint8_t>(one.id.value)});
  const auto refused = card.card->install(all);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("it has flows of a session; allowed on card"));
}

TEST(CardFlows, two_bearers_exchange_flows_in_one_call) {
  TestCard card("gnb-mat");
  auto all = session();
  card.install(all);
  std::swap(all[1].flows, all[2].flows);
  card.install(all);
  card.feed({with_flow(all[0], 7).make(), with_flow(all[0], 5).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(all[1], 0, 0, test::to(all[0]).payload, false, Qfi{7})));
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(with_flow(all[0], 5).make()));
  // A refused call leaves all as it was.
  auto wrong = all;
  std::swap(wrong[1].flows, wrong[2].flows);
  wrong[2].lease = 0;
  EXPECT_FALSE(card.card->install(wrong));
  card.feed({with_flow(all[0], 7).make(), with_flow(all[0], 6).make()}, kN3Port);
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(all[1], 1, 1, test::to(all[0]).payload, false, Qfi{7})));
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(with_flow(all[0], 6).make()));
  for (const CardBearer& one : all) ASSERT_TRUE(card.card->remove(std::array{one.id}));
}

TEST(CardFlows, a_flow_that_was_taken_over_goes_back_with_a_refused_call) {
  TestCard card("gnb-mat");
  auto all = session();
  card.install(all);
  std::vector<CardBearer> others;  // each combination of next hop and pollPDU takes a number, of which there are 256
  for (std::uint32_t i = 0; i < 255; ++i) others.push_back(bearer(100 + i));
  for (std::size_t i = 0; i < others.size(); ++i) others[i].poll_pdu = static_cast<std::uint16_t>(100 + i);
  card.install(others);
  CardBearer one_more = bearer(99);
  one_more.poll_pdu = 9999;
  std::swap(all[1].flows, all[2].flows);
  const std::array call{all[1], one_more, all[2]};  // refused before the former owner of flow 7 has its turn
  ASSERT_FALSE(card.card->install(call));
  card.feed({with_flow(all[0], 7).make(), with_flow(all[0], 5).make()}, kN3Port);
  EXPECT_THAT(card.take(vf_port(test::kWorkerN3)), ElementsAre(with_flow(all[0], 7).make()));
  EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(all[1], 0, 0, test::to(all[0]).payload, false, Qfi{5})));
}

TEST(CardFlows, a_card_of_several_cores_refuses_them) {
  CardSettings settings;
  settings.cores = 2;
  TestCard card("gnb-mat", settings);
  const auto refused = card.card->install(session());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("allowed: a card with one core"));
}

TEST(CardOverIpv6, a_gpdu_over_ipv6_is_served_if_it_is_to_the_bearers_address) {
  for (const char* program : {"gnb-mat", "gnb-clone-ue", "gnb-headers"}) {
    TestCard card(program);
    CardBearer b = bearer(1), v4_only = bearer(2);
    b.n3_ipv6 = IpAddress::v6(datapath::test::kOurIpv6);
    b.ue_ipv4 = IpAddress::v4({0x11, 0x18, 0x1f, 0x26});  // what inner_packet() has there
    v4_only.ue_ipv4 = IpAddress::v4({10, 45, 0, 2});
    N3Frame frame = test::to(b);
    frame.payload[16] = 0x11, frame.payload[17] = 0x18, frame.payload[18] = 0x1f, frame.payload[19] = 0x26;
    const Bytes sdu = frame.payload;
    const bool has_one = std::string_view(program) == "gnb-headers";
    card.install(has_one ? std::vector{b} : std::vector{b, v4_only});
    frame.ipv6 = true;
    N3Frame tagged = frame, foreign = frame, long_one = frame;
    tagged.tags = {5};
    foreign.destination_v6[15] = 9;
    long_one.padding = 3;
    card.feed({frame.make(), tagged.make(), foreign.make(), long_one.make()}, kN3Port);
    EXPECT_THAT(card.take(kAirPort), ElementsAre(air_frame(b, 0, 0, sdu), air_frame(b, 1, 1, sdu))) << program;
    EXPECT_EQ(card.punted(PuntReason::not_for_us), 1U);
    EXPECT_EQ(card.punted(PuntReason::length_mismatch), 1U);
    if (!has_one && std::string_view(program) == "gnb-mat") {
      N3Frame other = test::to(v4_only);
      other.ipv6 = true;
      card.feed({other.make()}, kN3Port);
      EXPECT_EQ(card.punted(PuntReason::not_for_us), 2U) << "its port has no IPv6 address";
    }
    for (const unsigned vf : {test::kWorkerN3, test::kPuntN3, test::kCopies}) (void)card.take(vf_port(vf));
  }
}

TEST(CardOverIpv6, two_pairs_with_an_address_in_common_do_not_take_each_others_rows_away) {
  TestCard card("gnb-mat");
  CardBearer one = bearer(1), two = bearer(2);
  two.n3_ipv6 = IpAddress::v6(datapath::test::kOurIpv6);
  card.install({one});
  card.install({two});
  ASSERT_TRUE(card.card->remove(std::array{one.id}));
  N3Frame v4 = test::to(two), v6 = test::to(two);
  v6.ipv6 = true;
  card.feed({v4.make(), v6.make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 2U);
  card.install({one});
  ASSERT_TRUE(card.card->remove(std::array{two.id}));
  card.feed({test::to(one).make(), v6.make()}, kN3Port);
  EXPECT_EQ(card.take(kAirPort).size(), 1U) << "the row is the other pair's again";
  EXPECT_EQ(card.punted(PuntReason::teid_unknown), 1U);
  (void)card.take(vf_port(test::kPuntN3));
}

TEST(CardMarks, uplink_packets_have_the_type_of_service_of_their_flow) {
  TestCard card("gnb-mat");
  const CardBearer b = bearer(1);
  card.install({b});
  card.resolve_peer();
  TosByQfi tos{};
  tos[5] = 46 << 2;
  ASSERT_TRUE(card.card->set_marks(tos));
  const Bytes sdu = datapath::test::inner_packet(60);
  const auto sent = [&](std::uint8_t qfi) {
    card.feed({from_ue(b, 0, sdu, Qfi{qfi})}, kAirPort);
    const auto frames = card.take(kN3Port);
    EXPECT_EQ(frames.size(), 1U);
    const wire::Octets ip = wire::Octets(frames.at(0)).subspan(14);
    EXPECT_TRUE(wire::ipv4::checksum_is_good(ip, *wire::ipv4::parse(ip)));
    return frames.at(0).at(15);
  };
  EXPECT_EQ(sent(5), 46 << 2);
  EXPECT_EQ(sent(9), 0);
  ASSERT_TRUE(card.card->set_marks({}));
  EXPECT_EQ(sent(5), 0) << "a host with other marks takes the old ones away";
}

TEST(CardOctets, are_counted_for_each_bearer_and_begin_at_0_for_a_new_one) {
  TestCard card("gnb-mat");
  const CardBearer b = bearer(1), other = bearer(2);
  card.install({b, other});
  card.resolve_peer();
  card.feed({test::to(b, 40).make(), test::to(b, 1).make(), test::to(other, 1300).make()}, kN3Port);
  card.feed({from_ue(b, 0, datapath::test::inner_packet(77))}, kAirPort);
  const auto numbers = card.card->numbers(b.id);
  EXPECT_EQ(numbers->dl_octets, 41U);
  EXPECT_EQ(numbers->ul_octets, 77U);
  EXPECT_EQ(card.card->numbers(other.id)->dl_octets, 1300U);
  ASSERT_TRUE(card.card->remove(std::array{b.id}));
  card.install({bearer(3)});
  EXPECT_EQ(card.card->numbers(bearer(3).id)->dl_octets, 0U);
  EXPECT_EQ(card.card->numbers(bearer(3).id)->ul_octets, 0U);
  (void)card.take(kAirPort);
  (void)card.take(kN3Port);
}

}  // namespace
}  // namespace splitplane::nic
