// What operators must hear of bearers that cannot go on by themselves: read from a worker's counters once a second.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace splitplane::app {

class FailureWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPause{60};  // between two messages of one kind

  struct Counts {
    std::uint64_t max_retx = 0, peer_lost = 0, count_exhausted = 0;
  };
  // What is to be logged of a worker whose counters say this now.
  [[nodiscard]] std::vector<std::string> look(const std::string& worker, const Counts& counts, Time now);

 private:
  struct Kind {
    std::uint64_t said = 0;
    Time next{};
  };
  std::map<std::string, std::array<Kind, 3>> workers_;
};

}  // namespace splitplane::app
