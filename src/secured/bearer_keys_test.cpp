#include "secured/bearer_keys.h"

#include <gmock/gmock.h>

#include "engine/test_dpdk.h"
#include "secured/test_key_file.h"

namespace splitplane::datapath {
namespace {

using test::TestKeyFile;
using testing::HasSubstr;

[[maybe_unused]] const auto* const kDpdk = testing::AddGlobalTestEnvironment(new test::DpdkEnvironment("secured"));

TEST(BearerKeys, are_those_of_the_number_and_the_algorithms) {
  const TestKeyFile file(2);
  const auto keys = file.keys();
  const auto both = keys->make({.key = 1});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_NE(both->security().cipher, nullptr);
  EXPECT_NE(both->security().integrity, nullptr);
  const auto cipher = keys->make({.integrity = ran::Integrity::kNone, .key = 2});
  ASSERT_TRUE(cipher);
  EXPECT_EQ(cipher->security().integrity, nullptr);
}

TEST(BearerKeys, a_number_that_the_file_lacks_is_refused_until_it_is_added) {
  const TestKeyFile file(2);
  const auto keys = file.keys();
  EXPECT_THAT(keys->make({.key = 3}).error().message, HasSubstr("has no keys with number 3"));
  std::ofstream(file.path(), std::ios::app) << "3 " << TestKeyFile::hex(3) << " -\n";
  EXPECT_THAT(keys->make({.key = 3}).error().message, HasSubstr("have none for nia2"));
  EXPECT_TRUE(keys->make({.integrity = ran::Integrity::kNone, .key = 3}));
}

TEST(BearerKeys, a_key_of_another_length_is_refused) {
  const TestKeyFile file(1);
  std::ofstream(file.path(), std::ios::app) << "2 " << TestKeyFile::hex(2) << TestKeyFile::hex(2) << " -\n";
  const auto refused = file.keys()->make({.integrity = ran::Integrity::kNone, .key = 2});
  EXPECT_THAT(refused.error().message, HasSubstr("has 32 octets; allowed: 16"));
}

TEST(BearerKeys, a_file_that_others_may_read_is_refused) {
  const TestKeyFile file(1);
  ASSERT_EQ(::chmod(file.path().c_str(), 0640), 0);
  EXPECT_THAT(BearerKeys::create(file.path()).error().message, HasSubstr("allowed: mode 0600 or 0400"));
  EXPECT_FALSE(BearerKeys::create(file.path() + ".not-there"));
}

TEST(BearerKeys, what_was_used_is_known_by_key_and_drb) {
  const TestKeyFile file(1);
  const auto keys = file.keys();
  const ran::SecurityConfig first{.key = 1, .drb = 1}, second{.key = 1, .drb = 2};
  EXPECT_EQ(keys->used(first), nullptr);
  keys->note_used(first, {7, 5});
  ASSERT_NE(keys->used(first), nullptr);
  EXPECT_EQ(keys->used(first)->tx_next, 7U);
  EXPECT_EQ(keys->used(second), nullptr) << "another BEARER is another keystream";
  keys->forget_used(first);
  EXPECT_EQ(keys->used(first), nullptr);
}

}  // namespace
}  // namespace splitplane::datapath
