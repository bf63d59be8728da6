// Starts DPDK once for the tests of this room.
#include <gtest/gtest.h>

#include "engine/test_dpdk.h"

namespace splitplane::datapath {
namespace {

[[maybe_unused]] testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new test::DpdkEnvironment("radio", 256));

}  // namespace
}  // namespace splitplane::datapath
