#include "ran/ecn/sojourn.h"

#include <algorithm>

namespace splitplane::ran::ecn {
namespace {

// How much of the highest rate remains with each window, if the link shows less: a half after 9 s of 0.2 s windows.
constexpr double kRateRemains = 1 - 1.0 / 64;

// A link that carries less than this part of its highest rate is hardly busy. Then what looks like a queue is more
// likely the path: a sixteenth of it is taken for that with each window.
constexpr double kBusy = 0.75;
constexpr Time kAdoptedPart = 16;

bool before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

void Sojourn::sent(std::uint32_t sn, std::size_t octets, Time now) {
  const std::uint64_t before_it = sent_;
  sent_ += octets;
  if (size_ == 0) {
    heard_ = now;
    queueing_ = 0;
  } else if (const Stamp& last = stamp(size_ - 1); now - last.at < spacing_ || !before(last.sn, sn)) {
    return;
  }
  if (size_ == kStamps) drop_every_second();
  stamp(size_++) = {.sn = sn, .at = now, .octets = before_it, .received = received_};
}

void Sojourn::acknowledged(const Acknowledgement& ack, Time now) {
  heard_ = now;
  Time age = 0;
  std::uint64_t octets_ahead = 0;
  bool is_news = false;
  while (size_ != 0 && before(stamp(0).sn, ack.up_to)) {
    const std::uint64_t end = size_ > 1 ? stamp(1).octets : sent_;
    age = now - stamp(0).at;
    octets_ahead = end - stamp(0).received;
    is_news = true;
    if (size_ > 1 && before(ack.up_to, stamp(1).sn)) break;
    // The last stamp stands for all numbers from it on, and these are not acknowledged yet.
    if (size_ == 1 && !ack.is_everything) break;
    drop_first();
  }
  if (ack.is_everything) {
    size_ = 0;
    spacing_ = settings_.resolution;
  }
  note_received(ack.is_everything, now);
  if (!is_news) return;
  if (!ack.has_holes) {
    note_age(age, octets_ahead);
  } else {
    queueing_ = age - std::min(age, path_ + settings_.reassembly);
  }
}

void Sojourn::restart() {
  size_ = 0;
  queueing_ = 0;
  spacing_ = settings_.resolution;
  received_ = window_from_ = sent_;
  window_at_ = 0;
}

Time Sojourn::queueing(Time now) const {
  if (size_ == 0) return 0;
  const Time silence = now - heard_;
  const Time expected = path_ + settings_.patience;
  return queueing_ + (silence > expected ? silence - expected : 0);
}

void Sojourn::note_received(bool is_everything, Time now) {
  if (is_everything) {
    received_ = sent_;
  } else if (size_ != 0) {
    received_ = std::max(received_, stamp(0).octets);
  }
  if (window_at_ == 0) {
    window_at_ = now;
    window_from_ = received_;
  }
  const Time window = now - window_at_;
  if (window < settings_.rate_window) return;
  const double rate = static_cast<double>(received_ - window_from_) / static_cast<double>(window);
  if (rate < rate_ * kBusy) path_ += queueing_ / kAdoptedPart;
  rate_ = std::max(rate_ * kRateRemains, rate);
  window_at_ = now;
  window_from_ = received_;
}

void Sojourn::note_age(Time age, std::uint64_t octets_ahead) {
  if (!is_path_known_ || age < path_) {
    path_ = age;
    is_path_known_ = true;
  } else if (rate_ > 0) {
    const double longest_wait = static_cast<double>(octets_ahead) / rate_;
    if (static_cast<double>(age) - longest_wait > static_cast<double>(path_)) {
      path_ = age - static_cast<Time>(longest_wait);
    }
  }
  queueing_ = age - path_;
}

void Sojourn::drop_first() {
  first_ = (first_ + 1) % kStamps;
  --size_;
  if (size_ <= kStamps / 4 && spacing_ > settings_.resolution) spacing_ /= 2;
}

void Sojourn::drop_every_second() {
  const std::size_t kept = (size_ + 1) / 2;
  for (std::size_t i = 1; i < kept; ++i) stamp(i) = stamp(2 * i);
  size_ = kept;
  spacing_ *= 2;
}

}  // namespace splitplane::ran::ecn
