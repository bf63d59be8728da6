#include "card/spec/spec_names.h"

namespace splitplane::nic {
namespace {

// DPDK 22.11 names an octet of the metadata by 8 bits (`struct instr_operand`). Fields beyond that would overlap.
constexpr unsigned kMaxMetadataOctets = 256;

template <class... Args>
tl::unexpected<Error> wrong(const SpecFile& spec, unsigned line, fmt::format_string<Args...> format, Args&&... args) {
  return fail("{}:{}: {}", spec.path, line, fmt::format(format, std::forward<Args>(args)...));
}

Expected<void> check_table(const SpecFile& spec, const SpecTable& table) {
  if (table.actions.empty() || table.default_action.empty()) {
    return wrong(spec, table.line, "table {} has no actions or no default action; allowed: both", table.name);
  }
  bool has_default = false;
  for (const SpecTableAction& action : table.actions) {
    if (spec.find_action(action.name) == nullptr) {
      return wrong(spec, table.line, "table {} names action {}, which is nowhere; allowed: an action of this file",
                   table.name, action.name);
    }
    has_default = has_default || (action.name == table.default_action && action.by_default);
  }
  if (!has_default) {
    return wrong(spec, table.line,
                 "table {} has the default action {}, which is none of its own; allowed: one of its actions",
                 table.name, table.default_action);
  }
  if (spec.find_action(table.default_action)->arguments.empty() != table.default_arguments.empty()) {
    return wrong(spec, table.line,
                 "the default action of table {} has arguments, or lacks them; allowed: those of action {}", table.name,
                 table.default_action);
  }
  return {};
}

}  // namespace

Expected<void> check_spec_names(const SpecFile& spec, unsigned last_line) {
  const auto type = [&](const std::string& name, unsigned line, const std::string& who) -> Expected<void> {
    if (spec.find_struct(name) != nullptr) return {};
    return wrong(spec, line, "{} is of type {}, which is nowhere; allowed: a struct of this file", who, name);
  };
  if (spec.apply.empty()) {
    return wrong(spec, last_line, "the file ends without an apply block; allowed: a complete file");
  }
  if (spec.metadata.empty()) return wrong(spec, last_line, "there is no metadata statement; allowed: one");
  if (auto known = type(spec.metadata, last_line, "metadata"); !known) return known;
  unsigned octets = 0;
  for (const SpecField& field : spec.find_struct(spec.metadata)->fields) octets += field.bits / 8;
  if (octets > kMaxMetadataOctets) {
    return wrong(spec, last_line, "there are {} octets of metadata; allowed: at most {}", octets, kMaxMetadataOctets);
  }
  for (const SpecHeader& header : spec.headers) {
    if (auto known = type(header.type, last_line, "header " + header.name); !known) return known;
  }
  for (const SpecAction& action : spec.actions) {
    if (action.arguments.empty()) continue;
    if (auto known = type(action.arguments, action.line, "action " + action.name); !known) return known;
  }
  for (const SpecTable& table : spec.tables) {
    if (auto known = check_table(spec, table); !known) return known;
  }
  return {};
}

}  // namespace splitplane::nic
