// The places that UEs have in the tables of one direction of a cell. There are as many as the tables are long; a UE
// without a place waits until one is free or until another UE needs its place no longer, and the one that waits longest
// gets it.
#pragma once

#include <utility>
#include <vector>

#include "radio/radio_ue.h"
#include "ran/intrusive_queue.h"

namespace splitplane::datapath {

// Place, Next, Waits: the members of RadioUe for this direction.
template <std::uint16_t RadioUe::* Place, RadioUe* RadioUe::* Next, bool RadioUe::* Waits>
class UePlaces {
 public:
  explicit UePlaces(std::size_t most) : owners_(most) {
    free_.reserve(most);
    for (std::size_t i = most; i != 0; --i) free_.push_back(static_cast<std::uint16_t>(i - 1));
  }

  // Gives a place to a UE that has none. False: none is free, and the UE waits.
  [[nodiscard]] bool give(RadioUe& ue) {
    if (free_.empty()) {
      no_place_ += ue.*Waits ? 0 : 1;
      without_.push(ue);
      return false;
    }
    ue.*Place = free_.back();
    free_.pop_back();
    owners_[ue.*Place] = &ue;
    return true;
  }
  // The UE leaves: it has no place and does not wait any more. Returns the UE that has its place now, or nullptr.
  RadioUe* take(RadioUe& ue) {
    without_.remove(ue);
    if (ue.*Place == RadioUe::kNoPlace) return nullptr;
    owners_[ue.*Place] = nullptr;
    free_.push_back(std::exchange(ue.*Place, RadioUe::kNoPlace));
    RadioUe* const next = without_.pop();
    return next != nullptr && give(*next) ? next : nullptr;
  }
  // While UEs wait: calls is_idle(ue) for a few UEs in turn, until it says that one needs its place no longer. Returns
  // that one; nullptr if there is none. The caller takes its place.
  template <class IsIdle>
  [[nodiscard]] RadioUe* find_idle(IsIdle&& is_idle) {
    for (unsigned i = 0; i < kLooks && !without_.empty(); ++i) {
      RadioUe* const ue = owners_[next_ = (next_ + 1) % owners_.size()];
      if (ue != nullptr && is_idle(*ue)) return ue;
    }
    return nullptr;
  }
  static constexpr unsigned kExchanges = 8;  // of places in a slot, at most
  // Slots for which a UE that has data keeps its place while others wait.
  static constexpr std::uint64_t kMostSlots = 400;

  // How often a UE had to wait.
  [[nodiscard]] std::uint64_t no_place() const { return no_place_; }

 private:
  static constexpr unsigned kLooks = 16;

  std::vector<std::uint16_t> free_;
  std::vector<RadioUe*> owners_;  // by place
  std::size_t next_ = 0;          // the place that find_resting() looked at last
  ran::IntrusiveQueue<RadioUe, Next, Waits> without_;
  std::uint64_t no_place_ = 0;
};

using DownlinkPlaces =
    UePlaces<&RadioUe::downlink_place, &RadioUe::next_without_downlink, &RadioUe::waits_for_downlink_place>;
using UplinkPlaces = UePlaces<&RadioUe::uplink_place, &RadioUe::next_without_uplink, &RadioUe::waits_for_uplink_place>;

}  // namespace splitplane::datapath
