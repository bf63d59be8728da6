// Header mode (papers P4 and PWR): one SDU becomes one RLC PDU behind airhdr, without segmentation, and back. These are
// the innermost functions of the packet path. Variants of bearers differ in data only.
#pragma once

#include <cstdint>
#include <cstring>

#include "ran/bearer.h"

namespace splitplane::ran {

inline constexpr unsigned kAirhdrBytes = 10;
inline constexpr unsigned kMaxHeaderBytes = 7;  // RLC 3 + PDCP 3 + SDAP 1
inline constexpr unsigned kMaxAirOverhead = kAirhdrBytes + kMaxHeaderBytes;

namespace detail {
inline std::uint64_t load_be64(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}
inline void store_be64(std::uint8_t* p, std::uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}
// The octets of airhdr directly before the RLC PDU, which has `pdu_bytes` octets.
inline void store_airhdr(const BearerDownlink& b, std::uint32_t pdu_bytes, std::uint8_t* pdu) {
  const std::uint32_t id = __builtin_bswap32(b.id);
  const std::uint16_t bytes = __builtin_bswap16(static_cast<std::uint16_t>(pdu_bytes));
  std::memcpy(pdu - 10, &b.airhdr, 4);
  std::memcpy(pdu - 6, &id, 4);
  std::memcpy(pdu - 2, &bytes, 2);
}
inline std::uint64_t low_bits(std::uint64_t v, unsigned n) {
  return v & ((1ULL << n) - 1);
}
}  // namespace detail

// Octets that write_downlink puts in front of the SDU: airhdr + RLC + PDCP + SDAP.
[[nodiscard]] inline unsigned downlink_overhead(const BearerDownlink& b) {
  return kAirhdrBytes + b.header_bytes;
}

// Numbers an SDU and writes airhdr, RLC, PDCP and SDAP headers directly before `sdu`. `sdap` has RQI and QFI as in the
// second octet of the PDU Session Container. The headers are overlapping stores, of which none begins before airhdr.
// Every pollPDU-th SDU gets the P bit (TS 38.322 5.3.3.2).
inline void write_downlink(BearerDownlink& b, std::uint8_t sdap, std::uint8_t* sdu, std::uint32_t sdu_bytes) {
  const std::uint16_t without_poll = static_cast<std::uint16_t>(b.pdu_without_poll + 1);
  const bool poll = without_poll >= b.poll_pdu;
  const std::uint64_t header = b.header | (static_cast<std::uint64_t>(poll ? b.poll_bit : 0) << kPollShift) |
                               detail::low_bits(b.rlc_tx_next, b.rlc_sn_bits) << b.rlc_shift |
                               detail::low_bits(b.pdcp_tx_next, b.pdcp_sn_bits) << b.pdcp_shift |
                               static_cast<std::uint64_t>(sdap & b.sdap_mask);
  b.pdu_without_poll = poll ? std::uint16_t{0} : without_poll;
  ++b.rlc_tx_next;
  ++b.pdcp_tx_next;

  detail::store_be64(sdu - 8, header);
  // Behind the store above, which wrote into its last octets.
  detail::store_airhdr(b, b.header_bytes + sdu_bytes, sdu - b.header_bytes);
}

// For a secured bearer, whose PDCP PDU of `pdu_bytes` octets begins at `pdu`: writes airhdr and the RLC header of its
// next PDU directly before it. COUNT is PDCP's. Returns the octets.
inline unsigned write_downlink_rlc(BearerDownlink& b, std::uint8_t* pdu, std::uint32_t pdu_bytes) {
  const std::uint16_t without_poll = static_cast<std::uint16_t>(b.pdu_without_poll + 1);
  const bool poll = without_poll >= b.poll_pdu;
  const std::uint64_t header = b.header | (static_cast<std::uint64_t>(poll ? b.poll_bit : 0) << kPollShift) |
                               detail::low_bits(b.rlc_tx_next, b.rlc_sn_bits) << b.rlc_shift;
  b.pdu_without_poll = poll ? std::uint16_t{0} : without_poll;
  ++b.rlc_tx_next;
  const unsigned rlc_bytes = b.header_bytes - b.rlc_shift / 8U;
  const std::uint64_t rlc = header >> b.rlc_shift;
  for (unsigned i = 1; i <= rlc_bytes; ++i) *(pdu - i) = static_cast<std::uint8_t>(rlc >> 8 * (i - 1));
  detail::store_airhdr(b, rlc_bytes + pdu_bytes, pdu - rlc_bytes);
  return kAirhdrBytes + rlc_bytes;
}

// What an uplink RLC PDU is. Only kData changes the bearer's numbers. kProtected and kSessionPdu are PDUs of bearers
// that the fast path leaves to others; read_uplink_of_session() reads the latter.
enum class UplinkKind : std::uint8_t {
  kData,
  kControl,
  kSegment,
  kPdcpControl,
  kSdapEndMarker,
  kTooShort,
  kProtected,
  kSessionPdu
};

struct UplinkPdu {
  UplinkKind kind;
  std::uint8_t qfi;  // kData: for the UL PDU SESSION INFORMATION
};

// Why the fixed bits of a PDU are not those of a complete data PDU (rare path).
[[nodiscard]] UplinkKind classify_uplink(const BearerUplink& b, std::uint64_t header);
// The same for a PDU that is shorter than the headers of a data PDU: a short segment or PDCP control PDU, or a
// fragment.
[[nodiscard]] UplinkKind classify_short_uplink(const BearerUplink& b, const std::uint8_t* rlc, std::size_t bytes);

// Reads the headers at `rlc` (directly after airhdr) of a PDU of `bytes` octets and moves the receive numbers on. For
// kData the SDU begins at rlc + b.header_bytes and has at least one octet. The eight octets before `rlc` must be
// readable.
[[nodiscard]] inline UplinkPdu read_uplink(BearerUplink& b, const std::uint8_t* rlc, std::size_t bytes) {
  if (bytes == 0) [[unlikely]]
    return {UplinkKind::kTooShort, 0};
  if ((rlc[0] & b.rlc_dc) != b.rlc_dc) {
    ++b.control;
    return {UplinkKind::kControl, 0};
  }
  // A PDCP PDU with only an SDAP end marker ends with the header; every data PDU has at least one octet more.
  if (bytes < b.header_bytes) [[unlikely]]
    return {classify_short_uplink(b, rlc, bytes), 0};
  const std::uint64_t header = detail::load_be64(rlc + b.header_bytes - 8);
  if ((header & b.constant_mask) != b.constant) [[unlikely]]
    return {classify_uplink(b, header), 0};
  if (bytes == b.header_bytes) [[unlikely]]
    return {UplinkKind::kTooShort, 0};

  // RX_NEXT and RX_Next_Highest move on when the SN lies in the half of the number space ahead of them.
  const std::uint64_t pdcp_ahead = detail::low_bits((header >> b.pdcp_shift) - b.pdcp_rx_next, b.pdcp_sn_bits);
  const std::uint64_t rlc_ahead = detail::low_bits((header >> b.rlc_shift) - b.rlc_rx_next_highest, b.rlc_sn_bits);
  b.pdcp_rx_next += pdcp_ahead < (1ULL << b.pdcp_sn_bits) / 2 ? static_cast<std::uint32_t>(pdcp_ahead) + 1 : 0;
  b.rlc_rx_next_highest += rlc_ahead < (1ULL << b.rlc_sn_bits) / 2 ? static_cast<std::uint32_t>(rlc_ahead) + 1 : 0;
  ++b.received;
  b.bytes += bytes - b.header_bytes;
  return {UplinkKind::kData, static_cast<std::uint8_t>((header & b.sdap_mask) | b.qfi)};
}

// The same for a bearer of a session with several ones.
[[nodiscard]] UplinkPdu read_uplink_of_session(BearerUplink& b, const std::uint8_t* rlc, std::size_t bytes);

}  // namespace splitplane::ran
