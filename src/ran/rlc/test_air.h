// For tests of ran/rlc only: the air between two entities, which loses (also in bursts), doubles, delays and so
// reorders.
#pragma once

#include <map>

#include "ran/rlc/test_entities.h"

namespace splitplane::ran::rlc::test {

struct AirQuality {
  unsigned loss_percent = 0, burst_percent = 0, duplicate_percent = 0;
  Time most_delay = 0;
};

class Air {
 public:
  Air(Random& random, const AirQuality& quality) : random_(random), quality_(quality) {}
  void set(const AirQuality& quality) { quality_ = quality; }
  void put(const Bytes& pdu, Time now) {
    if (burst_ != 0) --burst_;
    if (random_.percent(quality_.burst_percent)) burst_ = 10;
    const unsigned copies = random_.percent(quality_.duplicate_percent) ? 2 : 1;
    for (unsigned i = 0; i < copies; ++i) {
      if (burst_ != 0 || random_.percent(quality_.loss_percent)) continue;
      flying_.emplace(now + random_() % (quality_.most_delay + 1), pdu);
    }
  }
  // What has arrived by `now`.
  template <class Arrive>
  void arrive(Time now, Arrive&& arrive) {
    while (!flying_.empty() && flying_.begin()->first <= now) {
      const Bytes pdu = std::move(flying_.begin()->second);
      flying_.erase(flying_.begin());
      arrive(pdu);
    }
  }
  [[nodiscard]] bool empty() const { return flying_.empty(); }

 private:
  Random& random_;
  AirQuality quality_;
  unsigned burst_ = 0;
  std::multimap<Time, Bytes> flying_;
};

// SDUs that say which they are: an ordinal, then octets that follow from it.
inline Bytes numbered(std::uint32_t ordinal, std::size_t bytes) {
  Bytes out = pattern(std::max<std::size_t>(bytes, 4), ordinal);
  for (unsigned i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(ordinal >> 8 * i);
  return out;
}
inline std::uint32_t number_of(const Bytes& sdu) {
  std::uint32_t ordinal = 0;
  for (unsigned i = 0; i < 4; ++i) ordinal |= std::uint32_t{sdu.at(i)} << 8 * i;
  return ordinal;
}

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace splitplane::ran::rlc::test
