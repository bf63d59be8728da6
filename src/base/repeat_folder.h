// Folds log lines that repeat. Of lines that differ only in numbers and addresses it writes a few and counts the rest.
// So packets from strangers cannot fill the log. The caller passes the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace splitplane::log {

// What lines of one kind have in common: words with a digit or an inner colon become '#'.
[[nodiscard]] std::string shape_of(std::string_view text);

class RepeatFolder {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr unsigned kBurst = 20;                          // lines of one shape that are written at once
  static constexpr std::chrono::milliseconds kOneEach{500};       // after that, one line in this time
  static constexpr std::chrono::milliseconds kSummaryEach{5000};  // how often the rest is reported in a summary
  static constexpr std::size_t kShapes = 512;                     // remembered shapes; further ones share one place

  // Returns true if a line of this level is to be written. Otherwise it counts the line for the next summary.
  [[nodiscard]] bool admit(int level, std::string_view text, Time now);

  struct Summary {
    int level;
    std::string text;  // "812 more lines like this one: ..."
  };
  // The summaries that are due; with `all`, every summary of folded lines.
  [[nodiscard]] std::vector<Summary> due(Time now, bool all = false);
  [[nodiscard]] bool has_folded() const { return folding_ != 0; }
  [[nodiscard]] std::uint64_t folded() const { return folded_; }

 private:
  struct Shape {
    Time full_at{};  // the time at which all of kBurst may be written again
    Time summary_at{};
    std::uint64_t folded = 0;
    int level = 0;
    std::string last;
  };
  Shape& find(int level, std::string_view text, Time now);

  std::unordered_map<std::string, Shape> shapes_;
  std::uint64_t folded_ = 0;
  std::size_t folding_ = 0;  // shapes with folded lines
};

}  // namespace splitplane::log
