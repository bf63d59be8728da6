// DPDK for the tests of this folder.
#include "engine/test_dpdk.h"

namespace splitplane::datapath::test {

[[maybe_unused]] const auto* const kDpdk = testing::AddGlobalTestEnvironment(new DpdkEnvironment("chained"));

}  // namespace splitplane::datapath::test
