// What becomes of each kind of N3 frame: the place of its T-PDU, a punt, or the reason of its refusal.
#include "n3/parse.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "n3/test_frames.h"

namespace splitplane::datapath {
namespace {

using test::Bytes;
using test::N3Frame;

struct Parsed {
  N3Parsed result;
  GPdu gpdu;
  bool fast = false;
  GPdu fast_gpdu;
};

// Both parsers, on heap memory of exactly the frame's size.
Parsed parse(const Bytes& frame, const N3Addresses& ours = test::our_addresses()) {
  const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), exact.get());
  Parsed p;
  const auto bytes = static_cast<unsigned>(frame.size());
  p.result = parse_n3(exact.get(), bytes, ours, p.gpdu);
  p.fast = parse_n3_fast(exact.get(), bytes, ours.ipv4, p.fast_gpdu);
  return p;
}

Bytes tpdu(const Bytes& frame, const GPdu& gpdu) {
  return {frame.begin() + gpdu.offset, frame.begin() + gpdu.offset + gpdu.bytes};
}

struct Good {
  const char* what;
  N3Frame frame;
  bool fast;
  bool has_qfi;
  std::uint8_t sdap;
};

std::vector<Good> good_frames() {
  constexpr std::uint8_t kPsc = wire::gtpu::kExtensionPsc;
  return {
      {"usual", {}, true, true, 9},
      {"usual, RQI", {.extensions = {{kPsc, {0x00, 0x7f}}}}, true, true, 0x7f},
      {"usual, PN", {.n_pdu_number = true}, true, true, 9},
      {"usual, S", {.sequence_number = true}, true, true, 9},
      {"usual, S and PN", {.sequence_number = true, .n_pdu_number = true}, true, true, 9},
      {"usual, one octet", {.payload = {0x45}}, true, true, 9},
      {"usual, padded", {.payload = {0x45}, .padding = 20}, true, true, 9},
      {"fragmentation allowed", {.fragment = 0}, true, true, 9},
      {"VLAN", {.tags = {100}}, false, true, 9},
      {"QinQ", {.tags = {100, 200}}, false, true, 9},
      {"IPv4 options", {.ip_options = Bytes(40, 1)}, false, true, 9},
      {"no PSC", {.extensions = {}}, false, false, 0},
      {"no PSC, sequence number", {.sequence_number = true, .extensions = {}}, false, false, 0},
      {"PSC with PPI", {.extensions = {{kPsc, {0x00, 0x89, 0x60, 0, 0, 0}}}}, false, true, 9},
      {"PSC with QFI sequence number", {.extensions = {{kPsc, {0x04, 0x49, 0, 0, 7, 0}}}}, false, true, 0x49},
      {"PSC longer than it needs to be", {.extensions = {{kPsc, {0x00, 0x09, 0, 0, 0, 0}}}}, false, true, 9},
      {"UL PSC", {.extensions = {{kPsc, {0x10, 0x09}}}}, false, true, 9},
      {"PDCP number, then PSC", {.extensions = {{0xc0, {0, 42}}, {kPsc, {0, 5}}}}, false, true, 5},
      {"PSC, then PDCP number", {.extensions = {{kPsc, {0, 5}}, {0xc0, {0, 42}}}}, false, true, 5},
      {"unknown extension that needs no comprehension",
       {.extensions = {{0x21, {0, 0}}, {kPsc, {0, 5}}}},
       false,
       true,
       5},
      {"octets behind GTP-U", {.udp_slack = 4}, false, true, 9},
      {"octets behind UDP", {.ip_slack = 4}, false, true, 9},
      {"IPv6", {.ipv6 = true}, false, true, 9},
      {"IPv6, VLAN", {.tags = {7}, .ipv6 = true}, false, true, 9},
      {"IPv6 extension headers",
       {.ipv6 = true, .ip_options = test::ipv6_extension_headers(), .first_next = 0},
       false,
       true,
       9},
      {"IPv6, no PSC", {.ipv6 = true, .extensions = {}}, false, false, 0},
  };
}

TEST(N3Parse, every_form_of_a_g_pdu_leads_to_its_t_pdu) {
  for (const Good& good : good_frames()) {
    SCOPED_TRACE(good.what);
    const Bytes frame = good.frame.make();
    const Parsed p = parse(frame);
    ASSERT_EQ(p.result.verdict, N3Verdict::kGPdu) << name_of(p.result.reason);
    EXPECT_EQ(p.gpdu.teid, 0x01020304U);
    EXPECT_EQ(tpdu(frame, p.gpdu), good.frame.payload);
    EXPECT_EQ(p.gpdu.has_qfi, good.has_qfi);
    if (good.has_qfi) {
      EXPECT_EQ(p.gpdu.sdap, good.sdap);
    }
    EXPECT_EQ(p.fast, good.fast);
    if (!p.fast) continue;
    EXPECT_EQ(p.fast_gpdu.teid, p.gpdu.teid);
    EXPECT_EQ(p.fast_gpdu.offset, p.gpdu.offset);
    EXPECT_EQ(p.fast_gpdu.bytes, p.gpdu.bytes);
    EXPECT_EQ(p.fast_gpdu.sdap, p.gpdu.sdap);
    EXPECT_EQ(p.fast_gpdu.has_qfi, p.gpdu.has_qfi);
    EXPECT_EQ(p.fast_gpdu.slow, p.gpdu.slow);
    EXPECT_EQ(p.fast_gpdu.slow, good.frame.sequence_number ? kSequenced : 0);
    if (good.frame.sequence_number) {
      EXPECT_EQ(p.fast_gpdu.sequence_number, 0x1234);
    }
  }
}

TEST(N3Parse, a_frame_cut_short_is_refused_unless_only_padding_is_missing) {
  for (const Good& good : good_frames()) {
    const Bytes frame = good.frame.make();
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
      const Parsed p = parse({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)});
      const bool complete = bytes + good.frame.padding >= frame.size();
      EXPECT_EQ(p.result.verdict, complete ? N3Verdict::kGPdu : N3Verdict::kDrop) << good.what << " cut to " << bytes;
      EXPECT_EQ(p.fast, complete && good.fast) << good.what << " cut to " << bytes;
    }
  }
}

TEST(N3Parse, arp_neighbour_discovery_and_gtpu_messages_go_to_the_control_thread) {
  for (const std::uint8_t type : Bytes{1, 2, 26, 31, 254}) {
    EXPECT_EQ(parse(N3Frame{.message = type, .extensions = {}, .payload = {}}.make()).result.verdict, N3Verdict::kPunt);
  }
  N3Frame echo{
      .message = wire::gtpu::kEchoRequest, .teid = 0, .sequence_number = true, .extensions = {}, .payload = {}};
  const Bytes echo_v4 = echo.make();
  echo.ipv6 = true;
  for (const Bytes& frame :
       {test::arp_frame(), test::neighbor_frame(135), test::neighbor_frame(136), echo_v4, echo.make()}) {
    EXPECT_EQ(parse(frame).result.verdict, N3Verdict::kPunt);
    EXPECT_FALSE(parse(frame).fast);
  }
  Bytes tagged = test::arp_frame();
  const Bytes tag{0x81, 0x00, 0x00, 0x64};
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(parse(tagged).result.verdict, N3Verdict::kPunt);
}

TEST(N3Parse, other_icmpv6_and_neighbour_discovery_in_fragments_are_not_punted) {
  EXPECT_EQ(parse(test::neighbor_frame(128)).result.reason, DropReason::icmp) << "echo request";
  EXPECT_EQ(parse(test::neighbor_frame(1)).result.reason, DropReason::icmp) << "no route, says a router";
  Bytes port_unreachable = test::neighbor_frame(1);
  port_unreachable[14 + 40 + 1] = 4;
  EXPECT_EQ(parse(port_unreachable).result.reason, DropReason::icmp_unreachable);
  const Bytes first_fragment{58, 0, 0, 1, 0, 0, 0, 1}, middle{58, 0, 0, 9, 0, 0, 0, 1};
  for (const Bytes& header : {first_fragment, middle}) {
    const Parsed p = parse(test::neighbor_frame(135, 44, header));
    EXPECT_EQ(p.result.verdict, N3Verdict::kDrop);
    EXPECT_EQ(p.result.reason, drop_reason(wire::Reason::ipv6_fragment));
  }
}

struct Bad {
  const char* what;
  DropReason reason;
  N3Frame frame;
  std::function<void(Bytes&)> damage = [](Bytes&) {};
};

std::vector<Bad> bad_frames() {
  using R = DropReason;
  constexpr std::uint8_t kPsc = wire::gtpu::kExtensionPsc;
  const auto set = [](std::size_t at, std::uint8_t value) { return [=](Bytes& f) { f[at] = value; }; };
  const auto set16 = [](std::size_t at, unsigned value) {
    return [=](Bytes& f) { wire::store_be16(f.data() + at, value); };
  };
  const auto cut = [](std::size_t bytes) { return [=](Bytes& f) { f.resize(bytes); }; };
  Bytes ten_headers;
  for (int i = 0; i < 10; ++i) ten_headers.insert(ten_headers.end(), {60, 0, 1, 4, 0, 0, 0, 0});
  return {
      {"empty", R::ethernet_truncated, {}, cut(0)},
      {"inside Ethernet", R::ethernet_truncated, {}, cut(13)},
      {"inside a tag", R::ethernet_truncated, {.tags = {1}}, cut(17)},
      {"three tags", R::ethernet_too_many_tags, {.tags = {1, 2}}, set16(20, 0x8100)},
      {"air frame", R::ethernet_type_unknown, {}, set16(12, 0x88b5)},
      {"802.3 length", R::ethernet_type_unknown, {}, set16(12, 0x0040)},
      {"inside IPv4", R::ipv4_truncated, {}, cut(33)},
      {"inside IPv4 options", R::ipv4_truncated, {.ip_options = Bytes(8, 1)}, cut(40)},
      {"IPv4 version", R::ipv4_bad_version, {}, set(14, 0x65)},
      {"IHL 4", R::ipv4_bad_header_length, {}, set(14, 0x44)},
      {"total length 19", R::ipv4_bad_total_length, {}, set16(16, 19)},
      {"total length beyond", R::ipv4_bad_total_length, {}, set16(16, 99)},
      {"more fragments", R::ipv4_fragment, {.fragment = 0x2000}},
      {"last fragment", R::ipv4_fragment, {.fragment = 0x0001}},
      {"TCP", R::ipv4_not_udp, {.first_next = 6}},
      {"a ping", R::icmp, {.first_next = 1}, set(34, 8)},
      {"port unreachable", R::icmp_unreachable, {.first_next = 1}, set16(34, 0x0303)},
      {"fragmentation needed", R::icmp, {.first_next = 1}, set16(34, 0x0304)},
      {"ICMP without a message", R::icmp, {.first_next = 1, .extensions = {}, .payload = {}}, set16(16, 20)},
      {"for somebody else", R::not_for_us, {.destination = test::kOurIpv4 + 1}},
      {"broadcast", R::not_for_us, {.destination = 0xffffffff}},
      {"inside UDP", R::udp_truncated, {}, set16(16, 27)},
      {"UDP length 7", R::udp_bad_length, {}, set16(38, 7)},
      {"UDP length beyond", R::udp_bad_length, {}, set16(38, 65)},
      {"UDP port", R::udp_port_unknown, {.port = 2153}},
      {"inside GTP-U", R::gtpu_truncated, {}, set16(38, 15)},
      {"GTP version 2", R::gtpu_bad_version, {}, set(42, 0x54)},
      {"GTP'", R::gtpu_not_gtp, {}, set(42, 0x24)},
      {"GTP-U length beyond", R::gtpu_bad_length, {}, set16(44, 49)},
      {"GTP-U length inside the options", R::gtpu_bad_length, {}, set16(44, 3)},
      {"extension of length 0", R::gtpu_extension_bad_length, {}, set(54, 0)},
      {"extension beyond", R::gtpu_extension_bad_length, {}, set(54, 13)},
      {"chain without an end", R::gtpu_extension_bad_length, {.payload = {}}, set(57, 0x85)},
      {"chain of nine",
       R::gtpu_extension_chain_too_long,
       {.extensions = std::vector<test::GtpuExtension>(9, {0x20, {0, 0}})}},
      {"unknown extension", R::gtpu_extension_unknown_required, {.extensions = {{0xa5, {0, 0}}}}},
      {"PSC type", R::psc_bad_type, {.extensions = {{kPsc, {0x20, 9}}}}},
      {"PSC flags beyond", R::psc_truncated, {.extensions = {{kPsc, {0x08, 9}}}}},
      {"Version Not Supported of GTP-C", R::gtpu_message, {.message = 3, .teid = 0, .extensions = {}, .payload = {}}},
      {"no T-PDU", R::gtpu_no_payload, {.payload = {}}},
      {"no T-PDU, padded", R::gtpu_no_payload, {.payload = {}, .padding = 18}},
      {"inside IPv6", R::ipv6_truncated, {.ipv6 = true}, cut(53)},
      {"IPv6 version", R::ipv6_bad_version, {.ipv6 = true}, set(14, 0x40)},
      {"IPv6 payload length", R::ipv6_bad_payload_length, {.ipv6 = true}, set16(18, 200)},
      {"inside an extension header", R::ipv6_truncated, {.ipv6 = true, .first_next = 60}, set(55, 200)},
      {"IPv6 chain of ten",
       R::ipv6_extension_chain_too_long,
       {.ipv6 = true, .ip_options = ten_headers, .first_next = 60}},
      {"IPv6 fragment", R::ipv6_fragment, {.ipv6 = true, .ip_options = {17, 0, 0, 1, 0, 0, 0, 1}, .first_next = 44}},
      {"TCP over IPv6", R::ipv6_not_udp, {.ipv6 = true, .first_next = 6}},
      {"IPv6 for somebody else", R::not_for_us, {.ipv6 = true, .destination_v6 = test::kUpfIpv6}},
  };
}

TEST(N3Parse, each_bad_frame_is_dropped_for_its_own_reason) {
  for (const Bad& bad : bad_frames()) {
    Bytes frame = bad.frame.make();
    bad.damage(frame);
    const Parsed p = parse(frame);
    EXPECT_EQ(p.result.verdict, N3Verdict::kDrop) << bad.what;
    EXPECT_EQ(name_of(p.result.reason), name_of(bad.reason)) << bad.what;
    EXPECT_FALSE(p.fast) << bad.what;
  }
}

TEST(N3Parse, without_an_address_of_a_family_nothing_of_it_is_ours) {
  const N3Addresses none{};
  for (const N3Frame& frame :
       {N3Frame{}, N3Frame{.destination = 0}, N3Frame{.ipv6 = true}, N3Frame{.ipv6 = true, .destination_v6 = {}}}) {
    const Parsed p = parse(frame.make(), none);
    EXPECT_EQ(p.result.verdict, N3Verdict::kDrop);
    EXPECT_EQ(p.result.reason, DropReason::not_for_us);
    EXPECT_FALSE(p.fast);
  }
}

}  // namespace
}  // namespace splitplane::datapath
