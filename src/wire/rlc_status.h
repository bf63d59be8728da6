// RLC AM STATUS PDU (TS 38.322 6.2.2.5): the receiver's report of what arrived. parse_status() checks the whole PDU
// once. NackCursor then walks the NACK blocks in place.
//
//   fixed, 3 octets: D/C=0 CPT(3)=000 ACK_SN(12|18) E1 R(7|1)
//   NACK block:      NACK_SN(12|18) E1 E2 E3 R(1|3)  2 or 3 octets
//                    if E2: SOstart(16) SOend(16) ; if E3: NACK range(8)
//   E1 = 1: one more block follows. SOend 0xFFFF: to the end of the SDU. Nothing follows the last block.
#pragma once

#include "wire/bytes.h"
#include "wire/result.h"

namespace splitplane::wire::rlc {

inline constexpr std::uint16_t kSoEnd = 0xFFFF;
inline constexpr std::size_t kStatusFixedBytes = 3;
inline constexpr std::size_t kMaxNackBytes = 3 + 4 + 1;

// What one NACK block reports as missing. Without SO: whole SDUs sn .. sn+range-1. With SO and range 1: the octets
// so_start..so_end of sn. With SO and a larger range: from so_start of the first SDU to so_end of the last one.
struct Nack {
  std::uint32_t sn = 0;
  bool has_so = false;
  bool has_range = false;
  std::uint8_t range = 1;  // 1..255; 1 without E3
  std::uint16_t so_start = 0;
  std::uint16_t so_end = kSoEnd;
};

struct Status {
  std::uint32_t ack_sn = 0;
  std::uint32_t nack_blocks = 0;
  std::uint8_t sn_bits = 0;
  Octets blocks;  // the NACK blocks
};

[[nodiscard]] SPLITPLANE_HD constexpr std::size_t nack_bytes(unsigned sn_bits, const Nack& n) {
  return (sn_bits == 18 ? 3U : 2U) + (n.has_so ? 4U : 0U) + (n.has_range ? 1U : 0U);
}

namespace detail {

struct Block {
  Nack nack;
  bool more = false;
  std::size_t bytes = 0;  // 0: the block is cut short
};

[[nodiscard]] SPLITPLANE_HD constexpr Block read_block(Octets in, unsigned sn_bits) {
  Block b;
  const std::size_t fixed = sn_bits == 18 ? 3 : 2;
  if (in.size() < fixed) return b;
  const std::uint8_t* p = in.data();
  const std::uint32_t word = sn_bits == 18 ? load_be24(p) : static_cast<std::uint32_t>(load_be16(p)) << 2;
  // Both layouts now have E1 E2 E3 at bits 5..3 of `word`, below the SN.
  b.nack.sn = word >> 6;
  b.more = (word & 0x20) != 0;
  b.nack.has_so = (word & 0x10) != 0;
  b.nack.has_range = (word & 0x08) != 0;
  const std::size_t bytes = nack_bytes(sn_bits, b.nack);
  if (in.size() < bytes) return b;
  if (b.nack.has_so) {
    b.nack.so_start = load_be16(p + fixed);
    b.nack.so_end = load_be16(p + fixed + 2);
  }
  if (b.nack.has_range) b.nack.range = p[bytes - 1];
  b.bytes = bytes;
  return b;
}

}  // namespace detail

// Walks the blocks of a Status that parse_status() accepted: `Nack n; for (NackCursor c(status); c.next(n);) ...`
class NackCursor {
 public:
  SPLITPLANE_HD constexpr explicit NackCursor(const Status& status) : rest_(status.blocks), sn_bits_(status.sn_bits) {}

  SPLITPLANE_HD constexpr bool next(Nack& nack) {
    const detail::Block b = detail::read_block(rest_, sn_bits_);
    if (b.bytes == 0) return false;
    nack = b.nack;
    rest_ = rest_.subspan(b.bytes);
    return true;
  }

 private:
  Octets rest_;
  unsigned sn_bits_;
};

// Checks the form only. The entity checks whether ACK_SN and NACK_SN lie in the window (TS 38.322 5.3.4).
[[nodiscard]] SPLITPLANE_HD constexpr Result<Status> parse_status(Octets in, unsigned sn_bits) {
  if (sn_bits != 12 && sn_bits != 18) return refuse<Status>(Reason::rlc_bad_sn_length);
  if (in.empty()) return refuse<Status>(Reason::rlc_truncated);
  const std::uint8_t* p = in.data();
  if ((p[0] & 0x80) != 0) return refuse<Status>(Reason::rlc_not_control);
  if ((p[0] & 0x70) != 0) return refuse<Status>(Reason::rlc_control_type_unknown);
  if (in.size() < kStatusFixedBytes) return refuse<Status>(Reason::rlc_truncated);
  const std::uint32_t word = load_be24(p);
  Status s;
  s.sn_bits = static_cast<std::uint8_t>(sn_bits);
  s.ack_sn = (word >> (20 - sn_bits)) & ((1U << sn_bits) - 1);
  bool more = ((word >> (19 - sn_bits)) & 1) != 0;
  s.blocks = in.subspan(kStatusFixedBytes);
  Octets rest = s.blocks;
  while (more) {
    const detail::Block b = detail::read_block(rest, sn_bits);
    if (b.bytes == 0) return refuse<Status>(Reason::rlc_status_truncated);
    if (b.nack.range == 0) return refuse<Status>(Reason::rlc_status_bad_range);
    if (b.nack.has_so && b.nack.range == 1 && b.nack.so_end < b.nack.so_start) {
      return refuse<Status>(Reason::rlc_status_bad_segment);
    }
    ++s.nack_blocks;
    more = b.more;
    rest = rest.subspan(b.bytes);
  }
  if (!rest.empty()) return refuse<Status>(Reason::rlc_status_trailing_octets);
  return {s};
}

// Builds a STATUS PDU block by block into a span (the MAC grant). Call add() until it returns that the next block does
// not fit. Then call finish() with the ACK_SN that follows from the reported blocks (TS 38.322 5.3.4).
class StatusWriter {
 public:
  SPLITPLANE_HD constexpr StatusWriter(MutableOctets out, unsigned sn_bits)
      : out_(out), sn_bits_(sn_bits), at_(kStatusFixedBytes) {}

  // Returns false and changes nothing if the block does not fit or a field is out of range.
  SPLITPLANE_HD constexpr bool add(const Nack& n) {
    const std::size_t bytes = nack_bytes(sn_bits_, n);
    if (!sn_bits_valid() || at_ > out_.size() || bytes > out_.size() - at_) return false;
    if ((n.sn >> sn_bits_) != 0 || n.range == 0 || (!n.has_range && n.range != 1)) return false;
    if (n.has_so && n.range == 1 && n.so_end < n.so_start) return false;
    std::uint8_t* p = out_.data() + at_;
    const std::uint32_t flags = (n.has_so ? 0x10U : 0U) | (n.has_range ? 0x08U : 0U);
    if (sn_bits_ == 18) {
      store_be24(p, (n.sn << 6) | flags);
    } else {
      store_be16(p, (n.sn << 4) | (flags >> 2));
    }
    std::uint8_t* field = p + (sn_bits_ == 18 ? 3 : 2);
    if (n.has_so) {
      store_be16(field, n.so_start);
      store_be16(field + 2, n.so_end);
      field += 4;
    }
    if (n.has_range) *field = n.range;
    // Sets E1 of the block before: bit 3 in octet 1 of 2, or bit 5 in octet 2 of 3.
    if (last_ != 0) {
      std::uint8_t& e1 = out_[last_ + (sn_bits_ == 18 ? 2 : 1)];
      e1 = static_cast<std::uint8_t>(e1 | (sn_bits_ == 18 ? 0x20 : 0x08));
    }
    last_ = at_;
    at_ += bytes;
    return true;
  }

  // Makes the last block, which has SO, run to the end of its SDU instead.
  SPLITPLANE_HD constexpr void extend_last_to_end() {
    if (last_ != 0) store_be16(out_.data() + last_ + (sn_bits_ == 18 ? 5 : 4), kSoEnd);
  }

  // Writes the fixed part. Returns the octets of the PDU, or 0 if the span holds fewer than 3 or the SN is beyond its
  // length.
  SPLITPLANE_HD constexpr std::size_t finish(std::uint32_t ack_sn) {
    if (!sn_bits_valid() || out_.size() < kStatusFixedBytes || (ack_sn >> sn_bits_) != 0) return 0;
    store_be24(out_.data(), (ack_sn << (20 - sn_bits_)) | (last_ != 0 ? 1U << (19 - sn_bits_) : 0U));
    return at_;
  }

 private:
  [[nodiscard]] SPLITPLANE_HD constexpr bool sn_bits_valid() const { return sn_bits_ == 12 || sn_bits_ == 18; }

  MutableOctets out_;
  unsigned sn_bits_;
  std::size_t at_;
  std::size_t last_ = 0;  // where the last block begins
};

}  // namespace splitplane::wire::rlc
