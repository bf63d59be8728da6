// Order across rings. RSS keeps each flow on one ring, so a flow stays in order; the wire as a whole does not, since
// rings send at their own pace. A meter says how much (the paper's metric), a window puts it right again.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "gpu/rings/slots.h"

namespace splitplane::gpu {

// The paper's metric, which is RFC 4737's: a packet is reordered when one with a higher number came before it. One
// meter for the wire as a whole; one for each flow shows what a flow's receiver would see.
class ReorderMeter {
 public:
  // True: reordered.
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
  std::uint64_t timer_ns = 200'000;  // how long a missing one is waited for
  std::uint32_t number_at = 42;      // octets into the frame: 64 bits, little-endian
  std::uint64_t first = 0;           // the number that comes first
};
inline constexpr std::uint32_t kMaxRestoreWindow = 1U << 16;
// In windows: a number farther ahead is no number of this wire. So many packets may be lost in a row.
inline constexpr std::uint64_t kMaxRestoreJump = 1U << 16;

// Holds packets until it is their turn. What comes too late goes out at once; what comes too far ahead pushes the
// window on, unless it is so far that all others would be late from then on. No packet is ever dropped here.
class ReorderWindow {
 public:
  // A place for each number of the window, empty at first.
  struct Place {
    PacketRef packet;
    bool full;
  };
  enum class Answer : std::uint8_t {
    kHeld,   // it is the window's now
    kNow,    // its turn is over, or its number held already, or beyond reason: it goes out at once
    kAhead,  // no place for it until next() has moved on, which it will: offer it again then
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
  // What went out at once: since its turn was over or its number held, or since the number was too far ahead.
  [[nodiscard]] SPLITPLANE_HD std::uint64_t late() const { return late_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t strayed() const { return strayed_; }
  [[nodiscard]] SPLITPLANE_HD std::uint64_t given_up() const { return given_up_; }  // numbers that did not come in time
  // For counting slots: f(PacketRef) for each packet that is held.
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
  std::uint64_t reach_ = 0;  // the window must move on to this at least
  std::uint64_t since_ = 0;
  bool waits_ = false;  // a number is missing since `since_`
  std::uint64_t late_ = 0, strayed_ = 0, given_up_ = 0;
};

}  // namespace splitplane::gpu
