// A file of keys: what it may look like, and that no message repeats what stands in it.
#include "crypto/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "crypto/key_store.h"

namespace splitplane::crypto {
namespace {

constexpr const char* kOne = "000102030405060708090a0b0c0d0e0f";
constexpr const char* kTwo = "101112131415161718191a1b1c1d1e1f";

class KeyFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/splitplane-key-file-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
  }
  void TearDown() override { ::unlink(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  [[nodiscard]] std::string mistake(const std::string& text) {
    write(text);
    const auto read = KeyFile(path_).read();
    return read ? "" : read.error().message;
  }

  std::string path_;
};

TEST_F(KeyFileTest, finds_the_keys_of_a_number) {
  write(fmt::format("# a comment\n\n7 {} {}\r\n  8\t{} -  # only one\n9 - {}", kOne, kTwo, kTwo, kOne));
  KeyFile file(path_);
  ASSERT_TRUE(file.read());
  const auto store = std::move(*KeyStore::create());
  const auto seven = file.find(7), eight = file.find(8), nine = file.find(9);
  ASSERT_TRUE(seven && eight && nine);
  ASSERT_TRUE(seven->cipher && seven->integrity && eight->cipher && nine->integrity);
  EXPECT_FALSE(eight->integrity || nine->cipher);
  const auto a = store->make(CipherAlgorithm::nea2, *seven->cipher);
  const auto b = store->make(CipherAlgorithm::nea2, *nine->integrity);
  const auto c = store->make(CipherAlgorithm::nea2, *eight->cipher);
  EXPECT_TRUE(KeyStore::protect_alike(**a, **b));
  EXPECT_FALSE(KeyStore::protect_alike(**a, **c));
}

TEST_F(KeyFileTest, finds_keys_that_were_added_later) {
  write(fmt::format("1 {} -\n", kOne));
  KeyFile file(path_);
  ASSERT_TRUE(file.read());
  EXPECT_EQ(file.find(2).error().message, fmt::format("key file {} has no keys with number 2", path_));
  write(fmt::format("1 {} -\n2 {} -\n", kOne, kTwo));
  EXPECT_TRUE(file.find(2));
}

TEST_F(KeyFileTest, a_mistake_is_named_by_its_line_and_not_repeated) {
  const std::string good = fmt::format("1 {} {}\n", kOne, kTwo);
  for (const std::string& line : {fmt::format("x {} -", kOne), fmt::format("0 {} -", kOne), fmt::format("2 {}", kOne),
                                  fmt::format("2 {}g -", std::string(kOne).substr(1)),
                                  fmt::format("2 {} - {}", kOne, kTwo), fmt::format("2 {} {}0", kOne, kTwo)}) {
    const std::string message = mistake(good + line);
    EXPECT_NE(message.find(", line 2: "), std::string::npos) << message;
    EXPECT_EQ(message.find("0102"), std::string::npos) << message;
  }
  EXPECT_EQ(mistake(good), "");
  EXPECT_EQ(mistake(""), "");
}

TEST_F(KeyFileTest, others_may_not_read_it) {
  write("");
  ::chmod(path_.c_str(), 0640);
  EXPECT_NE(KeyFile(path_).read().error().message.find("allowed: mode 0600 or 0400"), std::string::npos);
  EXPECT_FALSE(KeyFile("/nonexistent/keys").read());
  EXPECT_FALSE(KeyFile("/tmp").read());
}

}  // namespace
}  // namespace splitplane::crypto
