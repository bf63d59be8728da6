#include "base/repeat_folder.h"

#include <fmt/core.h>

#include <algorithm>

namespace splitplane::log {

std::string shape_of(std::string_view text) {
  constexpr std::string_view kBetween = " \t,;()[]{}'\"=/";
  std::string shape;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    const std::string_view word = text.substr(0, end);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::size_t colon = word.find(':');
    const bool varies = std::any_of(word.begin(), word.end(), digit) || (colon != word.npos && colon + 1 < word.size());
    shape += varies ? std::string_view("#") : word;
    if (end < text.size()) shape += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape;
}

RepeatFolder::Shape& RepeatFolder::find(int level, std::string_view text, Time now) {
  std::string key = fmt::format("{} {}", level, shape_of(text));
  if (const auto at = shapes_.find(key); at != shapes_.end()) return at->second;
  if (shapes_.size() >= kShapes)
    std::erase_if(shapes_, [&](const auto& row) { return row.second.folded == 0 && row.second.full_at <= now; });
  if (shapes_.size() >= kShapes) key.clear();
  return shapes_[key];
}

bool RepeatFolder::admit(int level, std::string_view text, Time now) {
  Shape& shape = find(level, text, now);
  // A bucket of kBurst lines that gains one line each kOneEach. It is stored as the time at which it is full.
  shape.full_at = std::max(shape.full_at, now);
  if (shape.full_at + kOneEach - now <= kBurst * kOneEach) {
    shape.full_at += kOneEach;
    return true;
  }
  if (shape.folded++ == 0) {
    ++folding_;
    shape.summary_at = now + kSummaryEach;
  }
  ++folded_;
  shape.level = level;
  shape.last = text;
  return false;
}

std::vector<RepeatFolder::Summary> RepeatFolder::due(Time now, bool all) {
  std::vector<Summary> out;
  if (folding_ == 0) return out;
  for (auto& [key, shape] : shapes_) {
    if (shape.folded == 0 || (!all && now < shape.summary_at)) continue;
    out.push_back({shape.level, fmt::format("{} more line{} like this one: {}", shape.folded,
                                            shape.folded == 1 ? "" : "s", shape.last)});
    shape.folded = 0;
    shape.last.clear();
    --folding_;
  }
  return out;
}

}  // namespace splitplane::log
