// Precoding and beamforming at the end of a PDU (SCF-222.10.02 tables 3-43 and 3-53). Four PRGs of four interfaces
// are held. Without digital beamforming a PDU has one PRG with as many RBs as the allocation, or none.
#pragma once

#include <cstdint>

#include "phy/fapi/bounded.h"

namespace splitplane::fapi {

inline constexpr std::size_t kMaxPrgs = 4;
inline constexpr std::size_t kMaxDigBfInterfaces = 4;

struct TxPrecoding {
  struct Prg {
    std::uint16_t pm_idx = 0;  // index of a stored precoding matrix; 0: none
    Bounded<std::uint16_t, kMaxDigBfInterfaces> beam_idx;

    friend bool operator==(const Prg&, const Prg&) = default;
  };

  std::uint16_t prg_size = 0;  // RBs
  std::uint8_t dig_bf_interfaces = 0;
  Bounded<Prg, kMaxPrgs> prgs;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    auto num_prgs = static_cast<std::uint16_t>(m.prgs.size());
    io("num_prgs", num_prgs);
    io("prg_size", m.prg_size);
    io("dig_bf_interfaces", m.dig_bf_interfaces);
    io.elements("prgs", m.prgs, num_prgs, [&m](auto& each, auto& prg) {
      each("pm_idx", prg.pm_idx);
      each.elements("beam_idx", prg.beam_idx, m.dig_bf_interfaces, [](auto& one, auto& beam) { one("", beam); });
    });
  }

  friend bool operator==(const TxPrecoding&, const TxPrecoding&) = default;
};

struct RxBeamforming {
  struct Prg {
    Bounded<std::uint16_t, kMaxDigBfInterfaces> beam_idx;

    friend bool operator==(const Prg&, const Prg&) = default;
  };

  std::uint16_t prg_size = 0;  // RBs
  std::uint8_t dig_bf_interface = 0;
  Bounded<Prg, kMaxPrgs> prgs;

  template <class Io, class Self>
  static void fields(Io& io, Self& m) {
    auto num_prgs = static_cast<std::uint16_t>(m.prgs.size());
    io("num_prgs", num_prgs);
    io("prg_size", m.prg_size);
    io("dig_bf_interface", m.dig_bf_interface);
    io.elements("prgs", m.prgs, num_prgs, [&m](auto& each, auto& prg) {
      each.elements("beam_idx", prg.beam_idx, m.dig_bf_interface, [](auto& one, auto& beam) { one("", beam); });
    });
  }

  friend bool operator==(const RxBeamforming&, const RxBeamforming&) = default;
};

}  // namespace splitplane::fapi
