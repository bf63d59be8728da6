// AES-128 (FIPS 197) as host-and-device code, for the function pdcp-nea2. One table of 1 KiB serves all rounds, so a
// kernel can keep it in shared memory. The other three tables are its rotations; the S-box is one of its octets.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "wire/bytes.h"

namespace splitplane::gpu {

struct AesTable {
  std::uint32_t column[256];  // MixColumns of SubBytes: 2S, S, S, 3S from the highest octet down (FIPS 197 5.1.3)

  [[nodiscard]] SPLITPLANE_HD constexpr std::uint32_t sbox(std::uint32_t octet) const {
    return column[octet & 0xFF] >> 8 & 0xFF;
  }
};

namespace detail {

SPLITPLANE_HD constexpr std::uint32_t rotate_right(std::uint32_t v, unsigned bits) {
  return v >> bits | v << (32 - bits);
}
SPLITPLANE_HD constexpr std::uint32_t doubled(std::uint32_t v) {  // in GF(2^8), FIPS 197 4.2.1
  return (v << 1 ^ (v & 0x80 ? 0x11BU : 0U)) & 0xFF;
}

// The S-box by its definition (FIPS 197 5.1.1): `p` runs through all powers of 3, `q` through their inverses.
constexpr AesTable make_aes_table() {
  AesTable table{};
  std::uint32_t p = 1, q = 1;
  const auto put = [&table](std::uint32_t at, std::uint32_t s) {
    table.column[at] = doubled(s) << 24 | s << 16 | s << 8 | (doubled(s) ^ s);
  };
  do {
    p ^= doubled(p);
    q = (q ^ q << 1) & 0xFF;
    q = (q ^ q << 2) & 0xFF;
    q = (q ^ q << 4) & 0xFF;
    q ^= q & 0x80 ? 0x09U : 0U;
    const std::uint32_t twice = q | q << 8;
    put(p, (q ^ twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4 ^ 0x63) & 0xFF);
  } while (p != 1);
  put(0, 0x63);
  return table;
}

}  // namespace detail

inline constexpr AesTable kAesTable = detail::make_aes_table();

struct Aes128Key {
  std::uint32_t round[44];
};

// Key expansion (FIPS 197 5.2), which the control path does once per key.
[[nodiscard]] SPLITPLANE_HD constexpr Aes128Key expand_key(const AesTable& table, const std::uint8_t* key) {
  Aes128Key out{};
  for (unsigned i = 0; i < 4; ++i) out.round[i] = wire::load_be32(key + 4 * i);
  std::uint32_t rcon = 1;
  for (unsigned i = 4; i < 44; ++i) {
    std::uint32_t word = out.round[i - 1];
    if (i % 4 == 0) {
      const std::uint32_t r = detail::rotate_right(word, 24);
      word = table.sbox(r >> 24) << 24 | table.sbox(r >> 16) << 16 | table.sbox(r >> 8) << 8 | table.sbox(r);
      word ^= rcon << 24;
      rcon = detail::doubled(rcon);
    }
    out.round[i] = out.round[i - 4] ^ word;
  }
  return out;
}

struct AesBlock {
  std::uint32_t word[4];  // columns, first octet highest
};

// The cipher (FIPS 197 5.1) on one block.
[[nodiscard]] SPLITPLANE_HD constexpr AesBlock encrypt(const AesTable& table, const Aes128Key& key, AesBlock in) {
  const std::uint32_t* k = key.round;
  std::uint32_t a = in.word[0] ^ k[0], b = in.word[1] ^ k[1], c = in.word[2] ^ k[2], d = in.word[3] ^ k[3];
  const auto column = [&table](std::uint32_t w, std::uint32_t x, std::uint32_t y, std::uint32_t z,
                               std::uint32_t round) {
    return table.column[w >> 24] ^ detail::rotate_right(table.column[x >> 16 & 0xFF], 8) ^
           detail::rotate_right(table.column[y >> 8 & 0xFF], 16) ^ detail::rotate_right(table.column[z & 0xFF], 24) ^
           round;
  };
  for (unsigned r = 1; r < 10; ++r) {
    k += 4;
    const std::uint32_t e = column(a, b, c, d, k[0]), f = column(b, c, d, a, k[1]), g = column(c, d, a, b, k[2]);
    d = column(d, a, b, c, k[3]);
    a = e, b = f, c = g;
  }
  const auto last = [&table](std::uint32_t w, std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t round) {
    return (table.sbox(w >> 24) << 24 | table.sbox(x >> 16) << 16 | table.sbox(y >> 8) << 8 | table.sbox(z)) ^ round;
  };
  return {{last(a, b, c, d, k[4]), last(b, c, d, a, k[5]), last(c, d, a, b, k[6]), last(d, a, b, c, k[7])}};
}

}  // namespace splitplane::gpu
