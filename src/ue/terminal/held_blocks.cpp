#include "ue/terminal/held_blocks.h"

#include "ue/terminal/terminal.h"

namespace splitplane::ue {

HeldBlocks::HeldBlocks(std::size_t blocks, std::size_t bytes)
    : bytes_(bytes), memory_(blocks * bytes), places_(blocks) {
  free_.reserve(blocks);
  for (std::size_t i = blocks; i != 0; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
}

HeldBlocks::Block HeldBlocks::take(Terminal& owner, std::uint8_t process) {
  if (free_.empty() && oldest_ != kNone && places_[oldest_].slot != slot_) {
    ++taken_back_;
    Place& oldest = places_[oldest_];
    oldest.owner->forget(oldest.process);  // that gives it back
  }
  if (free_.empty()) return {};
  const std::uint32_t place = free_.back();
  free_.pop_back();
  places_[place].owner = &owner;
  places_[place].process = process;
  link(place);
  return {*this, place};
}

void HeldBlocks::give_back(std::uint32_t place) {
  unlink(place);
  free_.push_back(place);
}

void HeldBlocks::make_newest(std::uint32_t place) {
  unlink(place);
  link(place);
}

void HeldBlocks::link(std::uint32_t place) {
  places_[place].slot = slot_;
  places_[place].older = newest_;
  places_[place].newer = kNone;
  (newest_ == kNone ? oldest_ : places_[newest_].newer) = place;
  newest_ = place;
}

void HeldBlocks::unlink(std::uint32_t place) {
  const Place& one = places_[place];
  (one.older == kNone ? oldest_ : places_[one.older].newer) = one.newer;
  (one.newer == kNone ? newest_ : places_[one.newer].older) = one.older;
}

}  // namespace splitplane::ue
