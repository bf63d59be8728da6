// The lines of `splitplane top`; a real terminal shows them in tests/live.
#include "cli/top/view.h"

#include <gmock/gmock.h>

namespace splitplane::app {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TopState busy() {
  TopState state;
  state.rates.workers = {{.name = "w0", .core = 1, .received = 1'234'567, .cycles_per_packet = 312.44, .busy = 0.5},
                         {.name = "a_name_of_20_letters", .received = 2e6, .dropped = 3}};
  state.rates.stages = {{.worker = "w0", .stage = "dl_tx", .packets = 12'345.6, .total = 99}};
  state.rates.drops = {{.worker = "w0", .reason = "tx_full", .packets = 3, .total = 18'446'744'073'709'551'615ULL}};
  state.rates.ports = {{.name = "n3", .rx_bits = 25e9}};
  state.rates.placement = {.mode = "spill",
                           .bearers = 200'000,
                           .on_cards = 65'536,
                           .pinned = 3,
                           .load_on_cards = 0.914,
                           .moves = 812.4,
                           .to_card = 1000,
                           .to_host = 234,
                           .failed = 5,
                           .refused = 6,
                           .held = 78'900,
                           .longest_hold_us = 3210};
  state.bearers = std::vector<BearerRate>{{.id = 0x04000001, .dl_packets = 1}, {.id = 0x04000002, .dl_packets = 2}};
  return state;
}

TopState guarded() {
  TopState state = busy();
  state.rates.guard = GuardTables{.sources = 12, .source_entries = 262'144, .flows = 3, .flow_entries = 131'072};
  state.rates.guarded = {{.name = "a_name_of_20_letters",
                          .mode = "observe",
                          .state = "bypassed",
                          .syns = 14.88e6,
                          .unknown = 14.88e6,
                          .challenged = 14.88e6,
                          .proved = 123'456,
                          .dropped = 1.5,
                          .half_open_percent = 100,
                          .armings = 7}};
  return state;
}

std::string text_of(const TopState& state, TopPage page, std::size_t width) {
  std::string text;
  for (const auto& line : top_lines(state, page, width)) text += line.text + "\n";
  return text;
}

TEST(TopView, no_line_is_wider_than_the_terminal) {
  for (const auto page :
       {TopPage::kAll, TopPage::kStages, TopPage::kPorts, TopPage::kDrops, TopPage::kBearers, TopPage::kGuard}) {
    for (const std::size_t width : {1U, 40U, 80U, 109U, 110U, 140U}) {
      for (const auto& state : {busy(), guarded()}) {
        for (const auto& line : top_lines(state, page, width)) EXPECT_LE(line.text.size(), width);
      }
    }
  }
}

TEST(TopView, nothing_is_cut_off_at_80_columns) {
  for (const auto page :
       {TopPage::kAll, TopPage::kStages, TopPage::kPorts, TopPage::kDrops, TopPage::kBearers, TopPage::kGuard}) {
    EXPECT_EQ(text_of(busy(), page, 80), text_of(busy(), page, 109));
    EXPECT_EQ(text_of(guarded(), page, 80), text_of(guarded(), page, 109));
  }
}

TEST(TopView, a_wide_terminal_explains_stages_and_drops) {
  EXPECT_THAT(text_of(busy(), TopPage::kAll, 140), HasSubstr("transmit to the air"));
  EXPECT_THAT(text_of(busy(), TopPage::kAll, 140), HasSubstr("transmit queue stayed full"));
  EXPECT_THAT(text_of(busy(), TopPage::kAll, 80), Not(HasSubstr("transmit to the air")));
}

TEST(TopView, drops_are_an_alarm) {
  const auto lines = top_lines(busy(), TopPage::kDrops, 80);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].style, TopLine::Style::kHead);
  EXPECT_EQ(lines[1].style, TopLine::Style::kAlarm);
}

TEST(TopView, placement_says_where_bearers_live_and_how_they_move) {
  const std::string narrow = text_of(busy(), TopPage::kAll, 80);
  EXPECT_THAT(narrow, HasSubstr("placement   on host on cards  pinned  moves/s     moved  failed    held  longest\n"
                                "spill        134464    65536       3    812.4      1234       5  78.90k    3.2ms"));
  EXPECT_THAT(text_of(busy(), TopPage::kAll, 140), HasSubstr("        1000         234         6             91%"));
  EXPECT_THAT(text_of(busy(), TopPage::kBearers, 80), HasSubstr("134464    65536"));
}

TEST(TopView, without_a_card_there_is_no_placement) {
  TopState state = busy();
  state.rates.placement.reset();
  EXPECT_THAT(text_of(state, TopPage::kAll, 140), Not(HasSubstr("placement")));
}

TEST(TopView, sorting_by_rate_puts_the_busiest_first) {
  TopState state = busy();
  EXPECT_LT(text_of(state, TopPage::kBearers, 80).find("0x04000001"),
            text_of(state, TopPage::kBearers, 80).find("0x04000002"));
  state.by_rate = true;
  EXPECT_GT(text_of(state, TopPage::kBearers, 80).find("0x04000001"),
            text_of(state, TopPage::kBearers, 80).find("0x04000002"));
}

TEST(TopView, a_bearer_of_a_session_names_its_drb_and_in_a_wide_terminal_its_flows) {
  TopState state = busy();
  state.bearers->front().drb = 32;
  state.bearers->front().flows = "QFI 5 others";
  EXPECT_THAT(text_of(state, TopPage::kBearers, 80), HasSubstr("0x04000001 d32"));
  EXPECT_THAT(text_of(state, TopPage::kBearers, 120), HasSubstr("  QFI 5 others"));
  EXPECT_THAT(text_of(state, TopPage::kBearers, 120), Not(HasSubstr("0x04000002 d")));
}

TEST(TopView, bearers_nobody_asked_for_are_not_said_to_be_none) {
  TopState state = busy();
  state.bearers.reset();
  EXPECT_THAT(text_of(state, TopPage::kBearers, 80), Not(HasSubstr("no bearers")));
  state.bearers.emplace();
  EXPECT_THAT(text_of(state, TopPage::kBearers, 80), HasSubstr("no bearers"));
}

TEST(TopView, a_bearer_says_where_it_lives) {
  TopState state = busy();
  state.bearers->back().card = "card0";
  const std::string text = text_of(state, TopPage::kBearers, 80);
  EXPECT_THAT(text, ContainsRegex("0x04000001 .*  host\n"));
  EXPECT_THAT(text, ContainsRegex("0x04000002 .*  card0\n"));
}

TEST(TopView, the_buffering_service_has_sdus_and_neither_bearers_nor_ports) {
  TopState state;
  state.rates.workers = {{.name = "baas0"}};
  state.rates.buffering = {
      {.name = "baas0", .held = 1200, .told = 5000, .acknowledged = 4000, .withdrawn = 3, .sent_again = 20}};
  const std::string text = text_of(state, TopPage::kAll, 80);
  EXPECT_THAT(text, ContainsRegex("baas0 +1200 +5.000k +4.000k +20 +3\n"));
  EXPECT_THAT(text, Not(HasSubstr("rx bit/s")));
  EXPECT_EQ(what_it_has(state.rates), "1200 SDUs held");
  EXPECT_EQ(what_it_has(busy().rates), "0 bearers");
}

TEST(TopView, a_guard_shows_its_servers_and_tables_instead_of_stages) {
  const std::string text = text_of(guarded(), TopPage::kAll, 80);
  EXPECT_THAT(text, HasSubstr("a_name_of_20~ observe bypassed"));
  EXPECT_THAT(text, HasSubstr("14.88M    14.88M    14.88M    123.5k      1.5\n"));
  EXPECT_THAT(text, HasSubstr("12 of 262144 clients proven, 3 of 131072 connections translated\n"));
  EXPECT_THAT(text, Not(HasSubstr("dl_tx")));
  EXPECT_THAT(text_of(guarded(), TopPage::kGuard, 140), HasSubstr("       100 %             7"));
  EXPECT_THAT(text_of(busy(), TopPage::kGuard, 80), HasSubstr("this is no guard"));
  EXPECT_EQ(what_it_has(guarded().rates), "1 server");
}

TEST(TopView, numbers_take_six_characters_at_most) {
  EXPECT_EQ(si(0), "0");
  EXPECT_EQ(si(12.34), "12.3");
  EXPECT_EQ(si(999), "999");
  EXPECT_EQ(si(999.96), "1.000k");
  EXPECT_EQ(si(12'345), "12.35k");
  EXPECT_EQ(si(999'960), "1.000M");
  EXPECT_EQ(si(1.5e9), "1.500G");
  for (double v = 0.001; v < 1e15; v *= 1.37) EXPECT_LE(si(v).size(), 6U) << v;
}

}  // namespace
}  // namespace splitplane::app
