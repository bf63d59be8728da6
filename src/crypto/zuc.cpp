#include "crypto/zuc.h"

#include <string.h>

#include <bit>

namespace splitplane::crypto {
namespace {

using Box = std::array<std::uint8_t, 256>;

// S0 (TS 35.222 3.4.2): three permutations of half octets in three rounds, then a rotation.
constexpr Box make_s0() {
  constexpr std::uint8_t kP1[] = {9, 15, 0, 14, 15, 15, 2, 10, 0, 4, 0, 12, 7, 5, 3, 9};
  constexpr std::uint8_t kP2[] = {8, 13, 6, 5, 7, 0, 12, 4, 11, 1, 14, 10, 15, 3, 9, 2};
  constexpr std::uint8_t kP3[] = {2, 6, 10, 6, 0, 13, 10, 15, 3, 3, 13, 5, 0, 9, 12, 13};
  Box box{};
  for (unsigned x = 0; x < 256; ++x) {
    const unsigned first = (x >> 4) ^ kP1[x & 15];
    const unsigned low = (x & 15) ^ kP2[first];
    const unsigned high = first ^ kP3[low];
    box[x] = std::rotl(static_cast<std::uint8_t>(high << 4 | low), 5);
  }
  return box;
}

constexpr unsigned multiply(unsigned a, unsigned b) {  // in GF(2^8) modulo x^8 + x^7 + x^3 + x + 1
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a = a << 1 ^ (a & 0x80 ? 0x18BU : 0U);
  }
  return product;
}

// S1 (TS 35.222 3.4.2): an affine map of the inverse.
constexpr Box make_s1() {
  constexpr std::uint8_t kColumns[] = {0x97, 0x3E, 0x6D, 0xCB, 0xEE, 0xDD, 0xBB, 0x77};
  Box box{};
  for (unsigned x = 0; x < 256; ++x) {
    unsigned inverse = 1;  // x to the power of 254
    for (unsigned bit = 0; bit < 8; ++bit) {
      inverse = multiply(inverse, inverse);
      if (bit != 7) inverse = multiply(inverse, x);
    }
    unsigned value = 0x55;
    for (unsigned bit = 0; bit < 8; ++bit) value ^= inverse >> bit & 1 ? kColumns[bit] : 0U;
    box[x] = static_cast<std::uint8_t>(value);
  }
  return box;
}

constexpr Box kS0 = make_s0();
constexpr Box kS1 = make_s1();
static_assert(kS0[0] == 0x3E && kS0[1] == 0x72 && kS1[1] == 0xC2 && kS1[255] == 0xF2);

constexpr std::uint32_t kD[] = {0x44D7, 0x26BC, 0x626B, 0x135E, 0x5789, 0x35E2, 0x7135, 0x09AF,
                                0x4D78, 0x2F13, 0x6BC4, 0x1AF1, 0x5E26, 0x3C4D, 0x789A, 0x47AC};

std::uint32_t substitute(std::uint32_t x) {
  return std::uint32_t{kS0[x >> 24]} << 24 | std::uint32_t{kS1[x >> 16 & 0xFF]} << 16 |
         std::uint32_t{kS0[x >> 8 & 0xFF]} << 8 | kS1[x & 0xFF];
}
std::uint32_t l1(std::uint32_t x) {
  return x ^ std::rotl(x, 2) ^ std::rotl(x, 10) ^ std::rotl(x, 18) ^ std::rotl(x, 24);
}
std::uint32_t l2(std::uint32_t x) {
  return x ^ std::rotl(x, 8) ^ std::rotl(x, 14) ^ std::rotl(x, 22) ^ std::rotl(x, 30);
}

constexpr std::uint64_t kModulus = 0x7FFFFFFF;  // 2^31 - 1

}  // namespace

Zuc::Zuc(const std::uint8_t* key, const std::uint8_t* iv) {
  for (std::size_t i = 0; i < 16; ++i) s_[i] = std::uint32_t{key[i]} << 23 | kD[i] << 8 | iv[i];
  for (int round = 0; round < 32; ++round) shift(nonlinear(reorganize()) >> 1);
  static_cast<void>(nonlinear(reorganize()));  // the first word is discarded (TS 35.222 3.6.2)
  shift(0);
}

Zuc::~Zuc() {
  ::explicit_bzero(this, sizeof *this);
}

std::uint32_t Zuc::next() {
  const Words words = reorganize();
  const std::uint32_t word = nonlinear(words) ^ words.x3;
  shift(0);
  return word;
}

Zuc::Words Zuc::reorganize() const {
  const auto join = [](std::uint32_t high, std::uint32_t low) { return high << 16 | low; };
  return {join(s_[15] >> 15, s_[14] & 0xFFFF), join(s_[11] & 0xFFFF, s_[9] >> 15), join(s_[7] & 0xFFFF, s_[5] >> 15),
          join(s_[2] & 0xFFFF, s_[0] >> 15)};
}

std::uint32_t Zuc::nonlinear(const Words& words) {
  const std::uint32_t w = (words.x0 ^ r1_) + r2_;
  const std::uint32_t w1 = r1_ + words.x1, w2 = r2_ ^ words.x2;
  r1_ = substitute(l1(w1 << 16 | w2 >> 16));
  r2_ = substitute(l2(w2 << 16 | w1 >> 16));
  return w;
}

void Zuc::shift(std::uint32_t feedback) {
  const auto times = [this](std::size_t i, unsigned bits) { return std::uint64_t{s_[i]} << bits; };
  std::uint64_t sum = times(15, 15) + times(13, 17) + times(10, 21) + times(4, 20) + times(0, 8) + s_[0] + feedback;
  sum %= kModulus;
  for (std::size_t i = 0; i < 15; ++i) s_[i] = s_[i + 1];
  s_[15] = static_cast<std::uint32_t>(sum == 0 ? kModulus : sum);
}

void nea3_slowly(const std::uint8_t* key, const std::uint8_t* iv, const std::uint8_t* in, std::uint8_t* out,
                 std::size_t bytes) {
  Zuc zuc(key, iv);
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % 4 == 0) word = zuc.next();
    out[i] = static_cast<std::uint8_t>(in[i] ^ word >> (24 - 8 * (i % 4)));
  }
}

void nia3_slowly(const std::uint8_t* key, const std::uint8_t* iv, const std::uint8_t* in, std::size_t bytes,
                 std::uint8_t* mac) {
  Zuc zuc(key, iv);
  // 32 bits of key stream for each bit of the message, each beginning one bit later. `window` holds those of an octet.
  std::uint64_t window = std::uint64_t{zuc.next()} << 32 | zuc.next();
  std::uint32_t tag = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i != 0 && i % 4 == 0) window = window << 32 | zuc.next();
    const unsigned begin = 8 * (i % 4);
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (in[i] >> (7 - bit) & 1) tag ^= static_cast<std::uint32_t>(window << (begin + bit) >> 32);
    }
  }
  // The word after the last bit, and the last whole word of the key stream (TS 35.222 4.4).
  if (bytes % 4 == 0 && bytes != 0) window = window << 32 | zuc.next();
  tag ^= static_cast<std::uint32_t>(window << (8 * (bytes % 4)) >> 32);
  tag ^= bytes % 4 == 0 ? static_cast<std::uint32_t>(window) : zuc.next();
  for (std::size_t i = 0; i < 4; ++i) mac[i] = static_cast<std::uint8_t>(tag >> (24 - 8 * i));
}

}  // namespace splitplane::crypto
