// The bandwidth part that most PDUs name (TS 38.213 12).
#pragma once

#include <cstddef>
#include <cstdint>

namespace splitplane::fapi {

struct Bwp {
  std::uint16_t bwp_size = 0;           // PRBs, 1..275
  std::uint16_t bwp_start = 0;          // first RB from reference CRB, 0..274
  std::uint8_t subcarrier_spacing = 0;  // numerology 0..4
  std::uint8_t cyclic_prefix = 0;       // 0 normal, 1 extended

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    io("bwp_size", m.bwp_size);
    io("bwp_start", m.bwp_start);
    io("subcarrier_spacing", m.subcarrier_spacing);
    io("cyclic_prefix", m.cyclic_prefix);
  }

  friend bool operator==(const Bwp&, const Bwp&) = default;
};

inline constexpr std::size_t kRbBitmapOctets = 36;

}  // namespace splitplane::fapi
