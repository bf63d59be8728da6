// What the CUDA program reports to its parent during a run: a line of JSON a few times a second. It also learns whether
// the parent wants the run to end. A parent that has ended counts as wanting that.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "bypass/result_json.h"

namespace splitplane::bypass {

class LiveLines {
 public:
  static constexpr double kEvery = 0.2;  // seconds

  LiveLines(std::istream& in, int in_fd, std::ostream& out) : in_(in), fd_(in_fd), out_(out) {}

  // As an Observer: returning false ends the run.
  bool operator()(const Live& now) {
    if (now.seconds - before_ >= kEvery) {
      before_ = now.seconds;
      out_ << Json{{"live", to_json(now)}}.dump() << std::endl;
    }
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) return true;
    std::string line;
    return std::getline(in_, line) && line != kStop;
  }

  static constexpr const char* kStop = "stop";
  // Reads the next line that requests a run. It skips a stop that arrived after the last run had ended. Returns false
  // if the parent has ended.
  [[nodiscard]] static bool next_question(std::istream& in, std::string& line) {
    while (std::getline(in, line)) {
      if (line != kStop) return true;
    }
    return false;
  }

 private:
  std::istream& in_;
  int fd_;
  std::ostream& out_;
  double before_ = 0;
};

}  // namespace splitplane::bypass
