// SipHash-2-4 (Aumasson and Bernstein, 2012) of messages whose length is known when the code is compiled, of one
// message or of eight at once: the same values as crypto_shorthash() of libsodium, as a test sees.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace splitplane::guard {

using SipKey = std::array<std::uint8_t, 16>;

namespace detail {

// `Word`: an integer of 64 bits, or a vector of them.
template <class Word>
struct SipState {
  Word v0, v1, v2, v3;

  SipState(const Word& k0, const Word& k1)
      : v0(k0 ^ 0x736F6D6570736575U),
        v1(k1 ^ 0x646F72616E646F6DU),
        v2(k0 ^ 0x6C7967656E657261U),
        v3(k1 ^ 0x7465646279746573U) {}

  void take(const Word& word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  void finish(Word& hash) {
    v2 ^= 0xFFU;
    for (int i = 0; i < 4; ++i) round();
    hash = v0 ^ v1 ^ v2 ^ v3;
  }

 private:
  static void turn(Word& word, int bits) { word = word << bits | word >> (64 - bits); }
  void round() {
    v0 += v1;
    v2 += v3;
    turn(v1, 13);
    turn(v3, 16);
    v1 ^= v0;
    v3 ^= v2;
    turn(v0, 32);
    v2 += v1;
    v0 += v3;
    turn(v1, 17);
    turn(v3, 21);
    v1 ^= v2;
    v3 ^= v0;
    turn(v2, 32);
  }
};

}  // namespace detail

// `words` is the message in words of its octets' order on a little-endian machine. The last word has the octets that
// are left over, at most seven, and the message's length modulo 256 in its highest octet.
template <std::size_t kWords>
[[nodiscard]] inline std::uint64_t siphash24(const SipKey& key, const std::array<std::uint64_t, kWords>& words) {
  std::uint64_t k0;
  std::uint64_t k1;
  std::memcpy(&k0, key.data(), 8);
  std::memcpy(&k1, key.data() + 8, 8);
  detail::SipState<std::uint64_t> s(k0, k1);
  for (const std::uint64_t word : words) s.take(word);
  std::uint64_t hash;
  s.finish(hash);
  return hash;
}

// Eight messages of the same length, each under a key of its own. With AVX-512 they take little more time than one.
template <std::size_t kWords>
class SipLanes {
 public:
  static constexpr unsigned kLanes = 8;

  void set(unsigned lane, const SipKey& key, const std::array<std::uint64_t, kWords>& words) {
    std::memcpy(&keys_[0][lane], key.data(), 8);
    std::memcpy(&keys_[1][lane], key.data() + 8, 8);
    for (std::size_t i = 0; i < kWords; ++i) words_[i][lane] = words[i];
  }
  // Of lanes that were never set it is any value.
  [[nodiscard]] std::array<std::uint64_t, kLanes> hashes() const {
    Vector k0, k1, word, hash;
    std::memcpy(&k0, keys_[0].data(), sizeof k0);
    std::memcpy(&k1, keys_[1].data(), sizeof k1);
    detail::SipState<Vector> s(k0, k1);
    for (const Lanes& lanes : words_) {
      std::memcpy(&word, lanes.data(), sizeof word);
      s.take(word);
    }
    s.finish(hash);
    std::array<std::uint64_t, kLanes> out;
    std::memcpy(out.data(), &hash, sizeof hash);
    return out;
  }

 private:
  using Lanes = std::array<std::uint64_t, kLanes>;
  using Vector [[gnu::vector_size(sizeof(Lanes))]] = std::uint64_t;

  alignas(64) std::array<Lanes, 2> keys_{};
  alignas(64) std::array<Lanes, kWords> words_{};
};

}  // namespace splitplane::guard
