// For tests only: DPDK for all tests of a folder, in ordinary memory, with one lcore beside the control thread. One
// file of a folder starts it:
//   [[maybe_unused]] const auto* const kDpdk = testing::AddGlobalTestEnvironment(new DpdkEnvironment("nic"));
#pragma once

#include <gtest/gtest.h>
#include <rte_eal.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "engine/eal.h"
#include "engine/test_visible_pool.h"

namespace splitplane::datapath::test {

class DpdkEnvironment : public testing::Environment {
 public:
  explicit DpdkEnvironment(std::string folder, std::size_t megabytes = 128)
      : folder_(std::move(folder)), megabytes_(megabytes) {}
  void SetUp() override {
    auto eal = Eal::start({.file_prefix = "splitplane-" + folder_ + "-test-" + std::to_string(::getpid()),
                           .megabytes = megabytes_,
                           .hugepages = false,
                           .worker_cores = {0}});
    ASSERT_TRUE(eal) << eal.error().message;
    eal_.emplace(std::move(*eal));
    ASSERT_GE(use_visible_pools(), 0);
    runtime_ = rte_eal_get_runtime_dir();
  }
  void TearDown() override {
    eal_.reset();
    std::error_code ignored;  // DPDK leaves an empty directory
    if (!runtime_.empty()) std::filesystem::remove_all(runtime_, ignored);
  }

 private:
  std::string folder_;
  std::size_t megabytes_;
  std::optional<Eal> eal_;
  std::filesystem::path runtime_;
};

}  // namespace splitplane::datapath::test
