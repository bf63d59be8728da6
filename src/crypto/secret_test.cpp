#include "crypto/secret.h"

#include <gtest/gtest.h>

#include <concepts>
#include <ostream>

#include "crypto/key_store.h"

namespace splitplane::crypto {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
template <class T>
concept Textual = requires(const T& value) { to_string(value); };

// What can be printed will be printed some day.
template <class T>
constexpr bool kStaysSecret = !Printable<T> && !Textual<T> && !fmt::is_formattable<T>::value &&
                              !std::copy_constructible<T> && !std::is_copy_assignable_v<T>;

static_assert(Printable<int> && fmt::is_formattable<int>::value);  // the judges can say yes
static_assert(kStaysSecret<Secret>);
static_assert(kStaysSecret<CipherKey>);
static_assert(kStaysSecret<IntegrityKey>);
static_assert(kStaysSecret<KeyStore>);
static_assert(kStaysSecret<SecretMemory>);

TEST(Secret, reads_16_and_32_octets) {
  EXPECT_EQ(Secret::from_hex("000102030405060708090a0b0c0d0e0f")->size(), 16U);
  EXPECT_EQ(Secret::from_hex("000102030405060708090A0B0C0D0E0F101112131415161718191a1b1c1d1e1f")->size(), 32U);
  EXPECT_EQ(Secret::from_octets(std::array<std::uint8_t, 16>{})->size(), 16U);
}

TEST(Secret, refuses_other_texts_without_repeating_them) {
  for (const char* text : {"", "00", "000102030405060708090a0b0c0d0e0g", "000102030405060708090a0b0c0d0e0",
                           "000102030405060708090a0b0c0d0e0f10", " 00102030405060708090a0b0c0d0e0f"}) {
    const auto secret = Secret::from_hex(text);
    ASSERT_FALSE(secret) << text;
    EXPECT_EQ(secret.error().message, "a key is 32 or 64 hexadecimal digits");
  }
  EXPECT_FALSE(Secret::from_octets(std::array<std::uint8_t, 24>{}));
}

TEST(Secret, wipes_itself_when_it_moves_and_when_it_ends) {
  alignas(Secret) std::array<std::uint8_t, sizeof(Secret)> memory;
  memory.fill(0xEE);
  auto* const secret = new (memory.data()) Secret(*Secret::from_hex("a1a2a3a4a5a6a7a8a9aaabacadaeafb0"));
  ASSERT_EQ(memory[0], 0xA1);
  const auto* const octets = static_cast<volatile const std::uint8_t*>(memory.data());
  Secret moved = std::move(*secret);
  EXPECT_EQ(moved.size(), 16U);
  for (std::size_t i = 0; i < Secret::kMaxBytes; ++i) EXPECT_EQ(octets[i], 0);
  *secret = std::move(moved);
  EXPECT_EQ(octets[15], 0xB0);
  secret->~Secret();
  for (std::size_t i = 0; i < Secret::kMaxBytes; ++i) EXPECT_EQ(octets[i], 0);
}

}  // namespace
}  // namespace splitplane::crypto
