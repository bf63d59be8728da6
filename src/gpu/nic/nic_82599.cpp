// Bring-up, start and stop, then the settings of filters, steering, rings and counters. Sections are those of the 82599
// datasheet.
#include "gpu/nic/nic_82599.h"

#include <algorithm>
#include <cstring>
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
constexpr auto kEnableBound = std::chrono::microseconds(1s);
constexpr std::uint32_t kPacketBufferKib = 0x200;   // 4.6.11.3.4: one receive buffer of 512 KiB
constexpr std::uint32_t kTransmitBufferKib = 0xA0;  // and one transmit buffer of 160 KiB

// 32 bits of a packet's octets with the first one lowest, as 5-tuple filters need them.
std::uint32_t as_register(const std::array<std::uint8_t, 4>& octets) {
  std::uint32_t word = 0;
  std::memcpy(&word, octets.data(), sizeof word);
  return word;
}
std::uint32_t swapped(std::uint16_t port) {
  return static_cast<std::uint32_t>((port & 0xFF) << 8 | port >> 8);
}

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

// 4.6.3.2: no flow control, so all registers are 0, but one threshold must be set.
void Nic82599::disable_flow_control() {
  for (std::uint32_t n = 0; n < 4; ++n) write(reg::fcttv(n), 0);
  for (std::uint32_t n = 0; n < 8; ++n) write(reg::fcrtl(n), 0);
  write(reg::fcrth(0), kPacketBufferKib * 1024 - 0x6000);
  for (std::uint32_t n = 1; n < 8; ++n) write(reg::fcrth(n), 0);
  write(reg::kFcrtv, 0);
  write(reg::kFccfg, 0);
}

// 4.6.5: maps queues to counter sets, and reads all counters, which clears them.
void Nic82599::clear_statistics() {
  for (std::uint32_t n = 0; n < reg::kQueues / 4; ++n) {
    std::uint32_t sets = 0;
    for (std::uint32_t i = 0; i < 4; ++i) sets |= (4 * n + i) % reg::kStatisticsSets << 8 * i;
    write(reg::rqsmr(n), sets);
    write(reg::tqsm(n), sets);
  }
  statistics();
  for (const std::uint32_t offset : {reg::kRuc, reg::kRoc, reg::kBprc, reg::kMprc, reg::kTorl, reg::kTorh, reg::kTpr,
                                     reg::kTpt, reg::kMptc, reg::kBptc}) {
    (void)read(offset);
  }
  for (std::uint32_t set = 0; set < reg::kStatisticsSets; ++set) {
    for (const std::uint32_t offset : {reg::qbrcl(set), reg::qbrch(set), reg::qbtcl(set), reg::qbtch(set)}) {
      (void)read(offset);
    }
  }
  for (std::uint32_t i = 0; i < reg::kSizeClasses; ++i) {
    (void)read(reg::kPrc64 + 4 * i);
    (void)read(reg::kPtc64 + 4 * i);
  }
  statistics_ = {};
}

const NicStatistics& Nic82599::statistics() {
  const auto wide = [this](std::uint32_t low, std::uint32_t high) {
    const std::uint64_t value = read(low);
    return value | std::uint64_t{read(high)} << 32;
  };
  NicStatistics sum = statistics_;
  sum.received += read(reg::kGprc);
  sum.transmitted += read(reg::kGptc);
  sum.received_octets += wide(reg::kGorcl, reg::kGorch);
  sum.transmitted_octets += wide(reg::kGotcl, reg::kGotch);
  for (std::uint32_t n = 0; n < reg::kPacketBuffers; ++n) sum.missed += read(reg::rxmpc(n));
  for (std::uint32_t set = 0; set < reg::kStatisticsSets; ++set) {
    sum.ring_received[set] += read(reg::qprc(set));
    sum.ring_transmitted[set] += read(reg::qptc(set));
    const std::uint32_t dropped = read(reg::qprdc(set));
    sum.ring_no_descriptor[set] += dropped;
    sum.no_descriptor += dropped;
  }
  // Checked after the counters: a device that is gone may have answered any of them with ones.
  if (!is_gone()) statistics_ = sum;
  return statistics_;
}

// 4.6.7: tables that have contents after power-up, and which frames are received.
void Nic82599::initialize_filters() {
  for (std::uint32_t n = 0; n < 128; ++n) {
    write(reg::pfuta(n), 0);
    write(reg::mta(n), 0);
    write(reg::pfvlvfb(n), 0);
    write(reg::ftqf(n), 0);
  }
  for (std::uint32_t n = 0; n < 64; ++n) write(reg::pfvlvf(n), 0);
  for (std::uint32_t n = 0; n < 256; ++n) write(reg::mpsar(n), n < 2 ? ~0U : 0);  // address 0: every pool
  write(reg::kFctrl, reg::kFctrlBroadcastAccept |
                         (settings_.promiscuous ? reg::kFctrlUnicastPromiscuous | reg::kFctrlMulticastPromiscuous : 0));
  write(reg::kRxcsum, reg::kRxcsumPcsd);
  set_bits(reg::kRfctl, reg::kRfctlRscDisable);
  // The CRC is stripped: RDRXCTL and HLREG0 must agree. Also RSC first size to 0, and two bits that "should be set".
  std::uint32_t dma = read(reg::kRdrxctl);
  dma = (dma & ~reg::kRdrxctlRscFirstSizeMask) | reg::kRdrxctlCrcStrip | reg::kRdrxctlMustBeSet;
  write(reg::kRdrxctl, dma);
  set_bits(reg::kHlreg0, reg::kHlreg0RxCrcStrip);
  // 4.6.11.3.4, no DCB and no virtualization: everything in packet buffer 0.
  write(reg::rxpbsize(0), kPacketBufferKib << reg::kBufferSizeShift);
  for (std::uint32_t n = 1; n < reg::kPacketBuffers; ++n) write(reg::rxpbsize(n), 0);
}

// RSS over at most 16 rings (7.1.2.8), and before it flows with a fixed ring (7.1.2.5).
void Nic82599::initialize_steering() {
  for (std::uint32_t n = 0; n < kRssKeyOctets / 4; ++n) {
    std::uint32_t word = 0;
    std::memcpy(&word, &settings_.rss_key[4 * n], sizeof word);
    write(reg::rssrk(n), word);
  }
  const std::uint32_t spread = std::min(rings_, reg::kRssQueues);
  for (std::uint32_t n = 0; n < 32; ++n) {
    std::uint32_t entries = 0;
    for (std::uint32_t i = 0; i < 4; ++i) entries |= (4 * n + i) % spread << 8 * i;
    write(reg::reta(n), entries);
  }
  for (std::uint32_t n = 0; n < settings_.flows.size(); ++n) {
    const FlowFilter& flow = settings_.flows[n];
    write(reg::saqf(n), as_register(flow.source));
    write(reg::daqf(n), as_register(flow.destination));
    write(reg::sdpqf(n), swapped(flow.source_port) | swapped(flow.destination_port) << 16);
    write(reg::l34timir(n), flow.ring << reg::kL34QueueShift | reg::kL34Reserved);
    write(reg::ftqf(n), (flow.udp ? reg::kFtqfUdp : reg::kFtqfTcp) | 1U << reg::kFtqfPriorityShift |
                            reg::kFtqfPoolMask | (flow.any_source_port ? reg::kFtqfSourcePortMask : 0) |
                            reg::kFtqfEnable);
  }
  const std::uint32_t with_ports = reg::kMrqcTcpIpv4 | reg::kMrqcUdpIpv4 | reg::kMrqcTcpIpv6 | reg::kMrqcUdpIpv6;
  write(reg::kMrqc, reg::kMrqcRss | reg::kMrqcIpv4 | reg::kMrqcIpv6 | (settings_.rss_ports ? with_ports : 0));
}

// 4.6.7, for each ring. Tail and head stay 0: the ring has no descriptors until an engine gives some.
Expected<void> Nic82599::initialize_receive(std::span<const RingAddresses> rings) {
  for (std::uint32_t n = 0; n < rings.size(); ++n) {
    write(reg::rdbal(n), static_cast<std::uint32_t>(rings[n].receive));
    write(reg::rdbah(n), static_cast<std::uint32_t>(rings[n].receive >> 32));
    write(reg::rdlen(n), settings_.descriptors * 16);
    write(reg::rdh(n), 0);
    write(reg::srrctl(n), settings_.slot_bytes / 1024 | reg::kSrrctlAdvancedOneBuffer |
                              (settings_.drop_when_empty ? reg::kSrrctlDropEnable : 0));
    // 4.6.7: bit 12 must be cleared. Payload and write-back keep the order of the bus (2.4.1 of PCIe), because an
    // engine that sees DD reads the payload next.
    clear_bits(reg::dca_rxctrl(n),
               reg::kDcaRxctrlReserved12 | reg::kDcaRxctrlDataRelaxed | reg::kDcaRxctrlWriteBackRelaxed);
    set_bits(reg::rxdctl(n), reg::kQueueEnable);
    if (auto done = wait("receive ring", reg::rxdctl(n), reg::kQueueEnable, true, kEnableBound); !done) return done;
  }
  set_bits(reg::kCtrlExt, reg::kCtrlExtNoSnoopDisable);
  return {};
}

// 4.6.8 with 4.6.11.3.4: no DCB and no virtualization.
Expected<void> Nic82599::initialize_transmit(std::span<const RingAddresses> rings) {
  set_bits(reg::kHlreg0, reg::kHlreg0TxCrc | reg::kHlreg0TxPad);
  set_bits(reg::kRttdcs, reg::kRttdcsArbiterDisable);
  write(reg::kDtxmxszrq, 0xFFF);
  write(reg::txpbsize(0), kTransmitBufferKib << reg::kBufferSizeShift);
  write(reg::txpbthresh(0), kTransmitBufferKib);
  for (std::uint32_t n = 1; n < reg::kPacketBuffers; ++n) {
    write(reg::txpbsize(n), 0);
    write(reg::txpbthresh(n), 0);
  }
  write(reg::kMtqc, 0);
  clear_bits(reg::kRttdcs, reg::kRttdcsArbiterDisable);
  set_bits(reg::kDmatxctl, reg::kDmatxctlEnable);  // before the first ring
  for (std::uint32_t n = 0; n < rings.size(); ++n) {
    write(reg::tdbal(n), static_cast<std::uint32_t>(rings[n].transmit));
    write(reg::tdbah(n), static_cast<std::uint32_t>(rings[n].transmit >> 32));
    write(reg::tdlen(n), settings_.descriptors * 16);
    write(reg::tdh(n), 0);
    write(reg::tdwbal(n), 0);  // DD in the descriptors, no write-back of the head
    clear_bits(reg::dca_txctrl(n), reg::kDcaTxctrlWriteBackRelaxed);
    write(reg::txdctl(n), settings_.prefetch | settings_.host << reg::kTxdctlHostShift |
                              settings_.write_back << reg::kTxdctlWriteBackShift | reg::kQueueEnable);
    if (auto done = wait("transmit ring", reg::txdctl(n), reg::kQueueEnable, true, kEnableBound); !done) return done;
  }
  return {};
}

std::uint32_t* Nic82599::receive_doorbell(std::uint32_t ring) {
  return bar_->doorbell(reg::rdt(ring));
}
std::uint32_t* Nic82599::transmit_doorbell(std::uint32_t ring) {
  return bar_->doorbell(reg::tdt(ring));
}

LinkSpeed Nic82599::link() {
  const std::uint32_t links = read(reg::kLinks);
  if ((links & reg::kLinksUp) == 0) return LinkSpeed::kDown;
  return static_cast<LinkSpeed>(links >> reg::kLinksSpeedShift & 3);
}

MacAddress Nic82599::mac() {
  const std::uint32_t low = read(reg::ral(0));
  const std::uint32_t high = read(reg::rah(0));
  MacAddress mac;
  for (unsigned i = 0; i < 4; ++i) mac.octets[i] = static_cast<std::uint8_t>(low >> 8 * i);
  for (unsigned i = 0; i < 2; ++i) mac.octets[4 + i] = static_cast<std::uint8_t>(high >> 8 * i);
  return mac;
}

}  // namespace splitplane::gpu
