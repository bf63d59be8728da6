// Mode `auth`: each outcome, and what the client gets to see.
#include "guard/auth.h"

#include <gtest/gtest.h>

#include "guard/test_bump.h"

namespace splitplane::guard {
namespace {

using namespace test;

Frame client(std::uint8_t flags, std::uint32_t sequence = 1000) {
  Frame f{.sequence = sequence, .flags = flags};
  if ((flags & kAck) != 0) f.acknowledgment = 77;
  return f;
}

// The RST with which a TCP answers our SYN-ACK: its number is what the SYN-ACK acknowledged (RFC 9293 3.5.2).
Frame rst_for(const Bytes& syn_ack) {
  const ReadBack r = read_back(syn_ack);
  Frame f = r.frame.back();
  f.flags = kRst;
  f.sequence = r.frame.acknowledgment;
  f.window = 0;
  return f;
}

class AuthTest : public testing::Test {
 protected:
  AuthTest() {
    bump_.protect(rule(Mode::kAuth));
    bump_.protect(rule_v6(Mode::kAuth));
  }
  Bump bump_;
};

TEST_F(AuthTest, challenged_rst_then_proved_rst_then_the_syn_passes) {
  for (const bool v6 : {false, true}) {
    for (const auto& vlans : {std::vector<std::uint16_t>{}, {0x6064}, {7, 8}}) {
      Frame syn = client(kSyn);
      syn.vlans = vlans;
      if (v6) syn.from = "2001:db8:7::7", syn.to = "2001:db8::1";
      bump_.guard.sources.clear();
      EXPECT_EQ(bump_.from_client(syn), Outcome::challenged_rst);
      ASSERT_EQ(bump_.to_client.size(), 1U);
      EXPECT_TRUE(bump_.to_server.empty());
      const ReadBack answer = read_back(bump_.to_client[0]);
      EXPECT_TRUE(answer.checksums_good);
      EXPECT_EQ(answer.frame.flags, kSyn | kAck);
      EXPECT_EQ(answer.frame.from, syn.to);
      EXPECT_EQ(answer.frame.window, 0);
      EXPECT_NE(answer.frame.acknowledgment, syn.sequence + 1) << "the client must not take it for a connection";
      EXPECT_EQ(bump_.proof_of(syn.from), Proof::kNone);

      EXPECT_EQ(bump_.from_client(rst_for(bump_.to_client[0])), Outcome::proved_rst);
      EXPECT_TRUE(bump_.to_client.empty());
      EXPECT_TRUE(bump_.to_server.empty()) << "the server never hears of it";
      EXPECT_EQ(bump_.proof_of(syn.from), Proof::kCookie);

      EXPECT_EQ(bump_.from_client(syn), Outcome::passed_proven);
      ASSERT_EQ(bump_.to_server.size(), 1U);
      EXPECT_EQ(bump_.to_server[0], write(syn)) << "unchanged";
    }
  }
}

TEST_F(AuthTest, a_cookie_is_good_for_its_connection_alone) {
  EXPECT_EQ(bump_.from_client(client(kSyn)), Outcome::challenged_rst);
  Frame rst = rst_for(bump_.to_client[0]);
  Frame other = rst;
  other.from_port = 40001;
  EXPECT_EQ(bump_.from_client(other), Outcome::forged_rst);
  other = rst;
  other.from = "192.0.2.8";
  EXPECT_EQ(bump_.from_client(other), Outcome::forged_rst);
  other = rst;
  other.vlans = {5};
  EXPECT_EQ(bump_.from_client(other), Outcome::forged_rst);
  other = rst;
  other.sequence += 1;
  EXPECT_EQ(bump_.from_client(other), Outcome::forged_rst);
  EXPECT_EQ(bump_.proof_of(rst.from), Proof::kNone);
  EXPECT_EQ(bump_.from_client(rst), Outcome::proved_rst);
}

TEST_F(AuthTest, a_cookie_lives_through_one_rotation_of_keys_and_not_through_two) {
  EXPECT_EQ(bump_.from_client(client(kSyn)), Outcome::challenged_rst);
  const Frame rst = rst_for(bump_.to_client[0]);
  bump_.guard.rotate_keys();
  bump_.guard.rotate_keys();
  EXPECT_EQ(bump_.from_client(rst), Outcome::forged_rst);
  EXPECT_EQ(bump_.from_client(client(kSyn)), Outcome::challenged_rst);
  const Frame second = rst_for(bump_.to_client[0]);
  bump_.guard.rotate_keys();
  EXPECT_EQ(bump_.from_client(second), Outcome::proved_rst);
}

TEST_F(AuthTest, ece_and_cwr_make_no_other_syn_and_payload_is_cut) {
  Frame f = client(kSyn | kEce | kCwr);
  f.payload = Bytes(500, 1);  // Fast Open
  EXPECT_EQ(bump_.from_client(f), Outcome::challenged_rst);
  EXPECT_TRUE(read_back(bump_.to_client[0]).frame.payload.empty());
  EXPECT_EQ(read_back(bump_.to_client[0]).frame.flags, kSyn | kAck);
}

TEST_F(AuthTest, forged_rst_of_an_unknown_source_with_or_without_ack) {
  EXPECT_EQ(bump_.from_client(client(kRst)), Outcome::forged_rst);
  EXPECT_EQ(bump_.from_client(client(kRst | kAck)), Outcome::forged_rst);
  EXPECT_TRUE(bump_.to_server.empty());
  bump_.prove("192.0.2.7");
  EXPECT_EQ(bump_.from_client(client(kRst)), Outcome::passed_proven);
  EXPECT_EQ(bump_.from_client(client(kRst | kAck)), Outcome::passed_proven);
}

TEST_F(AuthTest, bad_flags_are_dropped_of_whatever_source) {
  bump_.prove("192.0.2.7");
  for (const int flags : {0, int{kFin}, kSyn | kFin, kSyn | kRst, kSyn | kRst | kAck, kSyn | kFin | kAck, kRst | kFin,
                          int{kPsh}, int{kUrg}}) {
    EXPECT_EQ(bump_.from_client(client(static_cast<std::uint8_t>(flags))), Outcome::bad_flags) << flags;
  }
  EXPECT_TRUE(bump_.to_client.empty());
}

TEST_F(AuthTest, a_syn_ack_passes_only_if_the_server_opened_a_connection_there) {
  EXPECT_EQ(bump_.from_client(client(kSyn | kAck)), Outcome::bad_flags);
  Frame opening = client(kSyn).back();
  EXPECT_EQ(bump_.from_server(opening), Outcome::passed_server);
  EXPECT_EQ(bump_.from_client(client(kSyn | kAck)), Outcome::passed_proven);
}

TEST_F(AuthTest, half_open_reset_of_what_passed_before_the_guard_acted) {
  Frame syn_ack = client(kSyn | kAck, 500);
  std::swap(syn_ack.from, syn_ack.to);
  std::swap(syn_ack.from_port, syn_ack.to_port);
  syn_ack.acknowledgment = 1001;
  EXPECT_EQ(bump_.from_server(syn_ack), Outcome::half_open_reset);
  EXPECT_TRUE(bump_.to_client.empty());
  ASSERT_EQ(bump_.to_server.size(), 1U);
  const ReadBack rst = read_back(bump_.to_server[0]);
  EXPECT_TRUE(rst.checksums_good);
  EXPECT_EQ(rst.frame.flags, kRst);
  EXPECT_EQ(rst.frame.sequence, 1001U) << "what the server expects";
  EXPECT_EQ(rst.frame.from, syn_ack.to);
  EXPECT_EQ(rst.frame.to_port, syn_ack.from_port);

  bump_.prove(syn_ack.to);
  EXPECT_EQ(bump_.from_server(syn_ack), Outcome::passed_server);
}

TEST_F(AuthTest, not_unicast) {
  for (const char* from : {"0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255", "10.0.0.1"}) {
    Frame f = client(kSyn);
    f.from = from;
    EXPECT_EQ(bump_.from_client(f), Outcome::not_unicast) << from;
  }
  for (const char* from : {"::", "::1", "ff02::1", "2001:db8::1"}) {
    Frame f = client(kSyn);
    f.from = from;
    f.to = "2001:db8::1";
    EXPECT_EQ(bump_.from_client(f), Outcome::not_unicast) << from;
  }
  Frame f = client(kSyn);
  f.macs[0] = 0xFF;
  EXPECT_EQ(bump_.from_client(f), Outcome::not_unicast) << "a frame to a group";
  EXPECT_TRUE(bump_.to_client.empty());
  Frame low = client(kSyn);
  low.from = "2001:db8::";
  low.to = "2001:db8::1";
  EXPECT_EQ(bump_.from_client(low), Outcome::challenged_rst);
}

TEST_F(AuthTest, bad_checksum_of_a_syn_and_of_a_proof) {
  Frame f = client(kSyn);
  f.bad_checksum = true;
  EXPECT_EQ(bump_.from_client(f), Outcome::bad_checksum);
  EXPECT_TRUE(bump_.to_client.empty());
  EXPECT_EQ(bump_.from_client(client(kSyn)), Outcome::challenged_rst);
  Frame rst = rst_for(bump_.to_client[0]);
  rst.bad_checksum = true;
  EXPECT_EQ(bump_.from_client(rst), Outcome::bad_checksum);
  EXPECT_EQ(bump_.proof_of("192.0.2.7"), Proof::kNone);
}

TEST_F(AuthTest, mbuf_segmented_only_where_it_would_have_to_be_edited) {
  const Bytes syn = write([] {
    Frame f = client(kSyn);
    f.payload = Bytes(100);
    return f;
  }());
  EXPECT_EQ(bump_.send(Side::kClient, bump_.pool().make_segmented(syn, 54)), Outcome::mbuf_segmented);
  bump_.prove("192.0.2.7");
  EXPECT_EQ(bump_.send(Side::kClient, bump_.pool().make_segmented(syn, 54)), Outcome::passed_proven);
  bump_.guard.sources.clear();
  Frame rst =
      client(kRst, bump_.guard.jar.rst_cookie(FourTuple{
                       .client = {192, 0, 2, 7}, .server = {10, 0, 0, 1}, .client_port = 40000, .server_port = 80}));
  rst.payload = Bytes(100);
  EXPECT_EQ(bump_.send(Side::kClient, bump_.pool().make_segmented(write(rst), 54)), Outcome::mbuf_segmented);
}

TEST_F(AuthTest, passed_unproven_up_to_the_limit_then_unproven) {
  GuardSettings settings = small_settings();
  settings.unproven_per_second = 1000;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bump.from_client(client(kAck)), Outcome::passed_unproven);
  EXPECT_EQ(bump.from_client(client(kAck)), Outcome::unproven);
  EXPECT_EQ(bump.from_client(client(kAck | kFin)), Outcome::unproven);
  bump.wait_ms(1);
  EXPECT_EQ(bump.from_client(client(kAck | kPsh)), Outcome::passed_unproven);
  bump.prove("192.0.2.7");
  for (int i = 0; i < 200; ++i) EXPECT_EQ(bump.from_client(client(kAck)), Outcome::passed_proven);
}

TEST_F(AuthTest, source_capped_above_the_syns_of_a_second) {
  GuardSettings settings = small_settings();
  settings.sources.syn_per_second = 3;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  bump.prove("192.0.2.7");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::passed_proven);
  EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::source_capped);
  bump.wait_ms(1000);
  EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::passed_proven);
}

TEST_F(AuthTest, reply_capped_above_the_answers_of_a_second) {
  GuardSettings settings = small_settings();
  settings.replies_per_second = 1;  // bursts of 32
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  for (int i = 0; i < 32; ++i) EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::challenged_rst);
  EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::reply_capped);
  EXPECT_EQ(bump.line().dropped.get(), 1U);
}

TEST_F(AuthTest, sources_full_when_the_allow_list_has_no_room) {
  GuardSettings settings = small_settings();
  settings.sources.entries = 64;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  // Vouched sources fill every place.
  unsigned refused = 0;
  for (unsigned i = 0; i < 4096 && refused < 1000; ++i)
    refused += bump.guard.sources.put(bump.key_of("198.18." + std::to_string(i / 256) + "." + std::to_string(i % 256)),
                                      Proof::kVouched, bump.guard.time.seconds)
                   ? 0
                   : 1;
  ASSERT_GT(refused, 0U);
  EXPECT_EQ(bump.from_client(client(kSyn)), Outcome::challenged_rst);
  EXPECT_EQ(bump.from_client(rst_for(bump.to_client[0])), Outcome::sources_full);
}

TEST_F(AuthTest, fragments_pass_of_proven_sources_only) {
  Frame f = client(kAck);
  f.fragment = 0x2000;
  EXPECT_EQ(bump_.from_client(f), Outcome::fragment);
  bump_.prove("192.0.2.7");
  EXPECT_EQ(bump_.from_client(f), Outcome::passed_proven);
  EXPECT_EQ(bump_.from_server(f.back()), Outcome::passed_server);
}

TEST_F(AuthTest, unsound_headers_to_a_server_that_acts_are_dropped_by_their_reason) {
  Bytes octets = write(client(kSyn));
  octets[46] = 0x40;
  EXPECT_EQ(bump_.send(Side::kClient, octets), Outcome::tcp_bad_header_length);
  Frame f;
  EXPECT_EQ(bump_.send(Side::kClient, framed(f, ip_of(f, 6, Bytes(12)))), Outcome::tcp_truncated);
  bump_.protect(rule(Mode::kObserve));
  EXPECT_EQ(bump_.send(Side::kClient, octets), Outcome::passed_unarmed);
}

TEST_F(AuthTest, what_a_client_sends_does_not_prolong_its_proof_and_what_the_server_sends_does) {
  bump_.prove("192.0.2.7");
  bump_.wait_ms(100'000);
  EXPECT_EQ(bump_.from_client(client(kAck)), Outcome::passed_proven);
  EXPECT_EQ(bump_.from_client(client(kSyn)), Outcome::passed_proven);
  bump_.wait_ms(21'000);
  EXPECT_EQ(bump_.proof_of("192.0.2.7"), Proof::kNone) << "120 s after the cookie";

  bump_.prove("192.0.2.7");
  Frame data = client(kAck).back();
  data.flags = kAck;
  data.payload = {1};
  EXPECT_EQ(bump_.from_server(data), Outcome::passed_server);
  EXPECT_EQ(bump_.proof_of("192.0.2.7"), Proof::kVouched);
  bump_.wait_ms(130'000);
  EXPECT_EQ(bump_.proof_of("192.0.2.7"), Proof::kVouched);
}

TEST_F(AuthTest, the_nic_may_vouch_for_checksums) {
  GuardSettings settings = small_settings();
  settings.checksums = datapath::ChecksumMode::offload;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  Frame bad = client(kSyn);
  bad.bad_checksum = true;
  const auto sent = [&](const Frame& f, std::uint64_t flags) {
    rte_mbuf* const m = bump.pool().make(write(f));
    m->ol_flags = flags;
    return bump.send(Side::kClient, m);
  };
  EXPECT_EQ(sent(bad, RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD), Outcome::challenged_rst);
  EXPECT_EQ(sent(client(kSyn), RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD), Outcome::bad_checksum);
  EXPECT_EQ(sent(client(kSyn), RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD), Outcome::bad_checksum);
  EXPECT_EQ(sent(bad, 0), Outcome::bad_checksum) << "the NIC does not say, so we look";
  EXPECT_EQ(sent(client(kSyn), 0), Outcome::challenged_rst);
  EXPECT_EQ(sent(bad, RTE_MBUF_F_RX_L4_CKSUM_NONE), Outcome::challenged_rst);

  settings.checksums = datapath::ChecksumMode::off;
  Bump blind(settings);
  blind.protect(rule(Mode::kAuth));
  EXPECT_EQ(blind.from_client(bad), Outcome::challenged_rst);
}

}  // namespace
}  // namespace splitplane::guard
