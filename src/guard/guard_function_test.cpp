// The guard as a function: what passes untouched, what it learns, bursts, full queues, changes of mode while it runs,
// and guards that begin and end to act by themselves.
#include "guard/guard_function.h"

#include <gtest/gtest.h>

#include "guard/test_bump.h"

namespace splitplane::guard {
namespace {

using namespace test;

Frame syn_of(std::uint32_t number) {
  Frame f;
  f.from = "198.18." + std::to_string(number / 256 % 256) + "." + std::to_string(number % 256);
  f.from_port = static_cast<std::uint16_t>(1024 + number % 60'000);
  return f;
}
Frame server_says(std::uint8_t flags, const Frame& client = {}) {
  Frame f = client.back();
  f.flags = flags;
  return f;
}
Frame server_sends_data(const Frame& client = {}) {
  Frame f = server_says(kAck | kPsh, client);
  f.payload = {'o', 'k'};
  return f;
}

TEST(GuardFunction, passes_what_is_not_protected_unchanged_both_ways) {
  Bump bump;
  bump.protect(rule(Mode::kAuth));
  Frame other{.to = "10.0.0.2"};
  const Bytes arp = [] {
    Bytes octets = write(Frame{});
    octets[12] = 8, octets[13] = 6;
    return octets;
  }();
  const std::vector<Bytes> frames{write(other), arp, Bytes(14), Bytes(60, 0xFF), Bytes{}};
  bump.round(Side::kClient, frames);
  EXPECT_EQ(bump.to_server, frames);
  EXPECT_TRUE(bump.to_client.empty());
  bump.round(Side::kServer, frames);
  EXPECT_EQ(bump.to_client, frames);
  EXPECT_EQ(bump.count(Side::kClient, Outcome::passed), 5U);
  EXPECT_EQ(bump.count(Side::kServer, Outcome::passed), 5U);
  EXPECT_EQ(bump.send(Side::kClient, bump.pool().make_segmented(write(other), 20)), Outcome::passed);
}

TEST(GuardFunction, bypass_passes_and_touches_no_table) {
  Bump bump;
  bump.protect(rule(Mode::kBypass));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_EQ(bump.from_server(server_says(kAck)), Outcome::passed_server);
  EXPECT_EQ(bump.proof_of("192.0.2.7"), Proof::kNone);
  EXPECT_EQ(bump.line().syns.get(), 0U);
}

TEST(GuardFunction, observe_learns_from_servers_and_counts_and_never_acts) {
  Bump bump;
  bump.protect(rule(Mode::kObserve, Arm::kAlways));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_EQ(bump.line().syns.get(), 1U);
  EXPECT_EQ(bump.line().unknown_syns.get(), 1U);
  for (const int flags : {kSyn | kAck, int{kRst}, kRst | kAck, int{kAck}, kAck | kFin}) {
    EXPECT_EQ(bump.from_server(server_says(static_cast<std::uint8_t>(flags))), Outcome::passed_server);
    EXPECT_EQ(bump.proof_of("192.0.2.7"), Proof::kNone) << "a server sends this to anybody";
  }
  EXPECT_EQ(bump.from_server(server_sends_data()), Outcome::passed_server);
  EXPECT_EQ(bump.proof_of("192.0.2.7"), Proof::kVouched);
  EXPECT_EQ(bump.line().new_sources.get(), 1U);
  EXPECT_EQ(bump.from_server(server_sends_data()), Outcome::passed_server);
  EXPECT_EQ(bump.line().new_sources.get(), 1U) << "known already";
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_EQ(bump.line().syns.get(), 2U);
  EXPECT_EQ(bump.line().unknown_syns.get(), 1U);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(bump.from_client(syn_of(i)), Outcome::passed_unarmed);
}

TEST(GuardFunction, a_server_s_own_connection_vouches_for_its_peer_for_a_short_time) {
  Bump bump;
  bump.protect(rule(Mode::kObserve));
  EXPECT_EQ(bump.from_server(server_says(kSyn)), Outcome::passed_server);
  EXPECT_EQ(bump.proof_of("192.0.2.7"), Proof::kCookie);
}

TEST(GuardFunction, learns_mss_and_window_scale_of_a_server_where_the_rule_is_silent) {
  Bump bump;
  bump.protect(rule(Mode::kObserve));
  Frame answer = server_says(kSyn | kAck);
  answer.options = {2, 4, 0x05, 0x78, 1, 3, 3, 9};
  EXPECT_EQ(bump.from_server(answer), Outcome::passed_server);
  EXPECT_EQ(bump.guard.servers.at(0).mss, 1400);
  EXPECT_EQ(bump.guard.servers.at(0).scale, 9);
  answer.options = {2, 4, 0x05, 0xB4};  // to a client that does not scale
  EXPECT_EQ(bump.from_server(answer), Outcome::passed_server);
  EXPECT_EQ(bump.guard.servers.at(0).mss, 1460);
  EXPECT_EQ(bump.guard.servers.at(0).scale, 9) << "its absence says nothing";
  answer.options = {2, 1, 0, 0};
  EXPECT_EQ(bump.from_server(answer), Outcome::passed_server);
  EXPECT_EQ(bump.guard.servers.at(0).mss, 1460);
  ServerRule said = rule(Mode::kObserve);
  said.mss = 536;
  bump.protect(said);
  answer.options = {2, 4, 0x05, 0xB4, 1, 3, 3, 7};
  EXPECT_EQ(bump.from_server(answer), Outcome::passed_server);
  EXPECT_EQ(bump.guard.servers.at(0).mss, 536);
  EXPECT_EQ(bump.guard.servers.at(0).scale, 7);
}

TEST(GuardFunction, packets_of_a_burst_keep_their_order_on_each_way) {
  Bump bump;
  bump.protect(rule(Mode::kAuth));
  bump.prove("192.0.2.7");
  std::vector<Bytes> in, passed;
  for (std::uint32_t i = 0; i < 100; ++i) {
    Frame f = syn_of(i);
    if (i % 3 == 0) {
      f.from = "192.0.2.7";
      f.flags = kAck;
      f.sequence = i;
      passed.push_back(write(f));
    }
    in.push_back(write(f));
  }
  bump.round(Side::kClient, in);
  EXPECT_EQ(bump.to_server, passed);
  ASSERT_EQ(bump.to_client.size(), in.size() - passed.size());
  for (std::size_t i = 0, n = 0; i < in.size(); ++i) {
    if (i % 3 == 0) continue;
    EXPECT_EQ(read_back(bump.to_client[n++]).frame.to_port, syn_of(static_cast<std::uint32_t>(i)).from_port);
  }
}

TEST(GuardFunction, tx_full_is_the_only_outcome_of_what_a_port_does_not_take) {
  Bump bump(small_settings(), 8);
  bump.protect(rule(Mode::kAuth));
  bump.prove("192.0.2.7");
  std::vector<Bytes> in;
  for (std::uint32_t i = 0; i < 32; ++i) in.push_back(write(syn_of(i)));
  for (std::uint32_t i = 0; i < 20; ++i) {
    Frame f;
    f.flags = kAck;
    in.push_back(write(f));
  }
  bump.round(Side::kClient, in);
  EXPECT_EQ(bump.to_client.size(), 8U);
  EXPECT_EQ(bump.to_server.size(), 8U);
  EXPECT_EQ(bump.count(Side::kClient, Outcome::challenged_rst), 8U);
  EXPECT_EQ(bump.count(Side::kClient, Outcome::passed_proven), 8U);
  EXPECT_EQ(bump.count(Side::kClient, Outcome::tx_full), 52U - 16U);
}

TEST(GuardFunction, a_mode_changes_between_two_rounds) {
  Bump bump;
  bump.protect(rule(Mode::kObserve));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  bump.protect(rule(Mode::kAuth));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::challenged_rst);
  EXPECT_EQ(bump.line().armed.get(), 1U);
  EXPECT_EQ(bump.line().armings.get(), 1U);
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_EQ(bump.line().armed.get(), 0U);
  bump.protect(rule(Mode::kBypass));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_TRUE(bump.guard.remove_server("web"));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed);
}

TEST(GuardFunction, the_numbers_of_a_new_rule_begin_at_0_and_those_of_a_changed_one_go_on) {
  Bump bump;
  bump.protect(rule(Mode::kObserve));
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  bump.protect(rule(Mode::kAuth));
  EXPECT_EQ(bump.line().syns.get(), 1U);
  EXPECT_TRUE(bump.guard.remove_server("web"));
  bump.protect(rule(Mode::kObserve));
  EXPECT_EQ(bump.line().syns.get(), 0U);
}

// A flood of `rate` SYNs of unknown sources a second for `ms`; ten of a thousand sources answer what they get.
void flood(Bump& bump, unsigned rate, unsigned ms, std::uint32_t& number) {
  for (unsigned passed = 0; passed < ms; passed += 10) {
    std::vector<Bytes> frames;
    for (unsigned i = 0; i < rate / 100; ++i) frames.push_back(write(syn_of(number++ * 7919)));
    while (!frames.empty()) {
      const auto part = static_cast<std::ptrdiff_t>(std::min<std::size_t>(frames.size(), 100));
      bump.round(Side::kClient, {frames.begin(), frames.begin() + part});
      frames.erase(frames.begin(), frames.begin() + part);
    }
    bump.wait_ms(10);
  }
}

TEST(GuardFunction, a_flood_arms_the_guard_and_its_end_disarms_it_and_known_clients_notice_nothing) {
  Bump bump;
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  // A client that is known before the flood.
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  EXPECT_EQ(bump.from_server(server_sends_data()), Outcome::passed_server);
  std::uint32_t number = 0;
  flood(bump, 400, 2000, number);
  EXPECT_EQ(bump.line().armed.get(), 0U) << "below the trigger";
  EXPECT_EQ(bump.count(Side::kClient, Outcome::challenged_rst), 0U);

  flood(bump, 3000, 1000, number);
  EXPECT_EQ(bump.line().armed.get(), 1U);
  EXPECT_EQ(bump.guard.stats.servers_armed.get(), 1U);
  EXPECT_GT(bump.line().syns_per_second.get(), 1000U);
  EXPECT_GT(bump.line().half_open_percent.get(), 90U);
  EXPECT_EQ(bump.from_client(syn_of(1)), Outcome::challenged_rst);
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_proven) << "the known client";
  Frame data;
  data.flags = kAck;
  EXPECT_EQ(bump.from_client(data), Outcome::passed_proven);

  bump.wait_ms(5000);
  EXPECT_EQ(bump.line().armed.get(), 1U) << "it holds";
  bump.wait_ms(8000);
  EXPECT_EQ(bump.line().armed.get(), 0U);
  EXPECT_EQ(bump.from_client(syn_of(2)), Outcome::passed_unarmed);
  EXPECT_EQ(bump.line().armings.get(), 1U);
}

TEST(GuardFunction, a_crowd_of_real_clients_does_not_arm_the_guard) {
  GuardSettings settings = small_settings();
  settings.sources.entries = 16'384;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  for (std::uint32_t n = 0; n < 6000; ++n) {
    const Frame syn = syn_of(n * 31 % 65536);
    EXPECT_EQ(bump.from_client(syn), Outcome::passed_unarmed);
    EXPECT_EQ(bump.from_server(server_sends_data(syn)), Outcome::passed_server);
    if (n % 20 == 0) bump.wait_ms(10);  // 2,000 a second
  }
  EXPECT_EQ(bump.line().armings.get(), 0U);
}

// A server puts SYNs of fragments together, and answers a forged segment to a half-open connection with an ACK.
TEST(GuardFunction, neither_fragments_nor_acks_of_half_open_connections_hide_a_flood) {
  for (const bool fragments : {true, false}) {
    Bump bump;
    bump.protect(rule(Mode::kAuth, Arm::kAuto));
    for (std::uint32_t n = 0; n < 6000; ++n) {
      const Frame syn = syn_of(n * 31 % 65536);
      Bytes octets = write(syn);
      if (fragments) octets[14 + 6] = 0x20;  // more of it follows
      const Outcome outcome = bump.send(Side::kClient, octets);
      if (bump.line().armed.get() != 0) break;
      EXPECT_EQ(outcome, Outcome::passed_unarmed);
      if (!fragments) (void)bump.from_server(server_says(kAck, syn));
      if (n % 20 == 0) bump.wait_ms(10);  // 2,000 a second
    }
    EXPECT_EQ(bump.line().armings.get(), 1U) << fragments;
  }
}

// Half of the SYNs being half-open is not hidden by those of one known client above its limit.
TEST(GuardFunction, one_known_source_does_not_dilute_a_flood) {
  Bump bump;
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  bump.prove("192.0.2.7");
  for (std::uint32_t n = 0; n < 8000 && bump.line().armed.get() == 0; ++n) {
    (void)bump.from_client(syn_of(n * 31 % 65536));
    for (int i = 0; i < 3; ++i) (void)bump.from_client(Frame{});
    if (n % 20 == 0) bump.wait_ms(10);
  }
  EXPECT_EQ(bump.line().armings.get(), 1U);
}

TEST(GuardFunction, an_idle_guard_wakes_nobody_and_one_that_acts_or_counts_does) {
  Bump bump;
  bump.protect(rule(Mode::kAuth, Arm::kAuto));
  bump.round();
  EXPECT_EQ(bump.function.next_work(bump.now()), Upkeep::kNever);
  EXPECT_EQ(bump.from_client(Frame{}), Outcome::passed_unarmed);
  const std::uint64_t next = bump.function.next_work(bump.now());
  EXPECT_GT(next, bump.now());
  EXPECT_LE(next, bump.now() + 102'000) << "the end of the window";
  bump.wait_ms(110);
  EXPECT_EQ(bump.function.next_work(bump.now()), Upkeep::kNever);
}

TEST(GuardFunction, keys_rotate_by_time) {
  GuardSettings settings = small_settings();
  settings.key_seconds = 10;
  Bump bump(settings);
  bump.protect(rule(Mode::kAuth));
  bump.wait_ms(9900);
  EXPECT_EQ(bump.guard.stats.key_rotations.get(), 0U);
  bump.wait_ms(300);
  EXPECT_EQ(bump.guard.stats.key_rotations.get(), 1U);
  bump.wait_ms(10'100);
  EXPECT_EQ(bump.guard.stats.key_rotations.get(), 2U);
}

TEST(GuardFunction, tables_show_their_numbers) {
  Bump bump;
  bump.protect(rule(Mode::kAuth));
  for (std::uint32_t i = 0; i < 50; ++i) bump.prove(syn_of(i).from, Proof::kVouched);
  bump.wait_ms(11'000);
  EXPECT_EQ(bump.guard.stats.sources_inserted.get(), 50U);
  EXPECT_EQ(bump.guard.stats.sources_live.get(), 50U);
  EXPECT_GE(bump.guard.stats.source_entries.get(), 1024U);
  EXPECT_GE(bump.guard.stats.flow_entries.get(), 1024U);
}

}  // namespace
}  // namespace splitplane::guard
