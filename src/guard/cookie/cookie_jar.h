// Cookies of both kinds: what a client must return to prove that it receives what is sent to its address. SipHash-2-4
// under random keys; two keys are live, and one bit of a cookie names its key. No state for a connection.
//
//   RST cookie  key(1) hash(31)                      of addresses, ports, VLAN
//   SYN cookie  key(1) MSS index(3) hash(28)         of the same, the client's ISN, the MSS index and the options below
//   TSval       clock in ms(22) told scale(4) ECN(1) SACK permitted(1) window scale(4; 15: none)
//
// Each hash is of another domain, so a cookie of one kind is none of the other. The clock is not in the hash: a cookie
// is good until its key is replaced a second time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "guard/cookie/four_tuple.h"
#include "guard/cookie/siphash.h"

namespace splitplane::guard {

// What a SYN cookie keeps of the client's SYN.
struct CookieOptions {
  std::uint16_t mss = 536;  // rounded down to one of kCookieMss; below the first it counts as the first
  // Kept only where the client has timestamps: the low bits of our TSval carry them.
  std::optional<std::uint8_t> window_scale;  // above 14 it counts as 14
  bool sack_permitted = false;
  bool has_timestamps = false;
  bool ecn = false;  // the client asked for ECN (RFC 3168 6.1.1)
  // Of our SYN-ACK, up to 14: what is known of the server may change before the cookie returns.
  std::uint8_t told_scale = 0;

  friend bool operator==(const CookieOptions&, const CookieOptions&) = default;
};
inline constexpr std::array<std::uint16_t, 8> kCookieMss{216, 536, 1000, 1220, 1360, 1440, 1460, 8940};

// Index of the largest of kCookieMss that is at most `mss`, or 0.
[[nodiscard]] constexpr std::uint32_t cookie_mss_index(std::uint16_t mss) {
  std::uint32_t index = 0;
  for (std::size_t i = 1; i < kCookieMss.size(); ++i) index += mss >= kCookieMss[i] ? 1 : 0;
  return index;
}

struct CookieKeys {  // as a state file keeps them
  std::array<SipKey, 2> key{};
  std::uint32_t generation = 0;  // its lowest bit says which key is the newer
};

// `kRstBits` and `kSynBits`: how many bits of the hashes are compared. A test has fewer, so that guesses succeed.
template <unsigned kRstBits, unsigned kSynBits>
class BasicCookieJar {
 public:
  using Keys = CookieKeys;

  static_assert(kRstBits <= 31 && kSynBits <= 28);
  static constexpr unsigned kTimestampBits = 10;
  // How often a random number in the place of a cookie is taken for one: once in 2^bits.
  static constexpr unsigned kRstCookieBits = kRstBits, kSynCookieBits = kSynBits;

  // From the system's generator of random numbers.
  static Keys random_keys();

  explicit BasicCookieJar(const Keys& keys) : keys_(keys) {}
  // A new key in the place of the older one; cookies of the key that was the newer one stay good.
  void rotate();
  [[nodiscard]] const Keys& keys() const { return keys_; }

  // Mode auth: the acknowledgment number of our SYN-ACK, which the client's RST must have as its sequence number.
  [[nodiscard]] std::uint32_t rst_cookie(const FourTuple& tuple) const { return rst_cookie_of(tuple, newest_key()); }
  [[nodiscard]] bool is_rst_cookie(const FourTuple& tuple, std::uint32_t sequence) const {
    return are_same_rst_cookies(rst_cookie_of(tuple, key_named_by(sequence)), sequence);
  }
  // In constant time: one word, without a branch.
  [[nodiscard]] static bool are_same_rst_cookies(std::uint32_t one, std::uint32_t other) {
    return ((one ^ other) & (kRstMask | 1U << 31)) == 0;
  }

  // RST cookies of many connections, which take much less time together. `key` is newest_key(), or what a client's
  // number names.
  struct RstAsk {
    const FourTuple* tuple = nullptr;
    std::uint32_t key = 0;
    std::uint32_t* cookie = nullptr;
  };
  static constexpr unsigned kAsksAtOnce = 8;
  // All of the same IP version.
  template <bool kV6>
  void make_rst_cookies(std::span<const RstAsk, kAsksAtOnce> asks, unsigned count) const {
    SipLanes<kV6 ? 5 : 2> lanes;
    for (unsigned i = 0; i < count; ++i) lanes.set(i, keys_.key[asks[i].key], rst_words<kV6>(*asks[i].tuple));
    const auto hashes = lanes.hashes();
    for (unsigned i = 0; i < count; ++i)
      *asks[i].cookie = with_key(asks[i].key, static_cast<std::uint32_t>(hashes[i]) & kRstMask);
  }
  [[nodiscard]] std::uint32_t newest_key() const { return keys_.generation & 1; }
  [[nodiscard]] static std::uint32_t key_named_by(std::uint32_t cookie) { return cookie >> 31; }

  // Mode proxy: sequence number and TSval of our SYN-ACK. `clock_ms` is the upper part of TSval: TSval is the latest
  // that is not after it and has the options in its low bits. So it never goes back by more than 1023 ms.
  struct SynCookie {
    std::uint32_t sequence = 0;
    std::uint32_t ts_value = 0;  // 0 where the client has no timestamps
  };
  [[nodiscard]] SynCookie syn_cookie(const FourTuple& tuple, std::uint32_t client_isn, const CookieOptions& options,
                                     std::uint32_t clock_ms) const {
    const std::uint32_t bits = timestamp_bits(options);
    const std::uint32_t mss = cookie_mss_index(options.mss);
    const std::uint32_t carried = bits | (options.has_timestamps ? kHasTimestamps : 0);
    SynCookie cookie;
    cookie.sequence = with_key(newest_key(), mss << 28 | syn_hash(tuple, client_isn, mss, carried, newest_key()));
    if (options.has_timestamps) cookie.ts_value = clock_ms - ((clock_ms - bits) & kTimestampMask);
    return cookie;
  }
  // `sequence` is the acknowledgment number of the client's ACK less one; `ts_echo` its TSecr if it has timestamps. The
  // options as the SYN had them, or nothing: forged, or older than both keys. Compared in constant time: one word,
  // without a branch before its result.
  [[nodiscard]] std::optional<CookieOptions> open(const FourTuple& tuple, std::uint32_t client_isn,
                                                  std::uint32_t sequence, std::optional<std::uint32_t> ts_echo) const {
    const std::uint32_t bits = ts_echo ? *ts_echo & kTimestampMask : kNoScale;
    const std::uint32_t mss = sequence >> 28 & 7;
    const std::uint32_t carried = bits | (ts_echo ? kHasTimestamps : 0);
    if (((syn_hash(tuple, client_isn, mss, carried, sequence >> 31) ^ sequence) & kSynMask) != 0) return std::nullopt;
    CookieOptions options;
    options.mss = kCookieMss[mss];
    options.has_timestamps = ts_echo.has_value();
    if ((bits & 15) != kNoScale) options.window_scale = static_cast<std::uint8_t>(bits & 15);
    options.sack_permitted = (bits & kSack) != 0;
    options.ecn = (bits & kEcn) != 0;
    options.told_scale = static_cast<std::uint8_t>(bits >> kToldScaleAt);
    return options;
  }

 private:
  static constexpr std::uint32_t kRstMask = (1U << kRstBits) - 1, kSynMask = (1U << kSynBits) - 1;
  static constexpr std::uint32_t kTimestampMask = (1U << kTimestampBits) - 1;
  static constexpr std::uint32_t kNoScale = 15, kSack = 16, kEcn = 32, kHasTimestamps = 1 << kTimestampBits;
  static constexpr unsigned kToldScaleAt = 6;
  static constexpr std::uint64_t kRstDomain = 1, kSynDomain = 2, kV6Domain = 128;

  [[nodiscard]] static std::uint32_t with_key(std::uint32_t key, std::uint32_t rest) { return key << 31 | rest; }
  [[nodiscard]] static std::uint32_t timestamp_bits(const CookieOptions& options) {
    if (!options.has_timestamps) return kNoScale;
    const std::uint32_t scale = options.window_scale ? std::min<std::uint32_t>(*options.window_scale, 14) : kNoScale;
    const std::uint32_t told = std::min<std::uint32_t>(options.told_scale, 14) << kToldScaleAt;
    return scale | (options.sack_permitted ? kSack : 0) | (options.ecn ? kEcn : 0) | told;
  }

  // Octets of the message: addresses (4 or 16 each), ports, [ISN,] VLAN, domain [, MSS index, options]. Numbers in the
  // machine's order, since no other machine reads a cookie.
  [[nodiscard]] std::uint32_t rst_cookie_of(const FourTuple& t, std::uint32_t key) const {
    const SipKey& with = keys_.key[key];
    const std::uint64_t hash =
        t.is_v6 != 0 ? siphash24(with, rst_words<true>(t)) : siphash24(with, rst_words<false>(t));
    return with_key(key, static_cast<std::uint32_t>(hash) & kRstMask);
  }
  [[nodiscard]] std::uint32_t syn_hash(const FourTuple& t, std::uint32_t isn, std::uint32_t mss, std::uint32_t carried,
                                       std::uint32_t key) const {
    const SipKey& with = keys_.key[key];
    const std::uint64_t hash = t.is_v6 != 0 ? siphash24(with, syn_words<true>(t, isn, mss, carried))
                                            : siphash24(with, syn_words<false>(t, isn, mss, carried));
    return static_cast<std::uint32_t>(hash) & kSynMask;
  }
  template <bool kV6>
  [[nodiscard]] static std::array<std::uint64_t, kV6 ? 5 : 2> rst_words(const FourTuple& t) {
    std::array<std::uint64_t, kV6 ? 5 : 2> words;
    put_addresses<kV6>(words, t);
    const std::uint64_t domain = kRstDomain | (kV6 ? kV6Domain : 0), bytes = kV6 ? 39 : 15;
    words.back() = ports(t) | std::uint64_t{t.vlan} << 32 | domain << 48 | bytes << 56;
    return words;
  }
  template <bool kV6>
  [[nodiscard]] static std::array<std::uint64_t, kV6 ? 6 : 3> syn_words(const FourTuple& t, std::uint32_t isn,
                                                                        std::uint32_t mss, std::uint32_t carried) {
    std::array<std::uint64_t, kV6 ? 6 : 3> words;
    put_addresses<kV6>(words, t);
    const std::uint64_t domain = kSynDomain | (kV6 ? kV6Domain : 0), bytes = kV6 ? 46 : 22;
    words[words.size() - 2] = ports(t) | std::uint64_t{isn} << 32;
    words.back() =
        std::uint64_t{t.vlan} | domain << 16 | std::uint64_t{mss} << 24 | std::uint64_t{carried} << 32 | bytes << 56;
    return words;
  }
  template <bool kV6>
  static void put_addresses(std::span<std::uint64_t> words, const FourTuple& t) {
    if constexpr (kV6) {
      std::memcpy(words.data(), t.client.data(), 16);
      std::memcpy(words.data() + 2, t.server.data(), 16);
    } else {
      std::uint32_t client, server;
      std::memcpy(&client, t.client.data(), 4);
      std::memcpy(&server, t.server.data(), 4);
      words[0] = client | std::uint64_t{server} << 32;
    }
  }
  [[nodiscard]] static std::uint64_t ports(const FourTuple& t) {
    return std::uint64_t{t.client_port} | std::uint64_t{t.server_port} << 16;
  }

  Keys keys_;
};

using CookieJar = BasicCookieJar<31, 28>;
// For tests of the odds of guessing.
using NarrowCookieJar = BasicCookieJar<16, 16>;

extern template class BasicCookieJar<31, 28>;
extern template class BasicCookieJar<16, 16>;

}  // namespace splitplane::guard
