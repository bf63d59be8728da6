// The rows of a table as the packet path sees them (card/aot/row_layout.h has the layout).
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE4_2__)
#include <nmmintrin.h>
#endif

namespace splitplane::nic::compiled {

struct Rows {
  const std::uint8_t* rows = nullptr;
  std::uint64_t mask = 0;  // rows - 1; the row of the default action stands behind them
};

[[nodiscard]] inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) {
#if defined(__SSE4_2__)
  return _mm_crc32_u64(hash, number);
#else
  return (hash ^ number) * 0x9e3779b97f4a7c15U >> 16;
#endif
}
template <class... Numbers>
[[nodiscard]] inline std::uint64_t hash_of(Numbers... numbers) {
  std::uint64_t hash = 0;
  ((hash = mixed(hash, numbers)), ...);
  return hash;
}

template <class Number>
[[nodiscard]] inline std::uint64_t number_at(const std::uint8_t* row, unsigned offset) {
  Number v;
  std::memcpy(&v, row + offset, sizeof v);
  return v;
}

template <unsigned kRowBytes>
[[nodiscard]] inline const std::uint8_t* row_at(const Rows& table, std::uint64_t index) {
  return table.rows + (index & table.mask) * kRowBytes;
}

template <unsigned kRowBytes>
[[nodiscard]] inline const std::uint8_t* default_row(const Rows& table) {
  return table.rows + (table.mask + 1) * kRowBytes;
}

// The row of a key that is its own index.
template <unsigned kRowBytes, unsigned kActionAt>
[[nodiscard]] inline const std::uint8_t* find_direct(const Rows& table, std::uint64_t key) {
  const std::uint8_t* const row = row_at<kRowBytes>(table, key);
  return row[kActionAt] != 0 ? row : default_row<kRowBytes>(table);
}

// The row with a key, which is looked for from `hash` on. The loop ends: half of the rows are free.
template <unsigned kRowBytes, unsigned kActionAt, class HasKey>
[[nodiscard]] inline const std::uint8_t* find_hashed(const Rows& table, std::uint64_t hash, HasKey has_key) {
  for (std::uint64_t index = hash;; ++index) {
    const std::uint8_t* const row = row_at<kRowBytes>(table, index);
    if (row[kActionAt] == 0) return default_row<kRowBytes>(table);
    if (has_key(row)) [[likely]]
      return row;
  }
}

}  // namespace splitplane::nic::compiled
