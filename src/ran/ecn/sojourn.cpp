#include "ran/ecn/sojourn.h"

#include <algorithm>

namespace splitplane::ran::ecn {
namespace {

// The smallest age rises by 1 / 2^14 of the time: a millisecond in 16 s.
constexpr unsigned kRiseShift = 14;

bool before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

void Sojourn::sent(std::uint32_t sn, Time now) {
  if (size_ == 0) {
    heard_ = now;
    queueing_ = 0;
  } else if (const Stamp& last = stamp(size_ - 1); now - last.at < spacing_ || !before(last.sn, sn)) {
    return;
  }
  if (size_ == kStamps) drop_every_second();
  stamp(size_++) = {sn, now};
}

void Sojourn::acknowledged(const Acknowledgement& ack, Time now) {
  heard_ = now;
  Time sent_at = 0;
  bool is_news = false;
  while (size_ != 0 && before(stamp(0).sn, ack.up_to)) {
    sent_at = stamp(0).at;
    is_news = true;
    if (size_ > 1 && before(ack.up_to, stamp(1).sn)) break;
    // The last stamp stands for all numbers from it on, and these are not acknowledged yet.
    if (size_ == 1 && !ack.is_everything) break;
    drop_first();
  }
  if (ack.is_everything) {
    size_ = 0;
    queueing_ = 0;
    spacing_ = settings_.resolution;
  }
  if (!is_news) return;
  const Time age = now - sent_at;
  if (!ack.has_holes) {
    note_age(age, now);
  } else {
    queueing_ = age - std::min(age, path_ + settings_.reassembly);
  }
  if (ack.is_everything) queueing_ = 0;
}

void Sojourn::restart() {
  size_ = 0;
  queueing_ = 0;
  spacing_ = settings_.resolution;
}

Time Sojourn::queueing(Time now) const {
  if (size_ == 0) return 0;
  const Time silence = now - heard_;
  const Time expected = path_ + settings_.patience;
  return queueing_ + (silence > expected ? silence - expected : 0);
}

void Sojourn::note_age(Time age, Time now) {
  const Time rise = (now - path_at_) >> kRiseShift;
  if (!is_path_known_ || age <= path_ + rise) {
    path_ = age;
    path_at_ = now;
    is_path_known_ = true;
  } else if (rise != 0) {
    path_ += rise;
    path_at_ = now;
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
