// Bring-up, start and stop. Sections are those of the 82599 datasheet. nic_82599_rings.cpp has the settings of each
// ring and filter.
#include "gpu/nic/nic_82599.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "gpu/nic/registers_82599.h"

namespace splitplane::gpu {

using namespace std::chrono_literals;

namespace {

constexpr auto kRegisterBound = std::chrono::microseconds(1s);  // where the datasheet names none
constexpr auto kFirmwareBound = std::chrono::microseconds(3s);  // 10.5.4: SWSM.SWESMBI
constexpr auto kDriverBound = kFirmwareBound + 10ms;            // 10.5.4: SWSM.SMBI
constexpr auto kEngineBound = std::chrono::microseconds(10s);   // until a thread or kernel is up and has filled a ring
constexpr int kSemaphoreTries = 100;                            // 10.5.4: about 1 s, 10 ms apart

Expected<void> check(const NicSettings& s, std::size_t rings) {
  if (rings < 1 || rings > 64) return fail("rings: {}; allowed: 1 to 64", rings);
  if (rings > reg::kRssQueues && s.flows.empty()) {
    return fail(
        "rings: {}; allowed: 1 to 16 with RSS alone, whose table has 4 bits for a queue; more need flow filters",
        rings);
  }
  if (s.flows.size() > reg::kFiveTupleFilters) {
    return fail("flow filters: {}; allowed: at most {}", s.flows.size(), reg::kFiveTupleFilters);
  }
  for (const FlowFilter& flow : s.flows) {
    if (flow.ring >= rings) return fail("flow filter to ring {}; allowed: 0 to {}", flow.ring, rings - 1);
  }
  if (s.descriptors < 8 || s.descriptors > reg::kMostDescriptors || s.descriptors % 8 != 0) {
    return fail("descriptors: {}; allowed: a multiple of 8, at most {}", s.descriptors, reg::kMostDescriptors);
  }
  if (s.slot_bytes < 1024 || s.slot_bytes > 16 * 1024 || s.slot_bytes % 1024 != 0) {
    return fail("slot_bytes: {}; allowed: a multiple of 1024, at most 16384", s.slot_bytes);
  }
  return {};
}

}  // namespace

void Nic82599::sleep(std::chrono::microseconds time) {
  std::this_thread::sleep_for(time);
}

Expected<Nic82599> Nic82599::bring_up(Bar& bar, const NicSettings& settings, std::span<const RingAddresses> rings,
                                      Sleep sleep) {
  if (auto good = check(settings, rings.size()); !good) return tl::unexpected(good.error());
  Nic82599 nic(bar, settings, std::move(sleep));
  if (auto done = nic.initialize(rings); !done) {
    bar.write32(reg::kCtrl, reg::kCtrlMasterDisable);  // in any state of the NIC: no access to memory
    return tl::unexpected(done.error());
  }
  return nic;
}

// 4.6.3, in its order.
Expected<void> Nic82599::initialize(std::span<const RingAddresses> rings) {
  rings_ = static_cast<std::uint32_t>(rings.size());
  if (auto done = check_device(); !done) return done;
  mask_interrupts();
  if (auto done = disable_rings(); !done) return done;
  if (auto done = disable_bus_master(); !done) return done;
  if (auto done = reset(); !done) return done;
  if (auto done = bar_->enable_bus_master(); !done) return done;
  mask_interrupts();  // 4.6.3.1: again, because the reset cleared it
  disable_flow_control();
  if (auto done = wait("EEPROM", reg::kEec, reg::kEecAutoReadDone, true, kRegisterBound); !done) return done;
  if ((read(reg::kEec) & reg::kEecPresent) == 0) {
    return fail("{}: EEPROM: none, or its signature is not valid (EEC.EE_PRES)", bar_->name());
  }
  if (const std::uint32_t error = (read(reg::kFwsm) & reg::kFwsmErrorMask) >> 19; error != 0) {
    return fail("{}: EEPROM: the firmware reports error {:#x} (FWSM.EXT_ERR_IND)", bar_->name(), error);
  }
  if (auto done = wait("DMA initialization", reg::kRdrxctl, reg::kRdrxctlDmaInitDone, true, kRegisterBound); !done) {
    return done;
  }
  if (auto done = restart_link(); !done) return done;
  clear_statistics();
  initialize_filters();
  initialize_steering();
  if (auto done = initialize_receive(rings); !done) return done;
  return initialize_transmit(rings);
}

Expected<void> Nic82599::wait(const char* what, std::uint32_t offset, std::uint32_t bits, bool set,
                              std::chrono::microseconds within) {
  const auto pause = std::clamp(within / 1000, std::chrono::microseconds(10), std::chrono::microseconds(10ms));
  std::uint32_t value = 0;
  for (auto waited = 0us;; waited += pause) {
    value = read(offset);
    if ((value & bits) == (set ? bits : 0)) return {};
    if (waited >= within) break;
    sleep_(pause);
  }
  return fail("{}: {}: register {:#07x} reads {:#010x}, but bits {:#x} are to be {} within {} ms", bar_->name(), what,
              offset, value, bits, set ? "set" : "clear", within / 1ms);
}

bool Nic82599::is_gone() {
  return read(reg::kStatus) == ~0U && read(reg::kCtrl) == ~0U;
}

Expected<void> Nic82599::check_device() {
  if (is_gone()) {
    return fail("{}: its registers read as ones: the device is gone, asleep, or memory access is off", bar_->name());
  }
  return {};
}

// 4.6.3.1: EIMC, and the registers of vectors 0 to 127.
void Nic82599::mask_interrupts() {
  write(reg::kEimc, reg::kEicrBits);
  for (std::uint32_t n = 0; n < 2; ++n) write(reg::eimc_ex(n), ~0U);
  (void)read(reg::kEicr);  // clears pending interrupts
}

// 4.6.7.1.2, 4.6.8.1: the previous owner may have left rings that point into memory.
Expected<void> Nic82599::disable_rings() {
  for (std::uint32_t n = 0; n < 64; ++n) {
    if ((read(reg::rxdctl(n)) & reg::kQueueEnable) == 0) continue;
    clear_bits(reg::rxdctl(n), reg::kQueueEnable);
    if (auto done = wait("receive ring", reg::rxdctl(n), reg::kQueueEnable, false, kRegisterBound); !done) return done;
    sleep_(100us);  // 4.6.7.1.2
  }
  for (std::uint32_t n = 0; n < reg::kQueues; ++n) {
    if ((read(reg::txdctl(n)) & reg::kQueueEnable) == 0) continue;
    clear_bits(reg::txdctl(n), reg::kQueueEnable);
    if (auto done = wait("transmit ring", reg::txdctl(n), reg::kQueueEnable, false, kRegisterBound); !done) return done;
  }
  return {};
}

Expected<void> Nic82599::end_requests() {
  // The reset bits read as 1 while a reset is under way, and must not be written back.
  const std::uint32_t control = read(reg::kCtrl) & ~(reg::kCtrlReset | reg::kCtrlLinkReset);
  write(reg::kCtrl, control | reg::kCtrlMasterDisable);
  return wait("bus master", reg::kStatus, reg::kStatusMasterEnable, false, kRegisterBound);
}

// 5.2.5.3.2. If requests never end, the data path is flushed as that section says; reset() does the rest.
Expected<void> Nic82599::disable_bus_master() {
  auto done = end_requests();
  if (done) return {};
  notes_.push_back(done.error().message + "; the data path was flushed");
  set_bits(reg::kHlreg0, reg::kHlreg0Loopback);
  clear_bits(reg::kRxctrl, reg::kRxctrlEnable);
  sleep_(3ms);  // for the last completion; the vendor's drivers wait as long
  set_bits(reg::kGcrExt, reg::kGcrExtBuffersClear);
  sleep_(20us);
  clear_bits(reg::kHlreg0, reg::kHlreg0Loopback);
  clear_bits(reg::kGcrExt, reg::kGcrExtBuffersClear);
  reset_twice_ = true;
  return {};
}

// 4.6.3.2: software reset and link reset together, 1 ms without any access (8.2.3.1.1), then 10 ms. It is done twice
// after a flush of the data path (5.2.5.3.2).
Expected<void> Nic82599::reset() {
  for (int left = std::exchange(reset_twice_, false) ? 2 : 1; left > 0; --left) {
    set_bits(reg::kCtrl, reg::kCtrlReset | reg::kCtrlLinkReset);
    sleep_(1ms);
    if (auto done = wait("reset", reg::kCtrl, reg::kCtrlReset | reg::kCtrlLinkReset, false, kRegisterBound); !done) {
      return done;
    }
    sleep_(10ms);
  }
  return {};
}

// 10.5.4: first a lock against other drivers (SMBI), then one against the firmware (SWESMBI). A side that does not
// answer in time counts as dead.
bool Nic82599::take_swsm(bool& firmware_hangs, bool& software_hangs) {
  software_hangs = !wait("semaphore", reg::kSwsm, reg::kSwsmSmbi, false, kDriverBound);
  set_bits(reg::kSwsm, reg::kSwsmSwesmbi);
  firmware_hangs = !wait("semaphore", reg::kSwsm, reg::kSwsmSwesmbi, true, kFirmwareBound);
  return !software_hangs && !firmware_hangs;
}

Expected<void> Nic82599::take_semaphore(std::uint32_t resources) {
  const std::uint32_t firmware = resources << reg::kSwFwSyncFirmwareShift;
  std::uint32_t held = 0;
  for (int attempt = 0; attempt < 2 * kSemaphoreTries; ++attempt) {
    bool firmware_hangs = false;
    bool software_hangs = false;
    if (!take_swsm(firmware_hangs, software_hangs) && attempt == 0) {
      notes_.push_back(fmt::format("{}: the {} did not give back the semaphore SWSM; it was taken away", bar_->name(),
                                   software_hangs ? "other driver" : "firmware"));
    }
    held = read(reg::kSwFwSync);
    if (firmware_hangs) held &= ~(reg::kSwFwSyncSoftware << reg::kSwFwSyncFirmwareShift);
    // "If the resources are not released long enough (about 1 s), software can assume that the other one malfunctions."
    if (software_hangs || attempt == kSemaphoreTries) held &= ~reg::kSwFwSyncSoftware;
    const bool free = (held & (resources | firmware)) == 0;
    if (free) write(reg::kSwFwSync, held | resources);
    clear_bits(reg::kSwsm, reg::kSwsmSwesmbi | reg::kSwsmSmbi);
    if (free) return {};
    sleep_(10ms);
  }
  return fail("{}: semaphore: SW_FW_SYNC reads {:#x}, and its bits {:#x} stay taken by the firmware", bar_->name(),
              held, resources);
}

void Nic82599::release_semaphore(std::uint32_t resources) {
  bool firmware_hangs = false;
  bool software_hangs = false;
  take_swsm(firmware_hangs, software_hangs);
  clear_bits(reg::kSwFwSync, resources);
  clear_bits(reg::kSwsm, reg::kSwsmSwesmbi | reg::kSwsmSmbi);
}

// 4.6.4: the EEPROM has set interface and mode of backplane NICs, so they need only a restart. A NIC with an SFP+ slot
// gets its mode from here, and its laser stays off until start(). AUTOC is shared with the firmware.
Expected<void> Nic82599::restart_link() {
  constexpr std::uint32_t kResources = reg::kSwFwSyncEeprom | reg::kSwFwSyncMacCsr;
  if (settings_.sfp_plus) slot().darken();
  if (auto done = take_semaphore(kResources); !done) return done;
  if (settings_.sfp_plus) {
    slot().use_sfi();
  } else {
    set_bits(reg::kAutoc, reg::kAutocRestart);
  }
  release_semaphore(kResources);
  if (settings_.sfp_plus && slot().is_empty()) {
    notes_.push_back(fmt::format("{}: its SFP+ slot is empty (ESDP.SDP2)", bar_->name()));
  }
  return {};
}

Expected<void> Nic82599::start() {
  if (auto there = check_device(); !there) return there;
  // 4.6.7: tails are written before the path is opened. A ring without descriptors would drop the first frames.
  for (std::uint32_t n = 0; n < rings_; ++n) {
    for (auto waited = 0us; read(reg::rdt(n)) == read(reg::rdh(n)); waited += 1ms) {
      if (auto there = check_device(); !there) return there;
      if (waited >= kEngineBound) {
        return fail("{}: receive ring {} got no descriptors from its engine within 10 s", bar_->name(), n);
      }
      sleep_(1ms);
    }
  }
  // 4.6.7, the last step: the path is halted while it is enabled.
  set_bits(reg::kSecrxctrl, reg::kSecrxctrlDisable);
  if (auto done = wait("receive path", reg::kSecrxstat, reg::kSecrxstatReady, true, kRegisterBound); !done) return done;
  set_bits(reg::kRxctrl, reg::kRxctrlEnable);
  clear_bits(reg::kSecrxctrl, reg::kSecrxctrlDisable);
  if (settings_.sfp_plus) slot().light();  // the far end's link comes up only now, when the driver is ready
  if (!settings_.wait_for_link) return {};
  auto up = wait("link", reg::kLinks, reg::kLinksUp, true, settings_.link_within);
  if (up) return {};
  if (settings_.sfp_plus && slot().is_empty()) {
    return fail("{}: its SFP+ slot is empty (ESDP.SDP2)", up.error().message);
  }
  return fail(
      "{}: no cable, no far end, or a module in an SFP+ slot that needs analog settings from the EEPROM, which "
      "this driver does not load",
      up.error().message);
}

// 4.6.7.1: no new frame comes in; a frame that is partly received is completed.
Expected<void> Nic82599::stop_receive() {
  if (auto there = check_device(); !there) return there;
  set_bits(reg::kSecrxctrl, reg::kSecrxctrlDisable);
  auto done = wait("receive path", reg::kSecrxstat, reg::kSecrxstatReady, true, kRegisterBound);
  clear_bits(reg::kRxctrl, reg::kRxctrlEnable);
  clear_bits(reg::kSecrxctrl, reg::kSecrxctrlDisable);
  return done;
}

Expected<void> Nic82599::stop() {
  if (auto there = check_device(); !there) return there;  // nothing to wait for
  Expected<void> result;
  const auto keep_first = [&result](Expected<void> done) {
    if (result && !done) result = std::move(done);
  };
  mask_interrupts();
  // Stops the receive path, then each ring.
  keep_first(stop_receive());
  // Transmit, 4.6.8.1: descriptors of the engines are sent, unless the link is down. Then it stops each ring, then the
  // path.
  for (std::uint32_t n = 0; n < rings_; ++n) {
    for (auto waited = 0us; waited < 10ms && read(reg::tdh(n)) != read(reg::tdt(n)); waited += 100us) sleep_(100us);
    if (const std::uint32_t head = read(reg::tdh(n)), tail = read(reg::tdt(n)); head != tail) {
      notes_.push_back(fmt::format("{}: transmit ring {} was stopped with descriptors {} to {} unsent", bar_->name(), n,
                                   head, tail));
    }
  }
  keep_first(disable_rings());
  clear_bits(reg::kDmatxctl, reg::kDmatxctlEnable);
  if (settings_.sfp_plus) slot().darken();  // this link has no driver any more
  keep_first(disable_bus_master());
  if (reset_twice_) {
    keep_first(reset());
    mask_interrupts();
    keep_first(end_requests());  // the reset allowed them again; checks that it ended the old ones
  }
  return result;
}

}  // namespace splitplane::gpu
