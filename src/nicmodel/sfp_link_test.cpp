// A NIC with an SFP+ slot, whose EEPROM does not set the link's mode. The driver sets mode and light in an order that
// the far end sees as one link. It switches the light off when it ends, and it reports an empty slot.
#include <gmock/gmock.h>

#include "nicmodel/test_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace reg = gpu::reg;
using namespace std::chrono_literals;
using test::EchoDriver;
using testing::Contains;
using testing::HasSubstr;

class SfpLink : public testing::Test {
 protected:
  std::uint32_t read(std::uint32_t offset) { return model_.read32(offset); }
  [[nodiscard]] bool is_lit() { return (read(reg::kEsdp) & reg::kEsdpLaserOff) == 0; }
  static gpu::NicSettings slotted() { return {.sfp_plus = true, .link_within = 100ms}; }

  TrafficPeer peer_{{.packets = 200, .window = 16}};
  Nic82599Model model_{peer_};
};

TEST_F(SfpLink, comes_up_with_mode_and_light_and_carries_packets) {
  model_.fit_sfp_slot();
  EchoDriver driver(model_, 2, slotted());
  std::chrono::microseconds slept{0};
  ASSERT_TRUE(driver.up(model_, test::NoSleep{&slept}));
  EXPECT_TRUE(is_lit());
  EXPECT_GE(slept, 100ms);
  EXPECT_EQ(read(reg::kAutoc) & reg::kAutocModeMask, 3U << 13);
  EXPECT_EQ(read(reg::kAutoc2) & reg::kAutoc2SerialMask, 2U << 16);
  EXPECT_EQ(driver.nic().link(), gpu::LinkSpeed::k10Gbit);
  EXPECT_TRUE(driver.nic().notes().empty());
  for (int i = 0; i < 10'000 && !peer_.done(); ++i) model_.step(), driver.step();
  EXPECT_TRUE(peer_.done());
  EXPECT_EQ(model_.faults().total(), 0U);
}

TEST_F(SfpLink, does_not_come_up_with_light_alone) {
  model_.fit_sfp_slot();
  EchoDriver driver(model_, 1, {.link_within = 100ms});  // as for a backplane, where the EEPROM would set the mode
  const auto up = driver.up(model_);
  ASSERT_FALSE(up);
  EXPECT_THAT(up.error().message, HasSubstr("link: register 0x042a4"));
  EXPECT_TRUE(is_lit());
}

TEST_F(SfpLink, is_dark_until_the_receive_path_is_open_and_again_behind_stop) {
  model_.fit_sfp_slot();
  EchoDriver driver(model_, 1, slotted());
  auto nic = gpu::Nic82599::bring_up(model_, slotted(), driver.addresses(), test::NoSleep{});
  ASSERT_TRUE(nic);
  EXPECT_FALSE(is_lit()) << "the far end would see a link that nobody serves";
  EXPECT_EQ(nic->link(), gpu::LinkSpeed::kDown);
  ASSERT_TRUE(driver.up(model_));
  EXPECT_TRUE(is_lit());
  ASSERT_TRUE(driver.nic().stop());
  EXPECT_FALSE(is_lit());
  EXPECT_EQ(driver.nic().link(), gpu::LinkSpeed::kDown);
}

TEST_F(SfpLink, of_a_driver_before_is_darkened_before_its_mode_is_changed) {
  model_.fit_sfp_slot();
  EchoDriver first(model_, 1, slotted());
  ASSERT_TRUE(first.up(model_));
  ASSERT_TRUE(is_lit());
  EchoDriver second(model_, 1, slotted());
  ASSERT_TRUE(second.up(model_));
  EXPECT_EQ(model_.faults().of(DriverFault::mode_with_laser_on), 0U);
  EXPECT_EQ(model_.faults().of(DriverFault::semaphore_not_held), 0U);
}

TEST_F(SfpLink, of_an_empty_slot_is_a_note_and_an_error_that_says_so) {
  model_.fit_sfp_slot(false);
  EchoDriver driver(model_, 1, slotted());
  const auto up = driver.up(model_);
  ASSERT_FALSE(up);
  EXPECT_THAT(up.error().message, HasSubstr("its SFP+ slot is empty (ESDP.SDP2)"));
  gpu::NicSettings patient = slotted();
  patient.wait_for_link = false;
  EchoDriver waiting(model_, 1, patient);
  ASSERT_TRUE(waiting.up(model_));
  EXPECT_THAT(waiting.nic().notes(), Contains(HasSubstr("its SFP+ slot is empty")));
}

TEST_F(SfpLink, tells_of_its_module_by_sdp2_which_a_driver_cannot_write) {
  for (const bool module : {true, false}) {
    model_.fit_sfp_slot(module);
    EXPECT_EQ(read(reg::kEsdp) & 1U << 2, module ? 1U << 2 : 0U);
    model_.write32(reg::kEsdp, module ? 0U : ~0U);
    EXPECT_EQ(read(reg::kEsdp) & 1U << 2, module ? 1U << 2 : 0U);
  }
}

// Tests the model itself: it finds a mode change under a lit laser.
TEST_F(SfpLink, whose_mode_is_changed_in_the_light_is_counted) {
  model_.fit_sfp_slot();
  model_.write32(reg::kEsdp, 0);
  model_.write32(reg::kAutoc2, reg::kAutoc2SerialSfi);
  EXPECT_EQ(model_.faults().of(DriverFault::mode_with_laser_on), 1U);
  EXPECT_EQ(model_.faults().of(DriverFault::semaphore_not_held), 1U);
}

}  // namespace
}  // namespace splitplane::nicmodel
