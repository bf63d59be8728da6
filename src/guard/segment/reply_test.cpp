// A SYN that becomes its answer in place: every field, checksums judged by a sum of their own, and the length.
#include "guard/segment/reply.h"

#include <gtest/gtest.h>

#include "guard/segment/segment_parser.h"
#include "guard/segment/test_frames.h"

namespace splitplane::guard {
namespace {

using namespace test;

class ReplyTest : public testing::Test {
 protected:
  ReplyTest() {
    ServerRule rule;
    rule.name = "v4";
    rule.address = IpAddress::parse("10.0.0.1").value();
    EXPECT_TRUE(servers_.put(rule));
    rule.name = "v6";
    rule.address = IpAddress::parse("2001:db8::1").value();
    rule.prefix = 128;
    EXPECT_TRUE(servers_.put(rule));
  }

  // The frame after turn_round(); empty: it was refused.
  Bytes turned(const Frame& f, const Reply& reply) {
    rte_mbuf* const m = pool_.make(write(f));
    m->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD;
    Segment s;
    SegmentParser(servers_).parse(m, Side::kClient, s);
    EXPECT_EQ(s.kind, Kind::kTcp);
    EXPECT_TRUE(checksums_are_good(s));
    Bytes out;
    if (turn_round(s, reply)) {
      EXPECT_EQ(m->pkt_len, m->data_len);
      EXPECT_EQ(m->ol_flags, 0U);
      out.assign(datapath::octets(m), datapath::octets(m) + m->data_len);
    }
    rte_pktmbuf_free(m);
    return out;
  }

  datapath::test::Pool pool_;
  ServerList servers_;
};

void expect_answer(const Frame& syn, const Bytes& octets, const Reply& reply) {
  ASSERT_FALSE(octets.empty());
  EXPECT_LE(octets.size(), write(syn).size()) << "no amplification";
  const ReadBack r = read_back(octets);
  EXPECT_TRUE(r.checksums_good);
  EXPECT_EQ(r.ttl, kReplyTtl);
  EXPECT_EQ(r.frame.from, syn.to);
  EXPECT_EQ(r.frame.to, syn.from);
  EXPECT_EQ(r.frame.from_port, syn.to_port);
  EXPECT_EQ(r.frame.to_port, syn.from_port);
  EXPECT_EQ(r.frame.vlans, syn.vlans);
  EXPECT_EQ(r.frame.tos, syn.tos & 0xFC);
  EXPECT_EQ(r.frame.flags, kSyn | kAck);
  EXPECT_EQ(r.frame.window, reply.window);
  EXPECT_EQ(r.frame.sequence, reply.sequence);
  EXPECT_EQ(r.frame.acknowledgment, reply.acknowledgment);
  EXPECT_EQ(r.frame.options, Bytes(reply.options.begin(), reply.options.end()));
  EXPECT_TRUE(r.frame.payload.empty());
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(r.frame.macs[i], syn.macs[i + 6]);
    EXPECT_EQ(r.frame.macs[i + 6], syn.macs[i]);
  }
}

const Reply kReply{.sequence = 0xFFFFFFFF, .acknowledgment = 0x89ABCDEF, .window = 0xFFFE, .options = {}};

TEST_F(ReplyTest, answers_ipv4_and_ipv6_with_and_without_tags) {
  for (const bool v6 : {false, true}) {
    for (const auto& vlans : {std::vector<std::uint16_t>{}, {0x6064}, {7, 8}}) {
      Frame f{.flags = kSyn | kEce | kCwr, .options = {2, 4, 5, 180}, .vlans = vlans, .tos = 0xBB};
      if (v6) f.from = "2001:db8:7::7", f.to = "2001:db8::1";
      expect_answer(f, turned(f, kReply), kReply);
    }
  }
}

TEST_F(ReplyTest, many_numbers_have_good_checksums) {
  for (std::uint32_t n = 0; n < 20'000; ++n) {
    const Reply reply{.sequence = n * 2654435761U,
                      .acknowledgment = n * 40503U * 65537U,
                      .window = static_cast<std::uint16_t>(n),
                      .options = {}};
    Frame f{.from_port = static_cast<std::uint16_t>(n)};
    if (n % 2 == 0) f.from = "2001:db8:ffff:ffff::7", f.to = "2001:db8::1";
    const Bytes octets = turned(f, reply);
    ASSERT_TRUE(read_back(octets).checksums_good) << n;
  }
}

TEST_F(ReplyTest, cuts_options_extension_headers_and_payload) {
  Frame f{.options = Bytes(40, 1), .ip_options = Bytes(12, 1), .payload = Bytes(1000, 9)};
  const Bytes v4 = turned(f, kReply);
  expect_answer(f, v4, kReply);
  EXPECT_EQ(v4.size(), 60U) << "no longer than the shortest frame";
  Frame six{.from = "2001:db8:7::7",
            .to = "2001:db8::1",
            .ip_options = {6, 0, 1, 4, 0, 0, 0, 0},
            .payload = Bytes(99, 9),
            .extension = 60};
  const Bytes v6 = turned(six, kReply);
  expect_answer(six, v6, kReply);
  EXPECT_EQ(v6.size(), 74U);
}

TEST_F(ReplyTest, padding_is_zero_and_never_more_than_came) {
  Frame padded{.padding = 6};
  const Bytes octets = turned(padded, kReply);
  ASSERT_EQ(octets.size(), 60U);
  EXPECT_EQ(Bytes(octets.end() - 6, octets.end()), Bytes(6));
  EXPECT_EQ(turned(Frame{}, kReply).size(), 54U);
}

TEST_F(ReplyTest, options_of_the_answer_fit_into_what_came_or_there_is_none) {
  const Bytes options{2, 4, 5, 180, 1, 3, 3, 7};
  Reply reply = kReply;
  reply.options = options;
  Frame with{.options = {2, 4, 5, 180, 4, 2, 1, 1}};
  expect_answer(with, turned(with, reply), reply);
  Frame padded{.padding = 8};
  expect_answer(padded, turned(padded, reply), reply);
  EXPECT_TRUE(turned(Frame{}, reply).empty());
}

TEST_F(ReplyTest, a_wrong_checksum_is_seen_in_either_family) {
  for (const bool v6 : {false, true}) {
    Frame f{.payload = {1, 2, 3}, .padding = 3, .bad_checksum = true};
    if (v6) f.from = "2001:db8:7::7", f.to = "2001:db8::1";
    Bytes octets = write(f);
    rte_mbuf* const m = pool_.make(octets);
    Segment s;
    SegmentParser(servers_).parse(m, Side::kClient, s);
    ASSERT_EQ(s.kind, Kind::kTcp);
    EXPECT_FALSE(checksums_are_good(s));
    rte_pktmbuf_free(m);
  }
  Bytes octets = write(Frame{});
  octets[24] ^= 1;  // of IPv4's own header
  rte_mbuf* const m = pool_.make(octets);
  Segment s;
  SegmentParser(servers_).parse(m, Side::kClient, s);
  EXPECT_FALSE(checksums_are_good(s));
  rte_pktmbuf_free(m);
}

}  // namespace
}  // namespace splitplane::guard
