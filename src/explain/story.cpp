#include "explain/story.h"

#include <fmt/format.h>

#include <algorithm>

namespace splitplane::app {
namespace {

// `text` in lines of at most `width` columns; those behind the first are indented.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines;
  std::string indent;
  std::size_t at = 0;
  while (indent.size() + text.size() - at > width) {
    const std::size_t room = width - indent.size();
    std::size_t cut = text.rfind(' ', at + room);
    if (cut == std::string::npos || cut <= at) cut = at + room;
    lines.push_back(indent + text.substr(at, cut - at));
    at = text[cut] == ' ' ? cut + 1 : cut;
    indent = "  ";
  }
  lines.push_back(indent + text.substr(at));
  return lines;
}

}  // namespace

std::string render_story(const Story& story, const std::string& headline) {
  constexpr std::size_t kIndent = 14, kWidth = 79 - kIndent;
  std::string out = headline + "\n";
  for (const Step& step : story.steps) {
    std::string label = step.stage;
    std::vector<std::string> lines;
    for (const auto& text : step.texts) {
      for (auto& line : wrapped(text, kWidth)) lines.push_back(std::move(line));
    }
    if (lines.empty()) lines.emplace_back("passed");
    for (const auto& line : lines) {
      out += fmt::format("  {:<{}}{}\n", label, kIndent - 2, line);
      label.clear();
    }
  }
  for (const auto& line : wrapped("=> " + story.verdict, 77)) out += "  " + line + "\n";
  return out;
}

Json to_json(const Story& story) {
  Json json{{"verdict", story.verdict}, {"stages", Json::array()}};
  for (const Step& step : story.steps) json["stages"].push_back({{"stage", step.stage}, {"says", step.texts}});
  return json;
}

std::string hex_of(const std::vector<std::uint8_t>& octets) {
  std::string text;
  for (const std::uint8_t octet : octets) text += fmt::format("{:02x}", octet);
  return text;
}

std::string hex_lines(const std::vector<std::uint8_t>& octets) {
  std::string text;
  for (std::size_t at = 0; at < octets.size(); at += 16) {
    text += fmt::format("    {:04x} ", at);
    for (std::size_t i = at; i < std::min(at + 16, octets.size()); ++i) text += fmt::format(" {:02x}", octets[i]);
    text += '\n';
  }
  return text;
}

}  // namespace splitplane::app
