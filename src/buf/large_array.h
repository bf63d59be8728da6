// An array that is read here and there, as a pool of many objects. If it is large, the kernel is asked for huge pages,
// because with pages of 4 KiB nearly each access would also miss the TLB.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace splitplane::buf {

// Octets for `count` objects of T, not constructed. The address is that of a huge page if there are as many octets.
template <class T>
class LargeMemory {
 public:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  explicit LargeMemory(std::size_t count)
      : octets_(count * sizeof(T)), alignment_(octets_ < kHugePage ? alignof(T) : kHugePage) {
    at_ = static_cast<T*>(::operator new(octets_, std::align_val_t{alignment_}));
    // A kernel that has none gives small pages.
    if (alignment_ == kHugePage) (void)::madvise(at_, octets_, MADV_HUGEPAGE);
  }
  ~LargeMemory() { ::operator delete(at_, std::align_val_t{alignment_}); }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  [[nodiscard]] T* data() const { return at_; }

 private:
  std::size_t octets_, alignment_;
  T* at_;
};

template <class T>
class LargeArray {
 public:
  explicit LargeArray(std::size_t count) : memory_(count), count_(count) {
    std::uninitialized_value_construct_n(memory_.data(), count);
  }
  ~LargeArray() { std::destroy_n(memory_.data(), count_); }
  LargeArray(const LargeArray&) = delete;
  LargeArray& operator=(const LargeArray&) = delete;

  [[nodiscard]] T& operator[](std::size_t i) { return memory_.data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return memory_.data()[i]; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  LargeMemory<T> memory_;
  std::size_t count_;
};

}  // namespace splitplane::buf
