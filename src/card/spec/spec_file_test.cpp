#include "card/spec/spec_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "card/spec/test_programs.h"

namespace splitplane::nic {
namespace {

using test::kForwarder;
using test::replaced;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(SpecFile, holds_what_the_text_says) {
  const SpecFile spec = test::parsed(kForwarder);
  EXPECT_EQ(spec.program, "l2fwd");
  EXPECT_THAT(spec.defines, ElementsAre("A", "B=2"));
  EXPECT_TRUE(spec.defines_has("B=2"));
  EXPECT_FALSE(spec.defines_has("B"));
  EXPECT_EQ(spec.source_hash.substr(0, 16), "0123456789abcdef");
  EXPECT_EQ(spec.structs.size(), 5U);
  ASSERT_NE(spec.find_struct("ethernet_t"), nullptr);
  EXPECT_EQ(spec.find_struct("ethernet_t")->fields[2].name, "type");
  EXPECT_EQ(spec.find_struct("ethernet_t")->fields[2].bits, 16U);
  EXPECT_EQ(spec.headers.size(), 2U);
  EXPECT_EQ(spec.metadata, "main_metadata_t");
  ASSERT_NE(spec.find_action("forward"), nullptr);
  EXPECT_EQ(spec.find_action("forward")->arguments, "forward_arg_t");
  EXPECT_THAT(spec.find_action("lose")->instructions, ElementsAre("drop", "return"));
  ASSERT_NE(spec.find_table("ports"), nullptr);
  EXPECT_EQ(spec.find_table("ports")->keys[0].field, "m.from");
  EXPECT_EQ(spec.find_table("ports")->actions.size(), 3U);
  EXPECT_EQ(spec.find_table("ports")->default_action, "lose");
  EXPECT_EQ(spec.find_table("ports")->size, 65536U);
  EXPECT_EQ(spec.registers[0].size, 64U);
  EXPECT_EQ(spec.registers[1].initial, 7U);
  EXPECT_EQ(spec.apply.front(), "rx m.input_port");
  EXPECT_EQ(spec.apply[9], "LABEL_END : table ports");
}

struct Mistake {
  std::string_view from, to, complaint;
};

// The error is one sentence with file, line, what is wrong and what is allowed. No result is returned.
TEST(SpecFile, a_mistake_is_named_with_its_line) {
  const std::vector<Mistake> mistakes{
      {"; sha256=0123456789abcdef", "; sha256=xyz", "test.spec:1: is not the line"},
      {"; sha256=0123", "; sha256=012", "test.spec:1: is not the line"},
      {"; sha256", "sha256", "test.spec:1: is not the line"},
      {"program=l2fwd", "program=", "test.spec:1: is not the line"},
      {" defines=A,B=2", "", "test.spec:1: is not the line"},
      {"bit<16> length", "bit<12> length", "test.spec:5: field length has 12 bits; allowed: whole octets"},
      {"bit<16> length", "bit<128> length", "test.spec:5: '128' is no number that fits here; allowed: 0 to 64"},
      {"bit<16> length", "bit<x> length", "test.spec:5: 'x' is no number"},
      {"bit<16> length", "int length", "test.spec:5: 'int length' is no field"},
      {"header nic instanceof nic_t", "header nic of nic_t", "'header nic of nic_t' is no statement"},
      {"header nic instanceof nic_t", "header nic instanceof nic_x", "header nic is of type nic_x, which is nowhere"},
      {"metadata instanceof main_metadata_t", "", "there is no metadata statement"},
      {"regarray seen_0 size 0x40", "regarray seen_0 size 0", "register array seen_0 has size 0"},
      {"regarray seen_0 size 0x40", "metarray seen_0 size 0x40", "is no statement that is understood"},
      {"action lose args none", "action lose args", "is no action"},
      {"action lose", "action forward", "'action forward' is there a second time"},
      {"\t\tlose\n", "\t\tgone\n", "table ports names action gone, which is nowhere"},
      {"default_action lose", "default_action gone", "the default action gone, which is none of its own"},
      {"default_action lose args none", "default_action lose args src 1", "has arguments, or lacks them"},
      {"m.from exact", "m.from range", "'m.from range' is no key"},
      {"size 0x10000", "size many", "'many' is no number"},
      {"size 0x10000", "size 0x10000\n\tsize 5", "'size of table ports' is there a second time"},
      {"\tactions {", "\tactions {\n\t\tlose\n\t}\n\tactions {", "'actions of table ports' is there a second time"},
      {"size 0x10000", "length 5", "'length 5' does not belong into a table"},
      {"\temit h.ethernet\n", "\tjmp LABEL_END\n", "'jmp LABEL_END' jumps backwards"},
      {"\temit h.ethernet\n", "\trecirculate\n", "recirculate is not supported"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto spec = parse_spec(replaced(std::string(kForwarder), mistake.from, mistake.to), "test.spec");
    ASSERT_FALSE(spec) << mistake.to;
    EXPECT_THAT(spec.error().message,
                AllOf(StartsWith("test.spec:"), HasSubstr(mistake.complaint), HasSubstr("; allowed: ")));
  }
}

TEST(SpecFile, a_truncated_file_is_refused_wherever_it_ends) {
  const std::string whole(kForwarder);
  for (std::size_t end = 0; end < whole.size(); end += 1 + end / 50) {
    if (end + 2 >= whole.size()) break;
    const auto spec = parse_spec(whole.substr(0, end), "test.spec");
    ASSERT_FALSE(spec) << "the first " << end << " octets";
    EXPECT_THAT(spec.error().message, StartsWith("test.spec:"));
  }
  EXPECT_THAT(parse_spec(whole.substr(0, whole.find("\tdefault_action")), "test.spec").error().message,
              HasSubstr("the file ends inside 'table ports {' of line"));
}

TEST(SpecFile, a_corrupt_file_never_crashes_the_reader) {
  const std::string whole(kForwarder);
  unsigned refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x15);
    refused += parse_spec(bad, "test.spec") ? 0 : 1;
  }
  EXPECT_GT(refused, whole.size() / 8);
}

// The first line says which CRC-32 the rest has. A user who changes a program by hand removes that word.
TEST(SpecFile, a_change_behind_the_first_line_is_noticed_where_the_line_says_what_must_follow) {
  const std::string path = fmt::format("{}/changed.{}.spec", testing::TempDir(), ::getpid());
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return read_spec(path);
  };
  const std::string whole = test::generated("gnb-mat");
  EXPECT_TRUE(read(whole));
  const std::string changed = replaced(whole, "type 0x88B5", "type 0x88B6");
  const auto refused = read(changed);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, AllOf(StartsWith(path + ":1: says body="), HasSubstr("changed or damaged"),
                                             HasSubstr("; allowed: the file as 'make p4' wrote it")));
  const std::size_t at = changed.find(" body=");
  EXPECT_TRUE(read(changed.substr(0, at) + changed.substr(changed.find('\n'))));
  EXPECT_FALSE(read(replaced(whole, " body=", " body=0")));
  std::filesystem::remove(path);
}

TEST(SpecFile, a_missing_file_is_named) {
  const auto spec = read_spec("/nowhere/gnb.spec");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, StartsWith("/nowhere/gnb.spec: cannot be read"));
}

}  // namespace
}  // namespace splitplane::nic
