// Records which COUNTs of each bearer have come. The far end of a bench infers them from the SNs of the frames alone,
// as a PDCP receiver does (TS 38.323 5.2.2.1). It finds a number that two packets have, and one that no packet has.
// Both decipher correctly, because sender and receiver agree on the COUNT of each frame. No stamp in a payload would
// show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace splitplane::bypass {

class CountBook {
 public:
  // A number this far behind the highest one is given up as missing, and counts as repeated if it comes later. So the
  // record of a bearer is bounded. It is less than half of the SNs, and no window has more packets under way.
  static constexpr std::uint64_t kReach = 1U << 16;

  // Bearers 0 to `bearers` - 1, each with SNs of `sn_bits` from 0 on.
  CountBook(std::size_t bearers, unsigned sn_bits) : sn_bits_(sn_bits), lines_(bearers) {}

  [[nodiscard]] std::size_t bearers() const { return lines_.size(); }
  // Records a frame's SN and returns its COUNT.
  std::uint32_t see(std::uint32_t bearer, std::uint32_t sn);
  // Frames whose number had come already.
  [[nodiscard]] std::uint64_t repeated() const { return repeated_; }
  // Numbers below the highest one of their bearer that have not come so far. They are holes once no packet is under
  // way.
  [[nodiscard]] std::uint64_t missing() const;

 private:
  struct Line {
    std::uint64_t first = 0;  // the lowest number that has not come; all lower ones came, or were given up
    std::uint64_t end = 0;    // one more than the highest number that came
    // One bit for each number from `first` on: it came. The bits are a ring of a power of two of words, as long as
    // needed.
    std::vector<std::uint64_t> came;
    [[nodiscard]] bool has(std::uint64_t n) const { return (came[word(n)] >> n % 64 & 1) != 0; }
    void set(std::uint64_t n) { came[word(n)] |= std::uint64_t{1} << n % 64; }
    void clear(std::uint64_t n) { came[word(n)] &= ~(std::uint64_t{1} << n % 64); }
    [[nodiscard]] std::size_t word(std::uint64_t n) const { return n / 64 & (came.size() - 1); }
    void make_room(std::uint64_t n);
  };
  [[nodiscard]] std::uint64_t count_of(const Line& line, std::uint32_t sn) const;

  unsigned sn_bits_;
  std::vector<Line> lines_;
  std::uint64_t repeated_ = 0, given_up_ = 0;
};

}  // namespace splitplane::bypass
