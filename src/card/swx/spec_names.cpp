// The second half of SpecParser: names that must exist, and the one property that lets a pipeline run without a bound.
#include <algorithm>
#include <array>

#include "card/swx/spec_parser.h"

namespace splitplane::nic {
namespace {

bool is_jump(const std::string& word) {
  return word.starts_with("jmp");
}

}  // namespace

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

SpecParser::Result SpecParser::check_names() const {
  const auto type = [&](const std::string& name, unsigned line, const std::string& who) -> Result {
    if (spec_.find_struct(name) != nullptr) return {};
    return wrong(line, "{} is of type {}, which is nowhere; allowed: a struct of this file", who, name);
  };
  if (spec_.apply.empty()) {
    return wrong(last_line_, "the file ends without an apply block; allowed: a complete file");
  }
  if (spec_.metadata.empty()) return wrong(last_line_, "there is no metadata statement; allowed: one");
  if (auto known = type(spec_.metadata, last_line_, "metadata"); !known) return known;
  for (const SpecHeader& header : spec_.headers) {
    if (auto known = type(header.type, last_line_, "header " + header.name); !known) return known;
  }
  for (const SpecAction& action : spec_.actions) {
    if (action.arguments.empty()) continue;
    if (auto known = type(action.arguments, action.line, "action " + action.name); !known) return known;
  }
  for (const SpecTable& table : spec_.tables) {
    if (auto known = check_table(table); !known) return known;
  }
  return {};
}

SpecParser::Result SpecParser::check_table(const SpecTable& table) const {
  if (table.actions.empty() || table.default_action.empty()) {
    return wrong(table.line, "table {} has no actions or no default action; allowed: both", table.name);
  }
  bool has_default = false;
  for (const SpecTableAction& action : table.actions) {
    if (spec_.find_action(action.name) == nullptr) {
      return wrong(table.line, "table {} names action {}, which is nowhere; allowed: an action of this file",
                   table.name, action.name);
    }
    has_default = has_default || (action.name == table.default_action && action.by_default);
  }
  if (!has_default) {
    return wrong(table.line,
                 "table {} has the default action {}, which is none of its own; allowed: one of its actions",
                 table.name, table.default_action);
  }
  if (spec_.find_action(table.default_action)->arguments.empty() != table.default_arguments.empty()) {
    return wrong(table.line, "the default action of table {} has arguments, or lacks them; allowed: those of action {}",
                 table.name, table.default_action);
  }
  return {};
}

}  // namespace splitplane::nic
