// Follows the sequence numbers of one entity as a receiver sees them: which are missing, late or doubled. A window of
// half the number space tells ahead from behind (TS 38.323 5.2.2.1, TS 38.322 5.2.3.2). It remembers the last 64
// numbers.
#pragma once

#include <cstdint>

namespace splitplane::ue {

enum class Arrival : std::uint8_t { kFresh, kLate, kDuplicate, kOld };

class SnTracker {
 public:
  static constexpr unsigned kMemory = 64;

  SnTracker() = default;
  // PDUs from before the first received one count as new too. RLC ensures that each comes once.
  void expect_earlier() { seen_ = 0; }
  // Waits for `next`, a number without the modulus; earlier numbers do not count as missing. If not `synchronised`,
  // `next` was sampled while PDUs flow, so the first PDU received sets the position.
  SnTracker(unsigned sn_bits, std::uint32_t next, bool synchronised)
      : next_(next), sn_bits_(static_cast<std::uint8_t>(sn_bits)), synchronised_(synchronised) {}

  Arrival accept(std::uint32_t sn) {
    const std::uint32_t mask = (1U << sn_bits_) - 1;
    if (!synchronised_) [[unlikely]]
      synchronise(sn, mask);
    const std::uint32_t ahead = (sn - next_) & mask;
    if (ahead <= mask / 2) [[likely]] {
      missing_ += ahead;
      seen_ = (ahead + 1 >= kMemory ? 0 : seen_ << (ahead + 1)) | 1;
      next_ += ahead + 1;
      return Arrival::kFresh;
    }
    const std::uint32_t behind = (next_ - sn) & mask;  // 1: the last one
    if (behind > kMemory) return Arrival::kOld;
    const std::uint64_t bit = std::uint64_t{1} << (behind - 1);
    if ((seen_ & bit) != 0) return Arrival::kDuplicate;
    seen_ |= bit;
    missing_ -= missing_ != 0 ? 1 : 0;  // a number from before the start was not counted
    return Arrival::kLate;
  }

  // The highest number received, plus one, without the modulus (PDCP: the COUNT RX_NEXT).
  [[nodiscard]] std::uint32_t next() const { return next_; }
  [[nodiscard]] std::uint32_t next_sn() const { return next_ & ((1U << sn_bits_) - 1); }
  [[nodiscard]] std::uint64_t missing() const { return missing_; }  // skipped and not arrived since

 private:
  // Keeps the upper bits of the sampled number, as near to it as `sn` allows.
  void synchronise(std::uint32_t sn, std::uint32_t mask) {
    const std::uint32_t ahead = (sn - next_) & mask;
    next_ = ahead <= mask / 2 ? next_ + ahead : next_ - ((next_ - sn) & mask);
    synchronised_ = true;
  }

  std::uint64_t seen_ =
      ~std::uint64_t{0};  // bit i: number next - 1 - i arrived; numbers before the start count as arrived
  std::uint64_t missing_ = 0;
  std::uint32_t next_ = 0;
  std::uint8_t sn_bits_ = 12;
  bool synchronised_ = true;
};

}  // namespace splitplane::ue
