// The reader of .spec files. A refusal is one sentence with a line number. An accepted file holds every word of the
// text (except comments), is read as the same after it is written back, and its jumps lead forward.
#include <algorithm>
#include <string>

#include "card/spec/spec_file.h"
#include "card/swx/spec_repair.h"
#include "fuzz.h"

namespace splitplane::fuzz {
namespace {

using nic::SpecFile;
using Words = std::vector<std::string>;

// Normalises numbers, for example bit<08>; other words stay.
std::string normal(const std::string& word) {
  for (const std::string_view type : {"bit<", "varbit<"}) {
    if (!word.starts_with(type) || !word.ends_with('>')) continue;
    return fmt::format("{}{}>", type, normal(word.substr(type.size(), word.size() - type.size() - 1)));
  }
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  const std::string digits = word.substr(hex ? 2 : 0);
  if (digits.empty() || digits.find_first_not_of(hex ? "0123456789abcdefABCDEF" : "0123456789") != std::string::npos) {
    return word;
  }
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  if (digits.size() - first > 16) return word;
  return std::to_string(std::stoull(digits.substr(first), nullptr, hex ? 16 : 10));
}

// All words after the first line except comments, sorted.
Words words_of(const std::string& text) {
  Words words;
  for (std::size_t at = std::min(text.find('\n'), text.size()); at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at + 1), text.size());
    std::string word;
    for (std::size_t i = at + 1; i <= end; ++i) {
      const bool blank = i == end || std::string_view(" \t\f\r\v").find(text[i]) != std::string_view::npos;
      if (!blank) {
        const bool comment = text[i] == '#' || text[i] == ';' || text.compare(i, 2, "//") == 0;
        if (word.empty() && comment) break;
        word += text[i];
      } else if (!word.empty()) {
        words.push_back(normal(word));
        word.clear();
      }
    }
    at = end;
  }
  std::sort(words.begin(), words.end());
  return words;
}

std::string written(const SpecFile& spec) {
  std::string out =
      fmt::format("; sha256={} program={} defines={}", spec.source_hash, spec.program, fmt::join(spec.defines, ","));
  if (!spec.body_hash.empty()) out += " body=" + spec.body_hash;
  out += "\n";
  for (const auto& s : spec.structs) {
    out += "struct " + s.name + " {\n";
    for (const auto& field : s.fields) {
      const bool varies = s.last_varies && &field == &s.fields.back();
      out += fmt::format("{}<{}> {}\n", varies ? "varbit" : "bit", field.bits, field.name);
    }
    out += "}\n";
  }
  for (const auto& h : spec.headers) out += fmt::format("header {} instanceof {}\n", h.name, h.type);
  out += "metadata instanceof " + spec.metadata + "\n";
  for (const auto& r : spec.registers)
    out += fmt::format("regarray {} size {} initval {}\n", r.name, r.size, r.initial);
  for (const auto& a : spec.actions) {
    out += fmt::format("action {} args {} {{\n", a.name, a.arguments.empty() ? "none" : "instanceof " + a.arguments);
    for (const auto& instruction : a.instructions) out += instruction + "\n";
    out += "}\n";
  }
  for (const auto& t : spec.tables) {
    out += "table " + t.name + " {\n";
    if (!t.keys.empty()) out += "key {\n";
    for (const auto& key : t.keys) {
      constexpr std::array<std::string_view, 3> kMatches{"exact", "lpm", "wildcard"};
      out += fmt::format("{} {}\n", key.field, kMatches[static_cast<std::size_t>(key.match)]);
    }
    if (!t.keys.empty()) out += "}\n";
    out += "actions {\n";
    for (const auto& a : t.actions)
      out += a.name + (!a.by_default ? " @tableonly\n" : !a.entries ? " @defaultonly\n" : "\n");
    out += fmt::format("}}\ndefault_action {} args {}{}\n", t.default_action,
                       t.default_arguments.empty() ? "none" : t.default_arguments, t.default_is_const ? " const" : "");
    if (!t.hash.empty()) out += "hash " + t.hash + "\n";
    if (t.size != nic::SpecTable{}.size) out += fmt::format("size {}\n", t.size);
    out += "}\n";
  }
  out += "apply {\n";
  for (const auto& instruction : spec.apply) out += instruction + "\n";
  return out + "}\n";
}

// Removes words that a text may leave out: an empty key block, and the default size of a table.
void take_away_what_may_be_left_out(Words& text, const Words& back) {
  for (const std::string word : {"key", "{", "}", "size", "65536"}) {
    while (std::count(text.begin(), text.end(), word) > std::count(back.begin(), back.end(), word)) {
      text.erase(std::find(text.begin(), text.end(), word));
    }
  }
}

// The label of every jump is its first operand; other operands may be spelled like a label.
void check_forward(const std::vector<std::string>& instructions) {
  Words labels;
  for (const std::string& one : instructions) {
    const std::size_t mark = one.find(" : ");
    if (mark != std::string::npos) labels.push_back(one.substr(0, mark));
    const std::string body = one.substr(mark == std::string::npos ? 0 : mark + 3);
    if (!body.starts_with("jmp")) continue;
    const std::size_t first = body.find(' ') + 1;
    const std::string target = body.substr(first, body.find(' ', first) - first);
    require(std::ranges::find(labels, target) == labels.end(), "'{}' jumps back", one);
  }
}

}  // namespace
}  // namespace splitplane::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace splitplane;
  using namespace splitplane::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), bytes);
  auto spec = nic::parse_spec(text, "f.spec");
  if (!spec) {
    const std::string& sentence = spec.error().message;
    require(sentence.starts_with("f.spec:") && sentence.find("; allowed: ") != std::string::npos, "{}", sentence);
    return 0;
  }
  const std::string back = written(*spec);
  const auto again = nic::parse_spec(back, "f.spec");
  require(again.has_value(), "what was accepted is refused: {}\n{}", again ? "" : again.error().message, back);
  require(written(*again) == back, "what is written is read otherwise:\n{}", back);
  Words has = words_of(text);
  const Words holds = words_of(back);
  take_away_what_may_be_left_out(has, holds);
  require(has == holds, "words of the text are not in the result: {}\nand it holds: {}", fmt::join(has, " "),
          fmt::join(holds, " "));
  for (const auto& action : spec->actions) check_forward(action.instructions);
  check_forward(spec->apply);
  nic::repair_constant_register_access(*spec);
  return 0;
}
