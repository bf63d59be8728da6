#include "guard/arming/arming.h"

#include <algorithm>

namespace splitplane::guard {
namespace {

double per_second(std::uint64_t count, std::uint32_t milliseconds) {
  return static_cast<double>(count) * 1000 / milliseconds;
}

// How much of [from, to) lies in [low, high).
double overlap(double from, double to, double low, double high) {
  return std::max(0.0, std::min(to, high) - std::max(from, low));
}

}  // namespace

Arming::Arming(const ArmingSettings& settings) : settings_(settings), hold_seconds_(settings.hold_seconds) {}

void Arming::set(const ArmingSettings& settings) {
  settings_ = settings;
  hold_seconds_ =
      std::clamp(hold_seconds_, settings.hold_seconds, std::max(settings.hold_seconds, settings.max_hold_seconds));
}

// A window that lies in the judged time in part counts in part, as if its SYNs had come evenly.
void Arming::look_back() {
  constexpr double kBegin = kProofMs, kEnd = kProofMs + kShareMs;
  double syns = 0, sources = 0, ago = 0;
  for (std::size_t i = 0; i < kHistory && ago < kEnd; ++i) {
    const Window& window = history_[(newest_ + kHistory - i) % kHistory];
    if (window.milliseconds == 0) break;  // there was none before
    const double length = window.milliseconds;
    syns += static_cast<double>(window.unknown_syns) * overlap(ago, ago + length, kBegin, kEnd) / length;
    sources += static_cast<double>(window.new_sources) * overlap(ago, ago + length, 0, kEnd) / length;
    ago += length;
  }
  judged_rate_ = syns * 1000 / kShareMs;
  const double led_somewhere = sources * kShareMs / kEnd;  // as many as in the time of the SYNs
  last_percent_ = syns == 0 ? 0 : std::max(0.0, 100 * (1 - led_somewhere / syns));
}

void Arming::arm(std::uint64_t now_ms) {
  const bool soon = events_ != 0 && now_ms - disarmed_ms_ <= std::uint64_t{settings_.rearm_seconds} * 1000;
  const std::uint64_t most = std::max(settings_.hold_seconds, settings_.max_hold_seconds);
  hold_seconds_ = soon ? static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{hold_seconds_} * 2, most))
                       : settings_.hold_seconds;
  armed_ = true;
  ++events_;
}

bool Arming::after(const Window& window, std::uint64_t now_ms) {
  pending_.milliseconds += std::min(window.milliseconds, ~pending_.milliseconds);
  pending_.unknown_syns += window.unknown_syns;
  pending_.new_sources += window.new_sources;
  pending_.capped_syns += window.capped_syns;
  if (pending_.milliseconds < kWindowMs) return armed_;
  newest_ = (newest_ + 1) % kHistory;
  history_[newest_] = pending_;
  pending_ = {};

  const Window& last = history_[newest_];
  last_rate_ = per_second(last.unknown_syns + last.capped_syns, last.milliseconds);
  look_back();
  const bool is_busy = last_rate_ >= std::min(settings_.disarm_syns_per_second, settings_.arm_syns_per_second);
  const bool is_flood =
      last_rate_ >= settings_.always_syns_per_second ||
      (is_busy && judged_rate_ >= settings_.arm_syns_per_second && last_percent_ >= settings_.arm_half_open_percent);
  if (!armed_ && is_flood) arm(now_ms);
  if (armed_ && (is_busy || is_flood)) busy_ms_ = now_ms;
  if (armed_ && now_ms - busy_ms_ >= std::uint64_t{hold_seconds_} * 1000) {
    armed_ = false;
    disarmed_ms_ = now_ms;
  }
  return armed_;
}

}  // namespace splitplane::guard
