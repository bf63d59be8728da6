// The arrivals of a replay in ns after its start, recorded or drawn. It adds to traffic/schedule.h what a generator on
// a wire does not need: radio slots and a day's load.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/expected.h"
#include "traffic/schedule.h"

namespace splitplane::power::replay {

// Packets come only at the beginning of downlink slots (letters D and S of the pattern; U has none), at random times
// there.
struct Tdd {
  std::string pattern = "DDDSU";
  std::uint64_t slot_ns = 500'000;
  std::uint64_t window_ns = 50'000;  // length from the beginning of a slot
};

// The rate follows a cosine from `low` times the rate up to the rate and back, once over the duration. Arrivals are
// random within it.
struct Diurnal {
  double low = 0.1;
};

// `packets` at once, at random times: bursts that no policy can be in step with.
struct Trains {
  std::uint32_t packets = 32;
};

struct ArrivalsSettings {
  std::variant<traffic::Arrivals, Tdd, Diurnal, Trains> kind = traffic::Arrivals{traffic::Poisson{}};
  double rate = 10'000;  // packets a second: the mean; for Diurnal the peak; Recorded does not use it
  std::uint64_t duration_ns = 10'000'000'000;
  std::uint64_t seed = 1;
};

inline constexpr std::uint64_t kMostPackets = 50'000'000;  // 400 MB

// The times of a capture's packets from 0 on (pcap or pcapng, of any link type, cut or not). The error is one sentence.
[[nodiscard]] Expected<traffic::Recorded> load_times(const std::string& path);

// Ascending times below the duration. The error is one sentence.
[[nodiscard]] Expected<std::vector<std::uint64_t>> make_arrivals(const ArrivalsSettings& settings);

}  // namespace splitplane::power::replay
