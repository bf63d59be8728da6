// Order across rings. RSS keeps each flow on one ring, so a flow stays in order. The wire as a whole does not, because
// rings send at different speeds. A meter measures that (the paper's metric), and a window restores the order.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "gpu/rings/slots.h"

namespace splitplane::gpu {

// The paper's metric, which is RFC 4737's: a packet is reordered if one with a higher number came before it. Use one
// meter for the wire as a whole, or one for each flow to see what the flow's receiver would see.
class ReorderMeter {
 public:
  // Returns true if the packet is reordered.
  SPLITPLANE_HD bool see(std::uint64_t number) {
    if (number < next_) return true;
    next_ = number + 1;
    return false;
  }

 private:
  std::uint64_t next_ = 0;  // highest so far, plus one
};

struct RestoreSettings {
  std::uint32_t window = 1024;       // numbers that may be held while one is missing: a power of 2
  std::uint64_t timer_ns = 200'000;  // how long the window waits for a missing number
  std::uint32_t number_at = 42;      // octets into the frame: 64 bits, little-endian
  std::uint64_t first = 0;           // the number that comes first
};
inline constexpr std::uint32_t kMaxRestoreWindow = 1U << 16;
// A number farther ahead than this many windows does not belong to this wire. So at most this many packets in a row may
// be lost.
inline constexpr std::uint64_t kMaxRestoreJump = 1U << 16;

// Holds packets until it is their turn. A packet that is too late leaves at once. A packet that is too far ahead moves
// the window on, unless all others would be late from then on. This class never drops a packet.
class ReorderWindow {
 public:
  // A place for each number of the window, empty at first.
  struct Place {
    PacketRef packet;
    bool full;
  };
  enum class Answer : std::uint8_t {
    kHeld,   // the window holds it now
    kNow,    // it leaves at once: its turn is over, its number is held already, or the number is invalid
    kAhead,  // there is no place for it until next() has moved on: offer it again then
  };

  SPLITPLANE_HD ReorderWindow(Place* places, const RestoreSettings& settings)
      : places_(places), window_(settings.window), timer_(settings.timer_ns), next_(settings.first) {}

  [[nodiscard]] SPLITPLANE_HD Answer offer(std::uint64_t number, PacketRef packet) {
    if (number < next_) {
      ++late_;
      return Answer::kNow;
    }
    if (number - next_ >= kMaxRestoreJump * window_) {
      ++strayed_;
      return Answer::kNow;
    }
    if (number - next_ >= window_) {
      if (number - window_ + 1 > reach_) reach_ = number - window_ + 1;
      return Answer::kAhead;
    }
    Place& place = at(number);
    if (place.full) {
      ++late_;
      return Answer::kNow;
    }
    place = {packet, true};
    ++held_;
    return Answer::kHeld;
  }

  // The packet whose turn it is, if there is one.
  [[nodiscard]] SPLITPLANE_HD bool next(std::uint64_t now, PacketRef& packet) {
    for (;;) {
      if (held_ == 0) {
        if (next_ < reach_) give_up(reach_ - next_);
        waits_ = false;
        return false;
      }
      Place& place = at(next_);
      if (place.full) {
        packet = place.packet;
        place.full = false;
        --held_;
        ++next_;
        waits_ = false;
        return true;
      }
      if (next_ < reach_) {
        give_up(1);
        continue;
      }
      if (!waits_) {
        waits_ = true;
        since_ = now;
      }
      if (now - since_ < timer_) return false;
      while (!at(next_).full) give_up(1);
    }
  }

  [[nodiscard]] SPLITPLANE_HD std::uint32_t held() const { return held_; }
  // Packets that left at once because their turn was over, their number was held, or their number was too far ahead.
  [[nodiscard]] SPLITPLANE_HD std::uint64_t late() const { return late_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t strayed() const { return strayed_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t given_up() const { return given_up_; }  // numbers that did not come in time
  // For counting slots: calls f(PacketRef) for each held packet.
  template <class F>
  void for_each_held(F f) const {
    for (std::uint32_t i = 0; i < window_; ++i) {
      if (places_[i].full) f(places_[i].packet);
    }
  }

 private:
  [[nodiscard]] SPLITPLANE_HD Place& at(std::uint64_t number) const { return places_[number & (window_ - 1)]; }
  SPLITPLANE_HD void give_up(std::uint64_t numbers) {
    given_up_ += numbers;
    next_ += numbers;
  }

  Place* places_;
  std::uint32_t window_;
  std::uint32_t held_ = 0;
  std::uint64_t timer_;
  std::uint64_t next_;       // whose turn it is
  std::uint64_t reach_ = 0;  // the window must move on at least to this number
  std::uint64_t since_ = 0;
  bool waits_ = false;  // a number is missing since `since_`
  std::uint64_t late_ = 0, strayed_ = 0, given_up_ = 0;
};

}  // namespace splitplane::gpu
