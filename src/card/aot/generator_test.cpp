#include "card/aot/generator.h"

#include <gmock/gmock.h>

#include "card/spec/test_programs.h"

namespace splitplane::nic {
namespace {

using test::kForwarder;
using test::replaced;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string generated_from(const std::string& text) {
  const SpecFile spec = test::parsed(text);
  const auto made = generate(spec, {.id = "tested"});
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or("");
}
std::string refusal_of(const std::string& text) {
  const SpecFile spec = test::parsed(text);
  const auto made = generate(spec, {.id = "tested"});
  return made ? "" : made.error().message;
}

TEST(Generator, each_instruction_becomes_a_statement) {
  const std::string made = generated_from(std::string(kForwarder));
  EXPECT_THAT(made, HasSubstr("  m_from = load<4>(p.h_nic + 0);"));
  EXPECT_THAT(made, HasSubstr("  m_from = m_from >> (0x10U & 63);"));
  EXPECT_THAT(made, HasSubstr("  store<2>(p.h_ethernet + 12, 0x4321U);"));
  EXPECT_THAT(made, HasSubstr("if (load<2>(p.h_ethernet + 12) != 0x1234U) goto N"));
  EXPECT_THAT(made, HasSubstr("  p.mirror(m_slot, m_session);"));
  EXPECT_THAT(made, HasSubstr("  emitted |= valid & 1U;"));
  EXPECT_THAT(made, HasSubstr("extern const CompiledProgram k_tested;"));
}

// The forwarder's table has 65,536 rows, so packets wait in front of it, and keep what is read behind.
TEST(Generator, packets_wait_before_a_large_table_and_keep_what_is_read_behind_it) {
  const std::string made = generated_from(std::string(kForwarder));
  EXPECT_THAT(made,
              AllOf(HasSubstr("__builtin_prefetch(row_at<"), HasSubstr("  return 1;\nWAITED_1:"),
                    HasSubstr("p.k_m_from = static_cast<std::uint32_t>(m_from);"), Not(HasSubstr("k_m_session"))));
  const std::string small = generated_from(replaced(std::string(kForwarder), "size 0x10000", "size 0x100"));
  EXPECT_THAT(small, Not(HasSubstr("WAITED_1")));
  const SpecFile spec = test::parsed(kForwarder);
  const auto without = generate(spec, {.id = "tested", .prefetch = false});
  ASSERT_TRUE(without);
  EXPECT_THAT(*without, AllOf(HasSubstr("WAITED_1"), Not(HasSubstr("__builtin_prefetch"))));
}

// Of gnb's two tables that name a slot only few packets look up the second one.
TEST(Generator, registers_are_prefetched_behind_each_table_that_names_the_slot) {
  const std::string made = generated_from(std::string(test::generated("gnb-mat")));
  const std::size_t first_table = made.find("row_bearers = find"), second_table = made.find("row_flows = find");
  ASSERT_LT(first_table, second_table);
  ASSERT_NE(second_table, std::string::npos);
  EXPECT_LT(made.find("__builtin_prefetch(record_at<", first_table), second_table);
  EXPECT_NE(made.find("__builtin_prefetch(record_at<", second_table), std::string::npos);
}

TEST(Generator, what_it_does_not_know_is_refused_with_file_and_line) {
  EXPECT_THAT(
      refusal_of(replaced(std::string(kForwarder), "\tregadd seen_0 m.from 0x1", "\tmeter x m.from m.from m.slot")),
      AllOf(StartsWith("test.spec:"), HasSubstr("'meter x m.from m.from m.slot' is not an instruction")));
  EXPECT_THAT(refusal_of(replaced(std::string(kForwarder), "m.session t.session", "m.session t.sesion")),
              AllOf(StartsWith("test.spec:"), HasSubstr("'t.sesion' is no field and no number")));
  EXPECT_THAT(refusal_of(replaced(std::string(kForwarder), "m.from exact", "m.from lpm")),
              HasSubstr("key m.from of table ports is not exact"));
}

// A packet would see what a later packet of the burst wrote before the table.
TEST(Generator, registers_that_are_used_on_both_sides_of_a_large_table_are_refused) {
  std::string text(kForwarder);
  text = replaced(text, "\tregadd seen_0 m.from 0x1", "\tregrd m.slot seen_0 m.from");
  EXPECT_EQ(refusal_of(text), "");
  EXPECT_THAT(refusal_of(replaced(text, "\temit h.ethernet", "\tregwr seen_0 m.from 0x1\n\temit h.ethernet")),
              AllOf(StartsWith("test.spec:"), HasSubstr("register array seen_0 is used both before and behind")));
}

TEST(Generator, every_committed_program_can_be_written) {
  for (const auto& file : std::filesystem::directory_iterator(SPLITPLANE_SPECS)) {
    const auto spec = read_spec(file.path());
    ASSERT_TRUE(spec) << spec.error().message;
    const auto made = generate(*spec, {.id = program_id(file.path().string())});
    EXPECT_TRUE(made) << made.error().message;
  }
}

TEST(RowLayout, a_bearers_row_is_half_a_cache_line) {
  const SpecFile spec = test::parsed(test::generated("gnb-mat"));
  const RowLayout rows = row_layout(spec, *spec.find_table("bearers"));
  EXPECT_EQ(rows.lookup, RowLayout::Lookup::kHash);
  EXPECT_LE(rows.bytes, 32U);
  EXPECT_EQ(rows.rows, 2U * 65536);
  EXPECT_EQ(row_layout(spec, *spec.find_table("peers")).lookup, RowLayout::Lookup::kDirect);
}

}  // namespace
}  // namespace splitplane::nic
