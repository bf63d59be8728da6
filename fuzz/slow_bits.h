// For fuzz targets: reads fields bit by bit, as the tables of the specifications count them. It is slow on purpose and
// shares no code with src/wire. Both must read the same from the same octets.
#pragma once

#include "fuzz.h"

namespace splitplane::fuzz {

class SlowBits {
 public:
  explicit SlowBits(Octets in) : in_(in) {}

  // The next `n` bits as a number. If fewer are left it returns 0, and ended() is true.
  std::uint64_t take(unsigned n) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < n; ++i) {
      if (at_ >= in_.size() * 8) {
        ended_ = true;
        return 0;
      }
      value = value * 2 + ((in_[at_ / 8] >> (7 - at_ % 8)) % 2);
      ++at_;
    }
    return value;
  }
  std::uint32_t take32(unsigned n) { return static_cast<std::uint32_t>(take(n)); }
  bool flag() { return take(1) == 1; }
  void skip(std::size_t bits) {
    for (std::size_t i = 0; i < bits; ++i) take(1);
  }
  // The whole octets from here on.
  [[nodiscard]] Octets rest() const { return in_.subspan(std::min((at_ + 7) / 8, in_.size())); }
  [[nodiscard]] std::size_t octets_read() const { return at_ / 8; }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  Octets in_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace splitplane::fuzz
