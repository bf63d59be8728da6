// The side effects of registers, and which orders of writes are refused and counted.
#include "nicmodel/register_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "nicmodel/test_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace reg = gpu::reg;

class Registers : public testing::Test {
 protected:
  // Sets correct base, length and buffers of ring 0; each test makes one of them wrong.
  void prepare() {
    model_.add_memory(memory_.get(), memory_.bytes());
    base(reg::rdbal(0), memory_.bus());
    base(reg::tdbal(0), memory_.bus() + 4096);
    model_.write32(reg::rdlen(0), 4096);
    model_.write32(reg::tdlen(0), 4096);
    model_.write32(reg::srrctl(0), 2 | reg::kSrrctlAdvancedOneBuffer);
    model_.write32(reg::kDmatxctl, reg::kDmatxctlEnable);
  }
  void base(std::uint32_t low, std::uint64_t address) {
    model_.write32(low, static_cast<std::uint32_t>(address));
    model_.write32(low + 4, static_cast<std::uint32_t>(address >> 32));
  }
  [[nodiscard]] bool enabled(std::uint32_t control) {
    model_.write32(control, reg::kQueueEnable);
    return (model_.read32(control) & reg::kQueueEnable) != 0;
  }
  // Exactly this fault, once.
  void expect_fault(DriverFault fault) {
    EXPECT_EQ(model_.faults().of(fault), 1U) << text_of(fault);
    EXPECT_EQ(model_.faults().total(), 1U);
  }

  test::Pages memory_{16384};
  TrafficPeer peer_{{.packets = 1}};
  Nic82599Model model_{peer_};
};

TEST_F(Registers, rings_that_are_right_are_enabled) {
  prepare();
  EXPECT_TRUE(enabled(reg::rxdctl(0)));
  EXPECT_TRUE(enabled(reg::txdctl(0)));
  EXPECT_EQ(model_.faults().total(), 0U);
}

TEST_F(Registers, a_ring_without_a_base_is_refused) {
  prepare();
  base(reg::rdbal(0), 0);
  EXPECT_FALSE(enabled(reg::rxdctl(0)));
  expect_fault(DriverFault::ring_base_missing);
}

TEST_F(Registers, a_base_that_is_not_aligned_is_refused) {
  prepare();
  base(reg::tdbal(0), memory_.bus() + 64);
  EXPECT_FALSE(enabled(reg::txdctl(0)));
  expect_fault(DriverFault::ring_base_unaligned);
}

TEST_F(Registers, lengths_that_are_no_multiple_of_128_or_too_long_are_refused) {
  for (const std::uint32_t length : {0U, 64U, 200U, 128U * 1024 + 128}) {
    Nic82599Model model(peer_);
    model.add_memory(memory_.get(), memory_.bytes());
    model.write32(reg::rdbal(0), static_cast<std::uint32_t>(memory_.bus()));
    model.write32(reg::rdbah(0), static_cast<std::uint32_t>(memory_.bus() >> 32));
    model.write32(reg::rdlen(0), length);
    model.write32(reg::rxdctl(0), reg::kQueueEnable);
    EXPECT_EQ(model.read32(reg::rxdctl(0)), 0U);
    EXPECT_EQ(model.faults().of(DriverFault::ring_length_invalid), 1U) << length;
  }
}

TEST_F(Registers, a_ring_outside_of_dma_memory_is_refused) {
  prepare();
  model_.write32(reg::rdlen(0), 16384 + 128);  // beyond the end of the region
  EXPECT_FALSE(enabled(reg::rxdctl(0)));
  expect_fault(DriverFault::ring_address_unknown);
}

TEST_F(Registers, a_transmit_ring_waits_for_the_path) {
  prepare();
  model_.write32(reg::kDmatxctl, 0);
  EXPECT_FALSE(enabled(reg::txdctl(0)));
  expect_fault(DriverFault::transmit_path_disabled);
}

TEST_F(Registers, other_descriptor_types_are_refused) {
  prepare();
  model_.write32(reg::srrctl(0), 2);  // legacy
  EXPECT_FALSE(enabled(reg::rxdctl(0)));
  expect_fault(DriverFault::receive_type_unsupported);
}

TEST_F(Registers, a_tail_before_enable_and_one_beyond_the_ring_are_counted) {
  prepare();
  model_.write32(reg::tdt(0), 5);
  EXPECT_TRUE(enabled(reg::txdctl(0)));
  expect_fault(DriverFault::tail_before_enable);
  for (int i = 0; i < 10; ++i) model_.step();  // the link comes up
  model_.write32(reg::tdt(0), 256);
  for (int i = 0; i < 3; ++i) model_.step();
  EXPECT_EQ(model_.faults().of(DriverFault::tail_beyond_ring), 1U);  // once for each such tail
}

TEST_F(Registers, an_enabled_rings_base_length_and_head_stay) {
  prepare();
  ASSERT_TRUE(enabled(reg::rxdctl(0)));
  const std::uint32_t low = model_.read32(reg::rdbal(0));
  model_.write32(reg::rdbal(0), 0);
  model_.write32(reg::rdlen(0), 128);
  model_.write32(reg::rdh(0), 3);
  EXPECT_EQ(model_.read32(reg::rdbal(0)), low);
  EXPECT_EQ(model_.faults().of(DriverFault::ring_written_while_enabled), 3U);
}

TEST_F(Registers, a_reset_of_a_running_nic_is_counted_and_resets) {
  prepare();
  ASSERT_TRUE(enabled(reg::rxdctl(0)));
  model_.write32(reg::kCtrl, reg::kCtrlReset);
  expect_fault(DriverFault::reset_with_rings_running);
  EXPECT_NE(model_.read32(reg::kCtrl) & reg::kCtrlReset, 0U);  // takes a while
  (void)model_.read32(reg::kCtrl);
  EXPECT_EQ(model_.read32(reg::kCtrl) & reg::kCtrlReset, 0U);
  EXPECT_EQ(model_.read32(reg::rxdctl(0)) | model_.read32(reg::rdlen(0)), 0U);
}

TEST_F(Registers, the_receive_path_is_halted_while_it_is_opened_and_filters_written_while_it_is_closed) {
  model_.write32(reg::kRxctrl, reg::kRxctrlEnable);
  expect_fault(DriverFault::receive_not_halted);
  model_.write32(reg::kFctrl, 0);
  EXPECT_EQ(model_.faults().of(DriverFault::filter_written_while_receiving), 1U);
}

TEST_F(Registers, a_5_tuple_filter_without_its_reserved_bits_is_counted) {
  const auto enable = [this](std::uint32_t n, std::uint32_t l34timir) {
    model_.write32(reg::l34timir(n), l34timir);
    model_.write32(reg::ftqf(n), reg::kFtqfUdp | reg::kFtqfPoolMask | reg::kFtqfEnable);
  };
  enable(0, 5U << 21 | 1U << 19);
  model_.write32(reg::l34timir(127), 0);  // of a filter that is off
  EXPECT_EQ(model_.faults().total(), 0U);
  enable(127, 5U << 21);
  expect_fault(DriverFault::filter_reserved_bits);
  model_.write32(reg::l34timir(0), 1U << 19 | 1U << 13);
  EXPECT_EQ(model_.faults().of(DriverFault::filter_reserved_bits), 2U);
}

TEST_F(Registers, the_semaphore_is_taken_by_the_read_that_finds_it_free) {
  EXPECT_EQ(model_.read32(reg::kSwsm), 0U);
  EXPECT_EQ(model_.read32(reg::kSwsm), reg::kSwsmSmbi);
  model_.write32(reg::kSwsm, reg::kSwsmSmbi | reg::kSwsmSwesmbi);
  EXPECT_EQ(model_.read32(reg::kSwsm), reg::kSwsmSmbi | reg::kSwsmSwesmbi);
  model_.write32(reg::kSwsm, 0);
  EXPECT_EQ(model_.read32(reg::kSwsm), 0U);
}

TEST_F(Registers, autoc_without_the_semaphore_is_counted) {
  model_.write32(reg::kAutoc, 3U << reg::kAutocModeShift | reg::kAutocRestart);
  expect_fault(DriverFault::semaphore_not_held);
  EXPECT_EQ(model_.read32(reg::kAutoc), 3U << reg::kAutocModeShift);  // the restart clears itself
}

TEST_F(Registers, interrupt_masks_are_set_and_cleared_by_their_own_registers) {
  model_.write32(reg::kEims, 0xF0);
  model_.write32(reg::kEimc, 0x30);
  EXPECT_EQ(model_.read32(reg::kEims), 0xC0U);
  model_.write32(reg::eims_ex(1), 0xFF);
  model_.write32(reg::eimc_ex(1), 0x0F);
  EXPECT_EQ(model_.read32(reg::eims_ex(1)), 0xF0U);
}

TEST_F(Registers, aliases_are_the_same_register) {
  model_.write32(0x02104, 0x1234);
  EXPECT_EQ(model_.read32(reg::srrctl(1)), 0x1234U);
  model_.write32(reg::ral_alias(2), 0x5678);
  EXPECT_EQ(model_.read32(reg::ral(2)), 0x5678U);
}

TEST_F(Registers, an_unknown_register_reads_as_0_and_is_counted) {
  EXPECT_EQ(model_.read32(0x1FFF0), 0U);
  expect_fault(DriverFault::unknown_register);
}

TEST_F(Registers, statistics_clear_when_they_are_read_and_36_bits_by_their_high_word) {
  DriverFaults faults;
  RegisterFile registers({}, faults);
  registers.statistics().gprc = 7;
  registers.statistics().gorc = 0x3'0000'0001;
  registers.statistics().qbtc[2] = 0x1'0000'0002;
  EXPECT_EQ(registers.read(reg::kGprc), 7U);
  EXPECT_EQ(registers.read(reg::kGprc), 0U);
  EXPECT_EQ(registers.read(reg::kGorcl), 1U);
  EXPECT_EQ(registers.read(reg::kGorch), 3U);
  EXPECT_EQ(registers.read(reg::kGorcl), 0U);
  EXPECT_EQ(registers.read(reg::qbtcl(2)), 2U);
  EXPECT_EQ(registers.read(reg::qbtch(2)), 1U);
  EXPECT_EQ(faults.total(), 0U);
}

TEST_F(Registers, what_is_counted_between_the_two_reads_of_36_bits_is_in_the_next_ones) {
  DriverFaults faults;
  RegisterFile registers({}, faults);
  Statistics& s = registers.statistics();
  s.gorc = 0x1'FFFF'FFF0;
  s.gotc = 5;
  EXPECT_EQ(registers.read(reg::kGorcl), 0xFFFF'FFF0U);
  EXPECT_EQ(registers.read(reg::kGotcl), 5U);  // another pair, begun in between
  s.gorc += 0x20;
  s.gotc += 1;
  EXPECT_EQ(registers.read(reg::kGorch), 1U);  // of the moment of the low word
  EXPECT_EQ(registers.read(reg::kGotch), 0U);
  EXPECT_EQ(registers.read(reg::kGorcl), 0x20U);
  EXPECT_EQ(registers.read(reg::kGorch), 0U);
  EXPECT_EQ(registers.read(reg::kGotcl), 1U);
  registers.reset();
  s.gotc = 7;
  EXPECT_EQ(registers.read(reg::kGotch), 0U);  // and what began before a reset is forgotten
  EXPECT_EQ(s.gotc, 0U);
}

TEST(StatisticsTest, sizes_are_counted_with_the_crc) {
  const std::pair<std::uint32_t, std::size_t> sizes[] = {{64, 0},   {65, 1},   {127, 1},  {128, 2},
                                                         {255, 2},  {256, 3},  {511, 3},  {512, 4},
                                                         {1023, 4}, {1024, 5}, {1518, 5}, {9000, 5}};
  for (const auto& [octets, size] : sizes) EXPECT_EQ(size_class(octets), size) << octets;
}

}  // namespace
}  // namespace splitplane::nicmodel
