// The slot's registers alone: which bits change, which stay, and how long it waits for the laser.
#include "gpu/nic/sfp_slot.h"

#include <gtest/gtest.h>

#include "gpu/nic/registers_82599.h"
#include "gpu/nic/test_bar.h"

namespace splitplane::gpu {
namespace {

using namespace std::chrono_literals;

struct Slot {
  test::PaperBar bar;
  std::chrono::microseconds slept{0};
  SfpSlot slot{bar, [this](std::chrono::microseconds time) { slept += time; }};
};

TEST(SfpSlot, a_laser_is_one_pin_and_is_waited_for) {
  Slot s;
  s.bar.words[reg::kEsdp] = 0xABCD'EF00 | reg::kEsdpModuleThere;  // directions and other pins are the EEPROM's
  s.slot.darken();
  EXPECT_EQ(s.bar.words[reg::kEsdp], 0xABCD'EF00U | 1U << 2 | 1U << 3);
  EXPECT_EQ(s.slept, 100us);
  s.slot.light();
  EXPECT_EQ(s.bar.words[reg::kEsdp], 0xABCD'EF00U | 1U << 2);
  EXPECT_EQ(s.slept, 100us + 100ms);
}

// As ixgbe reads the pin of an 82599. The test writes the bits out, because driver and model share their names.
TEST(SfpSlot, is_empty_where_sdp2_is_clear) {
  Slot s;
  s.bar.words[reg::kEsdp] = ~(1U << 2);
  EXPECT_TRUE(s.slot.is_empty());
  s.bar.words[reg::kEsdp] = 1U << 2;
  EXPECT_FALSE(s.slot.is_empty());
}

TEST(SfpSlot, sfi_is_serial_without_negotiation_and_the_restart_comes_last) {
  Slot s;
  s.bar.words[reg::kAutoc] = 0xFFFF'FFFF & ~reg::kAutocRestart;
  s.bar.words[reg::kAutoc2] = 0xFFFF'FFFF;
  s.slot.use_sfi();
  EXPECT_EQ(s.bar.words[reg::kAutoc2], 0xFFFE'FFFFU);  // bits 17:16 are 10b
  EXPECT_EQ(s.bar.words[reg::kAutoc], 0xFFFF'7FFFU);   // bits 15:13 are 011b, bit 12 set
  EXPECT_EQ(s.bar.order, (std::vector{reg::kAutoc2, reg::kAutoc}));
}

}  // namespace
}  // namespace splitplane::gpu
