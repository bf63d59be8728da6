// What the guard sees of a frame: both families, tags, options, extension headers, fragments, ICMP errors; and that a
// frame of any length is read within its bounds.
#include "guard/segment/segment_parser.h"

#include <gtest/gtest.h>

#include <random>

#include "guard/segment/test_frames.h"

namespace splitplane::guard {
namespace {

using namespace test;

class SegmentParserTest : public testing::Test {
 protected:
  SegmentParserTest() {
    ServerRule rule;
    rule.name = "v4";
    rule.address = IpAddress::parse("10.0.0.1").value();
    rule.first_port = 80;
    rule.last_port = 443;
    EXPECT_TRUE(servers_.put(rule));
    rule.name = "v6";
    rule.address = IpAddress::parse("2001:db8::1").value();
    rule.prefix = 128;
    EXPECT_TRUE(servers_.put(rule));
  }
  ~SegmentParserTest() override { rte_pktmbuf_free(held_); }

  Segment parse(rte_mbuf* m, Side side) {
    rte_pktmbuf_free(held_);
    held_ = m;
    Segment s;
    s.tcp_offset = 999;
    parser_.parse(m, side, s);
    return s;
  }
  Segment parse(const Bytes& octets, Side side = Side::kClient) { return parse(pool_.make(octets), side); }

  datapath::test::Pool pool_;
  ServerList servers_;
  SegmentParser parser_{servers_};
  rte_mbuf* held_ = nullptr;
};

void expect_tuple(const FourTuple& tuple, const char* client, std::uint16_t client_port, const char* server,
                  std::uint16_t server_port, std::uint16_t vlan = 0) {
  const Bytes c = address_of(client), s = address_of(server);
  FourTuple expected;
  std::copy(c.begin(), c.end(), expected.client.begin());
  std::copy(s.begin(), s.end(), expected.server.begin());
  expected.client_port = client_port;
  expected.server_port = server_port;
  expected.vlan = vlan;
  expected.is_v6 = c.size() == 16 ? 1 : 0;
  EXPECT_TRUE(tuple == expected);
}

Frame v6_frame() {
  Frame f;
  f.from = "2001:db8:7::7";
  f.to = "2001:db8::1";
  return f;
}

TEST_F(SegmentParserTest, reads_a_segment_of_each_family_and_side) {
  Frame f{.payload = {1, 2, 3}, .padding = 5};
  const Segment s = parse(write(f));
  EXPECT_EQ(s.kind, Kind::kTcp);
  EXPECT_EQ(s.ip_offset, 14U);
  EXPECT_EQ(s.tcp_offset, 34U);
  EXPECT_EQ(s.ip_end, 57U) << "without padding";
  EXPECT_EQ(s.payload_bytes(), 3U);
  EXPECT_EQ(s.tcp.flags, kSyn);
  EXPECT_EQ(s.tcp.sequence, 1000U);
  EXPECT_FALSE(s.is_segmented);
  expect_tuple(s.tuple, "192.0.2.7", 40000, "10.0.0.1", 80);

  const Segment back = parse(write(f.back()), Side::kServer);
  EXPECT_EQ(back.kind, Kind::kTcp);
  expect_tuple(back.tuple, "192.0.2.7", 40000, "10.0.0.1", 80);

  const Segment six = parse(write(v6_frame()));
  EXPECT_EQ(six.kind, Kind::kTcp);
  EXPECT_EQ(six.tcp_offset, 54U);
  EXPECT_EQ(servers_.at(six.server).rule.name, "v6");
  expect_tuple(six.tuple, "2001:db8:7::7", 40000, "2001:db8::1", 80);
  expect_tuple(parse(write(v6_frame().back()), Side::kServer).tuple, "2001:db8:7::7", 40000, "2001:db8::1", 80);
}

TEST_F(SegmentParserTest, the_innermost_vlan_is_part_of_the_connection) {
  Frame f{.vlans = {0x6064}};
  const Segment s = parse(write(f));
  EXPECT_EQ(s.kind, Kind::kTcp);
  EXPECT_EQ(s.ip_offset, 18U);
  expect_tuple(s.tuple, "192.0.2.7", 40000, "10.0.0.1", 80, 0x064);
  f.vlans = {7, 0x2005};
  const Segment two = parse(write(f));
  EXPECT_EQ(two.ip_offset, 22U);
  expect_tuple(two.tuple, "192.0.2.7", 40000, "10.0.0.1", 80, 5);
  Frame six = v6_frame();
  six.vlans = {9};
  expect_tuple(parse(write(six)).tuple, "2001:db8:7::7", 40000, "2001:db8::1", 80, 9);
  f.vlans = {1, 2, 3};
  EXPECT_EQ(parse(write(f)).kind, Kind::kOther);
}

TEST_F(SegmentParserTest, skips_options_and_extension_headers) {
  Frame f{.ip_options = Bytes(40, 1)};
  const Segment s = parse(write(f));
  EXPECT_EQ(s.kind, Kind::kTcp);
  EXPECT_EQ(s.tcp_offset, 14U + 60U);

  Frame six = v6_frame();
  six.extension = 0;  // hop by hop, then destination options of 16 octets
  six.ip_options = {60, 0, 1, 4, 0, 0, 0, 0, 6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const Segment s6 = parse(write(six));
  EXPECT_EQ(s6.kind, Kind::kTcp);
  EXPECT_EQ(s6.tcp_offset, 14U + 40U + 24U);
  six.extension = 44;
  six.ip_options = {6, 0, 0, 0, 1, 2, 3, 4};  // an atomic fragment
  EXPECT_EQ(parse(write(six)).kind, Kind::kTcp);
}

TEST_F(SegmentParserTest, passes_what_is_not_protected) {
  Frame f{.to = "10.0.0.2"};
  EXPECT_EQ(parse(write(f)).kind, Kind::kOther);
  f = {.to_port = 79};
  EXPECT_EQ(parse(write(f)).kind, Kind::kOther);
  f = {};
  EXPECT_EQ(parse(write(f), Side::kServer).kind, Kind::kOther) << "the server is the destination";
  EXPECT_EQ(parse(framed(f, ip_of(f, 17, Bytes(20)))).kind, Kind::kOther);
  EXPECT_EQ(parse(Bytes{}).kind, Kind::kOther);
  Bytes arp = write(f);
  arp[13] = 6;
  EXPECT_EQ(parse(arp).kind, Kind::kOther);
  Bytes version = write(f);
  version[14] = 0x55;
  EXPECT_EQ(parse(version).kind, Kind::kOther);
}

TEST_F(SegmentParserTest, a_packet_that_says_more_than_came_is_no_packet) {
  Bytes octets = write(Frame{});
  wire::store_be16(octets.data() + 16, 41);
  EXPECT_EQ(parse(octets).kind, Kind::kOther);
  wire::store_be16(octets.data() + 16, 19);
  EXPECT_EQ(parse(octets).kind, Kind::kOther);
  Bytes six = write(v6_frame());
  wire::store_be16(six.data() + 18, 21);
  EXPECT_EQ(parse(six).kind, Kind::kOther);
}

TEST_F(SegmentParserTest, says_why_a_tcp_header_cannot_be_read) {
  Bytes octets = write(Frame{});
  octets[46] = 0x40;
  EXPECT_EQ(parse(octets).kind, Kind::kUnsound);
  EXPECT_EQ(parse(octets).reason, wire::Reason::tcp_bad_header_length);
  octets[46] = 0x60;
  EXPECT_EQ(parse(octets).reason, wire::Reason::tcp_truncated);
  Frame f;
  EXPECT_EQ(parse(framed(f, ip_of(f, 6, Bytes(19)))).reason, wire::Reason::tcp_truncated);
  Frame six = v6_frame();
  EXPECT_EQ(parse(framed(six, ip_of(six, 6, Bytes(19)))).reason, wire::Reason::tcp_truncated);
  six.ip_options.clear();
  for (int i = 0; i < 8; ++i) put(six.ip_options, {60, 0, 1, 4, 0, 0, 0, 0});
  put(six.ip_options, {6, 0, 1, 4, 0, 0, 0, 0});
  six.extension = 60;
  const Segment s = parse(write(six));
  EXPECT_EQ(s.kind, Kind::kUnsound);
  EXPECT_EQ(s.reason, wire::Reason::ipv6_extension_chain_too_long);
  six.ip_options = {6, 9, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(parse(framed(six, ip_of(six, 6, Bytes(20)))).reason, wire::Reason::ipv6_truncated);
}

TEST_F(SegmentParserTest, knows_fragments_by_address) {
  for (const std::uint16_t fragment : std::array<std::uint16_t, 3>{0x2000, 0x0001, 0x2001}) {
    Frame f{.to_port = 9999, .fragment = fragment};
    const Segment s = parse(write(f));
    EXPECT_EQ(s.kind, Kind::kFragment);
    expect_tuple(s.tuple, "192.0.2.7", 0, "10.0.0.1", 0);
  }
  EXPECT_EQ(parse(write(Frame{.fragment = 0x4000})).kind, Kind::kTcp) << "do not fragment";
  Frame udp{.fragment = 1};
  EXPECT_EQ(parse(framed(udp, ip_of(udp, 17, Bytes(20)))).kind, Kind::kOther);
  Frame six = v6_frame();
  six.extension = 44;
  six.ip_options = {6, 0, 0, 1, 1, 2, 3, 4};  // the first of several
  EXPECT_EQ(parse(write(six)).kind, Kind::kFragment);
  six.ip_options = {60, 0, 1, 0, 1, 2, 3, 4};  // a later one, of which another header was first
  EXPECT_EQ(parse(write(six)).kind, Kind::kFragment);
  six.ip_options = {17, 0, 1, 0, 1, 2, 3, 4};
  EXPECT_EQ(parse(write(six)).kind, Kind::kOther);
}

TEST_F(SegmentParserTest, reads_the_segment_that_an_icmp_error_quotes) {
  const Frame f;
  const Bytes inner = ip_of(f.back(), 6, tcp_of(f.back()));
  Frame router{.from = "198.51.100.9", .to = "10.0.0.1"};
  const Segment s = parse(icmp_error(router, 3, {inner.begin(), inner.begin() + 28}));
  EXPECT_EQ(s.kind, Kind::kIcmpError);
  EXPECT_EQ(s.icmp_offset, 34U);
  EXPECT_EQ(s.quoted_offset, 42U);
  EXPECT_EQ(s.tcp_offset, 62U);
  EXPECT_EQ(s.quoted_bytes, 8U);
  EXPECT_EQ(s.tcp.sequence, 1000U);
  expect_tuple(s.tuple, "192.0.2.7", 40000, "10.0.0.1", 80);
  EXPECT_EQ(parse(icmp_error(router, 3, {inner.begin(), inner.begin() + 27})).kind, Kind::kOther);
  EXPECT_EQ(parse(icmp_error(router, 0, inner)).kind, Kind::kOther) << "no error";

  const Bytes outer = ip_of(f, 6, tcp_of(f));
  const Segment from_server = parse(icmp_error(f.back(), 11, outer), Side::kServer);
  EXPECT_EQ(from_server.kind, Kind::kIcmpError);
  EXPECT_EQ(from_server.quoted_bytes, 20U);
  expect_tuple(from_server.tuple, "192.0.2.7", 40000, "10.0.0.1", 80);

  const Frame six = v6_frame();
  Frame router6{.from = "2001:db8:9::9", .to = "2001:db8::1"};
  const Segment s6 = parse(icmp_error(router6, 2, ip_of(six.back(), 6, tcp_of(six.back()))));
  EXPECT_EQ(s6.kind, Kind::kIcmpError);
  EXPECT_EQ(s6.tcp_offset, 14U + 40U + 8U + 40U);
  expect_tuple(s6.tuple, "2001:db8:7::7", 40000, "2001:db8::1", 80);
}

TEST_F(SegmentParserTest, headers_of_a_segmented_mbuf_are_read_in_its_first_part) {
  Frame f{.payload = Bytes(200, 7)};
  const Bytes octets = write(f);
  const Segment s = parse(pool_.make_segmented(octets, 60), Side::kClient);
  EXPECT_TRUE(s.is_segmented);
  EXPECT_EQ(s.kind, Kind::kTcp);
  EXPECT_EQ(parse(pool_.make_segmented(octets, 40), Side::kClient).kind, Kind::kUnsound);
  EXPECT_EQ(parse(pool_.make_segmented(octets, 20), Side::kClient).kind, Kind::kOther);
}

// Frames lie at the end of their buffers, so a sanitizer that knows the buffer's end sees a read beyond it; what is
// read beyond the frame but inside the buffer would change the result between two fillings of the rest.
TEST_F(SegmentParserTest, reads_nothing_behind_the_end_of_a_frame) {
  Frame six = v6_frame();
  six.extension = 0;
  six.ip_options = {6, 0, 1, 4, 0, 0, 0, 0};
  Frame tagged{.vlans = {7, 8}};
  const Frame f;
  const std::vector<Bytes> whole{write(f), write(six), write(tagged), write(Frame{.fragment = 1}),
                                 icmp_error(Frame{}, 3, ip_of(f.back(), 6, tcp_of(f.back())))};
  std::mt19937 random(1);
  for (int n = 0; n < 60'000; ++n) {
    Bytes octets = whole[random() % whole.size()];
    octets.resize(random() % (octets.size() + 1));
    for (auto flips = random() % 3; flips != 0 && !octets.empty(); --flips)
      octets[random() % octets.size()] = static_cast<std::uint8_t>(random());
    Segment seen[2];
    for (const int filling : {0x00, 0xFF}) {
      rte_mbuf* const m = pool_.make(octets);
      std::memset(rte_pktmbuf_mtod(m, std::uint8_t*) + m->data_len, filling, 64);
      seen[filling & 1] = parse(m, n % 2 == 0 ? Side::kClient : Side::kServer);
      const Segment& s = seen[filling & 1];
      if (s.kind == Kind::kTcp) {
        ASSERT_LE(s.ip_end, octets.size());
        ASSERT_LE(s.tcp_offset + s.tcp.header_bytes, s.ip_end);
      }
    }
    ASSERT_EQ(seen[0].kind, seen[1].kind);
    if (seen[0].kind == Kind::kTcp) {
      ASSERT_TRUE(seen[0].tuple == seen[1].tuple);
    }
  }
}

}  // namespace
}  // namespace splitplane::guard
