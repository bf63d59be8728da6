// The facts from which placement decides (placement/decision/facts.h), kept from period to period: each bearer has a
// slot there as long as it lives. Reads the store, the workers' lines and what cards said last; in mode spill it
// also asks workers for windows. With many bearers a look at all of them takes long, so it is made in pieces:
//
//   begin() -> look_further() until it says that there are no more -> end()
//
// Bearers may come, go and move between the pieces. One that comes may be seen in the next period only.
#pragma once

#include <chrono>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gnb/control/parts.h"
#include "placement/decision/facts.h"

namespace splitplane::gnb {

class FactsBook {
 public:
  explicit FactsBook(Parts& parts) : parts_(parts) {}

  // Bearers of one piece. The mutex of the control side is held for a few milliseconds at most.
  static constexpr std::size_t kPiece = 4096;
  // Between two pieces the mutex is left alone for so long. It goes to the thread that asks next, which without a pause
  // is the one that has just let it go.
  static constexpr std::chrono::microseconds kPause{50};

  // What cards say, and what they served: without the mutex of the control side.
  void begin(placement::Time now);
  // The next bearers, kPiece at most. False: those were the last.
  [[nodiscard]] bool look_further(const Locked& locked);
  // Forgets bearers that are gone. `with_windows`: it also asks workers how much of AM windows is unacknowledged, of
  // some bearers at a time. Without the mutex.
  void end(bool with_windows);
  // Between two looks at all: what cards say, without the mutex, then any bearers. False: there is no such bearer.
  void begin_look_at_some(placement::Time now);
  [[nodiscard]] bool look_at(const Locked& locked, BearerId id);
  [[nodiscard]] const placement::Facts& facts() const { return facts_; }
  [[nodiscard]] std::optional<std::size_t> slot_of(BearerId id) const;
  // A move of that slot has ended: the bearer lives where it says, since `now` or still.
  void moved(std::size_t slot, placement::Place place, placement::Time now);

  // The card's number in the facts; nothing: there is no such card.
  [[nodiscard]] std::optional<std::uint8_t> card_number(const std::string& name) const;
  [[nodiscard]] const std::string& card_name(std::uint8_t number) const { return parts_.config.cards[number].name; }

 private:
  void look_at_cards();
  [[nodiscard]] bool is_filled(std::size_t card, const app::CardLinkView& view);
  void ask_cards_what_they_served();
  [[nodiscard]] const LinkBearers::Served* served_by_card(std::uint32_t id);
  void look_at(const Locked& locked, const ran::BearerConfig& config);
  void look_at_windows();

  Parts& parts_;
  placement::Facts facts_;
  std::unordered_map<std::uint32_t, std::uint32_t> slots_;  // by identity
  std::vector<std::uint32_t> free_;
  std::vector<std::uint64_t> seen_;  // by slot: the last look that saw the bearer
  std::uint64_t updates_ = 0;
  std::uint32_t last_seen_ = 0;  // the identity at which this look is
  // By cards, as they said last; in the order of identities. A look at all bearers meets them in that order.
  std::vector<std::pair<std::uint32_t, LinkBearers::Served>> served_;
  std::size_t next_served_ = 0;
  // Of each card: its `connects` of the present run, when that was first seen, and whether it has had all that it
  // shall have. Until then it cannot take part in moves.
  struct Filling {
    std::uint64_t run = 0;
    placement::Time since{};
    bool is_over = false;
  };
  std::vector<Filling> filling_;
  std::size_t next_window_ = 0;  // the slot whose window is looked at next
};

}  // namespace splitplane::gnb
