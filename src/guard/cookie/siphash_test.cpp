// Tests of siphash.h: against the paper's vector and against libsodium.
#include "guard/cookie/siphash.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sodium.h>

namespace splitplane::guard {
namespace {

template <std::size_t kWords>
std::array<std::uint64_t, kWords> words_of(const std::uint8_t* octets, std::size_t bytes) {
  std::array<std::uint64_t, kWords> words{};
  std::memcpy(words.data(), octets, bytes);
  words[kWords - 1] |= std::uint64_t{bytes & 0xFF} << 56;
  return words;
}

SipKey paper_key() {
  SipKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

TEST(SipHash, vector_of_the_paper_is_met) {
  std::array<std::uint8_t, 15> message;
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(siphash24(paper_key(), words_of<2>(message.data(), message.size())), 0xA129CA6149BE45E5U);
}

TEST(SipHash, vectors_of_the_reference_implementation_are_met) {
  const std::array<std::uint8_t, 8> octets{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(siphash24(paper_key(), words_of<1>(octets.data(), 0)), 0x726FDB47DD0E0E31U);
  EXPECT_EQ(siphash24(paper_key(), words_of<1>(octets.data(), 1)), 0x74F839C593DC67FDU);
  EXPECT_EQ(siphash24(paper_key(), words_of<1>(octets.data(), 7)), 0xAB0200F58B01D137U);
  EXPECT_EQ(siphash24(paper_key(), words_of<2>(octets.data(), 8)), 0x93F5F5799A932462U);
}

// Lengths of cookies' messages: 15, 21, 39 and 45 octets.
RC_GTEST_PROP(SipHash, equals_libsodium_for_the_lengths_of_cookies, (const SipKey& key)) {
  const auto message = *rc::gen::container<std::vector<std::uint8_t>>(45, rc::gen::arbitrary<std::uint8_t>());
  const auto of_libsodium = [&](std::size_t bytes) {
    std::uint64_t hash = 0;
    crypto_shorthash(reinterpret_cast<unsigned char*>(&hash), message.data(), bytes, key.data());
    return hash;
  };
  RC_ASSERT(siphash24(key, words_of<2>(message.data(), 15)) == of_libsodium(15));
  RC_ASSERT(siphash24(key, words_of<3>(message.data(), 21)) == of_libsodium(21));
  RC_ASSERT(siphash24(key, words_of<5>(message.data(), 39)) == of_libsodium(39));
  RC_ASSERT(siphash24(key, words_of<6>(message.data(), 45)) == of_libsodium(45));
}

RC_GTEST_PROP(SipHash, eight_at_once_are_the_same_as_one_by_one, ()) {
  SipLanes<3> lanes;
  std::array<std::uint64_t, SipLanes<3>::kLanes> one_by_one{};
  for (unsigned i = 0; i < SipLanes<3>::kLanes; ++i) {
    const auto key = *rc::gen::arbitrary<SipKey>();
    const auto words = *rc::gen::arbitrary<std::array<std::uint64_t, 3>>();
    lanes.set(i, key, words);
    one_by_one[i] = siphash24(key, words);
  }
  RC_ASSERT(lanes.hashes() == one_by_one);
}

}  // namespace
}  // namespace splitplane::guard
