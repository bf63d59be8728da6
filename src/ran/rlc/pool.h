// A pool of objects for the RLC entities of one owner thread. It allocates once; taking and giving back cost O(1) and
// never use the heap again.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "buf/large_array.h"

namespace splitplane::ran::rlc {

template <class T>
class Pool {
 public:
  explicit Pool(std::size_t count) : all_(count) {
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
  // What take() will return after `ahead` other calls; nullptr if there are not as many.
  [[nodiscard]] const T* next(std::size_t ahead) const {
    return ahead < free_.size() ? free_[free_.size() - 1 - ahead] : nullptr;
  }
  void give(T* one) {
    assert(one >= &all_[0] && one < &all_[0] + size() && free_.size() < size());
    free_.push_back(one);
  }
  [[nodiscard]] std::size_t available() const { return free_.size(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  // A short name for an object; 0 is none.
  [[nodiscard]] std::uint32_t name_of(const T* one) const { return static_cast<std::uint32_t>(one - &all_[0]) + 1; }
  [[nodiscard]] T& named(std::uint32_t name) { return all_[name - 1]; }
  [[nodiscard]] const T& named(std::uint32_t name) const { return all_[name - 1]; }

 private:
  buf::LargeArray<T> all_;
  std::vector<T*> free_;  // the object given back last is taken first, because it is in the cache
};

}  // namespace splitplane::ran::rlc
