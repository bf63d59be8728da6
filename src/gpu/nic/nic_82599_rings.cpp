// The settings of filters, steering, rings and counters of an 82599. Sections are those of the 82599 datasheet.
#include <cstring>

#include "gpu/nic/nic_82599.h"
#include "gpu/nic/registers_82599.h"

namespace splitplane::gpu {

using namespace std::chrono_literals;

namespace {

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

}  // namespace

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
