// Starts DPDK once for the tests of this room.
#include "engine/test_dpdk.h"

namespace splitplane::app {
namespace {

[[maybe_unused]] const auto* const kDpdk =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("guard-control", 192));

}  // namespace
}  // namespace splitplane::app
