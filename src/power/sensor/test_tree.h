// For tests: a tree of files like /sys and /dev, and a user who may read little of it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace splitplane::sensor {

inline constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

class FakeTree {
 public:
  FakeTree() {
    std::string name = (std::filesystem::temp_directory_path() / "splitplane-sensor-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    std::filesystem::create_directories(top_ / "sys");
    // Any user may go in.
    std::filesystem::permissions(top_, std::filesystem::perms(0755));
  }
  ~FakeTree() { std::filesystem::remove_all(top_); }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  [[nodiscard]] std::string root() const { return (top_ / "sys").string(); }
  [[nodiscard]] std::string path(const std::string& file) const { return (top_ / file).string(); }

  // The path is relative to the top: sys/class/...
  void set(const std::string& file, const std::string& value) const {
    std::filesystem::create_directories((top_ / file).parent_path());
    std::ofstream(top_ / file) << value << '\n';
  }
  void set(const std::string& directory, std::initializer_list<std::pair<const char*, const char*>> files) const {
    for (const auto& [file, value] : files) set(directory + "/" + file, value);
  }
  void remove(const std::string& file) const { std::filesystem::remove_all(top_ / file); }
  void forbid(const std::string& file) const {
    std::filesystem::permissions(top_ / file, std::filesystem::perms::owner_read);
  }
  // A program for the shell.
  [[nodiscard]] std::string program(const std::string& name, const std::string& body) const {
    set(name, "#!/bin/sh\n" + body);
    std::filesystem::permissions(top_ / name, std::filesystem::perms(0755));
    return path(name);
  }
  // A file of registers like /dev/cpu/N/msr. In a file the octets of register 0xE7 (MPERF) overlap those of 0xE8
  // (APERF): MPERF is 256 times APERF, plus `low`.
  void set_msr(unsigned cpu, std::uint64_t aperf, std::uint8_t low = 0) const {
    const std::string file = "dev/cpu/" + std::to_string(cpu) + "/msr";
    std::filesystem::create_directories((top_ / file).parent_path());
    std::string text(0xE7, '\0');
    text += static_cast<char>(low);
    for (int i = 0; i < 8; ++i) text += static_cast<char>(aperf >> (8 * i));
    std::ofstream(top_ / file, std::ios::binary) << text;
  }

 private:
  std::filesystem::path top_;
};

// While it lives, this process is not root, if it was.
class AsNobody {
 public:
  AsNobody() : before_(::geteuid()) { EXPECT_EQ(before_ == 0 ? ::seteuid(65534) : 0, 0); }
  ~AsNobody() { EXPECT_EQ(before_ == 0 ? ::seteuid(before_) : 0, 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  uid_t before_;
};

}  // namespace splitplane::sensor
