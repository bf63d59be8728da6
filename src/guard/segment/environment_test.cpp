// Starts DPDK once for the tests of this room.
#include <gtest/gtest.h>

#include "engine/test_dpdk.h"

namespace splitplane::guard {
namespace {

[[maybe_unused]] testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new datapath::test::DpdkEnvironment("segment", 128));

}  // namespace
}  // namespace splitplane::guard
