// Memory for the uplink transport blocks of all UEs. A HARQ process at a UE keeps its block until the gNB wants another
// one, which may be never. So when all places are in use, the process whose block was sent longest ago gives it up: as
// if the gNB's grant for it had been lost.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "buf/large_array.h"
#include "wire/bytes.h"

namespace splitplane::ue {

class Terminal;

class HeldBlocks {
 public:
  // A place, which goes back when this object ends. HeldBlocks outlives it.
  class Block {
   public:
    Block() = default;
    Block(HeldBlocks& all, std::uint32_t place) : all_(&all), place_(place) {}
    Block(Block&& other) noexcept : all_(std::exchange(other.all_, nullptr)), place_(other.place_) {}
    Block& operator=(Block&& other) noexcept {
      std::swap(all_, other.all_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~Block() {
      if (all_ != nullptr) all_->give_back(place_);
    }
    explicit operator bool() const { return all_ != nullptr; }
    [[nodiscard]] wire::MutableOctets octets() const {
      return {&all_->memory_[std::size_t{place_} * all_->bytes_], all_->bytes_};
    }
    // It is sent again: others are older now.
    void sent_again() const { all_->make_newest(place_); }

   private:
    HeldBlocks* all_ = nullptr;
    std::uint32_t place_ = 0;
  };

  HeldBlocks(std::size_t blocks, std::size_t bytes);
  HeldBlocks(const HeldBlocks&) = delete;
  HeldBlocks& operator=(const HeldBlocks&) = delete;

  // A place for the block of that process. Empty: all places have blocks of the present slot.
  [[nodiscard]] Block take(Terminal& owner, std::uint8_t process);
  // The blocks of the slot are sent: they may be taken back from now on.
  void end_slot() { ++slot_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t available() const { return free_.size(); }
  [[nodiscard]] std::uint64_t taken_back() const { return taken_back_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Place {
    Terminal* owner = nullptr;
    std::uint64_t slot = 0;  // in which it was sent last
    std::uint32_t older = kNone, newer = kNone;
    std::uint8_t process = 0;
  };

  void give_back(std::uint32_t place);
  void make_newest(std::uint32_t place);
  void link(std::uint32_t place);
  void unlink(std::uint32_t place);

  std::size_t bytes_;
  buf::LargeArray<std::uint8_t> memory_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
  std::uint32_t oldest_ = kNone, newest_ = kNone;
  std::uint64_t slot_ = 0;  // those that are over
  std::uint64_t taken_back_ = 0;
};

}  // namespace splitplane::ue
