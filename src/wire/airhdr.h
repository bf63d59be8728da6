// The header of this project's header-mode air link: 10 octets between Ethernet (EtherType 0x88B5) and the RLC PDU.
// docs/design/architecture.md and the P4 programs use the same layout.
//
//   o0 version(4)=2 kind(4)=0 RLC PDU
//   o1 direction(1: DL) RLC mode(2: 0 TM 1 UM 2 AM) RLC SN length(2: 0 none 1 6 2 12 3 18) PDCP SN length(1: 0 12 1 18)
//      SDAP header present(1) reserved(1)
//   o2 reserved, sent as 0, ignored on receipt | o3 epoch: changes with each re-establishment of RLC and change of
//   keys; 0 before the first of a bearer with neither retransmission nor keys | o4-7 bearer id
//   o8-9 octets of the RLC PDU. A link pads short frames, and hardware may not know where a frame ends when it reads
//   the headers. So the PDU ends here, and not where the frame ends.
// Kinds 1 and 2 are no air frames: the host returns an SDU to the card that numbers it (returns/returned_frame.h), and
// a card tells its host that all frames before this one were sent before a change (returns/fence_frame.h).
#pragma once

#include "base/types.h"
#include "wire/bytes.h"
#include "wire/ethernet.h"
#include "wire/result.h"

namespace splitplane::wire::airhdr {

inline constexpr std::uint16_t kEtherType = ethernet::kTypeAirhdr;
inline constexpr std::size_t kHeaderBytes = 10;
inline constexpr std::size_t kLengthOffset = 8;
inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::uint8_t kKindRlcPdu = 0;
inline constexpr std::uint8_t kKindReturned = 1;
inline constexpr std::uint8_t kKindFence = 2;

struct Header {
  Direction direction = Direction::kUplink;
  RlcMode rlc_mode = RlcMode::kAm;
  std::uint8_t rlc_sn_bits = 18;   // AM 12 or 18, UM 6 or 12, TM 0
  std::uint8_t pdcp_sn_bits = 18;  // 12 or 18
  bool sdap_header = true;
  std::uint8_t epoch = 0;  // changes with each RLC re-establishment
  BearerId bearer{};
  std::uint16_t pdu_bytes = 0;  // of the RLC PDU, which lies behind this header
};

// The SN lengths of TS 38.322 6.2.2.
[[nodiscard]] SPLITPLANE_HD constexpr bool mode_has_sn_bits(RlcMode mode, unsigned sn_bits) {
  switch (mode) {
    case RlcMode::kTm:
      return sn_bits == 0;
    case RlcMode::kUm:
      return sn_bits == 6 || sn_bits == 12;
    case RlcMode::kAm:
      return sn_bits == 12 || sn_bits == 18;
  }
  return false;
}

// `in` begins with the header and ends with the frame, or `missing` octets before, which a capture left out. Returns a
// header whose PDU ends within the frame.
[[nodiscard]] SPLITPLANE_HD constexpr Result<Header> parse(Octets in, std::size_t missing = 0) {
  if (in.size() < kHeaderBytes) return refuse<Header>(Reason::airhdr_truncated);
  const std::uint8_t* p = in.data();
  if ((p[0] >> 4) != kVersion) return refuse<Header>(Reason::airhdr_bad_version);
  if ((p[0] & 0x0F) != kKindRlcPdu) return refuse<Header>(Reason::airhdr_bad_kind);
  const unsigned mode = (p[1] >> 5) & 3U;
  if (mode == 3) return refuse<Header>(Reason::airhdr_bad_rlc_mode);
  Header h;
  h.direction = (p[1] & 0x80) != 0 ? Direction::kDownlink : Direction::kUplink;
  h.rlc_mode = static_cast<RlcMode>(mode);
  h.rlc_sn_bits = static_cast<std::uint8_t>(((p[1] >> 3) & 3U) * 6);
  h.pdcp_sn_bits = (p[1] & 0x04) != 0 ? 18 : 12;
  h.sdap_header = (p[1] & 0x02) != 0;
  h.epoch = p[3];
  h.bearer = BearerId{load_be32(p + 4)};
  h.pdu_bytes = static_cast<std::uint16_t>(load_be16(p + kLengthOffset));
  if (h.pdu_bytes > in.size() - kHeaderBytes + missing) return refuse<Header>(Reason::airhdr_bad_length);
  if (!mode_has_sn_bits(h.rlc_mode, h.rlc_sn_bits)) return refuse<Header>(Reason::airhdr_bad_sn_length);
  return {h};
}

// The RLC PDU of a header that parse() returned for `in`, as far as `in` has it.
[[nodiscard]] SPLITPLANE_HD constexpr Octets pdu_of(const Header& h, Octets in) {
  const std::size_t there = in.size() - kHeaderBytes;
  return in.subspan(kHeaderBytes, h.pdu_bytes < there ? h.pdu_bytes : there);
}

// The first eight octets as one big-endian word. It is constant for a bearer, so a header template can contain it.
[[nodiscard]] SPLITPLANE_HD constexpr std::uint64_t encode(const Header& h) {
  const std::uint32_t o1 = (h.direction == Direction::kDownlink ? 0x80U : 0U) |
                           (static_cast<std::uint32_t>(h.rlc_mode) << 5) | (h.rlc_sn_bits / 6U << 3) |
                           (h.pdcp_sn_bits == 18 ? 0x04U : 0U) | (h.sdap_header ? 0x02U : 0U);
  return (std::uint64_t{(kVersion << 4) | kKindRlcPdu} << 56) | (std::uint64_t{o1} << 48) |
         (std::uint64_t{h.epoch} << 32) | h.bearer.value;
}

// Writes 10 octets. Returns 0 if they do not fit or if the SN lengths are not those of TS 38.322/38.323.
SPLITPLANE_HD constexpr std::size_t write(MutableOctets out, const Header& h) {
  if (out.size() < kHeaderBytes || !mode_has_sn_bits(h.rlc_mode, h.rlc_sn_bits)) return 0;
  if (h.pdcp_sn_bits != 12 && h.pdcp_sn_bits != 18) return 0;
  store_be64(out.data(), encode(h));
  store_be16(out.data() + kLengthOffset, h.pdu_bytes);
  return kHeaderBytes;
}

}  // namespace splitplane::wire::airhdr
