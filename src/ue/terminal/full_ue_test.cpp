// The whole UE side of full mode against a gNB: packets cross PDCP, RLC, MAC and HARQ in both directions, bearers come,
// begin anew and go, and the account adds up.
#include "ue/terminal/full_ue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "engine/mailbox.h"
#include "ue/terminal/test_full_ends.h"
#include "ue/test_namespace.h"

namespace splitplane::ue {
namespace {

using namespace test;
using Kind = BearerChange::Kind;

std::uint64_t count(const FullEnds& ends, UeOutcome outcome) {
  return ends.ues.packets().downlink[static_cast<std::size_t>(outcome)].get();
}
std::uint64_t count_up(const FullEnds& ends, UeOutcome outcome) {
  return ends.ues.packets().uplink[static_cast<std::size_t>(outcome)].get();
}
// The SDU that the gNB gets: SDAP header and packet.
Bytes sdu_of(const ran::BearerConfig& from, const Bytes& payload, std::uint8_t sdap = 0x80 | 9) {
  Bytes sdu = ip_packet(v4_of(*from.ue_ipv4), kServer, payload);
  sdu.insert(sdu.begin(), sdap);
  return sdu;
}

struct FullVariant {
  RlcMode mode;
  std::uint8_t sn_bits;
  unsigned loss;
};
class FullUeLoss : public testing::TestWithParam<FullVariant> {};

TEST_P(FullUeLoss, packets_cross_in_order) {
  const FullVariant v = GetParam();
  FullEnds ends;
  ends.gnb.loss = {v.loss, v.loss, v.loss / 10};
  std::mt19937 random(2);
  std::vector<ran::BearerConfig> configs;
  for (unsigned i = 1; i <= 5; ++i) {
    configs.push_back(FullEnds::config(i, v.mode, v.sn_bits));
    (void)ends.add(configs.back());
  }
  std::map<BearerId, std::uint64_t> down;
  std::map<BearerId, std::vector<Bytes>> up;
  for (std::uint32_t n = 0; n < 300; ++n) {
    for (const auto& config : configs) {
      if (random() % 4 == 0) down[config.id] += ends.send_down(config, numbered(n, random() % 1300)) ? 1 : 0;
      if (random() % 4 != 0) continue;
      const Bytes payload = numbered(n, random() % 1300);
      ends.send_up(config, payload);
      up[config.id].push_back(sdu_of(config, payload));
    }
    ends.run();
  }
  ends.run_until_silent();
  EXPECT_EQ(ends.ues.packets().pdcp_held.get(), 0U);
  for (const auto& config : configs) {
    const auto shown = ends.ues.show(config.id);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->uplink.transmitted, up[config.id].size());
    if (v.mode == RlcMode::kAm) {
      EXPECT_EQ(shown->downlink.transmitted, down[config.id]);
      EXPECT_TRUE(ends.up[config.id] == up[config.id]);
    } else {  // RLC UM repairs nothing that HARQ gives up
      EXPECT_GT(shown->downlink.transmitted, down[config.id] * 9 / 10);
      EXPECT_GT(ends.up[config.id].size(), up[config.id].size() * 9 / 10);
      auto next = up[config.id].begin();
      for (const Bytes& sdu : ends.up[config.id]) {
        next = std::find(next, up[config.id].end(), sdu);
        ASSERT_NE(next, up[config.id].end()) << "changed, or out of order";
        ++next;
      }
    }
    EXPECT_EQ(shown->downlink.received, shown->downlink.transmitted + shown->downlink.dropped);
    EXPECT_EQ(shown->rlc->rnti, ends.gnb.cell.find(config.id.value)->ue->rnti.value().value + 16);
    EXPECT_EQ(shown->rlc->lcid, 4U);
    EXPECT_GT(shown->rlc->mac.blocks_sent, 0U);
    EXPECT_GT(shown->rlc->mac.blocks_received, 0U);
  }
  EXPECT_EQ(ends.ues.list(configs[0].id, 3).size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Loss, FullUeLoss,
                         testing::Values(FullVariant{RlcMode::kAm, 18, 0}, FullVariant{RlcMode::kAm, 18, 5},
                                         FullVariant{RlcMode::kAm, 12, 30}, FullVariant{RlcMode::kUm, 12, 5},
                                         FullVariant{RlcMode::kUm, 12, 30}));

TEST(FullUe, a_bearer_that_begins_anew_has_another_c_rnti_and_goes_on_with_its_counts) {
  FullEnds ends;
  const auto config = FullEnds::config(1);
  Gnb::Ue& ue = ends.add(config);
  ends.gnb.loss = {30, 30, 0};
  std::vector<Bytes> up;
  for (std::uint32_t n = 0; n < 60; ++n) {
    ASSERT_TRUE(ends.send_down(config, numbered(n, 900)));
    ends.send_up(config, numbered(n, 900));
    ends.run();
  }
  const auto before = ends.ues.show(config.id);
  ends.gnb.reestablish(ue, config.id);
  ASSERT_TRUE(ends.send_down(config, numbered(1000, 10)));
  ends.run(20);
  EXPECT_GT(ends.ues.unknown(), 0U);
  BearerChange change = ends.establishment(config, ue);
  change.kind = Kind::kReestablish;
  change.before = config;
  change.numbers.rlc_epoch = 5;
  ends.change(change);
  EXPECT_EQ(ends.ues.radio().resets.get(), 1U);
  ends.change(change);
  EXPECT_EQ(ends.ues.radio().resets.get(), 1U) << "it has that epoch and C-RNTI";
  const std::size_t received = ends.up[config.id].size();
  for (std::uint32_t n = 60; n < 90; ++n) {
    ASSERT_TRUE(ends.send_down(config, numbered(n, 900)));
    ends.send_up(config, numbered(n, 900));
    ends.run();
  }
  ends.run_until_silent();
  const auto after = ends.ues.show(config.id);
  EXPECT_GE(after->downlink.transmitted, before->downlink.transmitted + 31);
  EXPECT_EQ(after->pdcp_rx_next, 91U) << "what RLC had dropped was waited for, and given up";
  EXPECT_EQ(after->pdcp_tx_next, 90U);
  EXPECT_EQ(after->epoch, 5);
  EXPECT_EQ(after->rlc->rnti, ue.rnti);
  ASSERT_GE(ends.up[config.id].size(), received + 30);
  for (std::uint32_t n = 60; n < 90; ++n) {
    EXPECT_EQ(ends.up[config.id][ends.up[config.id].size() - 90 + n], sdu_of(config, numbered(n, 900)));
  }
}

TEST(FullUe, a_bearer_that_is_released_gives_back_all_that_it_held) {
  FullEnds ends;
  const auto config = FullEnds::config(1), other = FullEnds::config(2);
  (void)ends.add(config);
  (void)ends.add(other);
  ends.gnb.most_down = ends.gnb.most_up = 400;
  ends.gnb.loss = {40, 40, 0};
  for (std::uint32_t n = 0; n < 40; ++n) {
    ASSERT_TRUE(ends.send_down(config, numbered(n, 300)));
    ends.send_up(config, numbered(n, 300));
  }
  for (unsigned i = 0; i < 200 && ends.ues.packets().pdcp_held.get() == 0; ++i) ends.run();
  const std::uint64_t held = ends.ues.packets().pdcp_held.get();
  ASSERT_GT(held, 0U) << "PDCP waits for SDUs that HARQ sends again";
  ends.change({.kind = Kind::kRelease, .config = config});
  EXPECT_EQ(ends.pool.in_use(), 0U);
  EXPECT_EQ(count(ends, UeOutcome::pdcp_released), held);
  EXPECT_FALSE(ends.ues.show(config.id));
  EXPECT_EQ(ends.ues.size(), 1U);
  EXPECT_TRUE(ends.ues.balanced());
  ends.send_up(config, numbered(0, 10));
  EXPECT_EQ(count_up(ends, UeOutcome::source_unknown), 1U);
  ends.run(5);
  EXPECT_GT(ends.ues.unknown(), 0U);
}

TEST(FullUe, a_bearer_that_comes_again_goes_on_with_its_counts) {
  FullEnds ends;
  const auto config = FullEnds::config(1);
  Gnb::Ue& ue = ends.add(config);
  for (std::uint32_t n = 0; n < 10; ++n) {
    ASSERT_TRUE(ends.send_down(config, numbered(n, 100)));
    ends.send_up(config, numbered(n, 100));
  }
  ends.run_until_silent();
  ends.gnb.reestablish(ue, config.id);
  for (const bool released : {true, false}) {
    if (released) ends.change({.kind = Kind::kRelease, .config = config});
    BearerChange change = ends.establishment(config, ue);
    change.numbers.pdcp_uplink = 0;  // whatever the list says: COUNTs are not used twice
    if (!released) change.before = config;
    ends.change(change);
    EXPECT_EQ(ends.ues.show(config.id)->pdcp_tx_next, 10U);
    EXPECT_EQ(ends.ues.show(config.id)->pdcp_rx_next, 10U);
  }
  ASSERT_TRUE(ends.send_down(config, numbered(10, 100)));
  ends.send_up(config, numbered(10, 100));
  ends.run_until_silent();
  EXPECT_EQ(ends.ues.show(config.id)->downlink.transmitted, 1U) << "counters began with the bearer";
  EXPECT_EQ(ends.up[config.id].size(), 11U);
}

// What waited at the gNB before this side knew of the bearer arrives: COUNTs go back by what RLC has.
TEST(FullUe, sdus_that_waited_for_the_ue_arrive) {
  FullEnds ends;
  const auto config = FullEnds::config(1);
  Gnb::Ue& ue = ends.add_at_gnb({config});
  for (std::uint32_t n = 0; n < 7; ++n) ASSERT_TRUE(ends.send_down(config, numbered(n, 100)));
  BearerChange change = ends.establishment(config, ue);
  change.numbers.rlc_unacked = ends.gnb.channel(config.id).held();
  ends.change(change);
  ends.run_until_silent();
  EXPECT_EQ(ends.ues.show(config.id)->downlink.transmitted, 7U);
}

TEST(FullUe, without_keys_packets_are_dropped_and_counted) {
  FullEnds ends({.has_keys = false});
  const auto config = FullEnds::config(1);
  (void)ends.add(config);
  ASSERT_TRUE(ends.send_down(config, numbered(0, 100)));
  ends.send_up(config, numbered(0, 100));
  ends.run(20);
  EXPECT_EQ(count(ends, UeOutcome::pdcp_no_keys), 1U);
  EXPECT_EQ(count_up(ends, UeOutcome::pdcp_no_keys), 1U);
  EXPECT_EQ(ends.pool.in_use(), 0U);
}

// Released and added again between two lists of the gNB.
TEST(FullUe, a_bearer_that_comes_back_with_another_key_begins_with_it) {
  FullEnds ends;
  const auto before = FullEnds::config(1);
  BearerWatch watch;
  watch.see(before, {.rlc_epoch = 7}, {}, RadioPlace{100, 4});
  EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
  ends.send_up(before, numbered(0, 50));
  EXPECT_EQ(ends.ues.show(before.id)->pdcp_tx_next, 1U);
  auto now = before;
  now.security->key = 2;
  Gnb::Ue& ue = ends.add_at_gnb({now});
  watch.see(now, {.rlc_epoch = 8}, {}, RadioPlace{ue.rnti, 4});
  EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
  EXPECT_EQ(ends.ues.show(now.id)->rlc->rnti, ue.rnti);
  EXPECT_EQ(ends.ues.show(now.id)->pdcp_tx_next, 0U) << "COUNTs are those of a key";
  ASSERT_TRUE(ends.send_down(now, numbered(0, 100)));
  ends.send_up(now, numbered(1, 50));
  ends.run_until_silent();
  EXPECT_EQ(ends.ues.show(now.id)->downlink.transmitted, 1U);
  EXPECT_EQ(ends.up[now.id], std::vector<Bytes>{sdu_of(now, numbered(1, 50))});
}

TEST(FullUe, a_bearer_of_a_worker_in_header_mode_is_not_served) {
  FullEnds ends;
  const auto config = FullEnds::config(1);
  Gnb::Ue& ue = ends.add(config);
  BearerChange header = ends.establishment(FullEnds::config(1), ue);
  header.config.id = BearerId{77};
  header.radio.reset();
  ends.change(header);
  EXPECT_EQ(ends.ues.size(), 1U);
  ASSERT_TRUE(ends.send_down(config, numbered(0, 100)));
  ends.run(10);
  EXPECT_EQ(ends.ues.show(config.id)->downlink.transmitted, 1U);
  header = ends.establishment(config, ue);
  header.before = config;
  header.radio.reset();
  ends.change(header);
  EXPECT_EQ(ends.ues.size(), 0U) << "its worker is another one now, in header mode";
}

TEST(FullUe, more_packets_than_rlc_has_room_for_are_dropped_before_they_have_a_count) {
  FullEnds ends;
  auto config = FullEnds::config(1);
  config.arq.max_unacked = 20;
  (void)ends.add(config);
  datapath::Burst burst;
  for (std::uint32_t n = 0; n < 32; ++n) {
    burst.mbuf[burst.size++] = ends.pool.make(ip_packet(v4_of(*config.ue_ipv4), kServer, numbered(n, 50)));
  }
  ends.ues.send(burst);
  EXPECT_EQ(count_up(ends, UeOutcome::ok), 20U);
  EXPECT_EQ(count_up(ends, UeOutcome::rlc_window_full), 12U);
  ends.run_until_silent();
  EXPECT_EQ(ends.up[config.id].size(), 20U);
  EXPECT_EQ(ends.ues.show(config.id)->pdcp_tx_next, 20U);
}

TEST(FullUe, a_session_of_two_bearers_is_one_ue_whose_flows_move) {
  FullEnds ends;
  auto first = FullEnds::config(1), second = FullEnds::config(2);
  second.ue_ipv4 = first.ue_ipv4;
  Gnb::Ue& ue = ends.add_at_gnb({first, second});
  const auto place = [&](std::uint8_t drb, std::vector<Qfi> flows) {
    return app::InSession{.teid = Teid{first.id.value},
                          .spare = BearerId{first.id.value + 9},
                          .drb = ran::sdap::DrbId{drb},
                          .is_default = drb == 1,
                          .reflective = false,
                          .flows = std::move(flows)};
  };
  BearerChange one = ends.establishment(first, ue), two = ends.establishment(second, ue, 5);
  one.session = place(1, {});
  two.session = place(2, {});
  ends.change(one);
  ends.change(two);
  EXPECT_EQ(ends.ues.cell().size(), 1U);
  ends.send_up(first, numbered(0, 50));
  two.kind = Kind::kUpdate;
  two.before = two.config;
  two.session = place(2, {Qfi{9}});
  ends.change(two);
  ends.send_up(first, numbered(1, 50));
  ends.run_until_silent();
  EXPECT_EQ(ends.up[first.id], (std::vector<Bytes>{sdu_of(first, numbered(0, 50)), Bytes{9}})) << "and an end marker";
  EXPECT_EQ(ends.up[second.id], std::vector<Bytes>{sdu_of(first, numbered(1, 50))});
  EXPECT_EQ(ends.ues.packets().end_markers.get(), 1U);
  ends.gnb.reestablish(ue, second.id);  // the list has the new C-RNTI with both bearers
  for (BearerChange* const change : {&one, &two}) {
    change->kind = change == &one ? Kind::kUpdate : Kind::kReestablish;
    change->before = change->config;
    change->radio->rnti = ue.rnti;
    change->numbers.rlc_epoch = 1;
    ends.change(*change);
  }
  ASSERT_TRUE(ends.send_down(first, numbered(2, 50)));
  ASSERT_TRUE(ends.send_down(second, numbered(3, 50)));
  ends.run_until_silent();
  EXPECT_EQ(ends.ues.show(first.id)->downlink.transmitted + ends.ues.show(second.id)->downlink.transmitted, 2U);
  EXPECT_EQ(ends.ues.show(first.id)->session->teid.value, first.id.value);
}

TEST(FullUe, failed_bearers_are_named) {
  FullEnds ends;
  auto config = FullEnds::config(1);
  config.arq.max_retx = 2;
  (void)ends.add(config);
  (void)ends.add(FullEnds::config(2));
  EXPECT_THAT(ends.ues.failed(), testing::IsEmpty());
  ends.send_up(config, numbered(0, 50));
  ends.gnb.loss.down = 100;
  ends.run(1000);
  EXPECT_THAT(ends.ues.failed(), testing::ElementsAre(config.id));
  ends.send_up(config, numbered(1, 50));
  EXPECT_EQ(count_up(ends, UeOutcome::rlc_window_full), 1U);
}

TEST(FullUe, the_first_ues_have_the_tun_device_and_the_others_are_sinks) {
  const bool entered = in_own_namespace([] {
    auto tun = Tun::create({.name = "sptun0", .mtu = 1300});
    ASSERT_TRUE(tun.has_value()) << tun.error().message;
    ASSERT_TRUE(tun->add_default_route(false).has_value());
    UeAddresses addresses(*tun);
    FullEnds ends({.ues = {.tun = &*tun, .tun_ues = 1}, .addresses = &addresses});
    ends.gnb.loss = {20, 20, 0};
    const auto first = FullEnds::config(1), second = FullEnds::config(2);
    Gnb::Ue& first_ue = ends.add(first);
    (void)ends.add(second);
    EXPECT_EQ(tun->address_count(), 1U);

    const Socket socket(AF_INET);
    const sockaddr_in ours = v4("10.45.0.1", 40000), theirs = v4("8.8.8.8", 40000);
    ASSERT_EQ(::bind(socket.fd, reinterpret_cast<const sockaddr*>(&ours), sizeof ours), 0);
    for (std::uint32_t n = 0; n < 50; ++n) {
      const Bytes payload = numbered(n, 20 * n);
      ASSERT_EQ(::sendto(socket.fd, payload.data(), payload.size(), 0, reinterpret_cast<const sockaddr*>(&theirs),
                         sizeof theirs),
                static_cast<ssize_t>(payload.size()));
      ASSERT_TRUE(ends.send_down(first, payload));
      ASSERT_TRUE(ends.send_down(second, payload));
      ends.run();
    }
    ends.run_until_silent();
    ASSERT_EQ(ends.up[first.id].size(), 50U);
    for (std::uint32_t n = 0; n < 50; ++n) {
      const Bytes payload = numbered(n, 20 * n);
      const Bytes& sdu = ends.up[first.id][n];
      EXPECT_EQ(Bytes(sdu.end() - static_cast<std::ptrdiff_t>(payload.size()), sdu.end()), payload);
      Bytes received(2000);
      const ssize_t bytes = ::recv(socket.fd, received.data(), received.size(), 0);
      ASSERT_EQ(bytes, static_cast<ssize_t>(payload.size())) << "and in order";
      received.resize(payload.size());
      EXPECT_EQ(received, payload);
    }
    EXPECT_EQ(ends.ues.show(second.id)->downlink.transmitted, 50U);
    EXPECT_EQ(ends.ues.packets_from_tun(), 50U);

    // A UE that comes again keeps the device, another one does not get it.
    BearerChange again = ends.establishment(second, ends.gnb.ues[1]);
    again.before = second;
    ends.change(again);
    EXPECT_EQ(tun->address_count(), 1U);
    ends.change({.kind = Kind::kRelease, .config = first});
    EXPECT_EQ(tun->address_count(), 0U);
    ends.change(ends.establishment(first, first_ue));
    EXPECT_EQ(tun->address_count(), 1U);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(FullUe, a_new_ue_takes_the_tun_devices_place_of_one_that_goes_in_the_same_list) {
  const bool entered = in_own_namespace([] {
    auto tun = Tun::create({.name = "sptun1", .mtu = 1300});
    ASSERT_TRUE(tun.has_value()) << tun.error().message;
    UeAddresses addresses(*tun);
    FullEnds ends({.ues = {.tun = &*tun, .tun_ues = 1}, .addresses = &addresses});
    const auto first = FullEnds::config(1);
    auto second = FullEnds::config(2);
    second.ue_ipv4 = first.ue_ipv4;
    BearerWatch watch;
    watch.see(first, {.rlc_epoch = 7}, {}, RadioPlace{100, 4});
    EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
    EXPECT_EQ(tun->address_count(), 1U);
    watch.see(second, {.rlc_epoch = 8}, {}, RadioPlace{101, 4});
    EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
    EXPECT_EQ(tun->address_count(), 1U);
    ends.run();
    ends.change({.kind = Kind::kRelease, .config = second});
    EXPECT_EQ(tun->address_count(), 0U);
  });
  if (!entered) GTEST_SKIP() << kNeedsRoot;
}

TEST(FullUe, a_new_bearer_takes_the_logical_channel_of_one_that_goes_in_the_same_list) {
  FullEnds ends;
  auto first = FullEnds::config(1), second = FullEnds::config(2), third = FullEnds::config(3);
  second.ue_ipv4 = third.ue_ipv4 = first.ue_ipv4;
  const auto place = [&](std::uint8_t drb) {
    return app::InSession{.teid = Teid{first.id.value},
                          .spare = BearerId{first.id.value + 9},
                          .drb = ran::sdap::DrbId{drb},
                          .is_default = drb == 1,
                          .reflective = false,
                          .flows = {}};
  };
  BearerWatch watch;
  watch.see(first, {.rlc_epoch = 7}, place(1), RadioPlace{100, 4});
  watch.see(second, {.rlc_epoch = 7}, place(2), RadioPlace{100, 5});
  EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
  watch.see(first, {.rlc_epoch = 8}, place(1), RadioPlace{200, 4});
  watch.see(third, {.rlc_epoch = 8}, place(2), RadioPlace{200, 5});
  EXPECT_THAT(ends.changes.carry_out(watch.finish()), testing::IsEmpty());
  EXPECT_FALSE(ends.ues.show(second.id));
  EXPECT_EQ(ends.ues.show(third.id)->rlc->rnti, 200);
  EXPECT_EQ(ends.ues.cell().size(), 1U);
  for (const auto& config : {first, third}) ends.change({.kind = Kind::kRelease, .config = config});
}

TEST(FullUe, a_bearer_without_a_place_comes_again_with_the_next_list) {
  FullEnds ends;
  auto first = FullEnds::config(1), second = FullEnds::config(2);
  second.ue_ipv4 = first.ue_ipv4;
  const app::InSession session{.teid = Teid{first.id.value},
                               .spare = BearerId{first.id.value + 9},
                               .drb = ran::sdap::DrbId{1},
                               .is_default = true,
                               .reflective = false,
                               .flows = {}};
  const auto changes_of = [&](BearerWatch& watch, std::uint32_t second_lcid, bool with_first) {
    if (with_first) watch.see(first, {}, session, RadioPlace{100, 4});
    watch.see(second, {}, session, RadioPlace{100, second_lcid});
    return watch.finish();
  };
  BearerWatch watch;
  EXPECT_THAT(ends.changes.carry_out(changes_of(watch, 5, true)), testing::IsEmpty());
  auto again = ends.changes.carry_out(changes_of(watch, 4, true));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].config.id, second.id);
  EXPECT_FALSE(ends.ues.show(second.id)) << "it has another channel at the gNB now";
  watch.undo(again[0]);
  again = ends.changes.carry_out(changes_of(watch, 4, true));
  ASSERT_EQ(again.size(), 1U);
  watch.undo(again[0]);
  EXPECT_THAT(ends.changes.carry_out(changes_of(watch, 4, false)), testing::IsEmpty());
  EXPECT_EQ(ends.ues.show(second.id)->rlc->lcid, 4U);
  ends.change({.kind = Kind::kRelease, .config = second});
}

TEST(FullUe, ten_thousand_ues) {
  constexpr unsigned kUes = 10'000;
  FullEnds ends(
      {.ues = {.radio = {.rlc = {.max_sdus = 4096, .max_channels = kUes}, .blocks = 256, .block_bytes = 3100}},
       .mbufs = 16383});
  std::vector<ran::BearerConfig> some;
  for (unsigned i = 1; i <= kUes; ++i) {
    const auto config = FullEnds::config(i);
    if (i % 100 == 0) {
      (void)ends.add(config);
      some.push_back(config);
      continue;
    }
    ends.configs[config.id] = config;
    ends.change(
        {.kind = Kind::kEstablish, .config = config, .radio = RadioPlace{static_cast<phy::Rnti>(20000 + i), 4}});
  }
  EXPECT_EQ(ends.ues.size(), std::size_t{kUes});
  EXPECT_EQ(ends.ues.cell().size(), std::size_t{kUes});
  for (const auto& config : some) {
    ASSERT_TRUE(ends.send_down(config, numbered(1, 200)));
    ends.send_up(config, numbered(2, 200));
  }
  ends.run(30);
  for (const auto& config : some) {
    EXPECT_EQ(ends.ues.show(config.id)->downlink.transmitted, 1U);
    EXPECT_EQ(ends.up[config.id].size(), 1U);
  }
}

// TSan watches both threads.
TEST(FullUe, ues_come_and_go_while_the_phys_thread_serves_others) {
  constexpr unsigned kStay = 6, kAll = 12, kRounds = 300;
  FullEnds ends({.ues = {.radio = {.blocks = 64, .block_bytes = 3100}}});
  datapath::Mailbox mailbox;
  FullChanges own(ends.ues, nullptr, [&](const auto& command) { return mailbox.execute(command); });
  std::atomic<bool> stop{false};
  std::thread phy([&] {
    phy::Slot slot{{1}, 0, 0};
    phy::Terminals& terminals = ends.ues.terminals();
    for (std::uint64_t n = 1; !stop; ++n, slot = phy::after(slot, 1)) {
      mailbox.run_pending();
      (void)ends.ues.serve(n * kMs / 2);
      for (unsigned rnti = 1; rnti <= kAll; ++rnti) {
        phy::Grant grant{};
        grant.direction = Direction::kUplink;
        grant.rnti = static_cast<phy::Rnti>(rnti);
        grant.process = static_cast<std::uint8_t>(n % 16);
        grant.ndi = n / 16 % 2;
        grant.tb_bytes = 200;
        grant.slot = slot;
        terminals.granted(grant);
        (void)terminals.transmit(grant.rnti, slot);
        grant.slot = phy::after(slot, 4);
        terminals.granted(grant);
      }
      terminals.end_slot(slot);
    }
  });
  std::vector<BearerChange> others_come, others_go, come, go;
  for (unsigned i = 1; i <= kAll; ++i) {
    const auto config = FullEnds::config(i);
    (i <= kStay ? others_come : come)
        .push_back({.kind = Kind::kEstablish, .config = config, .radio = RadioPlace{static_cast<phy::Rnti>(i), 4}});
    (i <= kStay ? others_go : go).push_back({.kind = Kind::kRelease, .config = config});
  }
  EXPECT_THAT(own.carry_out(others_come), testing::IsEmpty());
  for (unsigned round = 0; round < kRounds; ++round) {
    EXPECT_THAT(own.carry_out(come), testing::IsEmpty());
    EXPECT_THAT(own.carry_out(go), testing::IsEmpty());
  }
  EXPECT_THAT(own.carry_out(others_go), testing::IsEmpty());
  stop = true;
  phy.join();
  EXPECT_EQ(ends.ues.cell().blocks_free(), 64U);
  EXPECT_EQ(ends.ues.radio().grants_waiting.get(), 0U);
  EXPECT_TRUE(ends.ues.balanced());
}

}  // namespace
}  // namespace splitplane::ue
