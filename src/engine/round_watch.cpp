#include "engine/round_watch.h"

#include <utility>

namespace splitplane::app {

RoundWatch::Says RoundWatch::look(std::uint64_t rounds, bool busy, Clock::time_point now) {
  if (busy || rounds != rounds_) {
    rounds_ = rounds;
    still_ = 0;
    moved_ = now;
    return std::exchange(silent_, false) ? Says::kBack : Says::kNothing;
  }
  ++still_;
  if (silent_) {
    if (now < say_next_) return Says::kNothing;
    say_next_ = now + kSayEach;
    return Says::kStillSilent;
  }
  if (still_ < kLooks || now - moved_ < kSilentAfter) return Says::kNothing;
  silent_ = true;
  say_next_ = now + kSayEach;
  return Says::kSilent;
}

}  // namespace splitplane::app
