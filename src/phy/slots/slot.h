// Slots of NR and their arithmetic (TS 38.211 4.3). A slot has a numerology, a system frame number and its number in
// the frame; after SFN 1023 comes SFN 0. All slots of one cell have one numerology.
#pragma once

#include <cstdint>

namespace splitplane::phy {

inline constexpr std::uint32_t kSfns = 1024;

// mu of TS 38.211 4.2: the subcarrier spacing is 15 * 2^mu kHz, and a subframe of 1 ms has 2^mu slots.
struct Numerology {
  std::uint8_t mu = 0;

  [[nodiscard]] constexpr bool valid() const { return mu <= 3; }
  [[nodiscard]] constexpr std::uint32_t slots_per_frame() const { return 10U << mu; }
  // How many slots pass until the same SFN and slot number come again: 10.24 s.
  [[nodiscard]] constexpr std::uint32_t slots_per_cycle() const { return kSfns * slots_per_frame(); }
  [[nodiscard]] constexpr std::uint64_t slot_ns() const { return 1'000'000U >> mu; }
  friend constexpr bool operator==(const Numerology&, const Numerology&) = default;
};

struct Slot {
  Numerology numerology;
  std::uint16_t sfn = 0;  // 0..1023
  std::uint8_t slot = 0;  // in the frame: 0..10 * 2^mu - 1
  friend constexpr bool operator==(const Slot&, const Slot&) = default;

  [[nodiscard]] constexpr bool valid() const {
    return numerology.valid() && sfn < kSfns && slot < numerology.slots_per_frame();
  }
  // The place in the cycle of 1024 frames: 0..slots_per_cycle() - 1.
  [[nodiscard]] constexpr std::uint32_t index() const { return sfn * numerology.slots_per_frame() + slot; }
};

// The slot at a place in the cycle. Any number will do: it is taken modulo slots_per_cycle().
[[nodiscard]] constexpr Slot slot_at(Numerology numerology, std::uint64_t index) {
  const auto place = static_cast<std::uint32_t>(index % numerology.slots_per_cycle());
  const std::uint32_t per_frame = numerology.slots_per_frame();
  return {numerology, static_cast<std::uint16_t>(place / per_frame), static_cast<std::uint8_t>(place % per_frame)};
}

// The slot `slots` after this one; before it if `slots` is negative.
[[nodiscard]] constexpr Slot after(Slot slot, std::int64_t slots) {
  const auto cycle = static_cast<std::int64_t>(slot.numerology.slots_per_cycle());
  const std::int64_t place = (static_cast<std::int64_t>(slot.index()) + slots % cycle + cycle) % cycle;
  return slot_at(slot.numerology, static_cast<std::uint64_t>(place));
}

// How many slots `to` is after `from`, the shorter way round: from -cycle / 2 + 1 to cycle / 2. Both have one
// numerology. So two slots compare rightly if they are less than 5.12 s apart.
[[nodiscard]] constexpr std::int32_t distance(Slot from, Slot to) {
  const std::uint32_t cycle = from.numerology.slots_per_cycle();
  const std::uint32_t forward = (to.index() + cycle - from.index()) % cycle;
  return static_cast<std::int32_t>(forward) - static_cast<std::int32_t>(forward > cycle / 2 ? cycle : 0);
}

}  // namespace splitplane::phy
