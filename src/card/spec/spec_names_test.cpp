#include "card/spec/spec_names.h"

#include <gmock/gmock.h>

#include "card/spec/test_programs.h"

namespace splitplane::nic {
namespace {

std::string complaint(const std::function<void(SpecFile&)>& change) {
  SpecFile spec = test::parsed(test::kForwarder);
  change(spec);
  const auto checked = check_spec_names(spec, 99);
  return checked ? std::string{} : checked.error().message;
}

TEST(SpecNames, a_file_whose_names_all_exist_passes) {
  EXPECT_EQ(complaint([](SpecFile&) {}), "");
}

TEST(SpecNames, a_missing_statement_is_named_with_the_last_line) {
  EXPECT_EQ(complaint([](SpecFile& spec) { spec.apply.clear(); }),
            "test.spec:99: the file ends without an apply block; allowed: a complete file");
  EXPECT_EQ(complaint([](SpecFile& spec) { spec.metadata.clear(); }),
            "test.spec:99: there is no metadata statement; allowed: one");
}

TEST(SpecNames, a_type_that_the_file_lacks_is_named_with_the_object_that_uses_it) {
  EXPECT_EQ(complaint([](SpecFile& spec) { spec.headers[0].type = "gone_t"; }),
            fmt::format("test.spec:99: header {} is of type gone_t, which is nowhere; allowed: a struct of this file",
                        test::parsed(test::kForwarder).headers[0].name));
  EXPECT_THAT(complaint([](SpecFile& spec) { spec.actions[0].arguments = "gone_t"; }),
              testing::HasSubstr(" is of type gone_t, which is nowhere"));
}

TEST(SpecNames, a_table_uses_only_actions_of_the_file) {
  EXPECT_THAT(complaint([](SpecFile& spec) { spec.tables[0].actions[0].name = "gone"; }),
              testing::HasSubstr("table ports names action gone, which is nowhere"));
  EXPECT_THAT(complaint([](SpecFile& spec) { spec.tables[0].default_action = "gone"; }),
              testing::HasSubstr("table ports has the default action gone, which is none of its own"));
  EXPECT_THAT(complaint([](SpecFile& spec) { spec.tables[0].default_arguments = "src 1"; }),
              testing::HasSubstr("the default action of table ports has arguments, or lacks them"));
  EXPECT_THAT(complaint([](SpecFile& spec) { spec.tables[0].actions.clear(); }),
              testing::HasSubstr("table ports has no actions or no default action"));
}

}  // namespace
}  // namespace splitplane::nic
