// Memory for transport blocks: places of one size, all made at the start. HARQ holds a place until the block is
// acknowledged or given up.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "buf/large_array.h"
#include "wire/bytes.h"

namespace splitplane::datapath {

class BlockPool {
 public:
  // A place, which goes back to its pool when this object ends. The pool outlives it.
  class Block {
   public:
    Block() = default;
    Block(BlockPool& pool, std::uint32_t place) : pool_(&pool), place_(place) {}
    Block(Block&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), place_(other.place_) {}
    Block& operator=(Block&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~Block() {
      if (pool_ != nullptr) pool_->free_.push_back(place_);
    }
    explicit operator bool() const { return pool_ != nullptr; }
    // The memory of a block that is not empty: as many octets as its pool gives each.
    [[nodiscard]] wire::MutableOctets octets() const {
      return {&pool_->memory_[std::size_t{place_} * pool_->bytes_], pool_->bytes_};
    }

   private:
    BlockPool* pool_ = nullptr;
    std::uint32_t place_ = 0;
  };

  BlockPool(std::size_t blocks, std::size_t bytes) : bytes_(bytes), memory_(blocks * bytes) {
    free_.reserve(blocks);
    for (std::size_t i = blocks; i != 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
  }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Empty: none is free.
  [[nodiscard]] Block take() {
    if (free_.empty()) return {};
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return {*this, place};
  }
  [[nodiscard]] std::size_t available() const { return free_.size(); }

 private:
  std::size_t bytes_;
  buf::LargeArray<std::uint8_t> memory_;
  std::vector<std::uint32_t> free_;  // the one given back last is taken first, because it is in the cache
};

}  // namespace splitplane::datapath
