// What the service keeps of an SDU: the slot of the worker's ledger in which its frame lies. For RLC it is a buffer of
// which nothing is ever read (buf::Keepable).
#pragma once

#include <cstdint>
#include <utility>

#include "buf/packet_buffer.h"

namespace splitplane::baas {

class Kept {
 public:
  Kept() noexcept = default;
  explicit Kept(std::uint32_t slot) noexcept : slot_(slot + 1) {}
  Kept(Kept&& other) noexcept : slot_(std::exchange(other.slot_, 0)) {}
  Kept& operator=(Kept&& other) noexcept {
    slot_ = std::exchange(other.slot_, 0);
    return *this;
  }

  explicit operator bool() const noexcept { return slot_ != 0; }
  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_ - 1; }
  [[nodiscard]] Kept share() noexcept { return *this ? Kept(slot()) : Kept(); }
  void release() noexcept { slot_ = 0; }

 private:
  std::uint32_t slot_ = 0;  // one more than the slot; 0: empty
};
static_assert(buf::Keepable<Kept>);

}  // namespace splitplane::baas
