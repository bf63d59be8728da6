// The hash that says where a key lies in a table of the guard. It is keyed: without the secret, and without seeing a
// hash, an attacker cannot choose keys that meet in one bucket. Tables compare keys in full, so a collision is a matter
// of room only.
//
// With AES instructions it is AES reduced to four rounds for each block, and two more for the sum of blocks. Two rounds
// alone would not do: 2^16 inputs that differ in two octets of one diagonal leave them with 2^8 values in a column.
// Elsewhere it is SipHash-1-3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AES__)
#include <immintrin.h>
#endif

#include "guard/cookie/four_tuple.h"

namespace splitplane::guard {

class KeyedHash {
 public:
#if defined(__AES__)
  static constexpr std::uint32_t kKind = 1;  // what a state file names: tables of another kind do not fit
#else
  static constexpr std::uint32_t kKind = 2;
#endif

  explicit KeyedHash(std::uint64_t secret);

  [[nodiscard]] std::uint64_t of(std::uint64_t key) const {
#if defined(__AES__)
    return low(finish(rounds(_mm_set_epi64x(0, static_cast<long long>(key)), 0)));
#else
    return sip({key});
#endif
  }

  // Of addresses, ports, VLAN and family; not of `spare`.
  [[nodiscard]] std::uint64_t of(const FourTuple& tuple) const {
    static_assert(offsetof(FourTuple, client_port) == 32 && offsetof(FourTuple, is_v6) == 38);
    std::uint64_t rest = 0;  // ports, VLAN, family
    std::memcpy(&rest, reinterpret_cast<const std::uint8_t*>(&tuple) + 32, sizeof rest);
    rest &= 0x00FFFFFFFFFFFFFFULL;
#if defined(__AES__)
    if (tuple.is_v6 == 0) {  // all of it in one block and 56 bits of another
      std::uint32_t client = 0, server = 0;
      std::memcpy(&client, tuple.client.data(), sizeof client);
      std::memcpy(&server, tuple.server.data(), sizeof server);
      const std::uint64_t addresses = std::uint64_t{client} << 32 | server;
      return low(finish(rounds(_mm_set_epi64x(static_cast<long long>(rest), static_cast<long long>(addresses)), 1)));
    }
    const __m128i a = rounds(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tuple.client.data())), 2);
    const __m128i b = rounds(_mm_loadu_si128(reinterpret_cast<const __m128i*>(tuple.server.data())), 3);
    const __m128i c = rounds(_mm_set_epi64x(0, static_cast<long long>(rest)), 4);
    return low(finish(_mm_xor_si128(_mm_xor_si128(a, b), c)));
#else
    std::array<std::uint64_t, 5> words{};
    std::memcpy(words.data(), tuple.client.data(), 32);
    words[4] = rest;
    return sip(words);
#endif
  }

 private:
#if defined(__AES__)
  static constexpr std::size_t kDomains = 5;  // a whitening key for each place of a block
  [[nodiscard]] __m128i round_key(std::size_t n) const {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(keys_.data() + 2 * n));
  }
  [[nodiscard]] __m128i rounds(__m128i block, std::size_t domain) const {
    block = _mm_xor_si128(block, round_key(domain));
    block = _mm_aesenc_si128(block, round_key(kDomains));
    block = _mm_aesenc_si128(block, round_key(kDomains + 1));
    block = _mm_aesenc_si128(block, round_key(kDomains + 2));
    return _mm_aesenc_si128(block, round_key(domain));
  }
  [[nodiscard]] __m128i finish(__m128i sum) const {
    return _mm_aesenc_si128(_mm_aesenc_si128(sum, round_key(kDomains + 3)), round_key(kDomains + 4));
  }
  [[nodiscard]] static std::uint64_t low(__m128i block) { return static_cast<std::uint64_t>(_mm_cvtsi128_si64(block)); }
  alignas(16) std::array<std::uint64_t, 2 * (kDomains + 5)> keys_{};
#else
  template <std::size_t n>
  [[nodiscard]] std::uint64_t sip(const std::array<std::uint64_t, n>& words) const {
    std::uint64_t v0 = keys_[0] ^ 0x736f6d6570736575ULL, v1 = keys_[1] ^ 0x646f72616e646f6dULL;
    std::uint64_t v2 = keys_[0] ^ 0x6c7967656e657261ULL, v3 = keys_[1] ^ 0x7465646279746573ULL;
    const auto rotate = [](std::uint64_t x, int by) { return x << by | x >> (64 - by); };
    const auto round = [&] {
      v0 += v1, v1 = rotate(v1, 13) ^ v0, v0 = rotate(v0, 32);
      v2 += v3, v3 = rotate(v3, 16) ^ v2;
      v0 += v3, v3 = rotate(v3, 21) ^ v0;
      v2 += v1, v1 = rotate(v1, 17) ^ v2, v2 = rotate(v2, 32);
    };
    for (const std::uint64_t word : words) {
      v3 ^= word;
      round();
      v0 ^= word;
    }
    v3 ^= std::uint64_t{8 * n} << 56;
    round();
    v0 ^= std::uint64_t{8 * n} << 56;
    v2 ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
  [[nodiscard]] std::uint64_t sip(std::array<std::uint64_t, 1> word) const { return sip<1>(word); }
  std::array<std::uint64_t, 2> keys_{};
#endif
};

}  // namespace splitplane::guard
