// The bring-up, checked by the model. It sets the registers that the datasheet's initialization flow requires and
// breaks no rule. Every step that cannot end stops within its bound, with a sentence that names it.
#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "nicmodel/test_driver.h"
#include "nicmodel/traffic_peer.h"

namespace splitplane::nicmodel {
namespace {

namespace reg = gpu::reg;
using namespace std::chrono_literals;
using test::EchoDriver;
using testing::HasSubstr;

// Passes everything on, and records the order of register writes and the waits between them.
class RecordingBar final : public gpu::Bar {
 public:
  struct Entry {
    std::uint32_t offset, value;
    std::chrono::microseconds slept;  // before this write
  };
  explicit RecordingBar(gpu::Bar& bar) : bar_(bar) {}
  std::uint32_t read32(std::uint32_t offset) override { return bar_.read32(offset); }
  void write32(std::uint32_t offset, std::uint32_t value) override {
    writes.push_back({offset, value, std::exchange(slept_, {})});
    bar_.write32(offset, value);
  }
  Expected<void> enable_bus_master() override {
    writes_before_master = writes.size();
    return {};
  }
  std::uint32_t* doorbell(std::uint32_t offset) override { return bar_.doorbell(offset); }
  const std::string& name() const override { return bar_.name(); }
  gpu::Nic82599::Sleep sleep() {
    return [this](std::chrono::microseconds time) { slept_ += time; };
  }
  std::vector<Entry> of(std::initializer_list<std::uint32_t> offsets) const {
    std::vector<Entry> some;
    for (const Entry& e : writes) {
      if (std::ranges::find(offsets, e.offset) != offsets.end()) some.push_back(e);
    }
    return some;
  }
  std::vector<Entry> writes;
  std::optional<std::size_t> writes_before_master;

 private:
  gpu::Bar& bar_;
  std::chrono::microseconds slept_{0};
};

class BringUp : public testing::Test {
 protected:
  std::string error_of(EchoDriver& driver) {
    slept_ = 0us;
    auto up = driver.up(model_, test::NoSleep{&slept_});
    EXPECT_FALSE(up);
    return up ? "" : up.error().message;
  }
  std::uint32_t read(std::uint32_t offset) { return model_.read32(offset); }

  TrafficPeer peer_{{.packets = 1}};
  Nic82599Model model_{peer_};
  std::chrono::microseconds slept_{0};
};

// 4.6.3 to 4.6.8 and 4.6.11.3.4, register by register.
TEST_F(BringUp, leaves_what_the_initialization_flow_requires) {
  EchoDriver driver(model_, 4, {.descriptors = 512});
  ASSERT_TRUE(driver.up(model_, test::NoSleep{&slept_}));
  EXPECT_GE(slept_, 11ms);  // 1 ms and 10 ms around the reset
  EXPECT_EQ(read(reg::kEims), 0U);
  EXPECT_EQ(read(reg::eims_ex(0)) | read(reg::eims_ex(1)), 0U);
  EXPECT_EQ(read(reg::kCtrl) & reg::kCtrlMasterDisable, 0U);
  EXPECT_NE(read(reg::kCtrlExt) & reg::kCtrlExtNoSnoopDisable, 0U);
  EXPECT_EQ(read(reg::fcrth(0)), 512U * 1024 - 0x6000);
  EXPECT_EQ(read(reg::kSwFwSync), 0U);   // given back
  EXPECT_EQ(read(reg::kSwsm), 0U);       // and free
  EXPECT_EQ(read(reg::kFctrl), 0x700U);  // BAM, UPE, MPE
  EXPECT_EQ(read(reg::kRdrxctl), 1U << 1 | 1U << 3 | 1U << 25 | 1U << 26);
  EXPECT_EQ(read(reg::kHlreg0) & 0x403, 0x403U);  // CRC in both directions, padding
  EXPECT_EQ(read(reg::rxpbsize(0)), 0x200U << 10);
  EXPECT_EQ(read(reg::txpbsize(0)), 0xA0U << 10);
  for (std::uint32_t n = 1; n < 8; ++n) EXPECT_EQ(read(reg::rxpbsize(n)) | read(reg::txpbsize(n)), 0U);
  EXPECT_EQ(read(reg::kDtxmxszrq), 0xFFFU);
  EXPECT_EQ(read(reg::kMtqc), 0U);
  EXPECT_EQ(read(reg::kRttdcs) & reg::kRttdcsArbiterDisable, 0U);
  EXPECT_EQ(read(reg::kMrqc), 1U | 0x00F30000U);  // RSS over IPv4, IPv6, with TCP and UDP ports
  EXPECT_EQ(read(reg::rssrk(0)), 0xda565a6dU);    // first octet of the key lowest
  EXPECT_EQ(read(reg::rssrk(9)), 0xfa01acbeU);
  EXPECT_EQ(read(reg::reta(0)), 0x03020100U);
  EXPECT_EQ(read(reg::reta(31)), 0x03020100U);
  EXPECT_EQ(read(reg::rqsmr(1)), 0x07060504U);
  EXPECT_EQ(read(reg::tqsm(4)), 0x03020100U);  // 16 sets
  EXPECT_EQ(read(reg::kDmatxctl), reg::kDmatxctlEnable);
  EXPECT_EQ(read(reg::kRxctrl), reg::kRxctrlEnable);
  EXPECT_EQ(read(reg::kSecrxctrl), 0U);
  const auto addresses = driver.addresses();
  for (std::uint32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(read(reg::rdbal(n)) | std::uint64_t{read(reg::rdbah(n))} << 32, addresses[n].receive);
    EXPECT_EQ(read(reg::tdbal(n)) | std::uint64_t{read(reg::tdbah(n))} << 32, addresses[n].transmit);
    EXPECT_EQ(read(reg::rdlen(n)), 8192U);
    EXPECT_EQ(read(reg::tdlen(n)), 8192U);
    EXPECT_EQ(read(reg::srrctl(n)), 2U | 1U << 25 | 1U << 28);
    EXPECT_EQ(read(reg::dca_rxctrl(n)) & (1U << 12 | 1U << 13), 0U);
    EXPECT_EQ(read(reg::dca_txctrl(n)) & 1U << 11, 0U);
    EXPECT_EQ(read(reg::rxdctl(n)), reg::kQueueEnable);
    EXPECT_EQ(read(reg::txdctl(n)), reg::kQueueEnable | 36U | 8U << 8);
    EXPECT_EQ(read(reg::rdt(n)), 511U);
  }
  EXPECT_EQ(read(reg::rxdctl(4)) | read(reg::txdctl(4)), 0U);
  EXPECT_EQ(driver.nic().link(), gpu::LinkSpeed::k10Gbit);
  EXPECT_EQ(driver.nic().mac().to_string(), "02:82:59:90:00:01");
  EXPECT_TRUE(driver.nic().notes().empty());
  EXPECT_EQ(model_.faults().total(), 0U);
}

// 8.2.3.7.19: queue at 27:21, and bits 19:13 "must be 1000000b".
TEST_F(BringUp, flow_filters_have_their_reserved_bits) {
  EchoDriver driver(model_, 4, {.flows = TrafficPeer::filters(8, 4)});
  ASSERT_TRUE(driver.up(model_));
  for (std::uint32_t n = 0; n < 8; ++n) EXPECT_EQ(read(reg::l34timir(n)), (n % 4) << 21 | 1U << 19) << n;
  EXPECT_EQ(read(reg::l34timir(8)), 0U);
  EXPECT_EQ(model_.faults().total(), 0U);
}

// 8.2.3.8.8: RSCFRSTSIZE is 21:17 and becomes 0; the reserved bits above it are written as they were read.
TEST_F(BringUp, rdrxctl_keeps_what_is_reserved) {
  constexpr std::uint32_t kReserved = 7U << 22;
  model_.stick(reg::kRdrxctl, kReserved, kReserved);
  RecordingBar bar(model_);
  EchoDriver driver(model_, 1);
  ASSERT_TRUE(gpu::Nic82599::bring_up(bar, {}, driver.addresses(), bar.sleep()));
  const auto writes = bar.of({reg::kRdrxctl});
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].value & 0x01FE0000, kReserved);
}

TEST_F(BringUp, stop_leaves_a_nic_that_touches_no_memory) {
  EchoDriver driver(model_, 3);
  ASSERT_TRUE(driver.up(model_));
  ASSERT_TRUE(driver.nic().stop());
  EXPECT_EQ(read(reg::kRxctrl) | read(reg::kDmatxctl), 0U);
  for (std::uint32_t n = 0; n < 3; ++n) {
    EXPECT_EQ((read(reg::rxdctl(n)) | read(reg::txdctl(n))) & reg::kQueueEnable, 0U);
  }
  EXPECT_NE(read(reg::kCtrl) & reg::kCtrlMasterDisable, 0U);
  EXPECT_EQ(read(reg::kStatus) & reg::kStatusMasterEnable, 0U);
  EXPECT_EQ(model_.faults().total(), 0U);
}

TEST_F(BringUp, takes_over_a_nic_whose_driver_died) {
  EchoDriver dead(model_, 8);
  ASSERT_TRUE(dead.up(model_));
  (void)read(reg::kSwsm);  // and left the semaphore taken
  EchoDriver driver(model_, 2);
  ASSERT_TRUE(driver.up(model_));
  EXPECT_EQ(read(reg::rxdctl(5)), 0U);
  EXPECT_EQ(model_.faults().total(), 0U);
  EXPECT_TRUE(driver.nic().notes().empty());  // the reset frees it
}

TEST_F(BringUp, a_hundred_times_up_and_down) {
  EchoDriver driver(model_, 2);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(driver.up(model_));
    ASSERT_TRUE(driver.nic().stop());
  }
  EXPECT_EQ(model_.faults().total(), 0U);
}

// Bits that never change: each step stops within its time and says where.
TEST_F(BringUp, a_step_that_does_not_end_is_named_within_its_bound) {
  struct Case {
    std::uint32_t offset, mask, value;
    const char* sentence;
    std::chrono::microseconds within;
  };
  for (const Case& c : {Case{reg::kEec, reg::kEecAutoReadDone, 0, "EEPROM: register 0x10010", 2s},
                        Case{reg::kEec, reg::kEecPresent, 0, "EEPROM: none", 100ms},
                        Case{reg::kFwsm, reg::kFwsmErrorMask, 5U << 19, "firmware reports error 0x5", 100ms},
                        Case{reg::kCtrl, reg::kCtrlReset, reg::kCtrlReset, "reset: register 0x00000", 2s},
                        Case{reg::kRdrxctl, reg::kRdrxctlDmaInitDone, 0, "DMA initialization: register 0x02f00", 2s},
                        Case{reg::rxdctl(1), reg::kQueueEnable, 0, "receive ring: register 0x01068", 2s},
                        Case{reg::txdctl(0), reg::kQueueEnable, 0, "transmit ring: register 0x06028", 2s},
                        Case{reg::kSecrxstat, reg::kSecrxstatReady, 0, "receive path: register 0x08d04", 2s},
                        Case{reg::kLinks, reg::kLinksUp, 0, "link: register 0x042a4", 11s},
                        Case{reg::kLinks, reg::kLinksUp, 0, "module in an SFP+ slot", 11s},
                        Case{reg::kSwFwSync, 1U << 5, 1U << 5, "stay taken by the firmware", 3s}}) {
    Nic82599Model model(peer_);
    EchoDriver driver(model, 2);
    model.stick(c.offset, c.mask, c.value);
    std::chrono::microseconds slept{0};
    auto up = driver.up(model, test::NoSleep{&slept});
    ASSERT_FALSE(up) << c.sentence;
    EXPECT_THAT(up.error().message, HasSubstr(c.sentence));
    EXPECT_LE(slept, c.within) << c.sentence;
  }
}

TEST_F(BringUp, a_device_that_is_gone_is_an_error_at_once) {
  EchoDriver driver(model_, 1);
  model_.unplug_device();
  EXPECT_THAT(error_of(driver), HasSubstr("registers read as ones"));
  EXPECT_EQ(slept_, 0us);
}

TEST_F(BringUp, a_link_without_a_cable_is_an_error_or_waited_for_by_others) {
  model_.plug(false);
  EchoDriver patient(model_, 1, {.link_within = 100ms});
  EXPECT_THAT(error_of(patient), HasSubstr("within 100 ms"));
  EchoDriver driver(model_, 1, {.wait_for_link = false});
  ASSERT_TRUE(driver.up(model_));
  EXPECT_EQ(driver.nic().link(), gpu::LinkSpeed::kDown);
}

// 10.5.4: a semaphore that is held too long is taken, with a note.
TEST_F(BringUp, a_semaphore_that_is_never_given_back_is_taken) {
  for (const auto& [bit, value, who] :
       {std::tuple{reg::kSwsmSmbi, reg::kSwsmSmbi, "other driver"}, std::tuple{reg::kSwsmSwesmbi, 0U, "firmware"}}) {
    Nic82599Model model(peer_);
    EchoDriver driver(model, 1);
    model.stick(reg::kSwsm, bit, value);
    ASSERT_TRUE(driver.up(model));
    ASSERT_FALSE(driver.nic().notes().empty());
    EXPECT_THAT(driver.nic().notes().front(), HasSubstr(who));
  }
}

TEST_F(BringUp, a_bus_master_that_does_not_end_is_flushed) {
  model_.stick(reg::kStatus, reg::kStatusMasterEnable, reg::kStatusMasterEnable);
  EchoDriver driver(model_, 1);
  ASSERT_TRUE(driver.up(model_));
  EXPECT_THAT(driver.nic().notes().front(), HasSubstr("the data path was flushed"));
}

// 5.2.5.3.2: requests that do not end need two resets, and time for the last completion before buffers are cleared.
TEST_F(BringUp, is_reset_twice_where_the_bus_master_did_not_end_and_once_elsewhere) {
  for (const bool hangs : {false, true}) {
    Nic82599Model model(peer_);
    if (hangs) model.stick(reg::kStatus, reg::kStatusMasterEnable, reg::kStatusMasterEnable);
    RecordingBar bar(model);
    EchoDriver driver(model, 1);
    ASSERT_TRUE(gpu::Nic82599::bring_up(bar, {}, driver.addresses(), bar.sleep()));
    int resets = 0;
    for (const auto& write : bar.of({reg::kCtrl})) {
      if ((write.value & reg::kCtrlReset) == 0) continue;
      EXPECT_TRUE(++resets == 1 || write.slept >= 1us);  // "larger than 1 us" between them
    }
    EXPECT_EQ(resets, hangs ? 2 : 1);
    if (!hangs) continue;
    const auto flush = bar.of({reg::kHlreg0, reg::kGcrExt, reg::kRxctrl});
    ASSERT_GE(flush.size(), 5U);
    EXPECT_EQ(flush[0].offset, reg::kHlreg0);
    EXPECT_NE(flush[0].value & reg::kHlreg0Loopback, 0U);
    EXPECT_EQ(flush[1].offset, reg::kRxctrl);
    EXPECT_EQ(flush[2].offset, reg::kGcrExt);
    EXPECT_NE(flush[2].value & reg::kGcrExtBuffersClear, 0U);
    EXPECT_GE(flush[2].slept, 3ms);
    EXPECT_GE(flush[3].slept, 20us);
    EXPECT_EQ((flush[3].value | flush[4].value) & (reg::kGcrExtBuffersClear | reg::kHlreg0Loopback), 0U);
  }
}

// The rings of the previous owner may point anywhere.
TEST_F(BringUp, the_card_is_let_at_memory_behind_the_reset_only) {
  EchoDriver dead(model_, 2);
  ASSERT_TRUE(dead.up(model_));
  RecordingBar bar(model_);
  EchoDriver driver(model_, 1);
  ASSERT_TRUE(gpu::Nic82599::bring_up(bar, {}, driver.addresses(), bar.sleep()));
  ASSERT_TRUE(bar.writes_before_master);
  ASSERT_GT(*bar.writes_before_master, 0U);
  EXPECT_EQ(bar.writes[*bar.writes_before_master - 1].offset, reg::kCtrl);
  EXPECT_NE(bar.writes[*bar.writes_before_master - 1].value & reg::kCtrlReset, 0U);

  RecordingBar refused(model_);
  model_.stick(reg::rxdctl(0), reg::kQueueEnable, reg::kQueueEnable);
  EXPECT_FALSE(gpu::Nic82599::bring_up(refused, {}, driver.addresses(), refused.sleep()));
  EXPECT_FALSE(refused.writes_before_master);
}

TEST_F(BringUp, opens_no_path_to_a_ring_without_descriptors) {
  EchoDriver driver(model_, 2);
  auto nic = gpu::Nic82599::bring_up(model_, {}, driver.addresses(), test::NoSleep{});
  ASSERT_TRUE(nic);
  EXPECT_THAT(nic->start().error().message, HasSubstr("receive ring 0 got no descriptors"));
  EXPECT_EQ(read(reg::kRxctrl), 0U);
}

}  // namespace
}  // namespace splitplane::nicmodel
