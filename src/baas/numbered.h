// Objects with small dense numbers, in blocks of huge pages. An object is found without a look at a pointer of its own,
// and does not move. The blocks stay until the end.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "buf/large_array.h"

namespace splitplane::baas {

template <class T>
class Numbered {
 public:
  Numbered() = default;
  Numbered(Numbered&&) noexcept = default;
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  ~Numbered() {
    for_each([](T& one) { std::destroy_at(&one); });
  }

  // In the order of their numbers.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t word = 0; word < used_.size(); ++word) {
      for (std::uint64_t left = used_[word]; left != 0; left &= left - 1)
        visit(*at(static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(left))));
    }
  }

  [[nodiscard]] T* find(std::uint32_t number) const {
    const std::size_t word = number / 64;
    return word < used_.size() && (used_[word] >> (number % 64) & 1) != 0 ? at(number) : nullptr;
  }
  // `number` is free.
  template <class... Arguments>
  T& emplace(std::uint32_t number, Arguments&&... arguments) {
    const std::size_t block = number / kInBlock;
    if (block >= blocks_.size()) {
      blocks_.resize(block + 1);
      used_.resize((block + 1) * (kInBlock / 64));
    }
    if (blocks_[block] == nullptr) blocks_[block] = std::make_unique<buf::LargeMemory<T>>(kInBlock);
    T* const one = std::construct_at(at(number), std::forward<Arguments>(arguments)...);
    used_[number / 64] |= std::uint64_t{1} << (number % 64);
    return *one;
  }
  void erase(std::uint32_t number) {
    std::destroy_at(at(number));
    used_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
  }

 private:
  static constexpr std::uint32_t kInBlock = 8192;

  [[nodiscard]] T* at(std::uint32_t number) const { return blocks_[number / kInBlock]->data() + number % kInBlock; }

  std::vector<std::unique_ptr<buf::LargeMemory<T>>> blocks_;
  std::vector<std::uint64_t> used_;  // a bit for each number
};

}  // namespace splitplane::baas
