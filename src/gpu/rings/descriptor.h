// Advanced descriptors of the Intel 82599 / X520 (the 82576 has the same), as two little-endian 64-bit words. Sections
// are those of the 82599 10 GbE Controller Datasheet (331520). The driver and the NIC model both read and write them
// here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "gpu/rings/memory_order.h"

namespace splitplane::gpu {

struct alignas(16) Descriptor {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
};
static_assert(sizeof(Descriptor) == 16);

// Writes a descriptor for the NIC, before the tail that announces it. On a device this is one 16-octet store per lane,
// and a warp's lanes do it together. The upper word, where DD will be, is never torn.
SPLITPLANE_HD inline void put_descriptor(Descriptor* at, const Descriptor& d) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(at)), "l"(d.lo), "l"(d.hi)
               : "memory");
#else
  at->lo = d.lo;
  store_relaxed(&at->hi, d.hi);
#endif
}

// A ring begins at a multiple of 128 octets and is one long (8.2.3.8.1, 8.2.3.8.3): a multiple of 8 descriptors.
inline constexpr std::size_t kRingAlignment = 128;
inline constexpr std::uint32_t kMinRingSize = 32, kMaxRingSize = 4096;

// Receive (7.1.6). Read format (7.1.6.1), what the driver writes:
//   lo packet buffer address | hi header buffer address, here always 0: its bit 0 is where DD will be
[[nodiscard]] SPLITPLANE_HD constexpr Descriptor make_rx_read(std::uint64_t buffer) {
  return {buffer, 0};
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t rx_buffer(const Descriptor& d) {
  return d.lo;
}

// Write-back format (7.1.6.2), what the NIC writes over it:
//   lo 3:0 RSS type | 16:4 packet type | 20:17 RSC count | 30:21 header length | 31 SPH | 63:32 RSS hash
//   hi 19:0 extended status (bit 0 DD, bit 1 EOP) | 31:20 extended error | 47:32 packet length | 63:48 VLAN tag
inline constexpr std::uint64_t kRxDone = 1ULL << 0;         // DD
inline constexpr std::uint64_t kRxEndOfPacket = 1ULL << 1;  // EOP
inline constexpr std::uint64_t kRxErrorMac = 1ULL << 29;    // RXE: CRC, length or symbol error (7.1.6.2, 82599)
inline constexpr std::uint64_t kRxErrorL4 = 1ULL << 30;     // TCP/UDP checksum

struct RxWriteBack {
  std::uint16_t length = 0;
  std::uint32_t rss_hash = 0;
  bool end_of_packet = true;
  std::uint64_t errors = 0;  // kRxError...
};
[[nodiscard]] SPLITPLANE_HD constexpr Descriptor make_rx_write_back(const RxWriteBack& w) {
  return {static_cast<std::uint64_t>(w.rss_hash) << 32 | (w.rss_hash != 0 ? 1U : 0U),
          static_cast<std::uint64_t>(w.length) << 32 | w.errors | (w.end_of_packet ? kRxEndOfPacket : 0) | kRxDone};
}
// The upper word has all that a driver needs of a write-back: one 64-bit load reads DD, errors and length.
[[nodiscard]] SPLITPLANE_HD constexpr bool rx_is_done(std::uint64_t hi) {
  return (hi & kRxDone) != 0;
}
[[nodiscard]] SPLITPLANE_HD constexpr bool rx_is_whole(std::uint64_t hi) {
  return (hi & (kRxEndOfPacket | kRxErrorMac)) == kRxEndOfPacket;
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t rx_length(std::uint64_t hi) {
  return static_cast<std::uint32_t>(hi >> 32) & 0xffffU;
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t rx_rss_hash(std::uint64_t lo) {
  return static_cast<std::uint32_t>(lo >> 32);
}

// Transmit (7.2.3.2.4). Advanced data descriptor, what the driver writes:
//   lo buffer address
//   hi 15:0 DTALEN | 19:18 MAC | 23:20 DTYP = 3 | 31:24 DCMD: EOP 24, IFCS 25, RS 27, DEXT 29, VLE 30, TSE 31
//      35:32 STA (bit 32 DD) | 38:36 IDX | 39 CC | 45:40 POPTS | 63:46 PAYLEN
inline constexpr std::uint64_t kTxTypeMask = 0xfULL << 20;
inline constexpr std::uint64_t kTxTypeData = 3ULL << 20;      // DTYP: advanced data
inline constexpr std::uint64_t kTxEndOfPacket = 1ULL << 24;   // EOP
inline constexpr std::uint64_t kTxInsertFcs = 1ULL << 25;     // IFCS
inline constexpr std::uint64_t kTxReportStatus = 1ULL << 27;  // RS: write DD back
inline constexpr std::uint64_t kTxExtension = 1ULL << 29;     // DEXT: an advanced descriptor
inline constexpr std::uint64_t kTxDone = 1ULL << 32;          // DD

// `report`: the NIC must write DD back. A ring's descriptors complete in order (7.2.3.5.1), so one DD stands for all
// before it.
[[nodiscard]] SPLITPLANE_HD constexpr Descriptor make_tx_data(std::uint64_t buffer, std::uint32_t length,
                                                              bool report = true) {
  return {buffer, static_cast<std::uint64_t>(length) << 46 | kTxExtension | (report ? kTxReportStatus : 0) |
                      kTxInsertFcs | kTxEndOfPacket | kTxTypeData | length};
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t tx_buffer(const Descriptor& d) {
  return d.lo;
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t tx_length(std::uint64_t hi) {
  return static_cast<std::uint32_t>(hi & 0xffffU);
}
[[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t tx_payload_length(std::uint64_t hi) {
  return static_cast<std::uint32_t>(hi >> 46);
}
[[nodiscard]] SPLITPLANE_HD constexpr bool tx_wants_report(std::uint64_t hi) {
  return (hi & kTxReportStatus) != 0;
}

// Write-back (7.2.3.5.1): DD in the STA nibble, everything else reserved.
[[nodiscard]] SPLITPLANE_HD constexpr Descriptor make_tx_write_back() {
  return {0, kTxDone};
}
[[nodiscard]] SPLITPLANE_HD constexpr bool tx_is_done(std::uint64_t hi) {
  return (hi & kTxDone) != 0;
}

}  // namespace splitplane::gpu
