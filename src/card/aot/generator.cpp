#include "card/aot/generator.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <set>

namespace splitplane::nic {
namespace {

using Kind = FlowOperand::Kind;
using Lookup = RowLayout::Lookup;

std::string literal(std::uint64_t value) {
  return value < 10 ? fmt::format("{}U", value) : fmt::format("{:#x}U", value);
}
std::uint64_t mask_of(unsigned bits) {
  return UINT64_MAX >> (64 - bits);
}

class Generator {
 public:
  Generator(const Flow& flow, const Stages& stages, const GeneratorOptions& options)
      : flow_(flow), spec_(*flow.spec), stages_(stages), options_(options) {
    find_uses();
    number_headers();
    find_lost_writes();
  }

  std::string write() {
    line("// Made from {} by card/aot. Do not edit.", std::string_view(spec_.path).substr(spec_.path.rfind('/') + 1));
    line("#include \"card/compiled/compiled_pipeline.h\"");
    line("#include \"card/compiled/octets.h\"");
    line("#include \"card/compiled/programs.h\"");
    if (has(FlowOp::kHash)) line("#include <rte_hash_crc.h>\n#include <rte_jhash.h>");
    line("\nnamespace splitplane::nic::compiled {{");
    line("namespace of_{} {{\nnamespace {{\n", options_.id);  // files of several programs may be one unit
    line("struct Program {{");
    write_constants();
    write_packet();
    line("  static unsigned step(const ProgramMemory<kTableCount, kGroupCount>& memory, Packet& p, unsigned stage);");
    line("}};\n");
    write_step();
    line("}}  // namespace\n}}  // namespace of_{}\n", options_.id);
    line("extern const CompiledProgram k_{};", options_.id);
    line("const CompiledProgram k_{}{{\"{}\", \"{}\", \"{}\", \"{}\", &Run<of_{}::Program>::make}};", options_.id,
         spec_.source_hash, spec_.found_hash, spec_.program, fmt::join(spec_.defines, ","), options_.id);
    line("\n}}  // namespace splitplane::nic::compiled");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  [[nodiscard]] bool has(FlowOp op) const {
    return std::ranges::any_of(flow_.nodes, [&](const FlowNode& node) { return node.op == op; });
  }

  void find_uses() {
    const auto use = [&](const FlowOperand& operand) {
      if (operand.kind == Kind::kMetadata) fields_.insert(operand.field);
    };
    for (const FlowNode& node : flow_.nodes) {
      for (const FlowOperand& operand : node.operands) use(operand);
      if (node.op == FlowOp::kHash && node.operands[1].kind == Kind::kMetadata) {
        for (std::size_t f = node.operands[1].field; f <= node.operands[2].field; ++f) fields_.insert(f);
      }
      if (node.op == FlowOp::kLookup) {
        for (const FlowOperand& key : flow_.keys[node.table]) use(key);
        targets_.insert(node.actions.begin(), node.actions.end());
      }
      if (node.target != 0) targets_.insert(node.target);
    }
  }

  // The bit of a header: in the order in which headers are emitted, so that `emitted` mostly takes the bits of `valid`.
  void number_headers() {
    bit_of_.assign(spec_.headers.size(), SIZE_MAX);
    std::size_t next = 0;
    for (const FlowNode& node : flow_.nodes) {
      if (node.op != FlowOp::kEmit) continue;
      emits_.push_back(node.header);
      if (bit_of_[node.header] == SIZE_MAX) bit_of_[node.header] = next++;
    }
    for (std::size_t& bit : bit_of_) {
      if (bit == SIZE_MAX) bit = next++;
    }
  }

  // Headers that a program may write to before it extracts or validates them. That has no effect on the frame, so such
  // a write must not follow the pointer that an earlier packet left.
  void find_lost_writes() {
    using Headers = std::uint64_t;
    std::vector<Headers> placed(flow_.nodes.size() + 1, ~Headers{0});
    placed[0] = 0;
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      Headers behind = placed[i];
      const bool places = node.op == FlowOp::kExtract || node.op == FlowOp::kLookahead || node.op == FlowOp::kValidate;
      if (places) behind |= Headers{1} << node.header;
      for (const std::size_t next : node.next) placed[next] &= behind;
      if (!writes_first(node.op) || node.operands[0].kind != Kind::kHeader) continue;
      if ((placed[i] >> node.operands[0].header & 1) == 0) lost_writes_.insert(node.operands[0].header);
    }
  }
  static bool writes_first(FlowOp op) { return op <= FlowOp::kShiftRight || op == FlowOp::kRead; }

  [[nodiscard]] const std::string& header(std::size_t i) const { return spec_.headers[i].name; }
  [[nodiscard]] std::string valid_bit(std::size_t i) const { return literal(std::uint64_t{1} << bit_of_[i]); }
  [[nodiscard]] std::string field_name(std::size_t i) const { return "m_" + flow_.metadata->fields[i].name; }
  [[nodiscard]] std::string variable(std::size_t v) const {
    constexpr std::array<std::string_view, kSpecialCount> kNames{"valid", "emitted", "hit", "ran_action"};
    return v < kSpecialCount ? std::string(kNames[v]) : field_name(v - kSpecialCount);
  }
  [[nodiscard]] std::string type_of(std::size_t v) const {
    const unsigned bits = v < kSpecialCount ? 64 : flow_.metadata->fields[v - kSpecialCount].bits;
    return fmt::format("std::uint{}_t", std::max(std::bit_ceil(bits), 8U));
  }
  [[nodiscard]] std::string row_name(std::size_t table) const { return "row_" + spec_.tables[table].name; }

  void write_constants() {
    line("  static constexpr unsigned kStages = {}, kTableCount = {}, kGroupCount = {};", stages_.count,
         spec_.tables.size(), stages_.groups.size());
    line("  static constexpr bool kMirrors = {}, kPrefetch = {};", has(FlowOp::kMirror), options_.prefetch);
    std::string groups, places;
    for (const ArrayGroup& group : stages_.groups)
      groups += fmt::format("{{{}, {}}}, ", literal(group.records), group.record_bytes);
    for (std::size_t i = 0; i < spec_.registers.size(); ++i)
      places += fmt::format("{{{}, {}}}, ", stages_.group_of[i], stages_.offset_of[i]);
    line("  static constexpr std::array<RegisterGroup, {}> kGroups{{{{{}}}}};", stages_.groups.size(), groups);
    line("  static constexpr std::array<RegisterPlace, {}> kRegisters{{{{{}}}}};", spec_.registers.size(), places);
  }

  // Headers and what a packet keeps while it waits.
  void write_packet() {
    line("  struct Packet : PacketState {{");
    for (std::size_t i = 0; i < spec_.headers.size(); ++i) line("    std::uint8_t* h_{0} = s_{0}.data();", header(i));
    std::set<std::size_t> kept;
    bool keeps_hash = false;
    for (const Wait& wait : stages_.waits) {
      kept.insert(wait.variables.begin(), wait.variables.end());
      keeps_hash = keeps_hash || keeps_hash_of(wait);
    }
    if (keeps_hash) line("    std::uint64_t hash = 0;");
    for (const unsigned bytes : {8U, 4U, 2U, 1U}) {  // no place is left between them
      for (const std::size_t v : kept) {
        if (type_of(v) == fmt::format("std::uint{}_t", 8 * bytes)) line("    {} k_{} = 0;", type_of(v), variable(v));
      }
    }
    for (std::size_t i = 0; i < spec_.headers.size(); ++i)
      line("    std::array<std::uint8_t, {}> s_{}{{}};", flow_.header_bytes[i], header(i));
    line("  }};\n");
  }

  void write_step() {
    line("unsigned Program::step([[maybe_unused]] const ProgramMemory<kTableCount, kGroupCount>& memory, Packet& p,");
    line("                       [[maybe_unused]] unsigned stage) {{");
    line("  std::uint8_t* at = p.at;");
    line("  [[maybe_unused]] std::uint8_t* to = nullptr;");
    line("  [[maybe_unused]] std::uint64_t valid = 0, emitted = 0, hit = 0, ran_action = 0;");
    for (const std::size_t field : fields_) line("  [[maybe_unused]] std::uint64_t {} = 0;", field_name(field));
    for (std::size_t i = 0; i < spec_.tables.size(); ++i)
      line("  [[maybe_unused]] const std::uint8_t* {} = nullptr;", row_name(i));
    if (!stages_.waits.empty()) {
      line("  switch (p.place) {{");
      for (std::size_t i = 0; i < stages_.waits.size(); ++i) line("    case {0}:\n      goto WAITED_{0};", i + 1);
      line("    default:\n      break;\n  }}");
    }
    for (const std::size_t i : lost_writes_) line("  p.h_{0} = p.s_{0}.data();", header(i));
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      if (targets_.contains(i)) line("N{}:", i);
      for (const EarlyPrefetch& early : stages_.prefetches) {
        if (early.node == i) write_prefetches(early.groups);
      }
      if (const Wait* const wait = stages_.before(i)) write_wait(*wait);
      write_node(i);
    }
    write_end();
    line("}}\n");
  }

  [[nodiscard]] bool keeps_hash_of(const Wait& wait) const {
    return wait.why == Wait::Why::kRow && flow_.rows[wait.table].lookup == Lookup::kHash;
  }

  void write_prefetches(const std::vector<std::size_t>& groups) {
    if (!options_.prefetch) return;
    for (const std::size_t group : groups) {
      const ArrayGroup& of = stages_.groups[group];
      line("  __builtin_prefetch(record_at<{}>(memory.registers[{}], {} & {}), 1);", of.record_bytes, group,
           field_name(*of.by), literal(of.records - 1));
    }
  }

  void write_wait(const Wait& wait) {
    const std::size_t number = static_cast<std::size_t>(&wait - stages_.waits.data()) + 1;
    const bool is_row = wait.why == Wait::Why::kRow, is_hashed = keeps_hash_of(wait);
    if (wait.why == Wait::Why::kOthers) line("  if (stage >= {}) goto MET_{};", wait.stage, number);
    if (is_hashed) line("  p.hash = hash_of({});", fmt::join(key_of(wait.table), ", "));
    if (options_.prefetch && is_row) {
      line("  __builtin_prefetch(row_at<{}>(memory.tables[{}], {}));", flow_.rows[wait.table].bytes, wait.table,
           is_hashed ? "p.hash" : direct_key(wait.table));
    }
    write_prefetches(wait.groups);
    for (const std::size_t v : wait.variables) line("  p.k_{0} = static_cast<{1}>({0});", variable(v), type_of(v));
    line("  p.at = at;");
    line("  p.place = {};", number);
    line("  return {};", wait.stage);
    line("WAITED_{}:", number);
    for (const std::size_t v : wait.variables) line("  {0} = p.k_{0};", variable(v));
    if (wait.why == Wait::Why::kOthers) line("MET_{}:", number);
  }

  // A number as an expression of 64 bits.
  [[nodiscard]] std::string value(const FlowOperand& operand, const FlowNode& node) const {
    switch (operand.kind) {
      case Kind::kMetadata:
        return field_name(operand.field);
      case Kind::kHeader:
        return fmt::format("load<{}>(p.h_{} + {})", operand.bits / 8, header(operand.header), operand.offset);
      case Kind::kArgument: {
        const FieldPlace& place = flow_.rows[node.table].arguments[node.action][operand.field];
        return fmt::format("number_at<std::uint{}_t>({}, {})", 8 * place.width, row_name(node.table), place.offset);
      }
      default:
        return literal(operand.number);
    }
  }
  static unsigned bits_of(const FlowOperand& operand) {
    return operand.kind == Kind::kNumber ? static_cast<unsigned>(std::bit_width(operand.number)) : operand.bits;
  }

  // Writes `expression`, of which the low `bits` may be set, to a field.
  void assign(const FlowOperand& to, const std::string& expression, unsigned bits) {
    if (to.kind == Kind::kHeader) {
      line("  store<{}>(p.h_{} + {}, {});", to.bits / 8, header(to.header), to.offset, expression);
    } else if (bits <= to.bits) {
      line("  {} = {};", field_name(to.field), expression);
    } else {
      line("  {} = ({}) & {};", field_name(to.field), expression, literal(mask_of(to.bits)));
    }
  }

  void write_arithmetic(const FlowNode& node, std::string_view sign) {
    const FlowOperand &to = node.operands[0], &by = node.operands[1];
    const bool is_shift = node.op == FlowOp::kShiftLeft || node.op == FlowOp::kShiftRight;
    const std::string right = is_shift ? fmt::format("({} & 63)", value(by, node)) : value(by, node);
    unsigned bits = 64;
    if (node.op == FlowOp::kAnd || node.op == FlowOp::kShiftRight) bits = to.bits;
    if (node.op == FlowOp::kOr || node.op == FlowOp::kXor) bits = std::max(to.bits, bits_of(by));
    assign(to, fmt::format("{} {} {}", value(to, node), sign, right), bits);
  }

  // SWX cuts a number that is compared with a header's field to the field's length, but only for equality.
  void write_comparison(const FlowNode& node, std::string_view sign) {
    FlowOperand right = node.operands[1];
    const FlowOperand& left = node.operands[0];
    const bool is_equality = node.op == FlowOp::kJumpEqual || node.op == FlowOp::kJumpUnequal;
    if (is_equality && left.kind == Kind::kHeader && right.kind == Kind::kNumber) right.number &= mask_of(left.bits);
    line("  if ({} {} {}) goto N{};", value(left, node), sign, value(right, node), node.target);
  }

  [[nodiscard]] std::string record(const FlowNode& node, const FlowOperand& index) const {
    const ArrayGroup& group = stages_.groups[stages_.group_of[node.array]];
    return fmt::format("record_at<{}>(memory.registers[{}], {} & {}) + {}", group.record_bytes,
                       stages_.group_of[node.array], value(index, node), literal(group.records - 1),
                       stages_.offset_of[node.array]);
  }

  [[nodiscard]] std::vector<std::string> key_of(std::size_t table) const {
    std::vector<std::string> key;
    for (const FlowOperand& operand : flow_.keys[table]) key.push_back(value(operand, {}));
    return key;
  }
  [[nodiscard]] std::string direct_key(std::size_t table) const {
    std::string key;
    for (const FlowOperand& operand : flow_.keys[table]) {
      key = key.empty() ? value(operand, {}) : fmt::format("({} << {} | {})", key, operand.bits, value(operand, {}));
    }
    return key;
  }

  void write_lookup(std::size_t index) {
    const FlowNode& node = flow_.nodes[index];
    const RowLayout& rows = flow_.rows[node.table];
    const std::string row = row_name(node.table), table = fmt::format("memory.tables[{}]", node.table);
    if (rows.lookup == Lookup::kNone) {
      line("  {} = default_row<{}>({});", row, rows.bytes, table);
    } else if (rows.lookup == Lookup::kDirect) {
      line("  {} = find_direct<{}, {}>({}, {});", row, rows.bytes, rows.action_at, table, direct_key(node.table));
    } else {
      const auto key = key_of(node.table);
      std::vector<std::string> same;
      for (std::size_t i = 0; i < key.size(); ++i) {
        same.push_back(
            fmt::format("number_at<std::uint{}_t>(r, {}) == {}", 8 * rows.key[i].width, rows.key[i].offset, key[i]));
      }
      const std::string hash =
          stages_.before(index) != nullptr ? "p.hash" : fmt::format("hash_of({})", fmt::join(key, ", "));
      line("  {} = find_hashed<{}, {}>({}, {}, [&](const std::uint8_t* r) {{ return {}; }});", row, rows.bytes,
           rows.action_at, table, hash, fmt::join(same, " && "));
    }
    if (has(FlowOp::kJumpHit) || has(FlowOp::kJumpMiss))
      line("  hit = {} != default_row<{}>({}) ? 1 : 0;", row, rows.bytes, table);
    line("  switch ({}[{}]) {{", row, rows.action_at);
    for (std::size_t i = 0; i + 1 < node.actions.size(); ++i)
      line("    case {}:\n      goto N{};", i + 1, node.actions[i]);
    line("    default:\n      goto N{};\n  }}", node.actions.back());
  }

  void write_hash(const FlowNode& node) {
    const FlowOperand &to = node.operands[0], &first = node.operands[1], &last = node.operands[2];
    const std::string_view function = node.hash == "jhash" ? "rte_jhash" : "rte_hash_crc";
    if (first.kind == Kind::kHeader) {
      const unsigned bytes = last.offset + last.bits / 8 - first.offset;
      assign(to, fmt::format("{}(p.h_{} + {}, {}, 0)", function, header(first.header), first.offset, bytes), 32);
      return;
    }
    unsigned bytes = 0;
    std::string stores;
    for (std::size_t f = first.field; f <= last.field; ++f) {
      const unsigned width = flow_.metadata->fields[f].bits / 8;
      stores += fmt::format(" store_host<{}>(octets + {}, {});", width, bytes, field_name(f));
      bytes += width;
    }
    line("  {{\n    std::uint8_t octets[{}];\n   {}", bytes, stores);
    assign(to, fmt::format("{}(octets, {}, 0)", function, bytes), 32);
    line("  }}");
  }

  void write_node(std::size_t index) {
    const FlowNode& node = flow_.nodes[index];
    if (has(FlowOp::kJumpAction) || has(FlowOp::kJumpOtherAction)) write_ran_action(index);
    switch (node.op) {
      case FlowOp::kMove:
        return assign(node.operands[0], value(node.operands[1], node), bits_of(node.operands[1]));
      case FlowOp::kAdd:
        return write_arithmetic(node, "+");
      case FlowOp::kSubtract:
        return write_arithmetic(node, "-");
      case FlowOp::kAnd:
        return write_arithmetic(node, "&");
      case FlowOp::kOr:
        return write_arithmetic(node, "|");
      case FlowOp::kXor:
        return write_arithmetic(node, "^");
      case FlowOp::kShiftLeft:
        return write_arithmetic(node, "<<");
      case FlowOp::kShiftRight:
        return write_arithmetic(node, ">>");
      case FlowOp::kExtract:
        return line("  p.h_{} = at;\n  at += {};\n  valid |= {};", header(node.header), flow_.header_bytes[node.header],
                    valid_bit(node.header));
      case FlowOp::kLookahead:
        return line("  p.h_{} = at;\n  valid |= {};", header(node.header), valid_bit(node.header));
      case FlowOp::kValidate:
        return line("  if ((valid & {1}) == 0) p.h_{0} = p.s_{0}.data();\n  valid |= {1};", header(node.header),
                    valid_bit(node.header));
      case FlowOp::kInvalidate:
        return line("  valid &= ~std::uint64_t{{{}}};", valid_bit(node.header));
      case FlowOp::kEmit: {
        const std::size_t place = emitted_++;
        if (bit_of_[node.header] == place) return line("  emitted |= valid & {};", valid_bit(node.header));
        return line("  emitted |= (valid >> {} & 1) << {};", bit_of_[node.header], place);
      }
      case FlowOp::kLookup:
        return write_lookup(index);
      case FlowOp::kJump:
        return line("  goto N{};", node.target);
      case FlowOp::kJumpEqual:
        return write_comparison(node, "==");
      case FlowOp::kJumpUnequal:
        return write_comparison(node, "!=");
      case FlowOp::kJumpLess:
        return write_comparison(node, "<");
      case FlowOp::kJumpGreater:
        return write_comparison(node, ">");
      case FlowOp::kJumpValid:
        return line("  if ((valid & {}) != 0) goto N{};", valid_bit(node.header), node.target);
      case FlowOp::kJumpInvalid:
        return line("  if ((valid & {}) == 0) goto N{};", valid_bit(node.header), node.target);
      case FlowOp::kJumpHit:
        return line("  if (hit != 0) goto N{};", node.target);
      case FlowOp::kJumpMiss:
        return line("  if (hit == 0) goto N{};", node.target);
      case FlowOp::kJumpAction:
        return line("  if (ran_action == {}) goto N{};", node.action, node.target);
      case FlowOp::kJumpOtherAction:
        return line("  if (ran_action != {}) goto N{};", node.action, node.target);
      case FlowOp::kRead:
        return assign(node.operands[0], fmt::format("read_number({})", record(node, node.operands[1])), 64);
      case FlowOp::kWrite:
        return line("  write_number({}, {});", record(node, node.operands[0]), value(node.operands[1], node));
      case FlowOp::kCount:
        return line("  to = {};\n  write_number(to, read_number(to) + {});", record(node, node.operands[0]),
                    value(node.operands[1], node));
      case FlowOp::kHash:
        return write_hash(node);
      case FlowOp::kMirror:
        return line("  p.mirror({}, {});", value(node.operands[0], node), value(node.operands[1], node));
      case FlowOp::kReceive:
        return line("  {} = 0;", field_name(node.operands[0].field));
      case FlowOp::kTransmit:
        return line(
            "  p.port = static_cast<std::uint32_t>(std::min<std::uint64_t>({}, PacketState::kDropped));\n"
            "  goto SEND;",
            value(node.operands[0], node));
      case FlowOp::kDrop:
        return line("  p.port = PacketState::kDropped;\n  goto {};", has(FlowOp::kMirror) ? "SEND" : "DROPPED");
      case FlowOp::kReturn:
        return line("  goto N{};", node.target);
      case FlowOp::kActionEnd:
      case FlowOp::kNothing:
        return;
    }
  }

  // At the first node of an action: its place in the file.
  void write_ran_action(std::size_t index) {
    for (const FlowNode& lookup : flow_.nodes) {
      const auto at = std::ranges::find(lookup.actions, index);
      if (at == lookup.actions.end()) continue;
      const std::string& name =
          spec_.tables[lookup.table].actions[static_cast<std::size_t>(at - lookup.actions.begin())].name;
      line("  ran_action = {};", spec_.find_action(name) - spec_.actions.data());
    }
  }

  // The deparser. Headers that stand in front of the payload already stay; from the first one on that does not, all are
  // written, each once. Those of the frame go to the packet's own place first, because they would be overwritten.
  void write_end() {
    line("SEND:\n  to = at;");
    std::set<std::size_t> in_frames;
    for (const FlowNode& node : flow_.nodes) {
      if (node.op == FlowOp::kExtract || node.op == FlowOp::kLookahead) in_frames.insert(node.header);
    }
    const auto is_emitted = [](std::size_t k) {
      return fmt::format("(emitted & {}) != 0", literal(std::uint64_t{1} << k));
    };
    const auto bytes = [&](std::size_t k) { return flow_.header_bytes[emits_[k]]; };
    for (std::size_t k = emits_.size(); k-- > 0;) {
      line(
          "  if ({}) {{\n    if (p.h_{} != to - {}) {{\n      emitted &= {};\n      goto MOVE;\n    }}\n    to -= "
          "{};\n  }}",
          is_emitted(k), header(emits_[k]), bytes(k), literal(mask_of(static_cast<unsigned>(k) + 1)), bytes(k));
    }
    line("  p.begin = to;\n  return 0;");
    if (!emits_.empty()) {
      line("MOVE:");
      for (std::size_t k = 0; k < emits_.size(); ++k) {
        if (!in_frames.contains(emits_[k])) continue;
        line(
            "  if ({0} && p.h_{1} != p.s_{1}.data()) {{\n    std::memcpy(p.s_{1}.data(), p.h_{1}, {2});\n"
            "    p.h_{1} = p.s_{1}.data();\n  }}",
            is_emitted(k), header(emits_[k]), bytes(k));
      }
      for (std::size_t k = emits_.size(); k-- > 0;) {
        line("  if ({}) {{\n    to -= {};\n    std::memcpy(to, p.s_{}.data(), {});\n  }}", is_emitted(k), bytes(k),
             header(emits_[k]), bytes(k));
      }
      line("  p.begin = to;\n  return 0;");
    }
    if (has(FlowOp::kDrop) && !has(FlowOp::kMirror)) line("DROPPED:\n  return 0;");
  }

  const Flow& flow_;
  const SpecFile& spec_;
  const Stages& stages_;
  const GeneratorOptions& options_;
  std::string out_;
  std::set<std::size_t> fields_;   // of metadata that the program uses
  std::set<std::size_t> targets_;  // nodes that need a label
  std::set<std::size_t> lost_writes_;
  std::vector<std::size_t> bit_of_, emits_;
  std::size_t emitted_ = 0;  // emit instructions written so far
};

}  // namespace

Expected<std::string> generate(const SpecFile& spec, const GeneratorOptions& options) {
  const auto flow = make_flow(spec);
  if (!flow) return tl::unexpected(flow.error());
  const auto stages = make_stages(*flow);
  if (!stages) return tl::unexpected(stages.error());
  return Generator(*flow, *stages, options).write();
}

std::string generate_index(const std::string& function, const std::vector<std::string>& ids) {
  std::string out = "// Made by card/aot. Do not edit.\n#include <array>\n\n#include \"card/compiled/programs.h\"\n\n";
  out += "namespace splitplane::nic {\nnamespace compiled {\n";
  for (const std::string& id : ids) out += fmt::format("extern const CompiledProgram k_{};\n", id);
  out += fmt::format("}}\nCompiledPrograms {0}();\nCompiledPrograms {0}() {{\n", function);
  out += fmt::format("  static const std::array<const CompiledProgram*, {}> kAll{{", ids.size());
  for (const std::string& id : ids) out += fmt::format("&compiled::k_{}, ", id);
  return out + "};\n  return kAll;\n}\n}\n";
}

std::string program_id(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  std::string id(path.substr(0, path.rfind('.')));
  std::ranges::replace_if(id, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return id;
}

}  // namespace splitplane::nic
