// The control plane alone, with registers that only store values: what it refuses before it touches a register. The
// model (src/nicmodel) tests its effect on a NIC.
#include "gpu/nic/nic_82599.h"

#include <gmock/gmock.h>

#include "gpu/nic/registers_82599.h"
#include "gpu/nic/test_bar.h"

namespace splitplane::gpu {
namespace {

using testing::HasSubstr;

std::string refusal(const NicSettings& settings, std::size_t rings) {
  test::PaperBar bar;
  const std::vector<RingAddresses> addresses(rings, {4096, 8192});
  auto nic = Nic82599::bring_up(bar, settings, addresses, [](std::chrono::microseconds) {});
  EXPECT_FALSE(nic);
  EXPECT_EQ(bar.order.size(), 0) << "refused, but registers were written";
  return nic ? "" : nic.error().message;
}

TEST(Nic82599Test, settings_that_no_82599_has_are_refused_before_it_is_touched) {
  EXPECT_EQ(refusal({}, 0), "rings: 0; allowed: 1 to 64");
  EXPECT_EQ(refusal({}, 65), "rings: 65; allowed: 1 to 64");
  EXPECT_THAT(refusal({}, 17), HasSubstr("1 to 16 with RSS alone"));
  EXPECT_THAT(refusal({.descriptors = 12}, 1), HasSubstr("a multiple of 8"));
  EXPECT_THAT(refusal({.descriptors = 8200}, 1), HasSubstr("at most 8192"));
  EXPECT_THAT(refusal({.slot_bytes = 1500}, 1), HasSubstr("a multiple of 1024"));
  EXPECT_THAT(refusal({.flows = {{.ring = 2}}}, 2), HasSubstr("flow filter to ring 2; allowed: 0 to 1"));
  EXPECT_THAT(refusal({.flows = std::vector<FlowFilter>(129)}, 2), HasSubstr("at most 128"));
}

TEST(Nic82599Test, a_device_that_is_gone_is_named) {
  test::PaperBar bar;
  bar.words[reg::kStatus] = bar.words[reg::kCtrl] = ~0U;
  const std::vector<RingAddresses> addresses(1);
  auto nic = Nic82599::bring_up(bar, {}, addresses, [](std::chrono::microseconds) {});
  EXPECT_THAT(nic.error().message, HasSubstr("paper: its registers read as ones"));
}

}  // namespace
}  // namespace splitplane::gpu
