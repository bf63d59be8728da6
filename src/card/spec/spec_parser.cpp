#include "card/spec/spec_parser.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "card/spec/spec_names.h"

namespace splitplane::nic {
namespace {

// Limits of DPDK's pipeline (rte_swx_pipeline.h): longest name, longest instruction, widest field.
constexpr std::size_t kMaxName = 63, kMaxInstruction = 255;
constexpr unsigned kMaxFieldBits = 64;

bool starts_comment(std::string_view token) {
  return token[0] == '#' || token[0] == ';' || token.starts_with("//");
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> tokens;
  constexpr std::string_view kBlank = " \t\f\r\v";
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    if (starts_comment(line.substr(at))) break;
    tokens.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return tokens;
}

bool is_hash(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_jump(const std::string& word) {
  return word.starts_with("jmp");
}

}  // namespace

std::string SpecParser::Line::joined(std::size_t from) const {
  return fmt::format(
      "{}", fmt::join(tokens.begin() + static_cast<std::ptrdiff_t>(std::min(from, tokens.size())), tokens.end(), " "));
}

SpecParser::SpecParser(std::string_view text, std::string path) : path_(std::move(path)) {
  first_line_ = text.substr(0, text.find('\n'));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    ++last_line_;
    auto tokens = split(text.substr(0, end));
    if (!tokens.empty()) lines_.push_back({last_line_, std::move(tokens)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Expected<SpecFile> SpecParser::parse() {
  spec_.path = path_;
  if (auto done = read_first_line(); !done) return tl::unexpected(done.error());
  while (next_ < lines_.size()) {
    const Line line = lines_[next_++];
    if (auto done = statement(line); !done) return tl::unexpected(done.error());
  }
  if (auto done = check_spec_names(spec_, last_line_); !done) return tl::unexpected(done.error());
  return std::move(spec_);
}

// The first line tells readers and tests from which sources the file was made.
SpecParser::Result SpecParser::read_first_line() {
  std::map<std::string, std::string, std::less<>> words;
  std::string_view rest = first_line_;
  if (!rest.empty() && starts_comment(rest)) {
    rest.remove_prefix(rest.starts_with("//") ? 2 : 1);
    for (const std::string& word : split(rest)) {
      const std::size_t equals = word.find('=');
      if (equals != std::string::npos) words[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  const bool body = !words.contains("body") || is_hash(words["body"], 8);
  if (!is_hash(words["sha256"], 64) || words["program"].empty() || !words.contains("defines") || !body) {
    return wrong(
        1,
        "is not the line that 'make p4' writes first; allowed: "
        "'; sha256=<64 hexadecimal digits> program=<name> defines=<names, with commas between them>', and perhaps "
        "'body=<8 hexadecimal digits>'");
  }
  spec_.source_hash = words["sha256"];
  spec_.body_hash = words["body"];
  spec_.program = words["program"];
  std::string_view defines = words["defines"];
  while (!defines.empty()) {
    const std::size_t end = std::min(defines.find(','), defines.size());
    if (end != 0) spec_.defines.emplace_back(defines.substr(0, end));
    defines.remove_prefix(std::min(end + 1, defines.size()));
  }
  return {};
}

SpecParser::Result SpecParser::statement(const Line& line) {
  const auto& t = line.tokens;
  for (const std::string& token : t) {
    if (token.size() > kMaxName) {
      return wrong(line.number, "'{}...' is too long; allowed: at most {} characters", token.substr(0, 20), kMaxName);
    }
  }
  if (t[0] == "struct" && t.size() == 3 && t[2] == "{") return read_struct(line);
  if (t[0] == "action" && t.size() >= 4 && t[2] == "args" && t.back() == "{") return read_action(line);
  if (t[0] == "table" && t.size() == 3 && t[2] == "{") return read_table(line);
  if (t[0] == "regarray") return read_registers(line);
  if (t[0] == "header" && t.size() == 4 && t[2] == "instanceof") {
    spec_.headers.push_back({t[1], t[3]});
    return once(line, "header " + t[1]);
  }
  if (t[0] == "metadata" && t.size() == 3 && t[1] == "instanceof") {
    spec_.metadata = t[2];
    return once(line, "metadata");
  }
  if (t[0] == "apply" && t.size() == 2 && t[1] == "{") {
    if (auto first = once(line, "apply"); !first) return first;
    const auto block = take_block(line);
    if (!block) return tl::unexpected(block.error());
    for (const Line& instruction : *block) {
      spec_.apply.push_back(instruction.joined());
      spec_.apply_lines.push_back(instruction.number);
    }
    spec_.apply_line = line.number;
    return check_jumps(*block);
  }
  return wrong(line.number,
               "'{}' is no statement that is understood; allowed: struct, header, metadata, action, table, "
               "regarray, apply",
               line.joined().substr(0, 40));
}

Expected<SpecParser::Block> SpecParser::take_block(const Line& opening) {
  Block block;
  while (next_ < lines_.size()) {
    Line line = lines_[next_++];
    if (line.tokens.size() == 1 && line.tokens[0] == "}") return block;
    if (line.joined().size() > kMaxInstruction) {
      return wrong(line.number, "is too long; allowed: at most {} characters", kMaxInstruction);
    }
    block.push_back(std::move(line));
  }
  return wrong(last_line_, "the file ends inside '{}' of line {}; allowed: a complete file", opening.joined(),
               opening.number);
}

// Jumps go forwards only. So every packet leaves the pipeline after at most as many instructions as there are.
SpecParser::Result SpecParser::check_jumps(const Block& block) const {
  std::set<std::string> behind;
  for (const Line& line : block) {
    const auto& t = line.tokens;
    std::size_t at = 0;
    if (t.size() >= 2 && t[1] == ":") {
      behind.insert(t[0]);
      at = 2;
    }
    if (at == t.size()) return wrong(line.number, "label {} stands alone; allowed: before an instruction", t[0]);
    if (t[at] == "recirculate") {  // it would write to a frame of which a clone was sent already
      return wrong(line.number, "recirculate is not supported; allowed: programs of one pass");
    }
    if (is_jump(t[at]) && (t.size() < at + 2 || behind.contains(t[at + 1]))) {
      return wrong(line.number, "'{}' jumps backwards or nowhere; allowed: jumps to a label further down",
                   line.joined(at));
    }
  }
  return {};
}

SpecParser::Result SpecParser::read_struct(const Line& line) {
  if (auto first = once(line, "struct " + line.tokens[1]); !first) return first;
  SpecStruct out{.name = line.tokens[1], .fields = {}};
  const auto block = take_block(line);
  if (!block) return tl::unexpected(block.error());
  for (const Line& field : *block) {
    const auto& t = field.tokens;
    const bool varies = t[0].starts_with("varbit<");
    if (t.size() != 2 || (!varies && !t[0].starts_with("bit<")) || !t[0].ends_with('>')) {
      return wrong(field.number, "'{}' is no field; allowed: 'bit<N> name'", field.joined());
    }
    const std::size_t open = t[0].find('<') + 1;
    const auto bits = number(field, t[0].substr(open, t[0].size() - open - 1), varies ? 65536 : kMaxFieldBits);
    if (!bits) return tl::unexpected(bits.error());
    if (*bits == 0 || *bits % 8 != 0) {
      return wrong(field.number, "field {} has {} bits; allowed: whole octets", t[1], *bits);
    }
    if (out.last_varies) return wrong(field.number, "a field follows a varbit field; allowed: varbit as the last one");
    out.last_varies = varies;
    out.fields.push_back({t[1], static_cast<unsigned>(*bits)});
  }
  if (out.fields.empty()) return wrong(line.number, "struct {} has no fields; allowed: at least one", out.name);
  spec_.structs.push_back(std::move(out));
  return {};
}

SpecParser::Result SpecParser::read_action(const Line& line) {
  const auto& t = line.tokens;
  if (auto first = once(line, "action " + t[1]); !first) return first;
  SpecAction out{.name = t[1], .line = line.number};
  if (t.size() == 6 && t[3] == "instanceof") {
    out.arguments = t[4];
  } else if (t.size() != 5 || t[3] != "none") {
    return wrong(line.number,
                 "'{}' is no action; allowed: 'action NAME args none {{' or 'action NAME args instanceof "
                 "TYPE {{'",
                 line.joined());
  }
  const auto block = take_block(line);
  if (!block) return tl::unexpected(block.error());
  for (const Line& instruction : *block) {
    out.instructions.push_back(instruction.joined());
    out.lines.push_back(instruction.number);
  }
  if (out.instructions.empty()) return wrong(line.number, "action {} is empty; allowed: it ends in return", out.name);
  spec_.actions.push_back(std::move(out));
  return check_jumps(*block);
}

SpecParser::Result SpecParser::read_table(const Line& line) {
  if (auto first = once(line, "table " + line.tokens[1]); !first) return first;
  SpecTable table{.name = line.tokens[1], .line = line.number};
  for (;;) {
    if (next_ == lines_.size()) {
      return wrong(last_line_, "the file ends inside '{}' of line {}; allowed: a complete file", line.joined(),
                   line.number);
    }
    const Line inside = lines_[next_++];
    if (inside.tokens.size() == 1 && inside.tokens[0] == "}") break;
    if (auto done = read_table_line(table, inside); !done) return done;
  }
  spec_.tables.push_back(std::move(table));
  return {};
}

SpecParser::Result SpecParser::read_table_line(SpecTable& table, const Line& line) {
  const auto& t = line.tokens;
  if (t[0] != "default_action") {
    if (auto first = once(line, t[0] + " of table " + table.name); !first) return first;
  }
  if (t.size() == 2 && t[1] == "{" && (t[0] == "key" || t[0] == "actions")) {
    const auto block = take_block(line);
    if (!block) return tl::unexpected(block.error());
    for (const Line& row : *block) {
      const auto& r = row.tokens;
      if (t[0] == "actions") {
        if (r.size() > 2 || (r.size() == 2 && r[1] != "@tableonly" && r[1] != "@defaultonly")) {
          return wrong(row.number, "'{}' is no action of a table; allowed: 'NAME [@tableonly | @defaultonly]'",
                       row.joined());
        }
        table.actions.push_back({r[0], r.size() == 1 || r[1] == "@tableonly", r.size() == 1 || r[1] == "@defaultonly"});
        continue;
      }
      if (r.size() != 2 || (r[1] != "exact" && r[1] != "lpm" && r[1] != "wildcard")) {
        return wrong(row.number, "'{}' is no key; allowed: 'FIELD exact', 'FIELD lpm' or 'FIELD wildcard'",
                     row.joined());
      }
      table.keys.push_back(
          {r[0], r[1] == "exact" ? SpecMatch::kExact : (r[1] == "lpm" ? SpecMatch::kLpm : SpecMatch::kWildcard)});
    }
    return {};
  }
  if (t[0] == "default_action") return read_default_action(table, line);
  if (t[0] == "hash" && t.size() == 2) {
    table.hash = t[1];
    return {};
  }
  if (t[0] == "size" && t.size() == 2) {
    const auto size = number(line, t[1], 1U << 24);
    if (!size) return tl::unexpected(size.error());
    table.size = static_cast<std::uint32_t>(*size);
    return {};
  }
  return wrong(line.number, "'{}' does not belong into a table; allowed: key, actions, default_action, hash, size",
               line.joined());
}

SpecParser::Result SpecParser::read_default_action(SpecTable& table, const Line& line) {
  auto t = line.tokens;
  table.default_is_const = t.back() == "const";
  if (table.default_is_const) t.pop_back();
  if (!table.default_action.empty() || t.size() < 4 || t[2] != "args" || (t[3] == "none" && t.size() != 4)) {
    return wrong(line.number,
                 "'{}' is no default action; allowed: one 'default_action NAME args none' or 'args NAME "
                 "VALUE ...' in a table",
                 line.joined());
  }
  table.default_action = t[1];
  if (t[3] != "none") table.default_arguments = fmt::format("{}", fmt::join(t.begin() + 3, t.end(), " "));
  return {};
}

SpecParser::Result SpecParser::read_registers(const Line& line) {
  const auto& t = line.tokens;
  if (t.size() != 6 || t[2] != "size" || t[4] != "initval") {
    return wrong(line.number, "'{}' is no register array; allowed: 'regarray NAME size N initval N'", line.joined());
  }
  if (auto first = once(line, "regarray " + t[1]); !first) return first;
  const auto size = number(line, t[3], 1U << 24);
  if (!size) return tl::unexpected(size.error());
  const auto initial = number(line, t[5], UINT64_MAX);
  if (!initial) return tl::unexpected(initial.error());
  if (*size == 0) return wrong(line.number, "register array {} has size 0; allowed: at least 1", t[1]);
  spec_.registers.push_back({t[1], static_cast<std::uint32_t>(*size), *initial});
  return {};
}

SpecParser::Result SpecParser::once(const Line& line, const std::string& what) {
  if (seen_.insert(what).second) return {};
  return wrong(line.number, "'{}' is there a second time; allowed: once", what);
}

Expected<std::uint64_t> SpecParser::number(const Line& line, const std::string& text, std::uint64_t max) const {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* const begin = text.data() + (hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [at, error] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (error != std::errc{} || at != end || value > max) {
    return wrong(line.number, "'{}' is no number that fits here; allowed: 0 to {}", text, max);
  }
  return value;
}

}  // namespace splitplane::nic
