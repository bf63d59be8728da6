#include "nicmodel/register_file.h"

#include <cstring>

#include "gpu/rings/memory_order.h"

namespace splitplane::nicmodel {

namespace reg = gpu::reg;

namespace {

constexpr std::uint32_t kPolls = 2;      // reads until a reset, the EEPROM and the DMA engine are done
constexpr std::uint32_t kLinkPolls = 4;  // reads of LINKS until a link is up

}  // namespace

std::uint32_t canonical(std::uint32_t offset) {
  if (offset >= reg::ral_alias(0) && offset < reg::ral_alias(16)) return reg::ral(0) + (offset - reg::ral_alias(0));
  if (offset >= 0x02100 && offset < 0x02140) return reg::srrctl((offset - 0x02100) / 4);      // 8.2.3.8.7, n < 16
  if (offset >= 0x02200 && offset < 0x02240) return reg::dca_rxctrl((offset - 0x02200) / 4);  // 8.2.3.11.1, n < 16
  return offset;
}

RegisterFile::RegisterFile(const MacAddress& mac, DriverFaults& faults)
    : faults_(faults),
      mac_(mac),
      words_(static_cast<std::uint32_t*>(std::aligned_alloc(4096, reg::kBarBytes))),
      known_(reg::kBarBytes / 4) {
  for (const std::uint32_t offset :
       {reg::kCtrl,     reg::kStatus,    reg::kCtrlExt, reg::kEec,     reg::kSwsm,   reg::kFwsm,      reg::kSwFwSync,
        reg::kGcrExt,   reg::kEicr,      reg::kEims,    reg::kEimc,    reg::kFcrtv,  reg::kFccfg,     reg::kFctrl,
        reg::kRxcsum,   reg::kRfctl,     reg::kMrqc,    reg::kRdrxctl, reg::kRxctrl, reg::kSecrxctrl, reg::kSecrxstat,
        reg::kDmatxctl, reg::kDtxmxszrq, reg::kMtqc,    reg::kRttdcs,  reg::kHlreg0, reg::kMaxfrs,    reg::kAutoc,
        reg::kLinks,    reg::kEsdp,      reg::kAutoc2}) {
    know(offset);
  }
  know(reg::eims_ex(0), 2), know(reg::eimc_ex(0), 2);
  know(reg::fcttv(0), 4), know(reg::fcrtl(0), 8), know(reg::fcrth(0), 8);
  know(reg::mta(0), 128), know(reg::ral(0), 256), know(reg::mpsar(0), 256);
  know(reg::rssrk(0), 10), know(reg::reta(0), 32);
  for (const reg::Row& filter : {reg::saqf, reg::daqf, reg::sdpqf, reg::ftqf, reg::l34timir}) {
    know(filter(0), reg::kFiveTupleFilters);
  }
  know(reg::pfuta(0), 128), know(reg::pfvlvf(0), 64), know(reg::pfvlvfb(0), 128);
  know(reg::rxpbsize(0), 8), know(reg::txpbsize(0), 8), know(reg::txpbthresh(0), 8);
  know(reg::rqsmr(0), 32), know(reg::tqsm(0), 32);
  for (const reg::Row& word :
       {reg::rdbal, reg::rdbah, reg::rdlen, reg::dca_rxctrl, reg::rdh, reg::srrctl, reg::rdt, reg::rxdctl}) {
    know(word(0), 64, 0x40);
  }
  for (const reg::Row& word :
       {reg::tdbal, reg::tdbah, reg::tdlen, reg::dca_txctrl, reg::tdh, reg::tdt, reg::txdctl, reg::tdwbal}) {
    know(word(0), reg::kQueues, 0x40);
  }
  reset();
  reset_polls_ = 0;  // the power-up reset ended long ago
}

void RegisterFile::know(std::uint32_t first, std::uint32_t n, std::uint32_t stride) {
  for (std::uint32_t i = 0; i < n; ++i) known_[(first + i * stride) / 4] = true;
}

void RegisterFile::reset() {
  std::memset(words_.get(), 0, reg::kBarBytes);
  statistics_ = {};
  latched_.clear();
  reset_polls_ = eeprom_polls_ = dma_polls_ = kPolls;
  // 4.6.4: the link comes up with the EEPROM's setting, 10 GbE serial here (8.2.3.22.19: LMS 011b).
  if (slot_) {
    set(reg::kEsdp, module_ ? reg::kEsdpModuleThere : 0);  // pins as the EEPROM sets them: the laser is on
  } else {
    set(reg::kAutoc, reg::kAutocMode10gSerial);
  }
  link_polls_ = kLinkPolls;
  // Values after reset that are not 0 (8.2.3.8.9, 8.2.3.9.13, 8.2.3.9.16, 8.2.3.22.8, 8.2.3.22.13, 8.2.3.11.1).
  for (std::uint32_t n = 0; n < reg::kPacketBuffers; ++n) {
    set(reg::rxpbsize(n), 0x200U << reg::kBufferSizeShift);
    set(reg::txpbsize(n), 0xA0U << reg::kBufferSizeShift);
  }
  set(reg::txpbthresh(0), 0x96);
  set(reg::kHlreg0, reg::kHlreg0TxCrc | reg::kHlreg0RxCrcStrip | reg::kHlreg0TxPad);
  set(reg::kMaxfrs, 1518U << 16);
  set(reg::kRdrxctl, 0x08U << 17);  // RSCFRSTSIZE is not 0 after reset (4.6.7)
  for (std::uint32_t n = 0; n < 64; ++n) {
    set(reg::dca_rxctrl(n), reg::kDcaRxctrlReserved12 | reg::kDcaRxctrlDataRelaxed);
  }
  for (std::uint32_t n = 0; n < reg::kQueues; ++n) set(reg::dca_txctrl(n), reg::kDcaTxctrlWriteBackRelaxed);
  // 8.2.3.7.9: the first address comes from the EEPROM and is valid.
  const auto& m = mac_.octets;
  set(reg::ral(0), static_cast<std::uint32_t>(m[0] | m[1] << 8 | m[2] << 16) | static_cast<std::uint32_t>(m[3]) << 24);
  set(reg::rah(0), static_cast<std::uint32_t>(m[4] | m[5] << 8) | reg::kRahValid);
}

void RegisterFile::fit_sfp_slot(bool module) {
  slot_ = true;
  module_ = module;
  reset();
}

bool RegisterFile::link_can_be() const {
  if (!slot_) return cable_;
  const bool sfi = (value(reg::kAutoc) & reg::kAutocModeMask) == reg::kAutocMode10gSerial &&
                   (value(reg::kAutoc2) & reg::kAutoc2SerialMask) == reg::kAutoc2SerialSfi;
  return cable_ && module_ && sfi && (value(reg::kEsdp) & reg::kEsdpLaserOff) == 0;
}

void RegisterFile::plug(bool in) {
  cable_ = in;
  link_polls_ = kLinkPolls;
}

std::uint32_t RegisterFile::read(std::uint32_t offset) {
  if (gone_) return ~0U;
  offset = canonical(offset);
  std::uint32_t value = read_plain(offset);
  for (const Stuck& stuck : stuck_) {
    if (stuck.offset == offset) value = (value & ~stuck.mask) | (stuck.value & stuck.mask);
  }
  return value;
}

std::uint32_t RegisterFile::read_plain(std::uint32_t offset) {
  bool high = false;
  if (std::uint64_t* const counter = statistics_.at(offset, high)) {
    // Of a 36-bit counter the low word is read first. Reading the high word returns the value of the same moment and
    // clears both. Counts between the two reads stay for the next pair.
    bool next_high = false;
    if (!high && statistics_.at(offset + 4, next_high) == counter && next_high) {
      latched_[counter] = *counter;
      return static_cast<std::uint32_t>(*counter);
    }
    const auto latched = latched_.find(counter);
    const std::uint64_t value = latched == latched_.end() ? *counter : latched->second;
    if (latched != latched_.end()) latched_.erase(latched);
    *counter -= value;
    return static_cast<std::uint32_t>(high ? value >> 32 : value);
  }
  if (offset >= reg::kBarBytes || offset % 4 != 0 || !known(offset)) {
    faults_.count(DriverFault::unknown_register);
    return 0;
  }
  const auto once_done = [](std::uint32_t& polls) {
    if (polls == 0) return true;
    --polls;
    return false;
  };
  const std::uint32_t stored = gpu::load_relaxed(&words_[offset / 4]);  // a driver may write a tail meanwhile
  switch (offset) {
    case reg::kCtrl:
      return once_done(reset_polls_) ? stored : stored | reg::kCtrlReset;
    case reg::kStatus:
      return (value(reg::kCtrl) & reg::kCtrlMasterDisable) != 0 ? 0 : reg::kStatusMasterEnable;
    case reg::kEec:
      return reg::kEecPresent | (once_done(eeprom_polls_) ? reg::kEecAutoReadDone : 0);
    case reg::kRdrxctl:
      return stored | (once_done(dma_polls_) ? reg::kRdrxctlDmaInitDone : 0);
    case reg::kLinks:
      if (!link_can_be() || !once_done(link_polls_)) return 0;
      return reg::kLinksUp | 3U << reg::kLinksSpeedShift;
    case reg::kSecrxstat:
      return (value(reg::kSecrxctrl) & reg::kSecrxctrlDisable) != 0 ? reg::kSecrxstatReady : 0;
    case reg::kSwsm:
      set(reg::kSwsm, stored | reg::kSwsmSmbi);  // 8.2.3.4.9: the reader that gets 0 has the semaphore
      return stored;
    case reg::kEicr:
      set(reg::kEicr, 0);
      return stored;
    default:
      return stored;
  }
}

void RegisterFile::write_semaphore(std::uint32_t value) {
  std::uint32_t now = this->value(reg::kSwsm);
  if ((value & reg::kSwsmSmbi) == 0) now &= ~reg::kSwsmSmbi;
  now = (now & ~reg::kSwsmSwesmbi) | (value & reg::kSwsmSwesmbi);
  set(reg::kSwsm, now);
}

Written RegisterFile::write(std::uint32_t offset, std::uint32_t value) {
  offset = canonical(offset);
  if (gone_) return {};
  if (offset >= reg::kBarBytes || offset % 4 != 0 || !known(offset)) {
    faults_.count(DriverFault::unknown_register);
    return {};
  }
  const bool receiving = (this->value(reg::kRxctrl) & reg::kRxctrlEnable) != 0;
  switch (offset) {
    case reg::kCtrl:
      if ((value & (reg::kCtrlReset | reg::kCtrlLinkReset)) != 0) return {Action::kReset};
      break;
    case reg::kStatus:
    case reg::kFwsm:
    case reg::kEec:
    case reg::kLinks:
    case reg::kSecrxstat:
      return {};  // this model accepts no such write
    case reg::kEims:
      set(offset, this->value(offset) | value);
      return {};
    case reg::kEimc:
      set(reg::kEims, this->value(reg::kEims) & ~value);
      return {};
    case reg::eims_ex(0):
    case reg::eims_ex(1):
      set(offset, this->value(offset) | value);
      return {};
    case reg::eimc_ex(0):
    case reg::eimc_ex(1): {
      const std::uint32_t enabled = reg::eims_ex((offset - reg::eimc_ex(0)) / 4);
      set(enabled, this->value(enabled) & ~value);
      return {};
    }
    case reg::kEicr:
      set(offset, this->value(offset) & ~value);
      return {};
    case reg::kSwsm:
      write_semaphore(value);
      return {};
    case reg::kSwFwSync:
      if ((this->value(reg::kSwsm) & reg::kSwsmSwesmbi) == 0) faults_.count(DriverFault::semaphore_not_held);
      break;
    case reg::kEsdp:  // SDP2 is an input
      set(offset, (value & ~reg::kEsdpModuleThere) | (this->value(offset) & reg::kEsdpModuleThere));
      return {};
    case reg::kAutoc2:
      if ((this->value(reg::kSwFwSync) & reg::kSwFwSyncMacCsr) == 0) faults_.count(DriverFault::semaphore_not_held);
      if (slot_ && (this->value(reg::kEsdp) & reg::kEsdpLaserOff) == 0) faults_.count(DriverFault::mode_with_laser_on);
      break;
    case reg::kAutoc:
      if ((this->value(reg::kSwFwSync) & reg::kSwFwSyncMacCsr) == 0) faults_.count(DriverFault::semaphore_not_held);
      if ((value & reg::kAutocRestart) != 0) link_polls_ = kLinkPolls;
      value &= ~reg::kAutocRestart;
      break;
    case reg::kFctrl:
      if (receiving) faults_.count(DriverFault::filter_written_while_receiving);
      set(offset, value);
      return {Action::kFilter};
    case reg::kRxctrl:
      if ((value & reg::kRxctrlEnable) != 0 && !receiving &&
          (this->value(reg::kSecrxctrl) & reg::kSecrxctrlDisable) == 0) {
        faults_.count(DriverFault::receive_not_halted);
      }
      set(offset, value);
      return {Action::kFilter};
    case reg::kMrqc:
    case reg::kSecrxctrl:
    case reg::kHlreg0:
    case reg::kMaxfrs:
    case reg::kDmatxctl:
      set(offset, value);
      return {Action::kFilter};
    default:
      break;
  }
  if (offset >= reg::receive_queue(0) && offset < reg::receive_queue(64)) return write_queue(offset, value);
  if (offset >= reg::transmit_queue(0) && offset < reg::transmit_queue(reg::kQueues)) return write_queue(offset, value);
  set(offset, value);
  const auto within = [offset](std::uint32_t first, std::uint32_t n) {
    return offset >= first && offset < first + n * 4;
  };
  if (within(reg::rssrk(0), 10) || within(reg::reta(0), 32) || within(reg::saqf(0), 5 * reg::kFiveTupleFilters)) {
    if (within(reg::ftqf(0), reg::kFiveTupleFilters) || within(reg::l34timir(0), reg::kFiveTupleFilters)) {
      const std::uint32_t n = offset % (reg::kFiveTupleFilters * 4) / 4;
      if ((this->value(reg::ftqf(n)) & reg::kFtqfEnable) != 0 &&
          (this->value(reg::l34timir(n)) & reg::kL34ReservedMask) != reg::kL34Reserved) {
        faults_.count(DriverFault::filter_reserved_bits);
      }
    }
    return {Action::kSteering};
  }
  return {within(reg::ral(0), 256) ? Action::kFilter : Action::kNone};
}

Written RegisterFile::write_queue(std::uint32_t offset, std::uint32_t value) {
  const bool receive = offset < reg::transmit_queue(0);
  const std::uint32_t ring = (offset - (receive ? reg::receive_queue(0) : reg::transmit_queue(0))) / 0x40;
  const std::uint32_t control = receive ? reg::rxdctl(ring) : reg::txdctl(ring);
  const bool enabled = (this->value(control) & reg::kQueueEnable) != 0;
  const std::uint32_t at = offset % 0x40;
  if (at == reg::rdbal(0) % 0x40 || at == reg::rdbah(0) % 0x40 || at == reg::rdlen(0) % 0x40 ||
      at == reg::rdh(0) % 0x40) {
    if (enabled) {
      faults_.count(DriverFault::ring_written_while_enabled);
      return {};
    }
    set(offset, value);
    return {};
  }
  if (at == reg::rdt(0) % 0x40) {
    gpu::store_release(word(offset), value);  // as a driver does that writes the word directly
    return {};
  }
  set(offset, value);
  if (offset == control) return {receive ? Action::kReceiveRing : Action::kTransmitRing, ring};
  return {};
}

}  // namespace splitplane::nicmodel
