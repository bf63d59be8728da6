#include "cli/ctl/table.h"

#include <gmock/gmock.h>

#include <array>

#include "base/text.h"

namespace splitplane::app {
namespace {

TEST(CtlTable, digits_are_grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(18446744073709551615U), "18,446,744,073,709,551,615");
  EXPECT_EQ(grouped(12.345), "12.35");
}

TEST(CtlTable, an_add_that_was_repeated_is_told_from_the_first) {
  EXPECT_EQ(added_sentence(1, 0), "added 1");
  EXPECT_EQ(added_sentence(1, 1), "added none: 1 was there already");
  EXPECT_EQ(added_sentence(65536, 65536), "added none: 65,536 were there already");
  EXPECT_EQ(added_sentence(1003, 3), "added 1,000: 3 were there already");
}

TEST(CtlTable, a_tree_of_statistics_becomes_tables) {
  const Json stats =
      Json::parse(R"({"ports":[{"name":"n3","received":1234567,"transmitted":1},{"name":"air","received":2}],
      "workers":[{"name":"w0","drops":{"no_bearer":17},"stages":[{"name":"rx","packets":5,"cycles_per_packet":12.5}]}],
      "totals":{"balanced":true,"received":3}})");
  EXPECT_EQ(render_tree(stats),
            "ports\n"
            "  name   received  transmitted\n"
            "  n3    1,234,567            1\n"
            "  air           2            -\n"
            "totals\n"
            "  balanced  yes\n"
            "  received  3\n"
            "workers\n"
            "  w0 drops\n"
            "    no_bearer  17\n"
            "  w0 stages\n"
            "    name  cycles_per_packet  packets\n"
            "    rx                12.50        5\n");
}

TEST(CtlTable, identities_and_teids_are_hexadecimal) {
  const Json bearer = Json::parse(R"({"id":67108864,"ul_teid":4097,"dl_teid":null,"downlink":{"bytes":67108864}})");
  EXPECT_EQ(render_tree(bearer),
            "dl_teid  -\n"
            "id       0x04000000\n"
            "ul_teid  0x00001001\n"
            "downlink\n"
            "  bytes  67,108,864\n");
}

TEST(CtlTable, a_list_of_bearers_shows_drops_and_no_empty_column) {
  const Json bearer = Json::parse(R"({"id":67108864,"worker":0,"ul_teid":4097,"upf":"10.0.0.2","qfi":9,"rlc":"am18",
      "ue_ipv4":"10.45.0.2","downlink":{"transmitted":5,"dropped":7},"uplink":{"transmitted":6,"dropped":1234}})");
  EXPECT_EQ(render_bearers({bearer}),
            "id          worker  ul_teid          upf  qfi  rlc     ue_ipv4  dl sent  dl drop  ul sent  ul drop  ul "
            "state\n"
            "0x04000000       0  0x00001001  10.0.0.2    9  am18  10.45.0.2        5        7        6    1,234  "
            "active\n");
}

TEST(CtlTable, odd_trees_do_no_harm) {
  for (const char* text :
       {"null", "5", "[]", "{}", "[1,2]", "{\"a\":[]}", "{\"a\":[{}]}", "[[[[]]]]", "{\"a\":[{\"b\":[{\"c\":1}]}]}"}) {
    EXPECT_NO_THROW((void)render_tree(Json::parse(text))) << text;
  }
  Json deep = 1;
  for (int i = 0; i < 1000; ++i) deep = Json{{"a", deep}};
  EXPECT_LT(render_tree(deep).size(), 1000U);
  EXPECT_NO_THROW((void)render_bearers({Json::object(), Json{{"id", "x"}, {"downlink", 5}}}));
}

TEST(Suggest, finds_the_near_word_and_no_far_one) {
  constexpr std::array<std::string_view, 4> kWords{"device", "mtu", "rx_queues", "tx_queues"};
  EXPECT_EQ(closest("devise", kWords), "device");
  EXPECT_EQ(closest("mut", kWords), "mtu");
  EXPECT_EQ(closest("abc", kWords), std::nullopt);
  EXPECT_EQ(closest("mt", kWords), "mtu");
  EXPECT_EQ(closest("rx_queue", kWords), "rx_queues");
  EXPECT_EQ(closest("address", kWords), std::nullopt);
  EXPECT_EQ(closest(std::string(100000, 'x'), kWords), std::nullopt);
}

TEST(Suggest, printable_text_has_no_control_characters_and_an_end) {
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("g\u00fcnstig \u20ac \U0001f4e1"), "g\u00fcnstig \u20ac \U0001f4e1");
  EXPECT_EQ(printable("\xff\xc3(\xc2\x9b\xed\xa0\x80\xe2\x82"), "\\xff\\xc3(\\xc2\\x9b\\xed\\xa0\\x80\\xe2\\x82");
}

}  // namespace
}  // namespace splitplane::app
