// Starts DPDK once for all tests of this folder, in ordinary memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "datapath/eal.h"

namespace splitplane::nic {
namespace {

class DpdkEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    auto eal = datapath::Eal::start({.file_prefix = "splitplane-nic-test-" + std::to_string(getpid()),
                                     .megabytes = 256,
                                     .hugepages = false,
                                     .worker_cores = {0}});
    ASSERT_TRUE(eal) << eal.error().message;
    eal_.emplace(std::move(*eal));
  }
  void TearDown() override { eal_.reset(); }

 private:
  std::optional<datapath::Eal> eal_;
};
[[maybe_unused]] const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new DpdkEnvironment);

}  // namespace
}  // namespace splitplane::nic
