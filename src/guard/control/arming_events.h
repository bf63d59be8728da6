// When the guards of servers were armed and came to rest: seen in what workers count, kept for `ctl guard events`, and
// given to the log. A flood that comes and goes fills neither memory nor log.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/params.h"

namespace splitplane::app {

// A server on one worker, as it is now.
struct ArmedNow {
  std::string worker, server;
  bool armed = false;
  std::uint64_t armings = 0;  // so far; it never falls while the server stays
  std::uint64_t syns_per_second = 0, half_open_percent = 0;
};

struct ArmingEvent {
  std::chrono::system_clock::time_point time;
  ArmedNow now;
};

class ArmingEvents {
 public:
  static constexpr std::size_t kKept = 32;
  // The log gets at most kLines lines in a while, and then one that says how many more there were.
  static constexpr unsigned kLines = 20;
  static constexpr std::chrono::seconds kWhile{60};

  // Compares with the look before; a server that was not there was at rest. Returns the lines for the log.
  std::vector<std::string> look(const std::vector<ArmedNow>& servers, std::chrono::system_clock::time_point now);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::deque<ArmingEvent>& kept() const { return kept_; }

 private:
  void add(const ArmedNow& now, std::chrono::system_clock::time_point time, std::vector<std::string>& lines);
  void begin_while(std::chrono::system_clock::time_point now, std::vector<std::string>& lines);

  struct Seen {
    bool armed = false;
    std::uint64_t armings = 0;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by worker and server
  std::deque<ArmingEvent> kept_;
  std::uint64_t count_ = 0, unsaid_ = 0;
  unsigned said_ = 0;
  std::chrono::system_clock::time_point while_began_{};
};

// {"events": [...], "before": N}: the oldest first.
[[nodiscard]] Json json_of(const ArmingEvents& events);

}  // namespace splitplane::app
