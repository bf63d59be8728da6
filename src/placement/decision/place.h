// Where a bearer lives: on a worker of the host, or on a card. Both have numbers, from 0.
#pragma once

#include <cstdint>

namespace splitplane::placement {

inline constexpr unsigned kMaxCards = 32;

class Place {
 public:
  constexpr Place() = default;  // the host, worker 0
  static constexpr Place worker(std::uint8_t number) { return {false, number}; }
  static constexpr Place card(std::uint8_t number) { return {true, number}; }

  [[nodiscard]] constexpr bool on_card() const { return on_card_; }
  [[nodiscard]] constexpr bool on_card(unsigned number) const { return on_card_ && number_ == number; }
  [[nodiscard]] constexpr std::uint8_t number() const { return number_; }  // of the worker or the card
  friend constexpr bool operator==(const Place&, const Place&) = default;

 private:
  constexpr Place(bool on_card, std::uint8_t number) : on_card_(on_card), number_(number) {}
  bool on_card_ = false;
  std::uint8_t number_ = 0;
};

}  // namespace splitplane::placement
