#include "fields/reference.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace splitplane::fields {
namespace {

using testing::ElementsAre;

enum class Speed { kSlow, kFast };
constexpr std::array<std::string_view, 2> kSpeeds{"slow", "fast"};
constexpr std::array<std::uint64_t, 3> kSizes{1, 2, 4};

struct Queue {
  std::uint16_t depth = 8;
};
struct Thing {
  unsigned count = 3, size = 2;
  double share = 0.5;
  Speed speed = Speed::kFast;
  std::string name;
  IpAddress at;
  std::optional<Queue> queue;
  bool left = true, right = true;
};

constexpr std::array<Field, 1> kQueue{integer<&Thing::queue, &Queue::depth>("depth", 1, 9, {.help = "How deep"})};
constexpr std::array<Field, 2> kSides{flag<&Thing::left>("left"), flag<&Thing::right>("right")};
constexpr std::array<Field, 8> kRows{
    ip<&Thing::at>("at", {.help = "Where", .required = true}),
    integer<&Thing::count>("count", 1, 5,
                           {.help = "How many", .clause = "TS 1.2", .special = "5: all", .more = "See there."}),
    one_number<kSizes, &Thing::size>("size", {.help = "How large"}),
    number<&Thing::share>("share", 0, 1.5, {.help = "How much", .in = 2}),
    word<kSpeeds, &Thing::speed>("speed", {.help = "How fast"}),
    text<&Thing::name>("name", "the name of a thing", {}),
    optional_group<&Thing::queue>("queue", kQueue, {.help = "A queue"}),
    flags<Thing>("sides", kSides, {.help = "Sides"}),
};
constexpr Fields<Thing> kThing(kRows);

TEST(Reference, a_table_has_a_line_for_each_key_and_for_those_of_groups) {
  EXPECT_EQ(table_of({"thing", keys_of(kThing)}),
            "| key | default | meaning |\n|---|---|---|\n"
            "| `at` | needed | Where. |\n"
            "| `count` | 3 | How many, 1 to 5 (TS 1.2); 5: all. See there. |\n"
            "| `size` | 2 | How large, 1, 2 or 4. |\n"
            "| `share` | 0.5 | How much, 0 to 1.5. |\n"
            "| `speed` | `fast` | How fast: `slow`, `fast`. |\n"
            "| `name` | | |\n"
            "| `queue` | | A queue. |\n"
            "| `queue.depth` | 8 | How deep, 1 to 9. |\n"
            "| `sides` | true | Sides. |\n"
            "| `sides.left` | true | |\n"
            "| `sides.right` | true | |\n");
}

TEST(Reference, a_schema_has_types_limits_and_defaults) {
  const auto schema = schema_of({"thing", keys_of(kThing)});
  EXPECT_EQ(schema["required"].dump(), R"(["at"])");
  const auto& keys = schema["properties"];
  EXPECT_EQ(keys.size(), 8U);
  EXPECT_EQ(keys["at"].dump(), R"({"$ref":"#/$defs/ip","description":"Where."})");
  EXPECT_EQ(keys["count"].dump(),
            R"({"type":"integer","minimum":1,"maximum":5,"default":3,"description":"How many (TS 1.2); 5: all."})");
  EXPECT_EQ(keys["size"].dump(), R"({"enum":[1,2,4],"default":2,"description":"How large."})");
  EXPECT_EQ(keys["share"].dump(),
            R"({"type":"number","minimum":0,"maximum":1.5,"default":0.5,"description":"How much."})");
  EXPECT_EQ(keys["speed"].dump(), R"({"enum":["slow","fast"],"default":"fast","description":"How fast."})");
  EXPECT_EQ(keys["name"].dump(), R"({"type":"string"})");
  EXPECT_EQ(keys["queue"]["properties"]["depth"]["default"], 8);
  EXPECT_EQ(keys["sides"]["oneOf"][1]["properties"]["left"].dump(), R"({"type":"boolean","default":true})");
}

struct Lane {
  std::uint16_t tag = 0;  // none
};
constexpr std::array<Field, 2> kLaneRows{
    by_hand<Lane>("device", R"({"type": "string", "pattern": "^net_"})", {.help = "A device", .required = true}),
    integer<&Lane::tag>("tag", 1, 9, {.help = "A tag"}),
};

constexpr Fields<Lane> kLane(kLaneRows);

TEST(Reference, a_key_read_by_hand_is_required_and_described) {
  const auto schema = schema_of({"lane", keys_of(kLane)});
  EXPECT_EQ(schema["required"].dump(), R"(["device"])");
  EXPECT_EQ(schema["properties"]["device"].dump(), R"({"type":"string","pattern":"^net_","description":"A device."})");
}

TEST(Reference, what_the_limits_exclude_is_no_default) {
  const Section lane{"lane", keys_of(kLane)};
  EXPECT_FALSE(schema_of(lane)["properties"]["tag"].contains("default"));
  EXPECT_THAT(table_of(lane), testing::HasSubstr("| `tag` | | A tag, 1 to 9. |\n"));
}

TEST(Reference, keys_of_another_place_stand_in_neither) {
  const Section section{"thing", keys_of(kThing.where(1))};
  EXPECT_FALSE(schema_of(section)["properties"].contains("share"));
  EXPECT_THAT(table_of(section), testing::Not(testing::HasSubstr("share")));
}

TEST(Field, a_value_set_by_a_row_is_what_the_row_gets) {
  Thing thing;
  const auto row = [](std::string_view name) -> const Field& {
    return *std::find_if(kRows.begin(), kRows.end(), [name](const Field& f) { return f.name == name; });
  };
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, Value>>{
           {"count", std::uint64_t{5}}, {"share", 1.5}, {"speed", "slow"}, {"name", "x"}, {"at", IpAddress::v4({1})}}) {
    EXPECT_NE(row(name).get(&thing), value) << name;
    row(name).set(&thing, value);
    EXPECT_EQ(row(name).get(&thing), value) << name;
  }
  EXPECT_EQ(thing.speed, Speed::kSlow);
}

TEST(Field, setting_a_member_of_an_optional_makes_it) {
  Thing thing;
  EXPECT_EQ(kQueue[0].get(&thing), Value{});
  kQueue[0].set(&thing, std::uint64_t{4});
  ASSERT_TRUE(thing.queue);
  EXPECT_EQ(thing.queue->depth, 4);
}

TEST(Field, rows_are_chosen_by_place_and_none_of_a_partial_table_is_required) {
  EXPECT_THAT(kThing.where(1).names(), ElementsAre("at", "count", "size", "speed", "name", "queue", "sides"));
  EXPECT_TRUE(kThing.needs(kRows[0]));
  EXPECT_FALSE(kThing.optional().needs(kRows[0]));
  EXPECT_FALSE(kThing.needs(kRows[1]));
}

TEST(Field, limits_of_a_row_in_words) {
  EXPECT_EQ(limits(kRows[1]), "1 to 5");
  EXPECT_EQ(limits(kRows[2]), "1, 2 or 4");
  EXPECT_EQ(limits(kRows[4]), "slow, fast");
  EXPECT_EQ(sentence(kRows[4], "`"), "How fast: `slow`, `fast`");
  EXPECT_EQ(limits(integer<&Thing::count>("count", 0, 0xffffffff)), "");
}

}  // namespace
}  // namespace splitplane::fields
