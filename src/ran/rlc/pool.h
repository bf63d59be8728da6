// A pool of objects for the RLC entities of one owner thread. It allocates once; taking and giving back cost O(1) and
// never use the heap again.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

namespace splitplane::ran::rlc {

template <class T>
class Pool {
 public:
  explicit Pool(std::size_t count) : all_(std::make_unique<T[]>(count)), count_(count) {
    free_.reserve(count);
    for (std::size_t i = count; i != 0; --i) free_.push_back(&all_[i - 1]);
  }
  // Takes an object; nullptr if all are taken. Its contents are what the last holder left.
  [[nodiscard]] T* take() {
    if (free_.empty()) [[unlikely]]
      return nullptr;
    T* const one = free_.back();
    free_.pop_back();
    return one;
  }
  void give(T* one) {
    assert(one >= all_.get() && one < all_.get() + count_ && free_.size() < count_);
    free_.push_back(one);
  }
  [[nodiscard]] std::size_t available() const { return free_.size(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  // A short name for an object; 0 is none.
  [[nodiscard]] std::uint32_t name_of(const T* one) const { return static_cast<std::uint32_t>(one - all_.get()) + 1; }
  [[nodiscard]] T& named(std::uint32_t name) { return all_[name - 1]; }
  [[nodiscard]] const T& named(std::uint32_t name) const { return all_[name - 1]; }

 private:
  std::unique_ptr<T[]> all_;
  std::vector<T*> free_;  // the object given back last is taken first, because it is in the cache
  std::size_t count_;
};

}  // namespace splitplane::ran::rlc
