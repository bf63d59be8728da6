// For tests only: a file of keys that ends with its object.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "secured/bearer_keys.h"

namespace splitplane::datapath::test {

class TestKeyFile {
 public:
  // Key number n has octets of n, its key for integrity octets of n + 0x40.
  explicit TestKeyFile(unsigned keys = 8, unsigned salt = 0) {
    char name[] = "/tmp/splitplane-keys-XXXXXX";
    ::close(::mkstemp(name));
    path_ = name;
    std::ofstream file(path_);
    file << "# number ciphering integrity\n\n";
    for (unsigned n = 1; n <= keys; ++n)
      file << n << ' ' << hex(n + salt) << '\t' << hex(n + salt + 0x40) << " # a pair\n";
  }
  ~TestKeyFile() { ::unlink(path_.c_str()); }
  TestKeyFile(const TestKeyFile&) = delete;
  TestKeyFile& operator=(const TestKeyFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::shared_ptr<BearerKeys> keys() const {
    auto made = BearerKeys::create(path_);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }
  static std::string hex(unsigned octet) {
    std::string text;
    for (int i = 0; i < 16; ++i) text += fmt::format("{:02x}", octet & 0xff);
    return text;
  }

 private:
  std::string path_;
};

}  // namespace splitplane::datapath::test
