#include "ue/ue_bearers.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ue/bearer_watch.h"
#include "ue/ue_test_frames.h"

namespace splitplane::ue {
namespace {

using namespace test;

ran::Ipv4Key key(const char* address) {
  ran::Ipv4Key k = 0;
  std::memcpy(&k, ip(address).octets().data(), sizeof k);
  return k;
}

ran::BearerConfig numbered(std::uint32_t i) {
  auto config = bearer(RlcMode::kAm, 18, 18);
  config.id = BearerId{i + 1};
  config.ue_ipv4 = ip("10.0.0.1").plus(i);
  config.ue_ipv6 = ip("fd00::1").plus(i);
  return config;
}

TEST(UeBearers, grow_far_beyond_their_first_size_and_are_found_by_all_three_keys) {
  constexpr std::uint32_t kCount = 5000;
  UeBearers bearers;
  for (std::uint32_t i = 0; i < kCount; ++i) bearers.establish(numbered(i), {});
  ASSERT_EQ(bearers.size(), kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    UeBearer* b = bearers.find(BearerId{i + 1});
    ASSERT_NE(b, nullptr) << i;
    ran::Ipv4Key v4 = 0;
    std::memcpy(&v4, b->config.ue_ipv4->octets().data(), sizeof v4);
    EXPECT_EQ(bearers.find_source(v4), b);
    EXPECT_EQ(bearers.find_source(b->config.ue_ipv6->octets()), b);
  }
  EXPECT_EQ(bearers.find(BearerId{kCount + 1}), nullptr);
  EXPECT_EQ(bearers.find(BearerId{0}), nullptr);
}

TEST(UeBearers, released_ones_are_gone_and_their_place_is_used_again_with_new_counters) {
  UeBearers bearers;
  bearers.establish(numbered(0), {});
  bearers.find(BearerId{1})->downlink.received = 7;
  EXPECT_TRUE(bearers.release(BearerId{1}));
  EXPECT_FALSE(bearers.release(BearerId{1}));
  EXPECT_EQ(bearers.find(BearerId{1}), nullptr);
  EXPECT_EQ(bearers.find_source(key("10.0.0.1")), nullptr);
  EXPECT_EQ(bearers.find_source(ip("fd00::1").octets()), nullptr);
  bearers.establish(numbered(1), {});
  EXPECT_EQ(bearers.find(BearerId{2})->downlink.received, 0U);
  EXPECT_EQ(bearers.size(), 1U);
}

TEST(UeBearers, of_two_with_one_address_the_first_has_the_uplink_until_it_is_released) {
  UeBearers bearers;
  auto second = numbered(1);
  second.ue_ipv4 = numbered(0).ue_ipv4;
  bearers.establish(numbered(0), {});
  bearers.establish(second, {});
  EXPECT_EQ(bearers.find_source(key("10.0.0.1")), bearers.find(BearerId{1}));
  bearers.release(BearerId{1});
  EXPECT_EQ(bearers.find_source(key("10.0.0.1")), bearers.find(BearerId{2}));
  EXPECT_EQ(bearers.find_source(ip("fd00::2").octets()), bearers.find(BearerId{2}));
}

TEST(UeBearers, an_update_keeps_numbers_and_moves_addresses) {
  UeBearers bearers;
  bearers.establish(numbered(0), {});
  bearers.find(BearerId{1})->pdcp_tx_next = 99;
  auto changed = numbered(0);
  changed.qfi = Qfi{5};
  changed.ue_ipv4 = ip("10.9.9.9");
  changed.ue_ipv6.reset();
  EXPECT_TRUE(bearers.update(changed));
  EXPECT_EQ(bearers.find_source(key("10.9.9.9"))->pdcp_tx_next, 99U);
  EXPECT_EQ(bearers.find_source(key("10.9.9.9"))->config.qfi, Qfi{5});
  EXPECT_EQ(bearers.find_source(key("10.0.0.1")), nullptr);
  EXPECT_EQ(bearers.find_source(ip("fd00::1").octets()), nullptr);
  EXPECT_FALSE(bearers.update(numbered(7)));
}

TEST(UeBearers, established_again_they_start_from_the_new_numbers_with_their_counters) {
  UeBearers bearers;
  bearers.establish(numbered(0), {});
  bearers.find(BearerId{1})->downlink.received = 7;
  bearers.establish(numbered(0), {.pdcp_downlink = 4, .rlc_downlink = 3, .pdcp_uplink = 2, .rlc_uplink = 1});
  const UeBearer& b = *bearers.find(BearerId{1});
  EXPECT_EQ(b.downlink.received, 7U);
  EXPECT_EQ(b.pdcp_rx.next(), 4U);
  EXPECT_EQ(b.rlc_rx.next(), 3U);
  EXPECT_EQ(b.pdcp_tx_next, 2U);
  EXPECT_EQ(b.rlc_tx_next, 1U);
}

TEST(UeBearers, pages_are_in_order_of_identity) {
  UeBearers bearers;
  for (const std::uint32_t i : {8U, 3U, 5U, 1U}) bearers.establish(numbered(i), {});
  const auto page = bearers.after(BearerId{2}, 2);
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0].config.id, BearerId{4});
  EXPECT_EQ(page[1].config.id, BearerId{6});
  EXPECT_TRUE(bearers.after(BearerId{9}, 10).empty());
  bearers.find(BearerId{6})->uplink.received = 1;
  const auto used = bearers.after(BearerId{0}, 10, UeBearers::Which::kUsed);
  ASSERT_EQ(used.size(), 1U);
  EXPECT_EQ(used[0].config.id, BearerId{6});
}

using Kind = BearerChange::Kind;

TEST(BearerWatch, says_once_what_is_new_and_once_what_is_gone) {
  BearerWatch watch;
  watch.see(numbered(0), {.pdcp_downlink = 5});
  watch.see(numbered(1), {});
  auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
  EXPECT_EQ(changes[0].numbers.pdcp_downlink, 5U);
  EXPECT_EQ(changes[0].before.id, BearerId{0});
  watch.see(numbered(0), {.pdcp_downlink = 6});
  watch.see(numbered(1), {});
  EXPECT_TRUE(watch.finish().empty());
  watch.see(numbered(0), {.pdcp_downlink = 6});
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kRelease);
  EXPECT_EQ(changes[0].config, numbered(1));
  EXPECT_EQ(watch.size(), 1U);
}

TEST(BearerWatch, releases_come_first) {
  BearerWatch watch;
  watch.see(numbered(0), {});
  (void)watch.finish();
  watch.see(numbered(1), {});
  const auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, Kind::kRelease);
  EXPECT_EQ(changes[1].kind, Kind::kEstablish);
}

TEST(BearerWatch, a_list_that_broke_off_releases_nobody) {
  BearerWatch watch;
  watch.see(numbered(0), {});
  watch.see(numbered(1), {});
  (void)watch.finish();
  watch.see(numbered(0), {});
  EXPECT_TRUE(watch.break_off().empty());
  EXPECT_EQ(watch.size(), 2U);
  watch.see(numbered(0), {});
  EXPECT_EQ(watch.finish().size(), 1U);
}

TEST(BearerWatch, tells_a_modified_bearer_from_one_that_was_made_anew) {
  BearerWatch watch;
  watch.see(numbered(0), {.pdcp_downlink = 50, .pdcp_uplink = 9});
  (void)watch.finish();
  auto modified = numbered(0);
  modified.qfi = Qfi{1};
  watch.see(modified, {.pdcp_downlink = 51, .pdcp_uplink = 9});
  auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kUpdate);
  EXPECT_EQ(changes[0].before, numbered(0));
  watch.see(modified, {.pdcp_downlink = 3, .pdcp_uplink = 9});  // its numbers fell
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
  EXPECT_EQ(changes[0].numbers.pdcp_downlink, 3U);
  auto other = modified;
  other.rlc_sn_bits = 12;
  watch.see(other, {.pdcp_downlink = 4, .pdcp_uplink = 9});
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
}

TEST(BearerWatch, another_c_rnti_is_an_update_and_with_another_epoch_a_new_beginning) {
  BearerWatch watch;
  watch.see(numbered(0), {.rlc_epoch = 1}, {}, RadioPlace{17, 4});
  watch.see(numbered(1), {.rlc_epoch = 1}, {}, RadioPlace{17, 5});
  auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].radio, (RadioPlace{17, 5}));
  watch.see(numbered(0), {.rlc_epoch = 2}, {}, RadioPlace{18, 4});
  watch.see(numbered(1), {.rlc_epoch = 1}, {}, RadioPlace{18, 5});
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, Kind::kReestablish);
  EXPECT_EQ(changes[0].radio, (RadioPlace{18, 4}));
  EXPECT_EQ(changes[1].kind, Kind::kUpdate);
  EXPECT_EQ(changes[1].radio, (RadioPlace{18, 5}));
  watch.undo(changes[1]);
  watch.see(numbered(0), {.rlc_epoch = 2}, {}, RadioPlace{18, 4});
  watch.see(numbered(1), {.rlc_epoch = 1}, {}, RadioPlace{18, 5});
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U) << "what could not be made comes again";
  EXPECT_EQ(changes[0].kind, Kind::kUpdate);
}

TEST(BearerWatch, another_logical_channel_or_another_mode_of_the_worker_is_a_new_bearer) {
  BearerWatch watch;
  watch.see(numbered(0), {}, {}, RadioPlace{17, 4});
  (void)watch.finish();
  for (const std::optional<RadioPlace>& next : {std::optional(RadioPlace{17, 5}), std::optional<RadioPlace>()}) {
    watch.see(numbered(0), {}, {}, next);
    const auto changes = watch.finish();
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes[0].kind, Kind::kEstablish);
    EXPECT_EQ(changes[0].radio, next);
  }
}

TEST(BearerWatch, a_flow_that_moves_is_a_change_of_both_bearers_and_no_new_beginning) {
  BearerWatch watch;
  app::InSession one{.teid = Teid{1}, .spare = {}, .drb = ran::sdap::DrbId{1}, .is_default = true, .flows = {}};
  app::InSession two{.teid = Teid{1}, .spare = {}, .drb = ran::sdap::DrbId{2}, .flows = {Qfi{5}}};
  watch.see(numbered(0), {.pdcp_downlink = 5}, one);
  watch.see(numbered(1), {}, two);
  auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].session, two);
  std::swap(one.flows, two.flows);
  watch.see(numbered(0), {.pdcp_downlink = 6}, one);
  watch.see(numbered(1), {}, two);
  changes = watch.finish();
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, Kind::kUpdate);
  EXPECT_EQ(changes[0].session, one);
  watch.see(numbered(0), {.pdcp_downlink = 6}, one);
  watch.see(numbered(1), {}, two);
  EXPECT_TRUE(watch.finish().empty());
}

TEST(BearerWatch, tells_other_keys_of_a_bearer_from_another_bearer) {
  BearerWatch watch;
  auto secured = numbered(0);
  secured.security = ran::SecurityConfig{.key = 3};
  const auto kind_of = [&watch](const ran::BearerConfig& config, const Numbers& numbers) {
    watch.see(config, numbers);
    const auto changes = watch.finish();
    return changes.size() == 1 ? std::optional(changes.front().kind) : std::nullopt;
  };
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 50, .pdcp_uplink = 9, .rlc_epoch = 4}), Kind::kEstablish);
  secured.security->key = 5;
  watch.see(secured, {.pdcp_downlink = 3, .rlc_epoch = 5});  // numbers began anew with the keys
  const auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kRekey);
  EXPECT_EQ(changes[0].before.security->key, 3U);
  EXPECT_EQ(changes[0].numbers.rlc_epoch, 5);
  watch.undo(changes[0]);
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 4, .rlc_epoch = 5}), Kind::kRekey) << "it is tried again";
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 5, .rlc_epoch = 5}), std::nullopt);
  secured.security->key = 6;  // a gNB that was started again with another file
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 6, .rlc_epoch = 5}), Kind::kEstablish);
  secured.security->key = 7;
  secured.uplink_teid = Teid{0x7777};
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 7, .rlc_epoch = 6}), Kind::kEstablish);
  secured.security->key = 8;
  secured.security->drb = 2;
  EXPECT_EQ(kind_of(secured, {.pdcp_downlink = 8, .rlc_epoch = 7}), Kind::kEstablish);
}

TEST(BearerWatch, other_keys_in_full_mode_are_another_bearer) {
  BearerWatch watch;
  auto secured = numbered(0);
  secured.security = ran::SecurityConfig{.key = 3};
  watch.see(secured, {.rlc_epoch = 4}, {}, RadioPlace{17, 4});
  (void)watch.finish();
  secured.security->key = 5;
  watch.see(secured, {.rlc_epoch = 5}, {}, RadioPlace{18, 4});
  const auto changes = watch.finish();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, Kind::kEstablish);
  EXPECT_EQ(changes[0].before.security->key, 3U);
}

TEST(BearerWatch, brings_a_change_again_that_could_not_be_made) {
  BearerWatch watch;
  const Numbers numbers{.pdcp_downlink = 50, .pdcp_uplink = 9, .rlc_epoch = 4};
  auto config = numbered(0);
  std::optional<BearerChange> last;
  const auto next = [&](bool is_listed, const Numbers& now) -> std::optional<Kind> {
    if (is_listed) watch.see(config, now);
    const auto changes = watch.finish();
    last = changes.size() == 1 ? std::optional(changes.front()) : std::nullopt;
    return last ? std::optional(last->kind) : std::nullopt;
  };
  ASSERT_EQ(next(true, numbers), Kind::kEstablish);
  watch.undo(*last);
  EXPECT_EQ(next(true, numbers), Kind::kEstablish);
  EXPECT_EQ(last->before.id, BearerId{0}) << "nothing was there";
  config.qfi = Qfi{1};
  ASSERT_EQ(next(true, numbers), Kind::kUpdate);
  watch.undo(*last);
  EXPECT_EQ(next(true, numbers), Kind::kUpdate);
  EXPECT_EQ(last->before, numbered(0)) << "so that its addresses are not added twice";
  EXPECT_EQ(next(true, numbers), std::nullopt);
  Numbers later = numbers;
  later.rlc_epoch = 5;
  ASSERT_EQ(next(true, later), Kind::kReestablish);
  watch.undo(*last);
  EXPECT_EQ(next(true, later), Kind::kReestablish);
  ASSERT_EQ(next(true, {.pdcp_downlink = 1, .rlc_epoch = 5}), Kind::kEstablish);
  watch.undo(*last);
  EXPECT_EQ(next(true, {.pdcp_downlink = 1, .rlc_epoch = 5}), Kind::kEstablish);
  EXPECT_EQ(last->before, config) << "the one that it replaces is still there";
  ASSERT_EQ(next(false, {}), Kind::kRelease);
  watch.undo(*last);
  EXPECT_EQ(next(false, {}), Kind::kRelease);
  watch.undo(*last);
  EXPECT_EQ(next(true, later), Kind::kEstablish) << "another bearer has the identity";
  EXPECT_EQ(last->before, config);
}

}  // namespace
}  // namespace splitplane::ue
