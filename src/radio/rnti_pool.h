// The C-RNTIs of a cell (TS 38.321 7.1). The control thread takes and gives them back. A C-RNTI that was given back is
// taken again as late as possible, so that what is under way for a UE that is gone reaches no other UE.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/types.h"

namespace splitplane::datapath {

using Rnti = Strong<struct RntiTag, std::uint16_t>;

class RntiPool {
 public:
  static constexpr std::uint16_t kFirst = 0x0001, kLast = 0xFFEF;

  // A C-RNTI that goes back to its pool when this object ends. The pool outlives it.
  class Held {
   public:
    Held(RntiPool& pool, Rnti rnti) : pool_(&pool), rnti_(rnti) {}
    Held(Held&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), rnti_(other.rnti_) {}
    Held& operator=(Held&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(rnti_, other.rnti_);
      return *this;
    }
    ~Held() {
      if (pool_ != nullptr) pool_->give(rnti_);
    }
    [[nodiscard]] Rnti value() const { return rnti_; }

   private:
    RntiPool* pool_;
    Rnti rnti_;
  };

  // `last`: as if this one had been taken last. A gNB that begins again takes a random one, so that UEs that are still
  // there most likely see another C-RNTI.
  explicit RntiPool(std::uint16_t last = 0) : last_(last % (kLast + 1)) {}

  // Nothing: all are taken.
  [[nodiscard]] std::optional<Held> take() {
    if (taken_ == kLast) return std::nullopt;
    do {
      last_ = last_ == kLast ? kFirst : static_cast<std::uint16_t>(last_ + 1);
    } while (is_taken_[last_]);
    is_taken_[last_] = true;
    ++taken_;
    return Held(*this, Rnti{last_});
  }
  [[nodiscard]] unsigned taken() const { return taken_; }

 private:
  void give(Rnti rnti) {
    is_taken_[rnti.value] = false;
    --taken_;
  }

  std::vector<bool> is_taken_ = std::vector<bool>(std::size_t{kLast} + 1);
  std::uint16_t last_;  // the one taken last
  unsigned taken_ = 0;
};

}  // namespace splitplane::datapath
