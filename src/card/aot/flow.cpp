#include "card/aot/flow.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

namespace splitplane::nic {
namespace {

using Kind = FlowOperand::Kind;
using Words = std::vector<std::string>;

constexpr std::size_t kMaxHeaders = 64, kMaxActions = 255;

// What the words of an instruction are, one letter for each: o operand, d operand that is written, f field of metadata,
// a argument or metadata, h header, l label, r register array, t table, n name of an action, x name of a hash function.
struct Form {
  std::string_view word;
  FlowOp op;
  std::string_view words;
};
constexpr std::array<Form, 35> kForms{{
    {"mov", FlowOp::kMove, "do"},
    {"add", FlowOp::kAdd, "do"},
    {"sub", FlowOp::kSubtract, "do"},
    {"and", FlowOp::kAnd, "do"},
    {"or", FlowOp::kOr, "do"},
    {"xor", FlowOp::kXor, "do"},
    {"shl", FlowOp::kShiftLeft, "do"},
    {"shr", FlowOp::kShiftRight, "do"},
    {"extract", FlowOp::kExtract, "h"},
    {"lookahead", FlowOp::kLookahead, "h"},
    {"validate", FlowOp::kValidate, "h"},
    {"invalidate", FlowOp::kInvalidate, "h"},
    {"emit", FlowOp::kEmit, "h"},
    {"table", FlowOp::kLookup, "t"},
    {"jmp", FlowOp::kJump, "l"},
    {"jmpeq", FlowOp::kJumpEqual, "loo"},
    {"jmpneq", FlowOp::kJumpUnequal, "loo"},
    {"jmplt", FlowOp::kJumpLess, "loo"},
    {"jmpgt", FlowOp::kJumpGreater, "loo"},
    {"jmpv", FlowOp::kJumpValid, "lh"},
    {"jmpnv", FlowOp::kJumpInvalid, "lh"},
    {"jmph", FlowOp::kJumpHit, "l"},
    {"jmpnh", FlowOp::kJumpMiss, "l"},
    {"jmpa", FlowOp::kJumpAction, "ln"},
    {"jmpna", FlowOp::kJumpOtherAction, "ln"},
    {"regrd", FlowOp::kRead, "dro"},
    {"regwr", FlowOp::kWrite, "roo"},
    {"regadd", FlowOp::kCount, "roo"},
    {"regprefetch", FlowOp::kNothing, "ro"},
    {"hash", FlowOp::kHash, "xfoo"},
    {"mirror", FlowOp::kMirror, "aa"},
    {"rx", FlowOp::kReceive, "f"},
    {"tx", FlowOp::kTransmit, "o"},
    {"drop", FlowOp::kDrop, ""},
    {"return", FlowOp::kReturn, ""},
}};

Words split(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

class FlowMaker {
 public:
  explicit FlowMaker(const SpecFile& spec) : spec_(spec) {
    flow_.spec = &spec;
    flow_.metadata = spec.find_struct(spec.metadata);
    for (const SpecTable& table : spec.tables) flow_.rows.push_back(row_layout(spec, table));
  }

  Expected<Flow> make() {
    if (auto fine = check_sizes(); !fine) return tl::unexpected(fine.error());
    if (auto fine = read_keys(); !fine) return tl::unexpected(fine.error());
    if (auto done = add_block(spec_.apply, spec_.apply_lines, nullptr); !done) return tl::unexpected(done.error());
    link();
    return std::move(flow_);
  }

 private:
  struct Place {  // of an action that is being added
    std::size_t table, action;
    const SpecAction* spec;
  };

  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> wrong(unsigned line, fmt::format_string<Args...> format, Args&&... args) const {
    return fail("{}:{}: {}", spec_.path, line, fmt::format(format, std::forward<Args>(args)...));
  }

  Expected<void> check_sizes() {
    if (spec_.headers.size() > kMaxHeaders)
      return wrong(1, "there are {} headers; allowed: {}", spec_.headers.size(), kMaxHeaders);
    for (std::size_t i = 0; i < spec_.headers.size(); ++i) {
      const SpecStruct& type = flow_.header_type(i);
      if (type.last_varies) return wrong(1, "header {} varies in length; allowed: a fixed one", spec_.headers[i].name);
      flow_.header_bytes.push_back(
          std::accumulate(type.fields.begin(), type.fields.end(), 0U,
                          [](unsigned sum, const SpecField& field) { return sum + field.bits / 8; }));
    }
    for (const SpecTable& table : spec_.tables) {
      if (table.actions.size() >= kMaxActions)
        return wrong(table.line, "table {} has {} actions; allowed: {}", table.name, table.actions.size(),
                     kMaxActions - 1);
    }
    return {};
  }

  Expected<void> read_keys() {
    for (const SpecTable& table : spec_.tables) {
      auto& key = flow_.keys.emplace_back();
      for (const SpecKey& field : table.keys) {
        const auto operand = read_operand(field.field, table.line, nullptr);
        if (!operand) return tl::unexpected(operand.error());
        if (field.match != SpecMatch::kExact || operand->kind == Kind::kNumber) {
          return wrong(table.line, "key {} of table {} is not exact; allowed: exact keys", field.field, table.name);
        }
        key.push_back(*operand);
      }
    }
    return {};
  }

  static std::optional<std::size_t> find_field(const SpecStruct& type, std::string_view name) {
    const auto at = std::ranges::find(type.fields, name, &SpecField::name);
    if (at == type.fields.end()) return std::nullopt;
    return static_cast<std::size_t>(at - type.fields.begin());
  }
  std::optional<std::size_t> find_header(std::string_view name) const {
    if (!name.starts_with("h.")) return std::nullopt;
    const auto at = std::ranges::find(spec_.headers, name.substr(2), &SpecHeader::name);
    if (at == spec_.headers.end()) return std::nullopt;
    return static_cast<std::size_t>(at - spec_.headers.begin());
  }

  Expected<FlowOperand> read_operand(const std::string& text, unsigned line, const SpecAction* action) const {
    FlowOperand out;
    const std::size_t dot = text.rfind('.');
    const std::string_view field = std::string_view(text).substr(dot == std::string::npos ? text.size() : dot + 1);
    std::optional<std::size_t> found;
    if (text.starts_with("m.")) {
      out.kind = Kind::kMetadata;
      found = find_field(*flow_.metadata, text.substr(2));
      if (found) out.bits = flow_.metadata->fields[*found].bits;
    } else if (text.starts_with("h.") && dot > 1) {
      out.kind = Kind::kHeader;
      const auto header = find_header(std::string_view(text).substr(0, dot));
      if (header) {
        out.header = *header;
        const SpecStruct& type = flow_.header_type(*header);
        found = find_field(type, field);
        for (std::size_t i = 0; found && i < *found; ++i) out.offset += type.fields[i].bits / 8;
        if (found) out.bits = type.fields[*found].bits;
      }
    } else if (text.starts_with("t.")) {
      out.kind = Kind::kArgument;
      const SpecStruct* const type =
          action == nullptr || action->arguments.empty() ? nullptr : spec_.find_struct(action->arguments);
      if (type != nullptr) found = find_field(*type, field);
      if (found) out.bits = type->fields[*found].bits;
    } else {
      const bool hex = text.starts_with("0x") || text.starts_with("0X");
      const char* const begin = text.data() + (hex ? 2 : 0);
      const char* const end = text.data() + text.size();
      const auto [at, error] = std::from_chars(begin, end, out.number, hex ? 16 : 10);
      if (error == std::errc{} && at == end) return out;
    }
    if (!found) return wrong(line, "'{}' is no field and no number; allowed: one of this file", text);
    out.field = *found;
    return out;
  }

  Expected<void> add_block(const Words& texts, const std::vector<unsigned>& lines, const Place* in) {
    std::map<std::string, std::size_t, std::less<>> labels;
    std::vector<std::pair<std::size_t, std::string>> jumps;
    const std::size_t first = flow_.nodes.size();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Words words = split(texts[i]);
      if (words.size() > 2 && words[1] == ":") {
        labels[words[0]] = flow_.nodes.size();
        words.erase(words.begin(), words.begin() + 2);
      }
      if (auto done = add(words, lines[i], in, jumps); !done) return done;
    }
    for (const auto& [node, label] : jumps) {
      const auto at = labels.find(label);
      if (at == labels.end() || at->second <= node)
        return wrong(flow_.nodes[node].line, "'{}' is no label behind the jump; allowed: one of the same block", label);
      flow_.nodes[node].target = at->second;
    }
    if (flow_.nodes.size() == first || !ends(flow_.nodes.back().op))
      return wrong(lines.empty() ? 1 : lines.back(),
                   "the block ends without tx, drop, return or jmp; allowed: with one");
    return {};
  }

  static bool ends(FlowOp op) {
    return op == FlowOp::kReturn || op == FlowOp::kTransmit || op == FlowOp::kDrop || op == FlowOp::kJump;
  }

  Expected<void> add(const Words& words, unsigned line, const Place* in,
                     std::vector<std::pair<std::size_t, std::string>>& jumps) {
    const auto form = std::ranges::find(kForms, std::string_view(words[0]), &Form::word);
    if (form == kForms.end() || form->words.size() + 1 != words.size()) {
      return wrong(line, "'{}' is not an instruction that can be compiled; allowed: {}", fmt::join(words, " "),
                   allowed());
    }
    FlowNode node{.op = form->op, .line = line};
    if (in != nullptr) node.table = in->table, node.action = in->action;
    if (in != nullptr && (node.op == FlowOp::kLookup || node.op == FlowOp::kExtract || node.op == FlowOp::kReceive))
      return wrong(line, "'{}' stands in an action; allowed: in the apply block", words[0]);
    if (in == nullptr && node.op == FlowOp::kReturn)
      return wrong(line, "return stands in the apply block; allowed: in an action");
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (auto done = read_word(node, form->words[i - 1], words[i], in, jumps); !done) return done;
    }
    flow_.nodes.push_back(std::move(node));
    return form->op == FlowOp::kLookup ? add_actions(flow_.nodes.size() - 1) : Expected<void>{};
  }

  Expected<void> read_word(FlowNode& node, char letter, const std::string& word, const Place* in,
                           std::vector<std::pair<std::size_t, std::string>>& jumps) const {
    const auto unknown = [&](std::string_view what) {
      return wrong(node.line, "'{}' is no {}; allowed: one of this file", word, what);
    };
    const auto find = [&](const auto& items, auto name, std::size_t& out) {
      const auto at = std::ranges::find(items, word, name);
      out = static_cast<std::size_t>(at - items.begin());
      return at != items.end();
    };
    switch (letter) {
      case 'h': {
        const auto header = find_header(word);
        if (!header) return unknown("header");
        node.header = *header;
        return {};
      }
      case 'l':
        jumps.emplace_back(flow_.nodes.size(), word);
        return {};
      case 'r':
        return find(spec_.registers, &SpecRegisters::name, node.array) ? Expected<void>{} : unknown("register array");
      case 't':
        return find(spec_.tables, &SpecTable::name, node.table) ? Expected<void>{} : unknown("table");
      case 'n':
        return find(spec_.actions, &SpecAction::name, node.action) ? Expected<void>{} : unknown("action");
      case 'x':
        node.hash = word;
        return word == "jhash" || word == "crc32" ? Expected<void>{} : unknown("hash function (jhash, crc32)");
      default:
        break;
    }
    const auto operand = read_operand(word, node.line, in != nullptr ? in->spec : nullptr);
    if (!operand) return tl::unexpected(operand.error());
    const bool is_written = operand->kind == Kind::kMetadata || operand->kind == Kind::kHeader;
    const bool is_local = operand->kind == Kind::kMetadata || operand->kind == Kind::kArgument;
    if ((letter == 'd' && !is_written) || (letter == 'f' && operand->kind != Kind::kMetadata) ||
        (letter == 'a' && !is_local))
      return wrong(node.line, "'{}' cannot stand there; allowed: a field", word);
    node.operands.push_back(*operand);
    return {};
  }

  static std::string allowed() {
    std::vector<std::string_view> words;
    for (const Form& form : kForms) words.push_back(form.word);
    return fmt::format("{}", fmt::join(words, ", "));
  }

  // The actions of a table stand behind its lookup.
  Expected<void> add_actions(std::size_t lookup) {
    const std::size_t table = flow_.nodes[lookup].table;
    const SpecTable& spec = spec_.tables[table];
    for (std::size_t i = 0; i < spec.actions.size(); ++i) {
      flow_.nodes[lookup].actions.push_back(flow_.nodes.size());
      const SpecAction& action = *spec_.find_action(spec.actions[i].name);
      const Place place{.table = table, .action = i, .spec = &action};
      if (auto done = add_block(action.instructions, action.lines, &place); !done) return done;
    }
    flow_.nodes[lookup].end = flow_.nodes.size();
    flow_.nodes.push_back({.op = FlowOp::kActionEnd, .line = spec.line, .table = table});
    return {};
  }

  void link() {
    std::size_t end = 0;  // of the table whose actions are passed
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      FlowNode& node = flow_.nodes[i];
      switch (node.op) {
        case FlowOp::kLookup:
          end = node.end;
          node.next = node.actions;
          break;
        case FlowOp::kReturn:
          node.target = end;
          node.next = {end};
          break;
        case FlowOp::kTransmit:
        case FlowOp::kDrop:
          break;
        case FlowOp::kJump:
          node.next = {node.target};
          break;
        default:
          node.next = {i + 1};
          if (node.target != 0) node.next.push_back(node.target);
      }
    }
  }

  const SpecFile& spec_;
  Flow flow_;
};

}  // namespace

const SpecStruct& Flow::header_type(std::size_t header) const {
  return *spec->find_struct(spec->headers[header].type);
}

Expected<Flow> make_flow(const SpecFile& spec) {
  return FlowMaker(spec).make();
}

}  // namespace splitplane::nic
