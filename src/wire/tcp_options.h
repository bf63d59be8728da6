// Options of TCP: kind(1), and for kinds above 1 length(1) with both octets included, then data (RFC 9293 3.2).
#pragma once

#include <array>
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

// What a SYN or SYN-ACK says of its sender.
struct SynOptions {
  std::uint16_t mss = 0;                   // 0: absent
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

// `segment` begins with a header that parse() accepted. Refusals: an option with a length below 2, behind the header's
// end, or wrong for its kind. An unknown kind is skipped. The first option of a kind counts.
[[nodiscard]] Result<SynOptions> parse_syn_options(Octets segment, const Header& h);
[[nodiscard]] Result<OptionPlaces> find_options(Octets segment, const Header& h);

// Writes MSS, SACK-permitted, timestamps and window scale as a Linux SYN has them, padded by NOPs to a multiple of 4.
// Returns the octets, at most 20; 0 if they do not fit.
[[nodiscard]] std::size_t write_syn_options(MutableOctets out, const SynOptions& options);

}  // namespace splitplane::wire::tcp
