#include "engine/driver/dpdk_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace splitplane::datapath {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/';
}

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_of_word(line[at - 1]);
    // A full stop may end the sentence.
    const bool ends = end == line.size() || !is_of_word(line[end]) || (line[end] == '.' && end + 1 == line.size());
    if (begins && ends) return true;
  }
  return false;
}

// Parts of lines that DPDK 22.11 logs as warnings or errors at each healthy start: nothing asks for its legacy
// telemetry, and a virtio_user device without `mac` gets a random one.
constexpr std::array<std::string_view, 2> kUsualLines{"TELEMETRY: No legacy callbacks", "No valid MAC in devargs"};

bool is_usual(std::string_view line) {
  return std::ranges::any_of(kUsualLines, [line](auto part) { return line.find(part) != std::string_view::npos; });
}

}  // namespace

void DpdkLines::name_port(const std::string& mark, const std::string& port) {
  const std::lock_guard guard(mutex_);
  if (!mark.empty()) marks_[mark] = port;
}

void DpdkLines::forget_port(const std::string& port) {
  const std::lock_guard guard(mutex_);
  std::erase_if(marks_, [&](const auto& mark) { return mark.second == port; });
}

std::string DpdkLines::port_of(std::string_view line, const std::string& about) const {
  const auto named = std::find_if(marks_.begin(), marks_.end(), [&](const auto& m) { return has_word(line, m.first); });
  return named == marks_.end() ? about : named->second;
}

void DpdkLines::take(spdlog::level::level_enum said_level, std::string_view line, const std::string& about,
                     Clock::time_point now) {
  const auto level = is_usual(line) ? spdlog::level::debug : said_level;
  const std::lock_guard guard(mutex_);
  expire(now, false);
  const std::string text(line);
  if (const auto known = lines_.find(text); known != lines_.end()) {
    ++known->second.repeats;
    return;
  }
  if (lines_.size() == kLines) {
    const auto oldest = std::min_element(lines_.begin(), lines_.end(),
                                         [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    say(oldest->first, oldest->second);
    lines_.erase(oldest);
  }
  const Line& made = lines_.emplace(text, Line{level, port_of(line, about), now}).first->second;
  write_(level, made.port, text);
}

void DpdkLines::say_repeats(Clock::time_point now, bool all) {
  const std::lock_guard guard(mutex_);
  expire(now, all);
}

void DpdkLines::say(const std::string& text, const Line& line) {
  if (line.repeats == 0) return;
  const std::string times = line.repeats == 1 ? "once" : fmt::format("{} times", line.repeats);
  write_(line.level, line.port, fmt::format("{} ({} more)", text, times));
}

void DpdkLines::expire(Clock::time_point now, bool all) {
  std::erase_if(lines_, [&](const auto& each) {
    const bool over = all || now - each.second.first >= kWindow;
    if (over) say(each.first, each.second);
    return over;
  });
}

}  // namespace splitplane::datapath
