// MAC PDUs of DL-SCH and UL-SCH (TS 38.321 6.1.2): subheaders, and a cursor over the subPDUs of a transport block.
//
//   SDU or variable CE: R F=0 LCID(6) | L(8)      or  R F=1 LCID(6) | L(16)
//   fixed CE, padding, UL CCCH: R R LCID(6)
//   extended LCID: LCID 33: R F 33 | eLCID(16) | L ; logical channel 320 + eLCID. LCID 34 (1-octet eLCID): CEs, unknown
//   here L counts payload octets. No count of subPDUs: they run to the end of the block; padding takes the rest.
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::mac {

inline constexpr std::uint8_t kLcidCcch = 0;  // DL with L; UL: CCCH1, 8 octets without L
inline constexpr std::uint8_t kLcidFirstDrb = 4;
inline constexpr std::uint8_t kLcidLastSdu = 32;
inline constexpr std::uint8_t kLcidTwoOctetElcid = 33;
inline constexpr std::uint8_t kLcidOneOctetElcid = 34;
inline constexpr std::uint8_t kLcidUlCcch = 52;  // 6 octets without L
inline constexpr std::uint8_t kLcidPadding = 63;
inline constexpr std::uint32_t kFirstExtendedLcid = 320;

namespace dl {
inline constexpr std::uint8_t kRecommendedBitRate = 47, kScellActivation4 = 57, kScellActivation1 = 58, kLongDrx = 59,
                              kDrx = 60, kTimingAdvance = 61, kContentionResolution = 62, kDuplication = 56;
}
namespace ul {
inline constexpr std::uint8_t kRecommendedBitRateQuery = 53, kConfiguredGrantConfirm = 55, kSinglePhr = 57, kCrnti = 58,
                              kShortTruncatedBsr = 59, kLongTruncatedBsr = 60, kShortBsr = 61, kLongBsr = 62;
}

enum class Kind : std::uint8_t { kSdu, kControlElement, kPadding };

// How long a subPDU's payload is, from its LCID (TS 38.321 6.2.1, Rel-15 values).
enum class Sizing : std::uint8_t { kFixed, kLengthField, kRest, kUnknown };

struct LcidFormat {
  Kind kind = Kind::kControlElement;
  Sizing sizing = Sizing::kUnknown;
  std::uint8_t fixed_bytes = 0;
};

[[nodiscard]] SPLITPLANE_HD constexpr LcidFormat format_of(Direction direction, std::uint8_t lcid) {
  const bool downlink = direction == Direction::kDownlink;
  if (lcid == kLcidPadding) return {Kind::kPadding, Sizing::kRest, 0};
  if (lcid == kLcidCcch && !downlink) return {Kind::kSdu, Sizing::kFixed, 8};
  if (lcid <= kLcidLastSdu || lcid == kLcidTwoOctetElcid) return {Kind::kSdu, Sizing::kLengthField, 0};
  const auto fixed = [](std::uint8_t bytes) { return LcidFormat{Kind::kControlElement, Sizing::kFixed, bytes}; };
  const LcidFormat variable{Kind::kControlElement, Sizing::kLengthField, 0};
  if (downlink) {
    switch (lcid) {
      case 47:
        return fixed(2);  // recommended bit rate
      case 48:
        return fixed(2);  // SP ZP CSI-RS resource set
      case 49:
        return fixed(3);  // PUCCH spatial relation
      case 50:
        return variable;  // SP SRS
      case 51:
        return fixed(2);  // SP CSI on PUCCH
      case 52:
        return fixed(2);  // TCI state for PDCCH
      case 53:
        return variable;  // TCI states for PDSCH
      case 54:
        return variable;  // aperiodic CSI trigger
      case 55:
        return variable;  // SP CSI-RS / CSI-IM
      case 56:
        return fixed(1);  // duplication
      case 57:
        return fixed(4);  // SCell activation, four octets
      case 58:
        return fixed(1);  // SCell activation, one octet
      case 59:
        return fixed(0);  // long DRX command
      case 60:
        return fixed(0);  // DRX command
      case 61:
        return fixed(1);  // timing advance
      case 62:
        return fixed(6);  // UE contention resolution identity
      default:
        return {};
    }
  }
  switch (lcid) {
    case kLcidUlCcch:
      return {Kind::kSdu, Sizing::kFixed, 6};
    case 53:
      return fixed(2);  // recommended bit rate query
    case 54:
      return variable;  // multiple entry PHR, four-octet Ci
    case 55:
      return fixed(0);  // configured grant confirmation
    case 56:
      return variable;  // multiple entry PHR, one-octet Ci
    case 57:
      return fixed(2);  // single entry PHR
    case 58:
      return fixed(2);  // C-RNTI
    case 59:
      return fixed(1);  // short truncated BSR
    case 60:
      return variable;  // long truncated BSR
    case 61:
      return fixed(1);  // short BSR
    case 62:
      return variable;  // long BSR
    default:
      return {};
  }
}

struct SubPdu {
  Kind kind = Kind::kPadding;
  std::uint8_t subheader_bytes = 0;
  std::uint32_t lcid = 0;  // 0..63, or 320 and up for extended ones
  Octets payload;
};

// Walks a transport block: `SubPdu s; for (Cursor c(tb, direction); c.next(s);) ...`. Then reason() says whether the
// block ended correctly. An LCID of unknown size ends the walk, and the rest of the block is dropped (TS 38.321 5.13).
class Cursor {
 public:
  SPLITPLANE_HD constexpr Cursor(Octets transport_block, Direction direction)
      : rest_(transport_block),
        direction_(direction),
        reason_(transport_block.empty() ? Reason::mac_empty : Reason::ok) {}

  SPLITPLANE_HD constexpr bool next(SubPdu& s) {
    if (rest_.empty() || reason_ != Reason::ok) return false;
    const std::uint8_t* p = rest_.data();
    const auto lcid = static_cast<std::uint8_t>(p[0] & 0x3F);
    const LcidFormat format = format_of(direction_, lcid);
    std::size_t header = 1;
    std::size_t bytes = format.fixed_bytes;
    std::uint32_t channel = lcid;
    switch (format.sizing) {
      case Sizing::kUnknown:
        return stop(lcid == kLcidOneOctetElcid ? Reason::mac_elcid_unknown : Reason::mac_lcid_unknown);
      case Sizing::kRest:
        bytes = rest_.size() - 1;
        break;
      case Sizing::kFixed:
        break;
      case Sizing::kLengthField: {
        const bool extended = lcid == kLcidTwoOctetElcid;
        const bool long_length = (p[0] & 0x40) != 0;
        const std::size_t length_at = extended ? 3 : 1;
        header = length_at + (long_length ? 2 : 1);
        if (rest_.size() < header) return stop(Reason::mac_truncated);
        if (extended) channel = kFirstExtendedLcid + load_be16(p + 1);
        bytes = long_length ? load_be16(p + length_at) : p[length_at];
        break;
      }
    }
    if (bytes > rest_.size() - header) return stop(Reason::mac_bad_length);
    s.kind = format.kind;
    s.subheader_bytes = static_cast<std::uint8_t>(header);
    s.lcid = channel;
    s.payload = rest_.subspan(header, bytes);
    rest_ = rest_.subspan(header + bytes);
    return true;
  }

  [[nodiscard]] SPLITPLANE_HD constexpr Reason reason() const { return reason_; }
  // Octets that were not walked; empty unless the cursor refused the block.
  [[nodiscard]] SPLITPLANE_HD constexpr Octets rest() const { return rest_; }

 private:
  SPLITPLANE_HD constexpr bool stop(Reason reason) {
    reason_ = reason;
    return false;
  }

  Octets rest_;
  Direction direction_;
  Reason reason_;
};

// Octets of a subheader with L: 2, or 3 above 255 payload octets.
[[nodiscard]] SPLITPLANE_HD constexpr std::size_t subheader_bytes(std::size_t payload_bytes) {
  return payload_bytes > 0xFF ? 3 : 2;
}

// Writes a subheader with L, for SDUs and variable CEs. Returns 0 if it does not fit, L exceeds 65535, or the LCID
// carries no L.
SPLITPLANE_HD constexpr std::size_t write_subheader(MutableOctets out, Direction direction, std::uint8_t lcid,
                                                    std::size_t payload_bytes) {
  const std::size_t bytes = subheader_bytes(payload_bytes);
  if (lcid == kLcidTwoOctetElcid || format_of(direction, lcid).sizing != Sizing::kLengthField) return 0;
  if (payload_bytes > 0xFFFF || out.size() < bytes) return 0;
  out[0] = static_cast<std::uint8_t>((bytes == 3 ? 0x40 : 0) | lcid);
  if (bytes == 3) {
    store_be16(out.data() + 1, static_cast<std::uint32_t>(payload_bytes));
  } else {
    out[1] = static_cast<std::uint8_t>(payload_bytes);
  }
  return bytes;
}

// Writes the subheader of an SDU on logical channel 320..65855 (LCID 33 and a 2-octet eLCID). Returns 4 or 5 octets, or
// 0 if that is not possible.
SPLITPLANE_HD constexpr std::size_t write_extended_subheader(MutableOctets out, std::uint32_t channel,
                                                             std::size_t payload_bytes) {
  const std::size_t bytes = subheader_bytes(payload_bytes) + 2;
  if (channel < kFirstExtendedLcid || channel - kFirstExtendedLcid > 0xFFFF) return 0;
  if (payload_bytes > 0xFFFF || out.size() < bytes) return 0;
  out[0] = static_cast<std::uint8_t>((bytes == 5 ? 0x40 : 0) | kLcidTwoOctetElcid);
  store_be16(out.data() + 1, channel - kFirstExtendedLcid);
  if (bytes == 5) {
    store_be16(out.data() + 3, static_cast<std::uint32_t>(payload_bytes));
  } else {
    out[3] = static_cast<std::uint8_t>(payload_bytes);
  }
  return bytes;
}

// Octets of the subheader of an SDU of logical channel `channel`, 0..32 or 320..65855.
[[nodiscard]] SPLITPLANE_HD constexpr std::size_t sdu_subheader_bytes(std::uint32_t channel,
                                                                      std::size_t payload_bytes) {
  return subheader_bytes(payload_bytes) + (channel < kFirstExtendedLcid ? 0 : 2);
}

// The longest payload of an SDU whose subPDU fits into `room` octets; 0 if not even one octet fits. With 258 octets of
// room it is 255, because L of 256 needs a third octet; an octet of padding is left then.
[[nodiscard]] SPLITPLANE_HD constexpr std::size_t most_sdu_bytes(std::uint32_t channel, std::size_t room) {
  const std::size_t extra = channel < kFirstExtendedLcid ? 0 : 2;
  if (room < 3 + extra) return 0;
  const std::size_t rest = room - extra;
  if (rest <= 0xFF + 2) return rest - 2;
  if (rest == 0xFF + 3) return 0xFF;
  return rest - 3 < 0xFFFF ? rest - 3 : 0xFFFF;
}

// Writes the subheader of an SDU without a check: for a caller that has checked the channel, L and the room before.
// Returns where the payload begins.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint8_t* put_sdu_subheader(std::uint8_t* out, std::uint32_t channel,
                                                                      std::size_t payload_bytes) {
  const bool long_length = payload_bytes > 0xFF;
  const unsigned f = long_length ? 0x40 : 0;
  if (channel < kFirstExtendedLcid) {
    *out++ = static_cast<std::uint8_t>(f | channel);
  } else {
    *out++ = static_cast<std::uint8_t>(f | kLcidTwoOctetElcid);
    store_be16(out, channel - kFirstExtendedLcid);
    out += 2;
  }
  if (long_length) {
    store_be16(out, static_cast<std::uint32_t>(payload_bytes));
    return out + 2;
  }
  *out = static_cast<std::uint8_t>(payload_bytes);
  return out + 1;
}

// Writes a one-octet subheader, for fixed-size CEs and UL CCCH. Returns 0 if it does not fit or the LCID is none of
// these.
SPLITPLANE_HD constexpr std::size_t write_fixed_subheader(MutableOctets out, Direction direction, std::uint8_t lcid) {
  if (out.empty() || format_of(direction, lcid).sizing != Sizing::kFixed) return 0;
  out[0] = lcid;
  return 1;
}

// Fills the rest of a transport block with padding. Returns the octets written; 0 if the rest is empty, which needs no
// padding.
SPLITPLANE_HD constexpr std::size_t write_padding(MutableOctets rest) {
  if (rest.empty()) return 0;
  rest[0] = kLcidPadding;
  fill_zero(rest.data() + 1, rest.size() - 1);
  return rest.size();
}

}  // namespace splitplane::wire::mac
