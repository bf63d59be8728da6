// PDCP PDUs of DRBs (TS 38.323 6.2): data with 12- and 18-bit SN, and the control PDUs status report and ROHC feedback.
//
//   data, SN 12: o0 D/C=1 R R R SN[11:8]       | o1 SN[7:0]               | data | [MAC-I(4)]
//   data, SN 18: o0 D/C=1 R R R R R SN[17:16]  | o1 SN[15:8] | o2 SN[7:0] | data | [MAC-I(4)]
//   data, SRB:   o0 R R R R SN[11:8]           | o1 SN[7:0]               | data | MAC-I(4)
//   control:     o0 D/C=0 type(3) R(4)         | status report: FMC(4) bitmap(0..n) ; ROHC feedback: feedback(1..n)
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::pdcp {

inline constexpr std::size_t kMaxHeaderBytes = 3;
inline constexpr std::size_t kMacIBytes = 4;
inline constexpr std::size_t kMaxSduBytes = 9000;         // TS 38.323 4.3.1
inline constexpr std::size_t kMaxControlPduBytes = 9000;  // TS 38.323 4.3.1
inline constexpr std::size_t kStatusReportHeaderBytes = 5;
inline constexpr std::size_t kMaxBitmapBytes = kMaxControlPduBytes - kStatusReportHeaderBytes;

enum class ControlType : std::uint8_t { kStatusReport = 0, kRohcFeedback = 1, kEhcFeedback = 2, kUdcFeedback = 3 };

struct DataHeader {
  std::uint32_t sn = 0;
  std::uint8_t header_bytes = 0;
};

// Header octets of a data PDU; 0 for an SN length that PDCP does not have.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t header_bytes(unsigned sn_bits) {
  return sn_bits == 18 ? std::uint8_t{3} : sn_bits == 12 ? std::uint8_t{2} : std::uint8_t{0};
}

[[nodiscard]] SPLITPLANE_HD constexpr bool is_data(std::uint8_t first_octet) {
  return (first_octet & 0x80) != 0;
}

// Parses a data PDU of a DRB. This parser accepts that nothing follows the header (SDAP header, data, MAC-I).
[[nodiscard]] SPLITPLANE_HD constexpr Result<DataHeader> parse_data(Octets in, unsigned sn_bits) {
  const std::uint8_t bytes = header_bytes(sn_bits);
  if (bytes == 0) return refuse<DataHeader>(Reason::pdcp_bad_sn_length);
  if (in.empty()) return refuse<DataHeader>(Reason::pdcp_truncated);
  const std::uint8_t* p = in.data();
  if (!is_data(p[0])) return refuse<DataHeader>(Reason::pdcp_not_data);
  if (in.size() < bytes) return refuse<DataHeader>(Reason::pdcp_truncated);
  const std::uint32_t sn = bytes == 3 ? load_be24(p) & 0x3FFFFU : load_be16(p) & 0xFFFU;
  return {DataHeader{sn, bytes}};
}

// Writes 2 or 3 octets. Returns 0 if they do not fit or the SN is beyond its length.
SPLITPLANE_HD constexpr std::size_t write_data(MutableOctets out, unsigned sn_bits, std::uint32_t sn) {
  const std::uint8_t bytes = header_bytes(sn_bits);
  if (bytes == 0 || out.size() < bytes || (sn >> sn_bits) != 0) return 0;
  if (bytes == 3) {
    store_be24(out.data(), 0x800000U | sn);
  } else {
    store_be16(out.data(), 0x8000U | sn);
  }
  return bytes;
}

// Parses a data PDU of an SRB: 12-bit SN, no D/C bit, always with MAC-I.
[[nodiscard]] SPLITPLANE_HD constexpr Result<DataHeader> parse_srb(Octets in) {
  if (in.size() < 2 + kMacIBytes) return refuse<DataHeader>(Reason::pdcp_truncated);
  return {DataHeader{load_be16(in.data()) & 0xFFFU, 2}};
}
SPLITPLANE_HD constexpr std::size_t write_srb(MutableOctets out, std::uint32_t sn) {
  if (out.size() < 2 || sn > 0xFFF) return 0;
  store_be16(out.data(), sn);
  return 2;
}

// The type of a control PDU. If the reason is pdcp_control_type_unknown, the value still holds the type for EHC or UDC
// feedback, which we never configure for DRBs.
[[nodiscard]] SPLITPLANE_HD constexpr Result<ControlType> parse_control(Octets in) {
  if (in.empty()) return refuse<ControlType>(Reason::pdcp_truncated);
  if (is_data(in[0])) return refuse<ControlType>(Reason::pdcp_not_control);
  if (in.size() > kMaxControlPduBytes) return refuse<ControlType>(Reason::pdcp_control_too_long);
  const auto type = static_cast<ControlType>((in[0] >> 4) & 7);
  return {type, type > ControlType::kRohcFeedback ? Reason::pdcp_control_type_unknown : Reason::ok};
}

// A status report (TS 38.323 6.2.3.1). The SDU with COUNT fmc is missing. Bit k stands for fmc + k; k = 1 is the MSB of
// the first octet.
struct StatusReport {
  Count fmc{};
  Octets bitmap;

  // True if the report says that the SDU with this COUNT arrived.
  [[nodiscard]] SPLITPLANE_HD constexpr bool confirms(Count count) const {
    if (count.value <= fmc.value) return count.value != fmc.value;
    const std::uint32_t bit = count.value - fmc.value - 1;
    return bit / 8 < bitmap.size() && (bitmap[bit / 8] & (0x80U >> (bit % 8))) != 0;
  }
};

[[nodiscard]] SPLITPLANE_HD constexpr Result<StatusReport> parse_status_report(Octets in) {
  const Result<ControlType> type = parse_control(in);
  if (!type) return refuse<StatusReport>(type.reason);
  if (*type != ControlType::kStatusReport) return refuse<StatusReport>(Reason::pdcp_control_type_unknown);
  if (in.size() < kStatusReportHeaderBytes) return refuse<StatusReport>(Reason::pdcp_truncated);
  return {StatusReport{Count{load_be32(in.data() + 1)}, in.subspan(kStatusReportHeaderBytes)}};
}

// Writes header, FMC and a bitmap of `bitmap_bytes` zero octets, which mark_received() fills. Returns 0 if that does
// not fit or exceeds 9000 octets.
SPLITPLANE_HD constexpr std::size_t write_status_report(MutableOctets out, Count fmc, std::size_t bitmap_bytes) {
  if (bitmap_bytes > kMaxBitmapBytes || out.size() < kStatusReportHeaderBytes + bitmap_bytes) return 0;
  out[0] = 0;
  store_be32(out.data() + 1, fmc.value);
  fill_zero(out.data() + kStatusReportHeaderBytes, bitmap_bytes);
  return kStatusReportHeaderBytes + bitmap_bytes;
}

// Sets the bit of COUNT fmc + k in a status report of write_status_report(). Returns false if k has no bit there.
SPLITPLANE_HD constexpr bool mark_received(MutableOctets report, std::uint32_t k) {
  if (k == 0 || kStatusReportHeaderBytes + (k - 1) / 8 >= report.size()) return false;
  std::uint8_t& octet = report[kStatusReportHeaderBytes + (k - 1) / 8];
  octet = static_cast<std::uint8_t>(octet | (0x80U >> ((k - 1) % 8)));
  return true;
}

// The feedback octets of a ROHC feedback PDU (TS 38.323 6.2.3.2).
[[nodiscard]] SPLITPLANE_HD constexpr Result<Octets> parse_rohc_feedback(Octets in) {
  const Result<ControlType> type = parse_control(in);
  if (!type) return refuse<Octets>(type.reason);
  if (*type != ControlType::kRohcFeedback) return refuse<Octets>(Reason::pdcp_control_type_unknown);
  if (in.size() < 2) return refuse<Octets>(Reason::pdcp_empty_feedback);
  return {in.subspan(1)};
}
SPLITPLANE_HD constexpr std::size_t write_rohc_feedback(MutableOctets out, Octets feedback) {
  if (feedback.empty() || feedback.size() >= kMaxControlPduBytes || out.size() < 1 + feedback.size()) return 0;
  out[0] = 0x10;
  copy_octets(out.data() + 1, feedback.data(), feedback.size());
  return 1 + feedback.size();
}

}  // namespace splitplane::wire::pdcp
