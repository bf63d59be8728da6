// The facts from which placement decides (placement/decision/facts.h), kept from period to period: each bearer has a
// slot there as long as it lives. Reads the store, the workers' lines and what cards said last; in mode spill it
// also asks workers for windows.
#pragma once

#include <unordered_map>
#include <vector>

#include "gnb/control/parts.h"
#include "placement/decision/facts.h"

namespace splitplane::gnb {

class FactsBook {
 public:
  explicit FactsBook(Parts& parts) : parts_(parts) {}

  // Brings everything up to date. `with_windows`: also how much of AM windows is unacknowledged, of some bearers at a
  // time.
  void update(const Locked& locked, placement::Time now, bool with_windows);
  [[nodiscard]] const placement::Facts& facts() const { return facts_; }
  [[nodiscard]] std::optional<std::size_t> slot_of(BearerId id) const;
  // A move of that slot has ended: the bearer lives where it says, since `now` or still.
  void moved(std::size_t slot, placement::Place place, placement::Time now);

  // What an explicit list says of a bearer: a card's name, "host", or nothing. False: there is no such card.
  [[nodiscard]] bool pin(BearerId id, const std::string& to);
  void unpin(BearerId id) { pins_.erase(id.value); }
  [[nodiscard]] std::size_t pinned() const { return pins_.size(); }
  // The card's number in the facts; nothing: there is no such card.
  [[nodiscard]] std::optional<std::uint8_t> card_number(const std::string& name) const;
  [[nodiscard]] const std::string& card_name(std::uint8_t number) const { return parts_.config.cards[number].name; }

 private:
  void look_at_cards(const Locked& locked);
  void look_at(const Locked& locked, const ran::BearerConfig& config);
  void look_at_windows();

  Parts& parts_;
  placement::Facts facts_;
  std::unordered_map<std::uint32_t, std::uint32_t> slots_;  // by identity
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> seen_;  // by slot: the update() that saw the bearer
  std::uint64_t updates_ = 0;
  std::unordered_map<std::uint32_t, LinkBearers::Served> served_;  // by cards, as they said last
  std::unordered_map<std::uint32_t, std::string> pins_;
  std::size_t next_window_ = 0;  // the slot whose window is looked at next
};

}  // namespace splitplane::gnb
