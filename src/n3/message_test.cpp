#include "n3/message.h"

#include <gtest/gtest.h>

#include <random>

#include "n3/test_frames.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::kOurMac;
using test::kUpfMac;
using test::N3Frame;

Bytes octets_of(const std::string& hex) {
  Bytes octets;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

Bytes part(const Bytes& frame, std::size_t first, std::size_t last) {
  return {frame.begin() + static_cast<std::ptrdiff_t>(first), frame.begin() + static_cast<std::ptrdiff_t>(last)};
}

// 10.100.0.2 port 3000 asks 10.100.0.1 with sequence number 7 (formats.md G6).
const std::string kEchoRequest =
    "020000000001"
    "020000000002"
    "0800"
    "450000280000400040112618"
    "0a640002"
    "0a640001"
    "0bb8086800140000"
    "320100040000000000070000";

TEST(N3Message, the_echo_response_goes_back_to_address_and_port_with_the_same_sequence_number) {
  const auto request = octets_of(kEchoRequest);
  ASSERT_TRUE(read_n3_message(request)->from_one_host);
  const auto answer = answer_echo(*read_n3_message(request), kOurMac);
  ASSERT_TRUE(answer);
  // Ethernet, IPv4 with its checksum, UDP 2152 -> 3000, and message G7 with IE Recovery 0.
  EXPECT_EQ(part(*answer, 0, 14), octets_of("0200000000020200000000010800"));
  EXPECT_EQ(part(*answer, 26, 38), octets_of("0a6400010a64000208680bb8"));
  EXPECT_EQ(part(*answer, 42, answer->size()), octets_of("3202000600000000000700000e00"));
}

TEST(N3Message, a_request_by_broadcast_is_answered_from_our_own_mac_address) {
  for (const std::uint8_t first : Bytes{0xff, 0x33, 0x01}) {
    auto request = octets_of(kEchoRequest);
    request[0] = first;
    const auto answer = answer_echo(*read_n3_message(request), kOurMac);
    ASSERT_TRUE(answer);
    EXPECT_EQ(part(*answer, 0, 12), octets_of("020000000002020000000001")) << int{first};
  }
}

TEST(N3Message, a_group_address_is_no_host_to_answer) {
  auto group_mac = octets_of(kEchoRequest);
  group_mac[6] = 0x01;
  EXPECT_FALSE(read_n3_message(group_mac)->from_one_host);
  for (const std::uint8_t first : Bytes{0, 224, 255}) {
    auto source = octets_of(kEchoRequest);
    source[26] = first;
    EXPECT_FALSE(read_n3_message(source)->from_one_host) << int{first};
  }
}

TEST(N3Message, truncations_and_other_messages_are_not_answered) {
  const auto whole = octets_of(kEchoRequest);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Bytes cut = part(whole, 0, n);
    const auto message = read_n3_message(cut);
    EXPECT_FALSE(message && answer_echo(*message, kOurMac)) << n;
  }
  auto response = whole;
  response[43] = 2;
  EXPECT_FALSE(answer_echo(*read_n3_message(response), kOurMac));
}

TEST(N3Message, vlan_tags_stay_on_the_answer) {
  const Bytes request = N3Frame{
      .tags = {0x0064, 0x2065},
      .message = wire::gtpu::kEchoRequest,
      .teid = 0,
      .sequence_number = true,
      .extensions = {},
      .payload = {}}.make();
  const auto answer = answer_echo(*read_n3_message(request), kOurMac);
  ASSERT_TRUE(answer);
  EXPECT_EQ(part(*answer, 12, 22), part(request, 12, 22));
}

TEST(N3Message, an_error_indication_names_the_teid_our_address_and_the_senders_port) {
  const Bytes gpdu = N3Frame{.port = 2152, .teid = 0xdeadbeef}.make();
  const Bytes frame = indicate_error(*read_n3_message(gpdu), kOurMac);
  EXPECT_EQ(part(frame, 0, 14), octets_of("0200000000020200000000010800"));
  EXPECT_EQ(part(frame, 26, 38), octets_of("0a6400010a64000208680868"));
  // S and E; UDP Port extension header 2152; IE 16 with the TEID; IE 133 with 10.100.0.1.
  EXPECT_EQ(part(frame, 42, frame.size()), octets_of("361a00140000000000000040"
                                                     "01086800"
                                                     "10deadbeef"
                                                     "8500040a640001"));
  const auto read = read_n3_message(frame);
  EXPECT_TRUE(wire::gtpu::parse_error_indication(read->octets, read->header));
}

TEST(N3Message, an_error_indication_over_ipv6_has_the_long_address_and_a_checksum) {
  const Bytes gpdu = N3Frame{.ipv6 = true, .teid = 0x01020304}.make();
  const Bytes frame = indicate_error(*read_n3_message(gpdu), kOurMac);
  const auto read = read_n3_message(frame);
  ASSERT_TRUE(read);
  const auto indication = wire::gtpu::parse_error_indication(read->octets, read->header);
  ASSERT_TRUE(indication);
  EXPECT_EQ(indication->teid.value, 0x01020304U);
  EXPECT_EQ(indication->address, test::kOurIpv6);
  EXPECT_EQ(indication->address_bytes, 16);
  EXPECT_TRUE(wire::udp::checksum_is_good(test::kOurIpv6, test::kUpfIpv6, part(frame, 54, frame.size())));
}

TEST(N3Message, an_unknown_extension_header_that_must_be_known_is_answered_with_the_list) {
  const Bytes gpdu = N3Frame{.extensions = {{0xa5, {0, 0}}}}.make();
  const auto message = read_n3_message(gpdu);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->reason, wire::Reason::gtpu_extension_unknown_required);
  const Bytes frame = notify_extensions(*message, kOurMac);
  EXPECT_EQ(part(frame, 42, frame.size()), octets_of("321f000e0000000000000000"
                                                     "8d08"
                                                     "20408182838485c0"));
}

TEST(N3Message, every_supported_extension_header_is_indeed_accepted) {
  for (const std::uint8_t type : wire::gtpu::kSupportedExtensionTypes) {
    const Bytes gpdu = N3Frame{.extensions = {{type, Bytes(type == 0x82 ? 6 : 2)}}}.make();
    EXPECT_EQ(read_n3_message(gpdu)->reason, wire::Reason::ok) << int{type};
  }
}

// The control thread reads all frames that workers punt. Damage must not make it read or write beyond a frame.
TEST(N3Message, damaged_frames_are_answered_or_refused_but_never_read_beyond) {
  std::mt19937 random(29281);
  const std::vector<Bytes> bases{octets_of(kEchoRequest),
                                 N3Frame{}.make(),
                                 N3Frame{.ipv6 = true}.make(),
                                 N3Frame{.tags = {1, 2}, .extensions = {{0xa5, {0, 0}}}}.make(),
                                 indicate_error(*read_n3_message(N3Frame{.ipv6 = true}.make()), kOurMac),
                                 notify_extensions(*read_n3_message(N3Frame{}.make()), kOurMac)};
  unsigned answered = 0;
  for (unsigned round = 0; round < 50'000; ++round) {
    Bytes frame = bases[random() % bases.size()];
    for (unsigned n = random() % 4; n != 0; --n) frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) frame.resize(random() % (frame.size() + 1));
    frame.shrink_to_fit();  // so that a sanitizer sees a step beyond the end
    const auto message = read_n3_message(frame);
    if (!message) continue;
    answered += answer_echo(*message, kOurMac) ? 1 : 0;
    for (const Bytes& answer : {indicate_error(*message, kOurMac), notify_extensions(*message, kOurMac)}) {
      const auto read = read_n3_message(answer);
      ASSERT_TRUE(read && read->reason == wire::Reason::ok) << round;
    }
    (void)wire::gtpu::parse_error_indication(message->octets, message->header);
    (void)wire::gtpu::parse_supported_extensions(message->octets, message->header);
  }
  EXPECT_GT(answered, 1000U);
}

TEST(N3Message, our_own_echo_request_is_one_that_we_would_answer) {
  const Bytes frame = request_echo({.source_mac = kOurMac,
                                    .destination_mac = kUpfMac,
                                    .source = IpAddress::v4({10, 100, 0, 1}),
                                    .destination = IpAddress::v4({10, 100, 0, 2}),
                                    .tags = {}},
                                   0x1234);
  EXPECT_EQ(part(frame, 42, frame.size()), octets_of("320100040000000012340000"));
  EXPECT_TRUE(answer_echo(*read_n3_message(frame), kUpfMac));
}

TEST(N3Message, what_is_to_do_with_a_message_follows_from_its_octets_alone) {
  const auto duty = [](const N3Frame& frame) { return duty_of(*read_n3_message(frame.make())); };
  const std::vector<test::GtpuExtension> unknown{{0xc6, {0, 0}}};
  EXPECT_EQ(duty({.teid = 7}), N3Duty::kIndicateError);
  EXPECT_EQ(duty({.teid = 0}), N3Duty::kNone);
  EXPECT_EQ(duty({.teid = 7, .extensions = unknown}), N3Duty::kNotifyExtensions);
  for (const std::uint8_t type : {wire::gtpu::kErrorIndication, wire::gtpu::kSupportedExtensionHeaders}) {
    EXPECT_EQ(duty({.message = type, .teid = 0, .extensions = unknown}), N3Duty::kMalformed) << int{type};
    EXPECT_EQ(duty({.message = type, .teid = 0, .extensions = {}, .payload = {}}), N3Duty::kMalformed) << int{type};
  }
  EXPECT_EQ(duty_of(*read_n3_message(octets_of(kEchoRequest))), N3Duty::kAnswerEcho);
  EXPECT_EQ(duty({.message = wire::gtpu::kEndMarker, .teid = 7, .extensions = {}, .payload = {}}),
            N3Duty::kTakeEndMarker);
}

}  // namespace
}  // namespace splitplane::datapath
