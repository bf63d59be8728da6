// Options of TCP: kind(1), and for kinds above 1 length(1) with both octets included, then data (RFC 9293 3.2).
//
//   MSS              2  4 | MSS(2)                   SACK             5  2+8n | n blocks: left edge(4) right edge(4)
//   window scale     3  3 | shift(1)                 timestamps       8 10    | TSval(4) TSecr(4)
//   SACK permitted   4  2                            fast open       34  2..  | cookie(0, 4..16)
//   (RFC 9293 3.7.1, RFC 7323 2.2, RFC 2018 2 and 3, RFC 7323 3.2, RFC 7413 4.1.1)
#pragma once

#include <optional>

#include "wire/tcp.h"

namespace splitplane::wire::tcp {

inline constexpr std::uint8_t kOptionEnd = 0;
inline constexpr std::uint8_t kOptionNop = 1;
inline constexpr std::uint8_t kOptionMss = 2;
inline constexpr std::uint8_t kOptionWindowScale = 3;
inline constexpr std::uint8_t kOptionSackPermitted = 4;
inline constexpr std::uint8_t kOptionSack = 5;
inline constexpr std::uint8_t kOptionTimestamps = 8;
inline constexpr std::uint8_t kOptionFastOpen = 34;
inline constexpr std::uint8_t kMaxWindowScale = 14;  // RFC 7323 2.3
inline constexpr unsigned kMaxSackBlocks = 4;
inline constexpr std::size_t kMaxSynOptionBytes = 20;  // of write_syn_options()

// One option that is neither end nor NOP.
struct Option {
  std::uint8_t kind = 0;
  std::uint8_t data_at = 0;  // from the TCP header
  std::uint8_t data_bytes = 0;
};

// Walks the options of a segment whose header parse() accepted, up to the end option or the header's end. It refuses an
// option with a length below 2 or beyond the header, or wrong for its kind; what came before it has been returned.
class OptionCursor {
 public:
  SPLITPLANE_HD constexpr OptionCursor(Octets segment, const Header& h) : p_(segment.data()), end_(h.header_bytes) {}

  // False at the end of the options, and where reason() is not ok.
  [[nodiscard]] SPLITPLANE_HD constexpr bool next(Option& option) {
    while (at_ < end_ && p_[at_] == kOptionNop) ++at_;
    if (at_ >= end_ || p_[at_] == kOptionEnd) return false;
    const unsigned left = end_ - at_;
    const unsigned length = left < 2 ? 0 : p_[at_ + 1];
    if (length < 2 || length > left || !length_fits(p_[at_], length)) {
      reason_ = Reason::tcp_bad_option;
      end_ = at_;
      return false;
    }
    option.kind = p_[at_];
    option.data_at = static_cast<std::uint8_t>(at_ + 2);
    option.data_bytes = static_cast<std::uint8_t>(length - 2);
    at_ += length;
    return true;
  }
  [[nodiscard]] SPLITPLANE_HD constexpr Reason reason() const { return reason_; }

 private:
  [[nodiscard]] SPLITPLANE_HD static constexpr bool length_fits(std::uint8_t kind, unsigned length) {
    switch (kind) {
      case kOptionMss:
        return length == 4;
      case kOptionWindowScale:
        return length == 3;
      case kOptionSackPermitted:
        return length == 2;
      case kOptionSack:
        return length >= 10 && length <= 2 + 8 * kMaxSackBlocks && (length - 2) % 8 == 0;
      case kOptionTimestamps:
        return length == 10;
      default:
        return true;
    }
  }

  const std::uint8_t* p_;
  unsigned at_ = kMinHeaderBytes;
  unsigned end_;
  Reason reason_ = Reason::ok;
};

// What a SYN or SYN-ACK says of its sender.
struct SynOptions {
  std::uint16_t mss = 0;                     // 0: absent
  std::optional<std::uint8_t> window_scale;  // above 14 it counts as 14
  bool sack_permitted = false;
  bool has_timestamps = false;
  std::uint32_t ts_value = 0, ts_echo = 0;
  bool has_fast_open = false;
};

// Where the options are that change when sequence numbers are translated, in octets from the TCP header; 0: absent.
struct OptionPlaces {
  std::uint8_t timestamps = 0;  // of TSval; TSecr is 4 behind
  std::uint8_t sack = 0;        // of the first block; each has 8 octets
  std::uint8_t sack_blocks = 0;
};

// `segment` begins with a header that parse() accepted. Refused with what OptionCursor refuses. An unknown kind is
// skipped. The first option of a kind counts.
[[nodiscard]] constexpr Result<SynOptions> parse_syn_options(Octets segment, const Header& h) {
  Result<SynOptions> result;
  SynOptions& found = result.value;
  const std::uint8_t* const p = segment.data();
  // All that a Linux SYN has, in its order.
  if (h.header_bytes == kMinHeaderBytes + kMaxSynOptionBytes && load_be16(p + 20) == (kOptionMss << 8 | 4) &&
      load_be32(p + 24) == 0x0402080A && (load_be32(p + 36) >> 8) == 0x010303) {
    found.mss = load_be16(p + 22);
    found.window_scale = p[39] > kMaxWindowScale ? kMaxWindowScale : p[39];
    found.sack_permitted = true;
    found.has_timestamps = true;
    found.ts_value = load_be32(p + 28);
    found.ts_echo = load_be32(p + 32);
    return result;
  }
  OptionCursor cursor(segment, h);
  Option o;
  while (cursor.next(o)) {
    const std::uint8_t* data = segment.data() + o.data_at;
    switch (o.kind) {
      case kOptionMss:
        if (found.mss == 0) found.mss = load_be16(data);
        break;
      case kOptionWindowScale:
        if (!found.window_scale) found.window_scale = *data > kMaxWindowScale ? kMaxWindowScale : *data;
        break;
      case kOptionSackPermitted:
        found.sack_permitted = true;
        break;
      case kOptionTimestamps:
        if (found.has_timestamps) break;
        found.has_timestamps = true;
        found.ts_value = load_be32(data);
        found.ts_echo = load_be32(data + 4);
        break;
      case kOptionFastOpen:
        found.has_fast_open = true;
        break;
      default:
        break;
    }
  }
  if (cursor.reason() != Reason::ok) return refuse<SynOptions>(cursor.reason());
  return result;
}

[[nodiscard]] SPLITPLANE_HD constexpr Result<OptionPlaces> find_options(Octets segment, const Header& h) {
  OptionPlaces found;
  if (h.header_bytes == kMinHeaderBytes) return {found};
  // NOP, NOP, timestamps: what nearly every segment of a connection with timestamps has (RFC 7323 appendix A).
  if (h.header_bytes == kMinHeaderBytes + 12 && load_be32(segment.data() + kMinHeaderBytes) == 0x0101080A) {
    found.timestamps = kMinHeaderBytes + 4;
    return {found};
  }
  OptionCursor cursor(segment, h);
  Option o;
  while (cursor.next(o)) {
    if (o.kind == kOptionTimestamps && found.timestamps == 0) {
      found.timestamps = o.data_at;
    } else if (o.kind == kOptionSack && found.sack == 0) {
      found.sack = o.data_at;
      found.sack_blocks = static_cast<std::uint8_t>(o.data_bytes / 8);
    }
  }
  if (cursor.reason() != Reason::ok) return refuse<OptionPlaces>(cursor.reason());
  return {found};
}

// Writes MSS, SACK-permitted, timestamps and window scale in the order and alignment of a Linux SYN, a multiple of 4
// octets. Returns the octets, at most kMaxSynOptionBytes; 0 if they do not fit, or none is present.
constexpr std::size_t write_syn_options(MutableOctets out, const SynOptions& options) {
  const std::size_t bytes = (options.mss != 0 ? 4U : 0U) + (options.has_timestamps ? 12U : 0U) +
                            (options.sack_permitted && !options.has_timestamps ? 4U : 0U) +
                            (options.window_scale ? 4U : 0U);
  if (out.size() < bytes) return 0;
  std::uint8_t* p = out.data();
  if (options.mss != 0) {
    store_be32(p, (std::uint32_t{kOptionMss} << 24) | (4U << 16) | options.mss);
    p += 4;
  }
  if (options.sack_permitted || options.has_timestamps) {
    // SACK-permitted stands where timestamps alone would have two NOPs.
    store_be16(p, options.sack_permitted && options.has_timestamps ? kOptionSackPermitted << 8 | 2
                                                                   : kOptionNop << 8 | kOptionNop);
    store_be16(p + 2, options.has_timestamps ? kOptionTimestamps << 8 | 10 : kOptionSackPermitted << 8 | 2);
    p += 4;
  }
  if (options.has_timestamps) {
    store_be32(p, options.ts_value);
    store_be32(p + 4, options.ts_echo);
    p += 8;
  }
  if (options.window_scale) {
    store_be32(p, 0x01030300U | (*options.window_scale > kMaxWindowScale ? kMaxWindowScale : *options.window_scale));
  }
  return bytes;
}

}  // namespace splitplane::wire::tcp
