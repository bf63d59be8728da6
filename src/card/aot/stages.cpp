#include "card/aot/stages.h"

#include <algorithm>
#include <bit>
#include <set>

namespace splitplane::nic {
namespace {

using Kind = FlowOperand::Kind;
using Set = std::vector<bool>;

constexpr unsigned kMaxStages = 63, kArraysInRecord = 8, kMaxMeetings = 64;

bool uses_array(FlowOp op) {
  return op == FlowOp::kRead || op == FlowOp::kWrite || op == FlowOp::kCount;
}

class StageMaker {
 public:
  explicit StageMaker(const Flow& flow)
      : flow_(flow), variables_(kSpecialCount + flow.metadata->fields.size()), passes_(flow.nodes.size()) {}

  Expected<Stages> make() {
    do {
      if (auto done = lay_out(); !done) return tl::unexpected(done.error());
    } while (take_a_wait_away());
    for (Wait& wait : out_.waits) {
      if (wait.why == Wait::Why::kRegisters) wait.groups = groups_to_prefetch(wait.node, wait.stage, wait.stage);
    }
    for (const std::size_t node : early_) out_.prefetches.push_back({node, groups_to_prefetch(node, 0, kMaxStages)});
    keep_variables();
    return std::move(out_);
  }

 private:
  // From the beginning: which packets wait where, and which arrays share a record.
  Expected<void> lay_out() {
    out_ = {};
    meetings_ = 0;
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (node.op == FlowOp::kLookup && is_large(node.table)) {
        out_.waits.push_back({.node = i, .table = node.table});
        if (!prefetched_arrays(i).empty() && !early_.contains(node.end))
          out_.waits.push_back({.node = node.end, .why = Wait::Why::kRegisters, .table = node.table});
      }
    }
    if (auto done = number_stages(); !done) return done;
    for (auto wrong_use = find_wrong_use(); wrong_use; wrong_use = find_wrong_use()) {
      if (auto done = meet_before(*wrong_use); !done) return done;
    }
    group_arrays();
    return {};
  }
  // Where packets would wait for registers that are used behind a further wait only, they need not: the prefetch has
  // time anyway. Returns true if there was such a place.
  bool take_a_wait_away() {
    const auto at = std::ranges::find_if(out_.waits, [&](const Wait& wait) {
      return wait.why == Wait::Why::kRegisters && groups_to_prefetch(wait.node, wait.stage, wait.stage).empty() &&
             !groups_to_prefetch(wait.node, wait.stage, kMaxStages).empty();
    });
    return at != out_.waits.end() && early_.insert(at->node).second;
  }

  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> wrong(unsigned line, fmt::format_string<Args...> format, Args&&... args) const {
    return fail("{}:{}: {}", flow_.spec->path, line, fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool is_large(std::size_t table) const {
    return flow_.spec->tables[table].size >= kLargeTable && !flow_.spec->tables[table].keys.empty();
  }
  static const FlowOperand& index_of(const FlowNode& node) { return node.operands[node.op == FlowOp::kRead ? 1 : 0]; }
  [[nodiscard]] std::uint64_t records(std::size_t array) const {
    return std::bit_ceil(std::uint64_t{flow_.spec->registers[array].size});
  }

  // Fields of metadata that the actions of a lookup set.
  [[nodiscard]] std::set<std::size_t> set_by_actions(std::size_t lookup) const {
    std::set<std::size_t> fields;
    for (std::size_t i = lookup + 1; i < flow_.nodes[lookup].end; ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (node.op == FlowOp::kMove && node.operands[0].kind == Kind::kMetadata) fields.insert(node.operands[0].field);
    }
    return fields;
  }
  // Large arrays behind a lookup that a field indexes which the lookup's action sets.
  [[nodiscard]] std::set<std::size_t> prefetched_arrays(std::size_t lookup) const {
    const auto fields = set_by_actions(lookup);
    std::set<std::size_t> arrays;
    for (std::size_t i = flow_.nodes[lookup].end + 1; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (!uses_array(node.op) || records(node.array) < kLargeTable) continue;
      const FlowOperand& index = index_of(node);
      if (index.kind == Kind::kMetadata && fields.contains(index.field)) arrays.insert(node.array);
    }
    return arrays;
  }

  // passes_: a bit for each stage in which a node may be executed.
  Expected<void> number_stages() {
    std::ranges::fill(passes_, std::uint64_t{0});
    passes_[0] = 1;
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      for (Wait& wait : out_.waits) {
        if (wait.node != i || passes_[i] == 0) continue;
        const auto last = static_cast<unsigned>(std::bit_width(passes_[i])) - 1;  // in which a packet comes here
        wait.stage = wait.why == Wait::Why::kOthers ? std::max(wait.stage, last) : last + 1;
        if (wait.stage >= kMaxStages)
          return wrong(flow_.nodes[i].line, "too many large tables; allowed: {} stages", kMaxStages);
        passes_[i] = std::uint64_t{1} << wait.stage;
        out_.count = std::max(out_.count, wait.stage + 1);
      }
      for (const std::size_t next : flow_.nodes[i].next) passes_[next] |= passes_[i];
    }
    return {};
  }

  struct WrongUse {
    std::size_t node;
    unsigned stage;  // in which it should be
  };
  // The first use of an array that may come in another stage than the last use.
  std::optional<WrongUse> find_wrong_use() {
    array_passes_.assign(flow_.spec->registers.size(), 0);
    std::vector<bool> is_only_counted(array_passes_.size(), true);
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (!uses_array(node.op)) continue;
      array_passes_[node.array] |= passes_[i];
      if (node.op != FlowOp::kCount) is_only_counted[node.array] = false;
    }
    for (std::size_t i = 0; i < flow_.nodes.size(); ++i) {
      const FlowNode& node = flow_.nodes[i];
      if (!uses_array(node.op) || is_only_counted[node.array] || passes_[i] == 0) continue;
      const auto last = static_cast<unsigned>(std::bit_width(array_passes_[node.array])) - 1;
      if (passes_[i] != std::uint64_t{1} << last) return WrongUse{i, last};
    }
    return std::nullopt;
  }

  // Packets that come too early wait: where the ways of several stages meet, or before the use.
  Expected<void> meet_before(const WrongUse& use) {
    std::size_t meeting = use.node;
    if (std::popcount(passes_[use.node]) > 1) {
      std::vector<bool> leads_there(flow_.nodes.size());
      leads_there[use.node] = true;
      for (std::size_t i = use.node; i-- > 0;) {
        for (const std::size_t next : flow_.nodes[i].next) leads_there[i] = leads_there[i] || leads_there[next];
        if (out_.before(i) != nullptr) leads_there[i] = false;
        if (leads_there[i] && std::popcount(passes_[i]) > 1) meeting = i;
      }
    }
    const FlowNode& node = flow_.nodes[use.node];
    if (++meetings_ > kMaxMeetings || out_.before(meeting) != nullptr || in_action(meeting)) {
      return wrong(
          node.line,
          "register array {} is used both before and behind a large table, so packets of a burst would disturb "
          "one another; allowed: uses between the same tables",
          flow_.spec->registers[node.array].name);
    }
    // A packet that waits where ways meet needs not wait longer than the latest way takes.
    const unsigned stage = meeting == use.node ? use.stage : 0;
    out_.waits.push_back({.node = meeting, .why = Wait::Why::kOthers, .stage = stage});
    return number_stages();
  }
  // A row is not kept while a packet waits.
  [[nodiscard]] bool in_action(std::size_t node) const {
    return std::ranges::any_of(flow_.nodes, [&](const FlowNode& lookup) {
      const auto at = static_cast<std::size_t>(&lookup - flow_.nodes.data());
      return lookup.op == FlowOp::kLookup && at < node && node < lookup.end;
    });
  }

  void group_arrays() {
    struct Use {
      std::optional<std::size_t> by;
      bool mixed = false;
    };
    std::vector<Use> uses(array_passes_.size());
    for (const FlowNode& node : flow_.nodes) {
      if (!uses_array(node.op)) continue;
      Use& use = uses[node.array];
      const FlowOperand& index = index_of(node);
      if (index.kind != Kind::kMetadata || (use.by && *use.by != index.field)) use.mixed = true;
      use.by = index.field;
    }
    for (std::size_t array = 0; array < uses.size(); ++array) {
      const auto by = uses[array].mixed ? std::nullopt : uses[array].by;
      const auto same = std::ranges::find_if(out_.groups, [&](const ArrayGroup& group) {
        return by && group.by == by && group.records == records(array) && group.arrays.size() < kArraysInRecord &&
               array_passes_[group.arrays.front()] == array_passes_[array];
      });
      if (same == out_.groups.end()) {
        out_.groups.push_back({.arrays = {array}, .records = records(array), .by = by});
        out_.group_of.push_back(out_.groups.size() - 1);
        out_.offset_of.push_back(0);
      } else {
        out_.offset_of.push_back(static_cast<unsigned>(8 * same->arrays.size()));
        same->arrays.push_back(array);
        out_.group_of.push_back(static_cast<std::size_t>(same - out_.groups.begin()));
      }
    }
    for (ArrayGroup& group : out_.groups)
      group.record_bytes = static_cast<unsigned>(8 * std::bit_ceil(group.arrays.size()));
  }

  // Of the registers whose slot the table before `node` names: those that are used in one of these stages.
  [[nodiscard]] std::vector<std::size_t> groups_to_prefetch(std::size_t node, unsigned first, unsigned last) const {
    std::size_t lookup = 0;
    while (flow_.nodes[lookup].op != FlowOp::kLookup || flow_.nodes[lookup].end != node) ++lookup;
    std::set<std::size_t> groups;
    for (const std::size_t array : prefetched_arrays(lookup)) {
      const std::size_t group = out_.group_of[array];
      const std::uint64_t until = ~std::uint64_t{0} >> (kMaxStages - last);
      if (out_.groups[group].by && (array_passes_[array] & until) >> first != 0) groups.insert(group);
    }
    return {groups.begin(), groups.end()};
  }

  static void add_reads(Set& set, const FlowOperand& operand) {
    if (operand.kind == Kind::kMetadata) set[variable_of(operand.field)] = true;
  }
  // Variables that a node reads, and those that it certainly replaces.
  void reads_and_writes(const FlowNode& node, Set& reads, Set& writes) const {
    const auto write = [&](const FlowOperand& to) {
      if (to.kind == Kind::kMetadata) writes[variable_of(to.field)] = true;
    };
    std::size_t first_read = 0;
    switch (node.op) {
      case FlowOp::kMove:
      case FlowOp::kRead:
      case FlowOp::kReceive:
        write(node.operands[0]);
        first_read = 1;
        break;
      case FlowOp::kAdd:
      case FlowOp::kSubtract:
      case FlowOp::kAnd:
      case FlowOp::kOr:
      case FlowOp::kXor:
      case FlowOp::kShiftLeft:
      case FlowOp::kShiftRight:
        write(node.operands[0]);
        break;
      case FlowOp::kHash:
        write(node.operands[0]);
        first_read = 1;
        if (node.operands[1].kind == Kind::kMetadata) {
          for (std::size_t f = node.operands[1].field; f <= node.operands[2].field; ++f) reads[variable_of(f)] = true;
        }
        break;
      case FlowOp::kExtract:
      case FlowOp::kLookahead:
      case FlowOp::kValidate:
      case FlowOp::kInvalidate:
        reads[kValid] = writes[kValid] = true;
        break;
      case FlowOp::kJumpValid:
      case FlowOp::kJumpInvalid:
        reads[kValid] = true;
        break;
      case FlowOp::kEmit:
        reads[kValid] = reads[kEmitted] = writes[kEmitted] = true;
        break;
      case FlowOp::kTransmit:
      case FlowOp::kDrop:
        reads[kEmitted] = true;
        break;
      case FlowOp::kLookup:
        for (const FlowOperand& key : flow_.keys[node.table]) add_reads(reads, key);
        writes[kHit] = writes[kRanAction] = true;
        break;
      case FlowOp::kJumpHit:
      case FlowOp::kJumpMiss:
        reads[kHit] = true;
        break;
      case FlowOp::kJumpAction:
      case FlowOp::kJumpOtherAction:
        reads[kRanAction] = true;
        break;
      default:
        break;
    }
    for (std::size_t i = first_read; i < node.operands.size(); ++i) add_reads(reads, node.operands[i]);
  }

  // A packet keeps what may have been set before and may be read behind; the rest is 0 or does not matter.
  void keep_variables() {
    const std::size_t n = flow_.nodes.size();
    std::vector<Set> live(n + 1, Set(variables_)), set(n + 1, Set(variables_));
    std::vector<Set> reads(n, Set(variables_)), writes(n, Set(variables_));
    for (std::size_t i = 0; i < n; ++i) reads_and_writes(flow_.nodes[i], reads[i], writes[i]);
    const auto add = [&](Set& to, const Set& from) {
      for (std::size_t v = 0; v < variables_; ++v) to[v] = to[v] || from[v];
    };
    for (std::size_t i = n; i-- > 0;) {
      for (const std::size_t next : flow_.nodes[i].next) add(live[i], live[next]);
      for (std::size_t v = 0; v < variables_; ++v) live[i][v] = (live[i][v] && !writes[i][v]) || reads[i][v];
    }
    for (std::size_t i = 0; i < n; ++i) {
      Set behind = set[i];
      add(behind, writes[i]);
      for (const std::size_t next : flow_.nodes[i].next) add(set[next], behind);
    }
    for (Wait& wait : out_.waits) {
      for (std::size_t v = 0; v < variables_; ++v) {
        if (live[wait.node][v] && set[wait.node][v]) wait.variables.push_back(v);
      }
    }
  }

  const Flow& flow_;
  std::size_t variables_;
  std::vector<std::uint64_t> passes_, array_passes_;
  unsigned meetings_ = 0;
  std::set<std::size_t> early_;  // nodes behind a lookup where registers are prefetched, and no packet waits
  Stages out_;
};

}  // namespace

const Wait* Stages::before(std::size_t node) const {
  const auto at = std::ranges::find(waits, node, &Wait::node);
  return at == waits.end() ? nullptr : &*at;
}

Expected<Stages> make_stages(const Flow& flow) {
  return StageMaker(flow).make();
}

}  // namespace splitplane::nic
