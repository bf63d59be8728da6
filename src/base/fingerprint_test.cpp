#include "base/fingerprint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace splitplane {
namespace {

class Fingerprint : public testing::Test {
 protected:
  ~Fingerprint() override { std::remove(path_.c_str()); }
  std::string of(const std::string& octets) {
    std::ofstream(path_, std::ios::binary) << octets;
    const auto made = fingerprint_of(path_);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or("");
  }
  std::string path_ = testing::TempDir() + "fingerprint_" + std::to_string(::getpid());
};

TEST_F(Fingerprint, is_fnv_1a) {
  EXPECT_EQ(of(""), "cbf29ce484222325");
  EXPECT_EQ(of("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(of("foobar"), "85944171f73967e8");
}

TEST_F(Fingerprint, changes_with_any_octet_of_a_long_file) {
  std::string octets(200'000, 'x');
  const std::string before = of(octets);
  EXPECT_EQ(of(octets), before);
  for (const std::size_t at : {std::size_t{0}, std::size_t{65536}, octets.size() - 1}) {
    octets[at] = 'y';
    EXPECT_NE(of(octets), before) << at;
    octets[at] = 'x';
  }
}

TEST_F(Fingerprint, of_a_file_that_is_not_there_is_a_sentence) {
  EXPECT_EQ(fingerprint_of("/does/not/exist").error().message, "/does/not/exist cannot be read");
}

}  // namespace
}  // namespace splitplane
