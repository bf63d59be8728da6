// A list with a fixed capacity: the elements live inside, nothing is allocated.
#pragma once

#include <array>
#include <cstddef>

namespace splitplane::fapi {

template <class T, std::size_t N>
class Bounded {
 public:
  static constexpr std::size_t kCapacity = N;

  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) { return elements_[i]; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return elements_[i]; }
  [[nodiscard]] constexpr T* begin() { return elements_.data(); }
  [[nodiscard]] constexpr T* end() { return elements_.data() + size_; }
  [[nodiscard]] constexpr const T* begin() const { return elements_.data(); }
  [[nodiscard]] constexpr const T* end() const { return elements_.data() + size_; }

  constexpr void clear() { size_ = 0; }
  // Returns the new last element, or nullptr when the list is full. Its value is that of an earlier use of the place.
  [[nodiscard]] constexpr T* append() { return size_ == N ? nullptr : &elements_[size_++]; }
  // False, and nothing changes, when the list is full.
  constexpr bool add(const T& element) {
    T* const place = append();
    if (place != nullptr) *place = element;
    return place != nullptr;
  }

  friend constexpr bool operator==(const Bounded& a, const Bounded& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.elements_[i] == b.elements_[i])) return false;
    }
    return true;
  }

 private:
  std::array<T, N> elements_{};
  std::size_t size_ = 0;
};

}  // namespace splitplane::fapi
