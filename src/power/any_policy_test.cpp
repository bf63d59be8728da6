#include "power/any_policy.h"

#include <gtest/gtest.h>

namespace splitplane::power {
namespace {

TEST(AnyPolicy, is_the_kind_that_the_settings_name) {
  for (std::size_t kind = 0; kind < kKindNames.size(); ++kind) {
    const AnyPolicy made = make_policy({.kind = static_cast<Kind>(kind)}, {});
    EXPECT_EQ(made.index(), kind > static_cast<std::size_t>(Kind::paper) ? kind - 1 : kind) << kKindNames[kind];
  }
}

}  // namespace
}  // namespace splitplane::power
