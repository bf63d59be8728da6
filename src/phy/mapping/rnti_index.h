// Which entry of a list is a UE's: at most 255 UEs, found by C-RNTI at once. It holds no memory on the heap, and
// clear() takes no time.
#pragma once

#include <array>

#include "phy/slots/grant.h"

namespace splitplane::phy {

inline constexpr Rnti kMaxCRnti = 0xFFEF;  // TS 38.321 7.1

[[nodiscard]] constexpr bool is_c_rnti(Rnti rnti) {
  return rnti >= 1 && rnti <= kMaxCRnti;
}

class RntiIndex {
 public:
  static constexpr std::size_t kMost = 255;
  static constexpr std::uint8_t kNone = 0xFF;

  void clear() {
    if (++round_ == 0) {
      places_.fill({});
      round_ = 1;
    }
    size_ = 0;
  }
  // False if the UE is there already, or 255 others are.
  bool add(Rnti rnti, std::uint8_t entry) {
    Place& place = places_[find(rnti)];
    if (place.round == round_ || size_ == kMost) return false;
    place = {round_, rnti, entry};
    ++size_;
    return true;
  }
  // The entry of a UE; kNone if there is none.
  [[nodiscard]] std::uint8_t entry(Rnti rnti) const {
    const Place& place = places_[find(rnti)];
    return place.round == round_ ? place.entry : kNone;
  }
  [[nodiscard]] bool has(Rnti rnti) const { return entry(rnti) != kNone; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kPlaces = 512;  // never full
  struct Place {
    std::uint32_t round = 0;
    Rnti rnti = 0;
    std::uint8_t entry = 0;
  };

  // The place of the RNTI, or the free one where it would be.
  [[nodiscard]] std::size_t find(Rnti rnti) const {
    std::size_t at = (rnti * 0x9E3779B1U >> 16) % kPlaces;
    while (places_[at].round == round_ && places_[at].rnti != rnti) at = (at + 1) % kPlaces;
    return at;
  }

  std::array<Place, kPlaces> places_{};
  std::uint32_t round_ = 1;
  std::size_t size_ = 0;
};

}  // namespace splitplane::phy
