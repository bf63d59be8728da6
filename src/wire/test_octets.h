// For tests of wire/ only: octets from hex text, on the heap in exactly their size. So a sanitizer sees a parser or a
// writer that goes one octet too far.
#pragma once

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/bytes.h"

namespace splitplane::wire::test {

class HeapOctets {
 public:
  explicit HeapOctets(std::size_t size) : data_(std::make_unique<std::uint8_t[]>(size)), size_(size) {}
  // Not inlined, because GCC 12 otherwise warns of sizes that a span from a vector cannot have.
  [[gnu::noinline]] explicit HeapOctets(Octets octets) : HeapOctets(octets.size()) {
    copy_octets(data_.get(), octets.data(), octets.size());
  }
  operator Octets() const { return {data_.get(), size_}; }   // NOLINT: a HeapOctets is its octets
  operator MutableOctets() { return {data_.get(), size_}; }  // NOLINT
  [[nodiscard]] MutableOctets all() { return {data_.get(), size_}; }

 private:
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_;
};

// Blanks are skipped: "34ff 0026".
inline std::vector<std::uint8_t> from_hex(std::string_view text) {
  std::vector<std::uint8_t> out;
  unsigned digits = 0;
  unsigned value = 0;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    const unsigned digit = std::isdigit(static_cast<unsigned char>(c)) != 0
                               ? static_cast<unsigned>(c - '0')
                               : static_cast<unsigned>((c | 0x20) - 'a' + 10);
    value = value << 4 | digit;
    if (++digits % 2 == 0) {
      out.push_back(static_cast<std::uint8_t>(value));
      value = 0;
    }
  }
  return out;
}

inline std::string to_hex(Octets octets) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t o : octets) {
    out += kDigits[o >> 4];
    out += kDigits[o & 15];
  }
  return out;
}

// Hex text without blanks, to compare with to_hex().
inline std::string tidy(std::string_view text) {
  return to_hex(from_hex(text));
}

// Calls `write(out)` on a heap span of exactly `size` octets and returns the result as hex. Also checks that it refuses
// any smaller span.
template <class Write>
std::string written(std::size_t size, Write write) {
  HeapOctets out(size);
  const std::size_t bytes = write(out.all());
  if (bytes != size) return "wrote " + std::to_string(bytes) + " of " + std::to_string(size);
  for (std::size_t small = 0; small < size; ++small) {
    HeapOctets less(small);
    if (write(less.all()) != 0) return "wrote into " + std::to_string(small);
  }
  return to_hex(out);
}

}  // namespace splitplane::wire::test
