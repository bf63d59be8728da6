#include "crypto/algorithm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crypto/manager.h"

namespace splitplane::crypto {
namespace {

using ::testing::HasSubstr;

TEST(Algorithm, finds_by_name) {
  EXPECT_EQ(*find_cipher_algorithm("nea2"), CipherAlgorithm::nea2);
  EXPECT_EQ(*find_integrity_algorithm("nia3"), IntegrityAlgorithm::nia3);
  EXPECT_EQ(find_cipher_algorithm("nea7").error().message, "'nea7' is no algorithm; allowed: nea0 to nea6");
  EXPECT_EQ(find_cipher_algorithm("nia2").error().message, "'nia2' is no algorithm; allowed: nea0 to nea6");
}

TEST(Algorithm, offers_256_bits_with_a_library_that_has_them) {
  for (const char* name : {"nea4", "nea5", "nea6"}) {
    const auto found = find_cipher_algorithm(name);
    ASSERT_EQ(found.has_value(), Manager::kHas256Bit);
    if (found) continue;
    EXPECT_THAT(found.error().message, HasSubstr("needs an intel-ipsec-mb with the 256-bit algorithms"));
    EXPECT_THAT(found.error().message, HasSubstr(std::string(Manager::built_with())));
  }
  for (const char* name : {"nia4", "nia5", "nia6"}) {
    EXPECT_EQ(find_integrity_algorithm(name).has_value(), Manager::kHas256Bit);
  }
}

TEST(Algorithm, says_the_size_of_a_key) {
  EXPECT_EQ(key_bytes(CipherAlgorithm::nea0), 0U);
  EXPECT_EQ(key_bytes(IntegrityAlgorithm::nia1), 16U);
  EXPECT_EQ(key_bytes(CipherAlgorithm::nea3), 16U);
  EXPECT_EQ(key_bytes(CipherAlgorithm::nea4), 32U);
}

}  // namespace
}  // namespace splitplane::crypto
