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
  [[nodiscard]] std::uint32_t rst_cookie(const FourTuple& tuple) const {
    return with_key(newer(), rst_hash(tuple, newer()));
  }
  // Compared in constant time: one word, without a branch.
  [[nodiscard]] bool is_rst_cookie(const FourTuple& tuple, std::uint32_t sequence) const {
    return ((rst_hash(tuple, sequence >> 31) ^ sequence) & kRstMask) == 0;
  }

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
    cookie.sequence = with_key(newer(), mss << 28 | syn_hash(tuple, client_isn, mss, carried, newer()));
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

  [[nodiscard]] std::uint32_t newer() const { return keys_.generation & 1; }
  [[nodiscard]] static std::uint32_t with_key(std::uint32_t key, std::uint32_t rest) { return key << 31 | rest; }
  [[nodiscard]] static std::uint32_t timestamp_bits(const CookieOptions& options) {
    if (!options.has_timestamps) return kNoScale;
    const std::uint32_t scale = options.window_scale ? std::min<std::uint32_t>(*options.window_scale, 14) : kNoScale;
    const std::uint32_t told = std::min<std::uint32_t>(options.told_scale, 14) << kToldScaleAt;
    return scale | (options.sack_permitted ? kSack : 0) | (options.ecn ? kEcn : 0) | told;
  }

  // Octets of the message: addresses (4 or 16 each), ports, [ISN,] VLAN, domain [, MSS index, options]. Numbers in the
  // machine's order, since no other machine reads a cookie.
  [[nodiscard]] std::uint32_t rst_hash(const FourTuple& t, std::uint32_t key) const {
    const std::uint64_t last = ports(t) | std::uint64_t{t.vlan} << 32 | kRstDomain << 48;
    if (t.is_v6 != 0) return hash_v6<5>(t, key, {last | kV6Domain << 48 | std::uint64_t{39} << 56}) & kRstMask;
    return hash_v4<2>(t, key, {last | std::uint64_t{15} << 56}) & kRstMask;
  }
  [[nodiscard]] std::uint32_t syn_hash(const FourTuple& t, std::uint32_t isn, std::uint32_t mss, std::uint32_t carried,
                                       std::uint32_t key) const {
    const std::uint64_t first = ports(t) | std::uint64_t{isn} << 32;
    const std::uint64_t last =
        std::uint64_t{t.vlan} | kSynDomain << 16 | std::uint64_t{mss} << 24 | std::uint64_t{carried} << 32;
    if (t.is_v6 != 0) return hash_v6<6>(t, key, {first, last | kV6Domain << 16 | std::uint64_t{46} << 56}) & kSynMask;
    return hash_v4<3>(t, key, {first, last | std::uint64_t{22} << 56}) & kSynMask;
  }
  [[nodiscard]] static std::uint64_t ports(const FourTuple& t) {
    return std::uint64_t{t.client_port} | std::uint64_t{t.server_port} << 16;
  }
  template <std::size_t kWords>
  [[nodiscard]] std::uint32_t hash_v4(const FourTuple& t, std::uint32_t key,
                                      const std::array<std::uint64_t, kWords - 1>& rest) const {
    std::uint32_t client;
    std::uint32_t server;
    std::memcpy(&client, t.client.data(), 4);
    std::memcpy(&server, t.server.data(), 4);
    std::array<std::uint64_t, kWords> words{client | std::uint64_t{server} << 32};
    std::copy(rest.begin(), rest.end(), words.begin() + 1);
    return static_cast<std::uint32_t>(siphash24(keys_.key[key], words));
  }
  template <std::size_t kWords>
  [[nodiscard]] std::uint32_t hash_v6(const FourTuple& t, std::uint32_t key,
                                      const std::array<std::uint64_t, kWords - 4>& rest) const {
    std::array<std::uint64_t, kWords> words;
    std::memcpy(words.data(), t.client.data(), 16);
    std::memcpy(words.data() + 2, t.server.data(), 16);
    std::copy(rest.begin(), rest.end(), words.begin() + 4);
    return static_cast<std::uint32_t>(siphash24(keys_.key[key], words));
  }

  Keys keys_;
};

using CookieJar = BasicCookieJar<31, 28>;
// For tests of the odds of guessing.
using NarrowCookieJar = BasicCookieJar<16, 16>;

extern template class BasicCookieJar<31, 28>;
extern template class BasicCookieJar<16, 16>;

}  // namespace splitplane::guard
