// Cookies of both kinds: what a client must return to prove that it receives what is sent to its address. SipHash-2-4
// (libsodium) under random keys; two keys are live, and one bit of a cookie names its key. No state for a connection.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "guard/cookie/four_tuple.h"

namespace splitplane::guard {

// What a SYN cookie keeps of the client's SYN.
struct CookieOptions {
  std::uint16_t mss = 536;  // rounded down to one of kCookieMss
  // Kept only where the client has timestamps: the low bits of our TSval carry them.
  std::optional<std::uint8_t> window_scale;
  bool sack_permitted = false;
  bool has_timestamps = false;
  bool ecn = false;  // the client asked for ECN (RFC 3168 6.1.1)
};
inline constexpr std::array<std::uint16_t, 8> kCookieMss{216, 536, 1000, 1220, 1360, 1440, 1460, 8940};

class CookieJar {
 public:
  struct Keys {  // as a state file keeps them
    std::array<std::array<std::uint8_t, 16>, 2> key{};
    std::uint32_t generation = 0;  // its lowest bit says which key is the newer
  };
  static Keys random_keys();

  explicit CookieJar(const Keys& keys);
  // A new key in the place of the older one; cookies of the key that was the newer one stay good.
  void rotate();
  [[nodiscard]] const Keys& keys() const;

  // Mode auth: the acknowledgment number of our SYN-ACK, which the client's RST must have as its sequence number.
  [[nodiscard]] std::uint32_t rst_cookie(const FourTuple& tuple) const;
  [[nodiscard]] bool is_rst_cookie(const FourTuple& tuple, std::uint32_t sequence) const;

  // Mode proxy: sequence number and TSval of our SYN-ACK. `clock_ms` is the upper part of TSval.
  struct SynCookie {
    std::uint32_t sequence = 0;
    std::uint32_t ts_value = 0;  // 0 where the client has no timestamps
  };
  [[nodiscard]] SynCookie syn_cookie(const FourTuple& tuple, std::uint32_t client_isn, const CookieOptions& options,
                                     std::uint32_t clock_ms) const;
  // `sequence` is the acknowledgment number of the client's ACK less one; `ts_echo` its TSecr if it has timestamps. The
  // options as the SYN had them, or nothing: forged, or older than both keys. Compared in constant time.
  [[nodiscard]] std::optional<CookieOptions> open(const FourTuple& tuple, std::uint32_t client_isn,
                                                  std::uint32_t sequence, std::optional<std::uint32_t> ts_echo) const;

 private:
  Keys keys_;
};

}  // namespace splitplane::guard
