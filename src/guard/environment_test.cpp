// Starts DPDK once for the tests of this room.
#include <gtest/gtest.h>

#include "engine/test_dpdk.h"

namespace splitplane::guard {
namespace {

[[maybe_unused]] testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("guard", 256));

}  // namespace
}  // namespace splitplane::guard
