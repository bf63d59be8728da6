// For tests: a core's part of sysfs in a separate directory.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "power/governor/governor.h"

namespace splitplane::governor {

// While it lives, files refuse all writes of this process.
class Refusal {
 public:
  Refusal() {
    ::signal(SIGXFSZ, SIG_IGN);  // a refused write must be an error and not a signal
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~Refusal() { EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0); }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

 private:
  rlimit before_{};
};

class FakeCore {
 public:
  FakeCore() {
    std::string name = (std::filesystem::temp_directory_path() / "splitplane-sysfs-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::filesystem::create_directories(cpu() / "power");
    set("power/pm_qos_resume_latency_us", "0");
  }
  ~FakeCore() { std::filesystem::remove_all(directory_); }
  FakeCore(const FakeCore&) = delete;
  FakeCore& operator=(const FakeCore&) = delete;

  [[nodiscard]] std::filesystem::path cpu() const { return directory_ / "sys/devices/system/cpu/cpu3"; }
  [[nodiscard]] std::string cpufreq() const { return (cpu() / "cpufreq").string(); }
  [[nodiscard]] std::string loans() const { return (directory_ / "loans").string(); }
  [[nodiscard]] bool owes() const { return std::filesystem::exists(loans()) && !std::filesystem::is_empty(loans()); }
  [[nodiscard]] GovernorSettings settings() const {
    return {.root = (directory_ / "sys").string(), .loans = loans(), .core = 3, .ticks_per_us = 1};
  }

  // The path is relative to .../cpu3.
  void set(const std::string& file, const std::string& value) const {
    std::filesystem::create_directories((cpu() / file).parent_path());
    std::ofstream(cpu() / file) << value << '\n';
  }
  [[nodiscard]] std::string get(const std::string& file) const {
    return read_line((cpu() / file).string()).value_or("(absent)");
  }
  void remove(const std::string& file) const { std::filesystem::remove(cpu() / file); }

  // Makes a file that can be opened but refuses writes after seal() is called with the returned value.
  [[nodiscard]] int make_sealable(const std::string& file) const {
    const int fd = ::memfd_create("sysfs", MFD_ALLOW_SEALING);
    const std::string value = get(file) + "\n";
    EXPECT_EQ(::write(fd, value.data(), value.size()), static_cast<ssize_t>(value.size()));
    remove(file);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(fd), cpu() / file);
    return fd;
  }
  static void seal(int fd) { EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0); }

  void make_acpi() const {
    set("cpufreq/scaling_driver", "acpi-cpufreq");
    set("cpufreq/scaling_available_governors", "ondemand userspace performance schedutil ");
    set("cpufreq/scaling_available_frequencies", "2401000 2400000 2000000 1600000 1200000 ");
    set("cpufreq/scaling_governor", "schedutil");
    set("cpufreq/scaling_setspeed", "<unsupported>");
    make_limits(1200000, 2401000);
  }
  void make_intel_active() const {
    set("cpufreq/scaling_driver", "intel_pstate");
    set("cpufreq/scaling_available_governors", "performance powersave");
    set("cpufreq/scaling_governor", "powersave");
    set("cpufreq/base_frequency", "2400000");
    make_limits(800000, 3700000);
  }
  void make_amd_passive() const {
    set("cpufreq/scaling_driver", "amd-pstate");
    set("cpufreq/scaling_available_governors", "conservative userspace schedutil");
    set("cpufreq/scaling_governor", "schedutil");
    set("cpufreq/scaling_setspeed", "<unsupported>");
    make_limits(400000, 3400000);
  }

 private:
  void make_limits(unsigned lowest, unsigned highest) const {
    for (const char* kind : {"cpuinfo", "scaling"}) {
      set(std::string("cpufreq/") + kind + "_min_freq", std::to_string(lowest));
      set(std::string("cpufreq/") + kind + "_max_freq", std::to_string(highest));
    }
  }
  std::filesystem::path directory_;
};

}  // namespace splitplane::governor
