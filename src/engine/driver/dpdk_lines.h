// Turns DPDK's log lines into lines of our log. Each gets the port that it is about. A repeated line is written once
// and then counted.
#pragma once

#include <spdlog/common.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace splitplane::datapath {

class DpdkLines {
 public:
  using Clock = std::chrono::steady_clock;
  // `port` is empty if the line names none.
  using Write = std::function<void(spdlog::level::level_enum, const std::string& port, const std::string& text)>;
  static constexpr std::chrono::seconds kWindow{10};  // how long a line's repeats are counted before they are logged
  static constexpr std::size_t kLines = 64;           // the most lines that are remembered at a time

  explicit DpdkLines(Write write) : write_(std::move(write)) {}

  // Lines with the word `mark` in them (a device, a socket, an interface) are about `port` from now on.
  void name_port(const std::string& mark, const std::string& port);
  void forget_port(const std::string& port);
  // `about` is the port that the line is about, unless the line names another. A line of each healthy start is of level
  // debug, whatever DPDK says.
  void take(spdlog::level::level_enum said_level, std::string_view line, const std::string& about,
            Clock::time_point now);
  // Logs how often lines were repeated whose window is over; with `all`, of all lines.
  void say_repeats(Clock::time_point now, bool all = false);

 private:
  struct Line {
    spdlog::level::level_enum level;
    std::string port;
    Clock::time_point first;
    std::uint64_t repeats = 0;
  };
  [[nodiscard]] std::string port_of(std::string_view line, const std::string& about) const;
  void say(const std::string& text, const Line& line);
  void expire(Clock::time_point now, bool all);

  Write write_;
  std::mutex mutex_;
  std::map<std::string, std::string> marks_;  // mark -> port
  std::map<std::string, Line> lines_;
};

}  // namespace splitplane::datapath
