// Starts DPDK once for all tests of this folder.
#include "engine/test_dpdk.h"

namespace splitplane::nic {
namespace {

[[maybe_unused]] const auto* const kDpdk =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("nic", 256));

}  // namespace
}  // namespace splitplane::nic
