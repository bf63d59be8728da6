// Mode proxy, segment by segment: what client and server see of each other, in the order in which it goes wrong.
#include "guard/proxy.h"

#include <gtest/gtest.h>

#include <random>

#include "guard/test_dialog.h"

namespace splitplane::guard {
namespace {

using namespace test;

class ProxyTest : public testing::TestWithParam<bool> {
 public:
  ProxyTest() {
    bump.protect(rule(Mode::kProxy));
    bump.protect(rule_v6(Mode::kProxy));
  }
  [[nodiscard]] static bool v6() { return GetParam(); }
  [[nodiscard]] std::string client() const { return v6() ? "2001:db8:1::7" : "192.0.2.7"; }
  [[nodiscard]] ProtectedServer& server() { return bump.guard.servers.at(v6() ? 1 : 0); }
  [[nodiscard]] Dialog dialog(const Offer& offer = {}) { return Dialog(bump, offer, v6()); }
  // A key that is in force for each rotation but the last.
  void rotate() { bump.guard.rotate_keys(); }

  Bump bump;
};
INSTANTIATE_TEST_SUITE_P(Version, ProxyTest, testing::Bool(),
                         [](const auto& version) { return version.param ? "ipv6" : "ipv4"; });

TEST_P(ProxyTest, a_syn_gets_a_syn_ack_in_the_server_s_name_with_a_closed_window) {
  server().mss = 1400;
  server().scale = 9;
  Dialog d = dialog();
  const Bytes syn = write(d.syn());
  d.begin();
  const Frame& f = d.cookie.frame;
  const Frame asked = d.syn();
  EXPECT_EQ(f.from, asked.to);
  EXPECT_EQ(f.to, asked.from);
  EXPECT_EQ(f.from_port, asked.to_port);
  EXPECT_EQ(f.to_port, asked.from_port);
  EXPECT_EQ(f.flags, kSyn | kAck);
  EXPECT_EQ(f.acknowledgment, Dialog::kClientIsn + 1);
  EXPECT_EQ(f.window, 0);
  EXPECT_EQ(f.macs, (std::array<std::uint8_t, 12>{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(d.cookie_said.mss, 1400);
  EXPECT_EQ(d.cookie_said.scale, 9);
  EXPECT_TRUE(d.cookie_said.sack);
  EXPECT_TRUE(d.cookie_said.timestamps);
  EXPECT_EQ(d.cookie_said.echo, Dialog::kClientClock);
  EXPECT_LE(bump.to_client[0].size(), syn.size());
  EXPECT_EQ(bump.guard.flows.used(), 0U) << "a SYN leaves no state";
  EXPECT_EQ(bump.proof_of(client()), Proof::kNone);
  EXPECT_EQ(bump.line(v6() ? 1 : 0).challenged.get(), 1U);
}

TEST_P(ProxyTest, the_server_gets_the_client_s_syn_once_it_has_returned_the_cookie) {
  Dialog d = dialog({.mss = 1460, .scale = 7});
  d.begin();
  d.prove();
  const Frame& f = d.server_syn.frame;
  EXPECT_EQ(f.flags, kSyn);
  EXPECT_EQ(f.sequence, Dialog::kClientIsn);
  EXPECT_EQ(f.acknowledgment, 0U);
  EXPECT_EQ(f.window, 502 << 7) << "a window of a SYN is not scaled";
  EXPECT_EQ(f.from, d.syn().from);
  EXPECT_EQ(f.macs, d.syn().macs);
  EXPECT_EQ(d.server_syn.ttl, 57) << "as the client's";
  const Said said = said_in(f.options);
  EXPECT_EQ(said.mss, 1460);
  EXPECT_EQ(said.scale, 7);
  EXPECT_TRUE(said.sack);
  EXPECT_TRUE(said.timestamps);
  EXPECT_EQ(said.value, Dialog::kClientClock + 10);
  EXPECT_EQ(said.echo, 0U);
  EXPECT_EQ(d.state(), FlowState::kConnecting);
  EXPECT_EQ(bump.proof_of(client()), Proof::kCookie);
}

TEST_P(ProxyTest, the_server_s_syn_ack_is_acknowledged_and_the_client_s_window_opened) {
  Dialog d = dialog();
  d.connect({.scale = 7});
  const Frame& ack = d.server_ack.frame;
  EXPECT_EQ(ack.flags, kAck);
  EXPECT_EQ(ack.from, d.syn().from);
  EXPECT_EQ(ack.sequence, Dialog::kClientIsn + 1);
  EXPECT_EQ(ack.acknowledgment, Dialog::kServerIsn + 1);
  EXPECT_EQ(ack.window, 502) << "the client's";
  EXPECT_EQ(ack.options, stamps(Dialog::kClientClock + 10, Dialog::kServerClock));
  EXPECT_EQ(ack.macs, (std::array<std::uint8_t, 12>{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1})) << "back where it came from";
  const Frame& update = d.window_update.frame;
  EXPECT_EQ(update.flags, kAck);
  EXPECT_EQ(update.to, d.syn().from);
  EXPECT_EQ(update.sequence, d.server_next);
  EXPECT_EQ(update.acknowledgment, Dialog::kClientIsn + 1);
  EXPECT_EQ(update.window, 65160 >> 7);
  EXPECT_EQ(update.options, stamps(d.server_clock, Dialog::kClientClock + 10));
  EXPECT_EQ(d.state(), FlowState::kEstablished);
  EXPECT_EQ(bump.guard.stats.made[static_cast<std::size_t>(Made::window_update)].get(), 1U);
}

TEST_P(ProxyTest, numbers_are_translated_from_then_on) {
  Dialog d = dialog();
  d.connect();
  Frame request = d.of_client(kAck | kPsh);
  request.payload = {'G', 'E', 'T'};
  Frame at_server = d.passes_to_server(request);
  EXPECT_EQ(at_server.sequence, Dialog::kClientIsn + 1);
  EXPECT_EQ(at_server.acknowledgment, Dialog::kServerIsn + 1);
  EXPECT_EQ(at_server.options, stamps(Dialog::kClientClock + 10, Dialog::kServerClock));
  EXPECT_EQ(at_server.payload, request.payload);
  Frame response = d.of_server(kAck | kPsh);
  response.acknowledgment += 3;
  response.payload = {'O', 'K'};
  response.options = stamps(Dialog::kServerClock + 5, Dialog::kClientClock + 10);
  const Frame at_client = d.passes_to_client(response);
  EXPECT_EQ(at_client.sequence, d.server_next);
  EXPECT_EQ(at_client.acknowledgment, Dialog::kClientIsn + 4);
  EXPECT_EQ(at_client.options, stamps(d.server_clock + 5, Dialog::kClientClock + 10));
  EXPECT_EQ(at_client.payload, response.payload);
  EXPECT_EQ(bump.proof_of(client()), Proof::kCookie) << "once a second is enough";
  bump.wait_ms(1000);
  (void)d.passes_to_client(response);
  EXPECT_EQ(bump.proof_of(client()), Proof::kVouched);
}

TEST_P(ProxyTest, a_client_without_timestamps_gets_an_mss_and_nothing_else) {
  Dialog d = dialog({.mss = 1220, .timestamps = false});
  d.begin();
  EXPECT_EQ(d.cookie.frame.options.size(), 4U);
  d.prove();
  EXPECT_EQ(d.server_syn.frame.options, (Bytes{2, 4, 0x04, 0xC4})) << "the server is asked without them, too";
  EXPECT_EQ(d.server_syn.frame.window, 502) << "as it is, because nothing scales it";
  d.answer({});
  EXPECT_TRUE(d.server_ack.frame.options.empty());
  EXPECT_TRUE(d.window_update.frame.options.empty());
  EXPECT_EQ(d.window_update.frame.window, 65160);
  Frame f = d.of_client(kAck);
  EXPECT_EQ(d.passes_to_server(f).acknowledgment, Dialog::kServerIsn + 1);
}

TEST_P(ProxyTest, a_syn_without_options_gets_an_mss_only_where_its_frame_has_room) {
  for (const unsigned padding : {0U, 6U}) {
    Dialog d = dialog({.mss = 0, .sack = false, .timestamps = false, .scale = -1});
    Frame syn = d.syn();
    syn.padding = padding;
    const Bytes octets = write(syn);
    ASSERT_EQ(bump.send(Side::kClient, octets), Outcome::challenged_syn);
    EXPECT_LE(bump.to_client[0].size(), octets.size());
    d.cookie = read_back(bump.to_client[0]);
    d.take_cookie();
    EXPECT_EQ(d.cookie_said.mss, padding == 0 ? 0 : v6() ? 1440 : 1460);
    d.prove();
    // RFC 9293 3.7.1: 536 octets, or 1220 with IPv6, can be sent to a client that says nothing.
    EXPECT_EQ(said_in(d.server_syn.frame.options).mss, v6() ? 1220 : 536);
    bump.guard.flows.remove(d.flow());
  }
}

TEST_P(ProxyTest, payload_on_a_syn_is_not_acknowledged_and_a_fast_open_cookie_not_passed) {
  Dialog d = dialog();
  Frame syn = d.syn();
  syn.payload = Bytes(100, 'x');
  put(syn.options, {34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1});
  ASSERT_EQ(bump.from_client(syn), Outcome::challenged_syn);
  d.cookie = read_back(bump.to_client[0]);
  EXPECT_EQ(d.cookie.frame.acknowledgment, Dialog::kClientIsn + 1);
  EXPECT_TRUE(d.cookie.frame.payload.empty());
  d.take_cookie();
  // Linux does not wait for a window: the data comes again with the ACK.
  Frame ack = d.of_client(kAck | kPsh);
  ack.payload = syn.payload;
  ASSERT_EQ(bump.from_client(ack), Outcome::connected);
  d.server_syn = read_back(bump.to_server[0]);
  EXPECT_TRUE(d.server_syn.checksums_good);
  EXPECT_EQ(d.server_syn.frame.flags, kSyn);
  EXPECT_EQ(d.server_syn.frame.sequence, Dialog::kClientIsn);
  EXPECT_TRUE(d.server_syn.frame.payload.empty());
  for (const std::uint8_t octet : d.server_syn.frame.options) EXPECT_NE(octet, 34);
  EXPECT_EQ(bump.from_client(ack), Outcome::reconnected);
  d.answer();
  EXPECT_EQ(d.passes_to_server(ack).payload, syn.payload);
}

TEST_P(ProxyTest, the_client_keeps_the_scale_that_it_was_told_when_another_one_is_learnt) {
  Dialog d = dialog();
  d.begin();
  EXPECT_EQ(d.cookie_said.scale, 7) << "nothing is known yet";
  server().scale = 10;  // another connection taught it
  d.prove();
  d.answer({.scale = 10}, 32000);
  EXPECT_EQ(d.window_update.frame.window, 32000 >> 7);
  Frame f = d.of_server(kAck);
  f.window = 100;  // 102,400 octets
  EXPECT_EQ(d.passes_to_client(f).window, 800);
  Dialog next = dialog();
  next.begin();
  EXPECT_EQ(next.cookie_said.scale, 10);
}

TEST_P(ProxyTest, a_small_window_of_the_server_is_not_rounded_to_a_closed_one) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  d.answer({.scale = 0}, 100);
  EXPECT_EQ(d.window_update.frame.window, 1);
  Frame f = d.of_server(kAck);
  f.window = 50;
  EXPECT_EQ(d.passes_to_client(f).window, 1);
  f.window = 0;
  EXPECT_EQ(d.passes_to_client(f).window, 0);
}

TEST_P(ProxyTest, a_server_that_does_not_scale_gets_the_client_s_window_unscaled_and_is_not_told_of_again) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  d.answer({.scale = -1});
  EXPECT_EQ(d.server_ack.frame.window, 502 << 7);
  Frame f = d.of_client(kAck);
  f.window = 100;
  EXPECT_EQ(d.passes_to_server(f).window, 12800);
  f.window = 600;
  EXPECT_EQ(d.passes_to_server(f).window, 65535);
  EXPECT_EQ(d.window_update.frame.window, 65160 >> 7);
  Dialog next = dialog();
  next.begin();
  EXPECT_EQ(next.cookie_said.scale, -1);
}

TEST_P(ProxyTest, a_server_without_timestamps_is_not_told_of_again) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  d.answer({.timestamps = false});
  EXPECT_TRUE(d.server_ack.frame.options.empty());
  Frame f = d.of_client(kAck);
  EXPECT_EQ(d.passes_to_server(f).options, f.options) << "not negotiated, so it means nothing";
  Dialog next = dialog();
  next.begin();
  EXPECT_FALSE(next.cookie_said.timestamps);
}

TEST_P(ProxyTest, ecn_is_offered_only_in_the_name_of_a_server_that_has_it) {
  Dialog d = dialog();
  d.begin(kSyn | kEce | kCwr);
  EXPECT_EQ(d.cookie.frame.flags, kSyn | kAck);
  d.prove();
  EXPECT_EQ(d.server_syn.frame.flags, kSyn) << "so it is not asked for";
  d.answer();
  bump.guard.flows.remove(d.flow());

  server().has_ecn = true;  // learnt while the guard was idle
  Dialog known = dialog();
  known.begin(kSyn | kEce | kCwr);
  EXPECT_EQ(known.cookie.frame.flags, kSyn | kAck | kEce);
  EXPECT_EQ(known.cookie.frame.tos & 3, 0);
  known.prove();
  EXPECT_EQ(known.server_syn.frame.flags, kSyn | kEce | kCwr);
  Frame answer = known.syn_ack({});
  answer.flags |= kEce;
  ASSERT_EQ(bump.from_server(answer), Outcome::handshake);
  EXPECT_EQ(read_back(bump.to_server[0]).frame.flags, kAck);
  EXPECT_TRUE(server().has_ecn);

  Dialog plain = dialog();
  plain.begin();
  EXPECT_EQ(plain.cookie.frame.flags, kSyn | kAck) << "not asked for";
}

TEST_P(ProxyTest, ecn_marks_of_data_pass_and_our_own_segments_have_none) {
  Dialog d = dialog();
  d.begin();
  Frame ack = d.of_client(kAck);
  ack.tos = 0xBA;  // EF and ECT(0): a probe with data
  ack.payload = {'x'};
  ASSERT_EQ(bump.from_client(ack), Outcome::connected);
  EXPECT_EQ(read_back(bump.to_server[0]).frame.tos, 0xB8);
  d.server_syn = read_back(bump.to_server[0]);
  d.answer();
  Frame marked = d.of_client(kAck);
  marked.tos = 0xBB;
  EXPECT_EQ(d.passes_to_server(marked).tos, 0xBB);
}

// --- what gets lost

TEST_P(ProxyTest, a_probe_of_the_closed_window_proves_as_the_lost_ack_would) {
  for (const bool linux : {false, true}) {
    Dialog d = dialog();
    d.begin();
    Frame probe = d.of_client(kAck);
    if (linux) {
      probe.sequence = Dialog::kClientIsn;  // of the octet before, without data
    } else {
      probe.payload = {'x'};
    }
    ASSERT_EQ(bump.from_client(probe), Outcome::connected);
    d.server_syn = read_back(bump.to_server[0]);
    EXPECT_EQ(d.server_syn.frame.sequence, Dialog::kClientIsn);
    EXPECT_TRUE(d.server_syn.frame.payload.empty());
    d.answer();
    EXPECT_EQ(d.server_ack.frame.sequence, Dialog::kClientIsn + 1) << "what was cut comes again";
    bump.guard.flows.remove(d.flow());
  }
}

TEST_P(ProxyTest, a_lost_syn_to_the_server_is_sent_again_by_what_the_client_sends) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  Frame probe = d.of_client(kAck | kPsh);
  probe.payload = {'x'};
  probe.window = 400;
  EXPECT_EQ(bump.from_client(probe), Outcome::reconnected);
  ReadBack again = read_back(bump.to_server.at(0));
  EXPECT_EQ(again.frame.flags, kSyn);
  EXPECT_EQ(again.frame.sequence, Dialog::kClientIsn);
  EXPECT_EQ(again.frame.window, 400 << 7);
  EXPECT_EQ(again.frame.options, d.server_syn.frame.options);
  EXPECT_TRUE(again.frame.payload.empty());
  EXPECT_TRUE(again.checksums_good);
  Frame linux = d.of_client(kAck);
  linux.sequence = Dialog::kClientIsn;
  EXPECT_EQ(bump.from_client(linux), Outcome::reconnected);
  Frame fin = d.of_client(kAck | kFin);
  EXPECT_EQ(bump.from_client(fin), Outcome::reconnected) << "its FIN comes again, too";
  EXPECT_EQ(bump.guard.flows.used(), 1U);
  d.answer();
  EXPECT_EQ(d.server_ack.frame.window, fin.window) << "the client's latest";
}

TEST_P(ProxyTest, a_lost_syn_to_the_server_is_sent_again_by_time) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  const auto made = [&] { return bump.guard.stats.made[static_cast<std::size_t>(Made::syn_again)].get(); };
  EXPECT_GT(bump.function.next_work(bump.now()), bump.now());
  EXPECT_LE(bump.function.next_work(bump.now()), bump.now() + 250'000);
  bump.wait_ms(240);
  EXPECT_EQ(made(), 0U);
  std::vector<Bytes> sent;
  for (int i = 0; i < 3; ++i) {
    bump.wait_ms(10);
    sent.insert(sent.end(), bump.to_server.begin(), bump.to_server.end());
  }
  ASSERT_EQ(sent.size(), 1U);
  const ReadBack again = read_back(sent[0]);
  EXPECT_TRUE(again.checksums_good);
  EXPECT_EQ(again.frame.flags, kSyn);
  EXPECT_EQ(again.frame.options, d.server_syn.frame.options);
  EXPECT_EQ(again.frame.sequence, Dialog::kClientIsn);
  bump.wait_ms(760);
  EXPECT_EQ(made(), 2U);
  bump.wait_ms(1500);
  EXPECT_EQ(made(), 3U);
  bump.wait_ms(2000);
  EXPECT_EQ(made(), 3U) << "three times, and no more";
}

TEST_P(ProxyTest, a_syn_that_was_answered_is_not_sent_again) {
  Dialog d = dialog();
  d.connect();
  bump.wait_ms(3000);
  EXPECT_EQ(bump.guard.stats.made[static_cast<std::size_t>(Made::syn_again)].get(), 0U);
}

TEST_P(ProxyTest, a_server_that_never_answers_costs_a_place_for_seconds_and_the_client_may_try_again) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  bump.wait_ms(7000);
  EXPECT_EQ(d.state(), FlowState::kFree);
  EXPECT_EQ(bump.from_client(d.of_client(kAck)), Outcome::connected) << "the cookie is still good";
}

TEST_P(ProxyTest, a_lost_window_update_is_healed_by_the_client_s_probe) {
  Dialog d = dialog();
  d.connect();
  Frame probe = d.of_client(kAck);
  probe.sequence = Dialog::kClientIsn;
  EXPECT_EQ(d.passes_to_server(probe).acknowledgment, Dialog::kServerIsn + 1);
  Frame answer = d.of_server(kAck);
  answer.window = 509;
  const Frame at_client = d.passes_to_client(answer);
  EXPECT_EQ(at_client.window, 509);
  EXPECT_EQ(at_client.sequence, d.server_next);
}

TEST_P(ProxyTest, a_repeated_syn_ack_reaches_the_client_which_answers_it) {
  Dialog d = dialog();
  d.connect();
  const Frame at_client = d.passes_to_client(d.syn_ack({}));
  EXPECT_EQ(at_client.flags, kSyn | kAck);
  EXPECT_EQ(at_client.sequence, d.cookie.frame.sequence);
  EXPECT_EQ(at_client.acknowledgment, Dialog::kClientIsn + 1);
  EXPECT_EQ(said_in(at_client.options).value, d.cookie_said.value);
  EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1);
  EXPECT_EQ(d.state(), FlowState::kEstablished);
}

TEST_P(ProxyTest, a_client_s_first_ack_twice_makes_one_connection) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  EXPECT_EQ(bump.from_client(d.of_client(kAck)), Outcome::reconnected);
  d.answer();
  (void)d.passes_to_server(d.of_client(kAck));
  EXPECT_EQ(bump.guard.flows.used(), 1U);
}

TEST_P(ProxyTest, without_a_buffer_for_the_window_update_the_server_is_acknowledged_all_the_same) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  rte_mbuf* const answer = bump.pool().make(write(d.syn_ack({})));
  std::vector<rte_mbuf*> all;
  while (rte_mbuf* m = rte_pktmbuf_alloc(bump.pool().get())) all.push_back(m);
  EXPECT_EQ(bump.send(Side::kServer, answer), Outcome::handshake);
  for (rte_mbuf* m : all) rte_pktmbuf_free(m);
  EXPECT_EQ(bump.to_server.size(), 1U);
  EXPECT_TRUE(bump.to_client.empty());
  EXPECT_EQ(bump.guard.stats.made_no_buffer.get(), 1U);
  (void)d.passes_to_client(d.of_server(kAck));
}

TEST_P(ProxyTest, an_ack_without_room_for_the_syn_s_options_is_dropped_and_leaves_nothing) {
  Dialog d = dialog();
  d.begin();
  rte_mbuf* const m = bump.pool().make(write(d.of_client(kAck)));
  m->data_off = static_cast<std::uint16_t>(m->buf_len - m->data_len);  // at the buffer's end
  const Bytes octets = write(d.of_client(kAck));
  std::memcpy(rte_pktmbuf_mtod(m, void*), octets.data(), octets.size());
  EXPECT_EQ(bump.send(Side::kClient, m), Outcome::no_buffer);
  EXPECT_EQ(bump.guard.flows.used(), 0U);
}

// --- old, doubled and forged segments

TEST_P(ProxyTest, an_old_or_forged_syn_gets_a_cookie_and_harms_no_connection) {
  Dialog d = dialog();
  d.connect();
  for (const std::uint32_t isn : {Dialog::kClientIsn, 77U}) {
    Frame syn = d.syn();
    syn.sequence = isn;
    EXPECT_EQ(bump.from_client(syn), Outcome::challenged_syn);
    EXPECT_TRUE(bump.to_server.empty());
    EXPECT_EQ(d.state(), FlowState::kEstablished);
    // RFC 9293 3.10.7.4: the client's answer to a SYN-ACK in the middle of a connection.
    EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1);
  }
  Frame data = d.of_client(kAck);
  data.payload = {1, 2, 3};
  EXPECT_EQ(d.passes_to_server(data).payload, data.payload);
  EXPECT_EQ(d.flow()->flags & Flow::kChallenged, 0) << "a client that sends data has not begun anew";
}

TEST_P(ProxyTest, a_syn_while_the_server_is_asked_harms_no_connection) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  EXPECT_EQ(bump.from_client(d.syn()), Outcome::challenged_syn);
  EXPECT_EQ(d.state(), FlowState::kConnecting);
  d.answer();
}

class Reuse : public ProxyTest {};
INSTANTIATE_TEST_SUITE_P(Version, Reuse, testing::Bool(),
                         [](const auto& version) { return version.param ? "ipv6" : "ipv4"; });

TEST_P(Reuse, a_client_that_begins_anew_gets_a_new_connection_in_any_state_of_the_old_one) {
  for (int state = 0; state < 4; ++state) {
    SCOPED_TRACE(state);
    Dialog old = dialog();
    old.begin();
    old.prove();
    if (state != 0) old.answer();
    if (state == 2) {
      (void)old.passes_to_server(old.of_client(kAck | kFin));
      (void)old.passes_to_client(old.of_server(kAck | kFin));
      EXPECT_EQ(old.state(), FlowState::kClosing);
    }
    if (state == 3) {
      (void)old.passes_to_server(old.of_client(kRst));
      EXPECT_EQ(old.state(), FlowState::kClosed);
    }
    // Another ISN, so another cookie.
    Frame syn = old.syn();
    syn.sequence = 0x40000000;
    ASSERT_EQ(bump.from_client(syn), Outcome::challenged_syn);
    const ReadBack cookie = read_back(bump.to_client[0]);
    Frame ack = old.of_client(kAck);
    ack.sequence = 0x40000001;
    ack.acknowledgment = cookie.frame.sequence + 1;
    ack.options = stamps(Dialog::kClientClock + 20, said_in(cookie.frame.options).value);
    ASSERT_EQ(bump.from_client(ack), Outcome::connected);
    EXPECT_EQ(read_back(bump.to_server[0]).frame.sequence, 0x40000000U);
    EXPECT_EQ(old.state(), FlowState::kConnecting);
    EXPECT_EQ(bump.guard.flows.used(), 1U);

    // The server may still have the old connection. It challenges the SYN (RFC 5961 4.2), and our RST ends that.
    Frame challenge = old.of_server(kAck);
    ASSERT_EQ(bump.from_server(challenge), Outcome::older_reset);
    EXPECT_TRUE(bump.to_client.empty());
    const ReadBack reset = read_back(bump.to_server.at(0));
    EXPECT_TRUE(reset.checksums_good);
    EXPECT_EQ(reset.frame.flags, kRst);
    EXPECT_EQ(reset.frame.sequence, challenge.acknowledgment);
    EXPECT_EQ(reset.frame.from, old.syn().from);
    EXPECT_EQ(old.state(), FlowState::kConnecting);
    Frame answer = old.of_server(kSyn | kAck);
    answer.sequence = 99;
    answer.acknowledgment = 0x40000001;
    answer.options = options_of({}, 7, Dialog::kClientClock + 20);
    EXPECT_EQ(bump.from_server(answer), Outcome::handshake);
    bump.guard.flows.remove(old.flow());
  }
}

TEST_P(ProxyTest, a_syn_ack_for_another_number_is_reset_as_a_client_would) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  Frame other = d.syn_ack({});
  other.acknowledgment += 5;
  EXPECT_EQ(bump.from_server(other), Outcome::older_reset);
  EXPECT_EQ(read_back(bump.to_server.at(0)).frame.sequence, other.acknowledgment);
  d.answer();
}

TEST_P(ProxyTest, an_ack_without_a_good_cookie_makes_no_connection) {
  server().unproven.set(0);
  Dialog d = dialog();
  d.begin();
  for (const std::uint32_t wrong : {1U, 0x80000000U, 0x10000000U}) {
    Frame ack = d.of_client(kAck);
    ack.acknowledgment ^= wrong;
    EXPECT_EQ(bump.from_client(ack), Outcome::forged_ack);
    ack = d.of_client(kAck);
    ack.sequence += wrong + 1;
    EXPECT_EQ(bump.from_client(ack), Outcome::forged_ack);
  }
  Frame other = d.of_client(kAck);
  other.options = stamps(1, d.server_clock ^ 1);
  EXPECT_EQ(bump.from_client(other), Outcome::forged_ack) << "another window scale than the cookie's";
  for (const std::uint32_t clock : {0x00100000U, 0x80000000U, 0xFFF00000U}) {
    other.options = stamps(1, d.server_clock + clock);
    EXPECT_EQ(bump.from_client(other), Outcome::forged_ack) << "a clock that we did not have";
  }
  other = d.of_client(kAck);
  other.options.clear();
  EXPECT_EQ(bump.from_client(other), Outcome::forged_ack);
  other = d.of_client(kAck);
  other.from_port ^= 1;
  EXPECT_EQ(bump.from_client(other), Outcome::forged_ack);
  other = d.of_client(kAck);
  other.sequence -= 1;
  other.payload = {1};
  EXPECT_EQ(bump.from_client(other), Outcome::forged_ack) << "a probe of the number before has no data";
  EXPECT_TRUE(bump.to_server.empty());
  EXPECT_EQ(bump.guard.flows.used(), 0U);
}

TEST_P(ProxyTest, a_cookie_outlives_one_rotation_of_keys_and_not_two) {
  server().unproven.set(0);
  Dialog d = dialog();
  d.begin();
  rotate();
  rotate();
  EXPECT_EQ(bump.from_client(d.of_client(kAck)), Outcome::forged_ack);
  d.begin();
  rotate();
  d.prove();
  rotate();
  rotate();
  d.answer();
  (void)d.passes_to_server(d.of_client(kAck));
}

TEST_P(ProxyTest, a_connection_that_is_older_than_the_guard_s_acting_passes_untouched) {
  Dialog d = dialog();
  Frame f = d.of_client(kAck);
  f.acknowledgment = 4711;
  f.payload = {1, 2, 3};
  EXPECT_EQ(bump.from_client(f), Outcome::passed_unproven) << "an idle one, up to a limit";
  EXPECT_EQ(bump.to_server.at(0), write(f));
  server().unproven.set(0);
  EXPECT_EQ(bump.from_client(f), Outcome::forged_ack);
  f.flags = kRst;
  EXPECT_EQ(bump.from_client(f), Outcome::forged_rst);
  f.flags = kSyn | kAck;
  EXPECT_EQ(bump.from_client(f), Outcome::bad_flags);
  Frame answer = d.of_server(kAck);
  answer.payload = {4, 5};
  EXPECT_EQ(bump.from_server(answer), Outcome::passed_server);
  EXPECT_EQ(bump.to_client.at(0), write(answer));
  for (const int flags : {int{kAck}, kAck | kPsh, kAck | kFin, int{kRst}, kRst | kAck, kSyn | kAck}) {
    f.flags = static_cast<std::uint8_t>(flags);
    EXPECT_EQ(bump.from_client(f), Outcome::passed_proven);
    EXPECT_EQ(bump.to_server.at(0), write(f));
  }
}

TEST_P(ProxyTest, segments_without_sense_are_dropped) {
  Dialog d = dialog();
  for (const int flags : {0, int{kFin}, int{kPsh}, kSyn | kFin, kSyn | kRst, kSyn | kAck | kRst, kRst | kFin}) {
    Frame f = d.syn();
    f.flags = static_cast<std::uint8_t>(flags);
    EXPECT_EQ(bump.from_client(f), Outcome::bad_flags) << flags;
  }
  Frame bad = d.syn();
  bad.bad_checksum = true;
  EXPECT_EQ(bump.from_client(bad), Outcome::bad_checksum);
  bad = d.syn();
  bad.options = {2, 5, 0, 0};
  EXPECT_EQ(bump.from_client(bad), Outcome::bad_options);
  bad = d.syn();
  bad.from = v6() ? "ff02::1" : "224.0.0.1";
  EXPECT_EQ(bump.from_client(bad), Outcome::not_unicast);
  d.connect();
  for (const int flags : {0, int{kFin}, int{kPsh}, kSyn | kFin, kSyn | kAck, kSyn | kRst}) {
    Frame f = d.of_client(static_cast<std::uint8_t>(flags));
    EXPECT_EQ(bump.from_client(f), Outcome::bad_flags) << flags;
  }
  bad = d.of_client(kAck);
  bad.options = {8, 9, 0, 0};
  EXPECT_EQ(bump.from_client(bad), Outcome::bad_options);
  EXPECT_EQ(d.state(), FlowState::kEstablished);
}

TEST_P(ProxyTest, checksums_of_segments_that_become_others_are_verified) {
  Dialog d = dialog();
  d.begin();
  Frame ack = d.of_client(kAck);
  ack.bad_checksum = true;
  EXPECT_EQ(bump.from_client(ack), Outcome::bad_checksum);
  d.prove();
  EXPECT_EQ(bump.from_client(ack), Outcome::bad_checksum);
  Frame answer = d.syn_ack({});
  answer.bad_checksum = true;
  EXPECT_EQ(bump.from_server(answer), Outcome::bad_checksum);
  EXPECT_EQ(d.state(), FlowState::kConnecting);
  d.answer();
  ASSERT_EQ(bump.from_client(ack), Outcome::translated) << "left to the server";
  EXPECT_FALSE(read_back(bump.to_server[0]).checksums_good);
}

TEST_P(ProxyTest, replies_have_a_limit) {
  GuardSettings settings = small_settings();
  settings.replies_per_second = 1;
  Bump limited(settings);
  limited.protect(rule(Mode::kProxy));
  limited.protect(rule_v6(Mode::kProxy));
  Dialog d(limited, {}, v6());
  unsigned replies = 0;
  for (int i = 0; i < 100; ++i) replies += limited.from_client(d.syn()) == Outcome::challenged_syn ? 1 : 0;
  EXPECT_EQ(replies, 32U);
  EXPECT_EQ(limited.count(Side::kClient, Outcome::reply_capped), 68U);
}

TEST_P(ProxyTest, connections_of_one_source_have_a_limit_and_are_given_back) {
  GuardSettings settings = small_settings();
  settings.sources.flows_each = 2;
  settings.flows.connecting_seconds = 1;
  Bump limited(settings);
  limited.protect(rule(Mode::kProxy));
  limited.protect(rule_v6(Mode::kProxy));
  std::vector<Outcome> outcomes;
  const auto connect = [&](std::uint16_t port) {
    Dialog d(limited, {}, v6());
    Frame syn = d.syn();
    syn.from_port = port;
    ASSERT_EQ(limited.from_client(syn), Outcome::challenged_syn);
    d.cookie = read_back(limited.to_client[0]);
    d.take_cookie();
    Frame ack = d.of_client(kAck);
    ack.from_port = port;
    outcomes.push_back(limited.from_client(ack));
  };
  connect(1);
  connect(2);
  connect(3);
  connect(2);  // in the place of the one that it has
  EXPECT_EQ(outcomes,
            (std::vector{Outcome::connected, Outcome::connected, Outcome::source_capped, Outcome::connected}));
  limited.wait_ms(20'000);
  EXPECT_EQ(limited.guard.flows.used(), 0U);
  connect(4);
  EXPECT_EQ(outcomes.back(), Outcome::connected);
}

TEST_P(ProxyTest, a_full_flow_table_refuses_new_connections_and_keeps_the_old_ones) {
  GuardSettings settings = small_settings();
  settings.flows.entries = 64;
  Bump small(settings);
  small.protect(rule(Mode::kProxy));
  small.protect(rule_v6(Mode::kProxy));
  unsigned connected = 0, refused = 0;
  for (std::uint16_t port = 1; port < 100; ++port) {
    Dialog d(small, {}, v6());
    Frame syn = d.syn();
    syn.from_port = port;
    ASSERT_EQ(small.from_client(syn), Outcome::challenged_syn);
    d.cookie = read_back(small.to_client[0]);
    d.take_cookie();
    Frame ack = d.of_client(kAck);
    ack.from_port = port;
    const Outcome outcome = small.from_client(ack);
    connected += outcome == Outcome::connected ? 1 : 0;
    refused += outcome == Outcome::flows_full ? 1 : 0;
  }
  EXPECT_EQ(connected + refused, 99U);
  EXPECT_EQ(connected, small.guard.flows.used());
  EXPECT_GT(refused, 30U);
}

// --- the end of connections

TEST_P(ProxyTest, a_server_that_refuses_resets_the_client) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  Frame refusal = d.of_server(kRst | kAck);
  refusal.sequence = 0;
  refusal.acknowledgment += 1;
  EXPECT_EQ(bump.from_server(refusal), Outcome::outside_window) << "for another number";
  refusal.acknowledgment -= 1;
  EXPECT_EQ(bump.from_server(refusal), Outcome::refused_by_server);
  const ReadBack reset = read_back(bump.to_client.at(0));
  EXPECT_TRUE(reset.checksums_good);
  EXPECT_EQ(reset.frame.flags, kRst | kAck);
  EXPECT_EQ(reset.frame.sequence, d.server_next) << "where the client expects the next octet";
  EXPECT_EQ(reset.frame.acknowledgment, Dialog::kClientIsn + 1);
  EXPECT_EQ(d.state(), FlowState::kFree);
  bump.wait_ms(1000);
  EXPECT_TRUE(bump.to_server.empty());
}

TEST_P(ProxyTest, a_client_that_gives_up_while_the_server_is_asked_resets_the_server) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  Frame rst = d.of_client(kRst | kAck);
  rst.sequence += 1;
  EXPECT_EQ(bump.from_client(rst), Outcome::outside_window);
  rst.sequence -= 1;
  const Frame at_server = d.passes_to_server(rst);
  EXPECT_EQ(at_server.flags, kRst) << "there is nothing yet to acknowledge";
  EXPECT_EQ(at_server.sequence, Dialog::kClientIsn + 1);
  EXPECT_EQ(d.state(), FlowState::kFree);
  std::uint64_t again = 0;
  for (int i = 0; i < 200; ++i) {
    bump.wait_ms(10);
    again += bump.to_server.size();
  }
  EXPECT_EQ(again, 0U);
}

TEST_P(ProxyTest, a_client_s_rst_ends_a_connection_only_at_the_number_that_the_server_expects) {
  const auto with = [&](std::uint32_t offset, Outcome outcome, FlowState state) {
    Dialog d = dialog();
    d.connect();
    Frame data = d.of_client(kAck);
    data.payload = Bytes(100, 'x');
    (void)d.passes_to_server(data);
    Frame rst = d.of_client(kRst);
    rst.sequence = Dialog::kClientIsn + 1 + offset;
    EXPECT_EQ(bump.from_client(rst), outcome) << offset;
    EXPECT_EQ(bump.to_server.size(), outcome == Outcome::translated ? 1U : 0U);
    EXPECT_EQ(d.state(), state) << offset;
    bump.guard.flows.remove(d.flow());
  };
  with(0, Outcome::translated, FlowState::kClosed);        // acknowledged last
  with(100, Outcome::translated, FlowState::kClosing);     // behind what it has sent
  with(50, Outcome::translated, FlowState::kEstablished);  // the server challenges it
  with(0x3FFFFFFF, Outcome::translated, FlowState::kEstablished);
  with(0x40000001, Outcome::outside_window, FlowState::kEstablished);
  with(0xFFFFFFFF, Outcome::outside_window, FlowState::kEstablished);
}

// A forged segment moves the end of what the client seems to have sent, and a forged RST lies there.
TEST_P(ProxyTest, forged_segments_do_not_end_a_connection_whose_server_goes_on) {
  Dialog d = dialog();
  d.connect();
  Frame forged = d.of_client(kAck);
  forged.sequence += 0x3FFFFFFF;
  (void)d.passes_to_server(forged);
  forged.flags = kRst;
  (void)d.passes_to_server(forged);
  EXPECT_EQ(d.state(), FlowState::kClosing);
  bump.wait_ms(100'000);
  EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1);
  EXPECT_EQ(d.passes_to_client(d.of_server(kAck)).sequence, d.server_next);
  EXPECT_EQ(d.state(), FlowState::kEstablished);
  bump.wait_ms(3'600'000);
  EXPECT_EQ(d.passes_to_client(d.of_server(kAck)).sequence, d.server_next);
}

// A client that gives up a download: what the server had sent before is no sign of life.
TEST_P(ProxyTest, data_that_was_on_its_way_at_a_rst_does_not_keep_the_flow) {
  Dialog d = dialog();
  d.connect();
  (void)d.passes_to_server(d.of_client(kRst));
  EXPECT_EQ(d.state(), FlowState::kClosed);
  for (int i = 0; i < 3; ++i) (void)d.passes_to_client(d.of_server(kAck));
  EXPECT_EQ(d.state(), FlowState::kClosing);
  (void)d.passes_to_server(d.of_client(kRst));  // its answer
  EXPECT_EQ(d.state(), FlowState::kClosed);
  (void)d.passes_to_client(d.of_server(kAck));
  bump.wait_ms(243'000);
  EXPECT_EQ(d.state(), FlowState::kFree) << "also if that is lost";
}

TEST_P(ProxyTest, a_forged_rst_in_the_window_leaves_an_idle_connection_alive) {
  Dialog d = dialog();
  d.connect();
  Frame rst = d.of_client(kRst);
  rst.sequence += 1000;
  (void)d.passes_to_server(rst);
  bump.wait_ms(300'000);
  EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1);
}

TEST_P(ProxyTest, a_server_s_rst_is_translated_and_late_segments_are_for_some_seconds) {
  Dialog d = dialog();
  d.connect();
  EXPECT_EQ(d.passes_to_client(d.of_server(kRst | kAck)).sequence, d.server_next);
  EXPECT_EQ(d.state(), FlowState::kClosed);
  EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1);
  bump.wait_ms(3000);
  (void)d.passes_to_client(d.of_server(kRst));
  bump.wait_ms(3000);
  EXPECT_EQ(d.state(), FlowState::kClosed) << "a RST again";
  bump.wait_ms(7000);
  EXPECT_EQ(d.state(), FlowState::kFree);
}

TEST_P(ProxyTest, a_half_closed_connection_lives_as_long_as_an_open_one) {
  for (const bool by_client : {false, true}) {
    Dialog d = dialog();
    d.connect();
    if (by_client) {
      (void)d.passes_to_server(d.of_client(kAck | kFin));
    } else {
      (void)d.passes_to_client(d.of_server(kAck | kFin));
    }
    EXPECT_EQ(d.state(), FlowState::kEstablished);
    for (int hour = 0; hour < 3; ++hour) {
      bump.wait_ms(3'600'000);
      if (by_client) {
        Frame data = d.of_server(kAck);
        data.payload = {'x'};
        EXPECT_EQ(d.passes_to_client(data).payload, data.payload);
      } else {
        Frame data = d.of_client(kAck);
        data.payload = {'x'};
        EXPECT_EQ(d.passes_to_server(data).payload, data.payload);
      }
    }
    bump.guard.flows.remove(d.flow());
  }
}

TEST_P(ProxyTest, fins_of_both_sides_close_and_the_last_acks_still_pass) {
  Dialog d = dialog();
  d.connect();
  (void)d.passes_to_server(d.of_client(kAck | kFin));
  (void)d.passes_to_client(d.of_server(kAck | kFin));  // at the same time: each without the other's acknowledged
  EXPECT_EQ(d.state(), FlowState::kClosing);
  Frame last = d.of_client(kAck);
  last.sequence += 1;
  last.acknowledgment += 1;
  EXPECT_EQ(d.passes_to_server(last).acknowledgment, Dialog::kServerIsn + 2);
  bump.wait_ms(200'000);
  EXPECT_EQ(d.passes_to_client(d.of_server(kAck | kFin)).sequence, d.server_next) << "the server's FIN again";
  bump.wait_ms(200'000);
  EXPECT_EQ(d.passes_to_server(last).acknowledgment, Dialog::kServerIsn + 2);
  bump.wait_ms(243'000);
  EXPECT_EQ(d.state(), FlowState::kFree);
}

TEST_P(ProxyTest, a_fin_outside_any_window_closes_nothing) {
  Dialog d = dialog();
  d.connect();
  Frame forged = d.of_client(kAck | kFin);
  forged.sequence += 0x50000000;
  (void)d.passes_to_server(forged);
  (void)d.passes_to_client(d.of_server(kAck | kFin));
  EXPECT_EQ(d.state(), FlowState::kEstablished);
}

TEST_P(ProxyTest, a_server_that_connects_from_the_same_ports_ends_a_closed_flow) {
  Dialog d = dialog();
  d.connect();
  (void)d.passes_to_client(d.of_server(kRst));
  const Frame syn = d.of_server(kSyn);
  EXPECT_EQ(bump.from_server(syn), Outcome::passed_server);
  EXPECT_EQ(bump.to_client.at(0), write(syn));
  EXPECT_EQ(d.state(), FlowState::kFree);
}

// --- around it

TEST_P(ProxyTest, connections_go_on_through_changes_of_mode) {
  Dialog d = dialog();
  d.connect();
  for (const Mode mode : {Mode::kAuth, Mode::kObserve, Mode::kBypass, Mode::kProxy}) {
    bump.protect(v6() ? rule_v6(mode) : rule(mode));
    EXPECT_EQ(d.passes_to_server(d.of_client(kAck)).acknowledgment, Dialog::kServerIsn + 1) << name_of(mode);
    EXPECT_EQ(d.passes_to_client(d.of_server(kAck)).sequence, d.server_next) << name_of(mode);
  }
}

TEST_P(ProxyTest, connections_go_on_in_a_worker_that_starts_on_the_same_tables) {
  Dialog asked = dialog();
  asked.begin();
  asked.prove();
  // The new one knows nothing of the SYN that waits.
  Proxy after(bump.guard, GuardClock(1'000'000, 0, 0));
  EXPECT_EQ(after.next_work(0), SynAgain::kNever);
  Outbox out;
  Segment s;
  s.mbuf = bump.pool().make(write(asked.syn_ack({})));
  SegmentParser(bump.guard.servers).parse(s.mbuf, Side::kServer, s);
  EXPECT_EQ(after.from_server(s, *asked.flow(), out).outcome, Outcome::handshake);
  EXPECT_EQ(asked.state(), FlowState::kEstablished);
  rte_pktmbuf_free(s.mbuf);
  Outbox::List& made = out.list(Side::kClient);
  EXPECT_EQ(made.size, 1U);
  rte_pktmbuf_free_bulk(made.mbuf.data(), made.size);
}

TEST_P(ProxyTest, vlan_tags_and_ip_options_and_padding_do_not_get_in_the_way) {
  Dialog d = dialog();
  const auto wrapped = [&](Frame f, bool options) {
    f.vlans = {100, 200};
    f.padding = 7;
    if (options) {
      f.ip_options = v6() ? Bytes{6, 0, 1, 4, 0, 0, 0, 0} : Bytes{1, 1, 1, 0};
      f.extension = 60;
    }
    return write(f);
  };
  ASSERT_EQ(bump.send(Side::kClient, wrapped(d.syn(), true)), Outcome::challenged_syn);
  d.cookie = read_back(bump.to_client[0]);
  EXPECT_EQ(d.cookie.frame.vlans, (std::vector<std::uint16_t>{100, 200}));
  d.take_cookie();
  ASSERT_EQ(bump.send(Side::kClient, wrapped(d.of_client(kAck), true)), Outcome::connected);
  d.server_syn = read_back(bump.to_server[0]);
  ASSERT_TRUE(d.server_syn.checksums_good);
  EXPECT_EQ(d.server_syn.frame.vlans, (std::vector<std::uint16_t>{100, 200}));
  ASSERT_EQ(bump.send(Side::kServer, wrapped(d.syn_ack({}), true)), Outcome::handshake);
  d.server_ack = read_back(bump.to_server.at(0));
  d.window_update = read_back(bump.to_client.at(0));
  EXPECT_TRUE(d.server_ack.checksums_good);
  EXPECT_TRUE(d.window_update.checksums_good);
  EXPECT_EQ(d.window_update.frame.vlans, (std::vector<std::uint16_t>{100, 200}));
  const Bytes data = wrapped(d.of_client(kAck), false);
  ASSERT_EQ(bump.send(Side::kClient, data), Outcome::translated);
  const ReadBack passed = read_back(bump.to_server[0]);
  EXPECT_TRUE(passed.checksums_good);
  EXPECT_EQ(bump.to_server[0].size(), data.size());
  EXPECT_EQ(passed.frame.acknowledgment, Dialog::kServerIsn + 1);
  // Not counted as payload: a RST at this number is still exact.
  Frame rst = d.of_client(kRst);
  rst.vlans = {100, 200};
  ASSERT_EQ(bump.from_client(rst), Outcome::translated);
  EXPECT_EQ(bump.guard.flows.used(), 1U);
}

TEST_P(ProxyTest, errors_of_icmp_about_a_connection_quote_the_right_numbers) {
  Dialog d = dialog();
  d.connect();
  const std::uint8_t type = v6() ? 2 : 3;
  const auto quoted_of = [&](const Frame& f, std::size_t tcp_bytes) {
    Bytes packet = ip_of(f, 6, tcp_of(f));
    packet.resize((v6() ? 40U : 20U) + tcp_bytes);
    return packet;
  };
  for (const std::size_t tcp_bytes : {8U, 12U, 18U, 32U}) {
    SCOPED_TRACE(tcp_bytes);
    // From a router on the client's way: quotes the server's segment as the client's side has it.
    Frame at_server = d.of_server(kAck), at_client = at_server;
    at_server.options = at_client.options = stamps(1, 2);
    at_client.sequence = d.server_next;
    Frame router = d.syn();
    router.from = v6() ? "2001:db8:9::1" : "192.0.2.254";
    EXPECT_EQ(bump.send(Side::kClient, icmp_error(router, type, quoted_of(at_client, tcp_bytes))), Outcome::translated);
    EXPECT_EQ(bump.to_server.at(0), icmp_error(router, type, quoted_of(at_server, tcp_bytes)));
    // From a router behind the guard: quotes the client's segment as the server's side has it.
    Frame from_client = d.of_client(kAck), translated = from_client;
    translated.acknowledgment = Dialog::kServerIsn + 1;
    Frame inner = d.of_server(kAck);
    inner.from = v6() ? "2001:db8::fe" : "10.0.0.254";
    EXPECT_EQ(bump.send(Side::kServer, icmp_error(inner, type, quoted_of(translated, tcp_bytes))), Outcome::translated);
    const Bytes expected = icmp_error(inner, type, quoted_of(tcp_bytes < 12 ? translated : from_client, tcp_bytes));
    EXPECT_EQ(bump.to_client.at(0), expected);
  }
}

TEST_P(ProxyTest, an_error_about_our_syn_passes_as_it_is) {
  Dialog d = dialog();
  d.begin();
  d.prove();
  Frame router = d.of_server(kAck);
  const Bytes error = icmp_error(router, v6() ? 1 : 3, ip_of(d.server_syn.frame, 6, tcp_of(d.server_syn.frame)));
  EXPECT_EQ(bump.send(Side::kServer, error), Outcome::passed);
  EXPECT_EQ(bump.to_client.at(0), error);
}

// Segments of both sides with random changes, in each state of the connection. What the client's side gets is the
// answer to a SYN or comes from the server; a connection that no good RST or cookie has ended is still there.
TEST_P(ProxyTest, mutated_segments_crash_nothing_and_get_no_answer_but_to_a_syn) {
  std::mt19937 random(v6() ? 6 : 4);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int state = 0; state < 5; ++state) {
    Dialog d = dialog();
    d.begin();
    if (state >= 1) d.prove();
    if (state >= 2) d.answer();
    if (state >= 3) (void)d.passes_to_server(d.of_client(kAck | kFin));
    if (state >= 4) (void)d.passes_to_client(d.of_server(kAck | kFin));
    const std::vector<Bytes> client{write(d.syn()), write(d.of_client(kAck)), write(d.of_client(kAck | kFin)),
                                    write(d.of_client(kRst))};
    const std::vector<Bytes> from_server{write(d.syn_ack({})), write(d.of_server(kAck)),
                                         write(d.of_server(kRst | kAck))};
    for (int i = 0; i < 4000; ++i) {
      const bool of_client = random() % 2 == 0;
      const auto& seeds = of_client ? client : from_server;
      Bytes octets = seeds[below(seeds.size())];
      for (std::size_t n = below(4); n > 0; --n) octets[below(octets.size())] = static_cast<std::uint8_t>(random());
      if (random() % 8 == 0) octets.resize(below(octets.size()));
      const Side side = of_client ? Side::kClient : Side::kServer;
      const Outcome outcome = bump.send(side, octets);
      const std::size_t back = (of_client ? bump.to_client : bump.to_server).size();
      const bool is_reply =
          outcome == Outcome::challenged_syn || outcome == Outcome::handshake || outcome == Outcome::older_reset;
      EXPECT_EQ(back, is_reply ? 1U : 0U) << name_of(outcome);
      EXPECT_TRUE(!is_reply || read_back((of_client ? bump.to_client : bump.to_server)[0]).checksums_good);
    }
    if (Flow* const flow = d.flow(); flow != nullptr) bump.guard.flows.remove(flow);
  }
}

}  // namespace
}  // namespace splitplane::guard
