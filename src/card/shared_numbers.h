// Small numbers for values that many bearers share. A P4 table has one row for each number, and the bearers' entries
// name the number instead of the value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace splitplane::nic {

template <class Value>
class SharedNumbers {
 public:
  struct Taken {
    std::uint8_t number = 0;
    bool fresh = false;  // the first user of the value: its row must be written
  };

  // Numbers first .. first + count - 1.
  SharedNumbers(unsigned first, unsigned count) : first_(first), users_(count, 0) {}

  // The value's number, which has one more user now; nothing if all numbers are in use.
  [[nodiscard]] std::optional<Taken> take(const Value& value) {
    if (const auto at = numbers_.find(value); at != numbers_.end()) {
      ++users_[at->second];
      return Taken{name(at->second), false};
    }
    for (std::size_t i = 0; i < users_.size(); ++i) {
      if (users_[i] != 0) continue;
      users_[i] = 1;
      numbers_.emplace(value, i);
      return Taken{name(i), true};
    }
    return std::nullopt;
  }
  // Returns true if the value has no user any more: its row goes.
  [[nodiscard]] bool give_back(const Value& value) {
    const auto at = numbers_.find(value);
    if (--users_[at->second] != 0) return false;
    numbers_.erase(at);
    return true;
  }
  // visit(value, number)
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [value, i] : numbers_) visit(value, name(i));
  }
  [[nodiscard]] std::size_t in_use() const { return numbers_.size(); }

 private:
  [[nodiscard]] std::uint8_t name(std::size_t i) const { return static_cast<std::uint8_t>(first_ + i); }

  unsigned first_;
  std::vector<std::uint32_t> users_;
  std::map<Value, std::size_t> numbers_;
};

}  // namespace splitplane::nic
