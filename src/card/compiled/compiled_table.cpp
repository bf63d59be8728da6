#include "card/compiled/compiled_table.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace splitplane::nic {
namespace {

using Lookup = RowLayout::Lookup;

std::uint64_t cut(std::uint64_t value, unsigned bytes) {
  return bytes >= 8 ? value : value & ((std::uint64_t{1} << 8 * bytes) - 1);
}

std::uint64_t number_at(const std::uint8_t* row, const FieldPlace& place) {
  std::uint64_t value = 0;
  std::memcpy(&value, row + place.offset, place.bytes);
  return value;
}

void write_number(std::uint8_t* row, const FieldPlace& place, std::uint64_t value) {
  std::memcpy(row + place.offset, &value, place.bytes);
}

}  // namespace

CompiledTable::CompiledTable(const SpecFile& spec, std::size_t index)
    : PipelineTable(spec, index), layout_(row_layout(spec, spec.tables[index])) {}

Expected<CompiledTable> CompiledTable::of(const SpecFile& spec, std::size_t index, int numa_node) {
  CompiledTable table(spec, index);
  table.memory_ = take_memory((table.layout_.rows + 1) * table.layout_.bytes, numa_node);
  if (!table.memory_) return fail("{}: no memory for table {}", spec.path, table.name());
  table.write_first_default();
  return table;
}

std::uint64_t CompiledTable::action_id(const SpecTableAction& action) const {
  return static_cast<std::uint64_t>(&action - spec_->actions.data()) + 1;
}

std::vector<TableField> CompiledTable::arguments(const SpecAction& action) const {
  std::vector<TableField> fields;
  if (action.arguments.empty()) return fields;
  const auto& names = file_->find_struct(action.arguments)->fields;
  const auto at = std::ranges::find(spec_->actions, action.name, &SpecTableAction::name);
  const auto& places = layout_.arguments[static_cast<std::size_t>(at - spec_->actions.begin())];
  for (std::size_t i = 0; i < names.size(); ++i) {
    fields.push_back({names[i].name, places[i].offset, places[i].bytes, false});
  }
  return fields;
}

// "default_action NAME args ARGUMENT VALUE ..."
void CompiledTable::write_first_default() {
  const auto of_table = std::ranges::find(spec_->actions, spec_->default_action, &SpecTableAction::name);
  TableAction action{.id = action_id(*of_table), .arguments = {}};
  std::vector<std::uint64_t> values;
  std::istringstream words(spec_->default_arguments);
  const std::vector<TableField> fields = arguments(*file_->find_action(of_table->name));
  for (std::string name, value; words >> name >> value;) {
    const auto field = std::ranges::find(fields, name, &TableField::name);
    if (field == fields.end()) continue;
    action.arguments.push_back({*field, values.size()});
    values.push_back(std::strtoull(value.c_str(), nullptr, 0));
  }
  write(layout_.rows, action, values);
}

std::uint64_t CompiledTable::find(std::span<const std::uint64_t> key) const {
  if (layout_.lookup == Lookup::kNone) return layout_.rows;
  if (layout_.lookup == Lookup::kDirect) {
    std::uint64_t index = 0;
    for (std::size_t i = 0; i < layout_.key.size(); ++i)
      index = index << 8 * layout_.key[i].bytes | cut(key[i], layout_.key[i].bytes);
    return index;
  }
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < layout_.key.size(); ++i) hash = compiled::mixed(hash, cut(key[i], layout_.key[i].bytes));
  for (std::uint64_t index = hash & (layout_.rows - 1);; index = (index + 1) & (layout_.rows - 1)) {
    bool same = true;
    for (std::size_t i = 0; i < layout_.key.size(); ++i)
      same = same && number_at(row(index), layout_.key[i]) == cut(key[i], layout_.key[i].bytes);
    if (same || is_free(index)) return index;
  }
}

std::uint64_t CompiledTable::home_of(std::uint64_t index) const {
  std::uint64_t hash = 0;
  for (const FieldPlace& place : layout_.key) hash = compiled::mixed(hash, number_at(row(index), place));
  return hash & (layout_.rows - 1);
}

void CompiledTable::write(std::uint64_t index, const TableAction& action, std::span<const std::uint64_t> values) {
  std::uint8_t* const at = row(index);
  std::memset(at, 0, layout_.bytes);
  for (const auto& argument : action.arguments) store(argument.field, at, values[argument.from]);
  at[layout_.action_at] = static_cast<std::uint8_t>(action.id);
}

bool CompiledTable::set(std::span<const std::uint64_t> key, const TableAction& action,
                        std::span<const std::uint64_t> values) {
  if (layout_.lookup == Lookup::kNone) return false;
  const std::uint64_t index = find(key);
  if (is_free(index)) {
    if (used_ == size()) return false;
    ++used_;
  }
  write(index, action, values);
  if (layout_.lookup == Lookup::kDirect) return true;
  for (std::size_t i = 0; i < layout_.key.size(); ++i) write_number(row(index), layout_.key[i], key[i]);
  return true;
}

// Rows behind the removed one move up, as far as their keys may stand there. So no lookup meets a gap.
void CompiledTable::remove(std::span<const std::uint64_t> key) {
  if (layout_.lookup == Lookup::kNone) return;
  std::uint64_t gap = find(key);
  if (is_free(gap)) return;
  --used_;
  if (layout_.lookup == Lookup::kHash) {
    const std::uint64_t mask = layout_.rows - 1;
    for (std::uint64_t next = (gap + 1) & mask; !is_free(next); next = (next + 1) & mask) {
      if (((next - home_of(next)) & mask) < ((next - gap) & mask)) continue;
      std::memcpy(row(gap), row(next), layout_.bytes);
      gap = next;
    }
  }
  std::memset(row(gap), 0, layout_.bytes);
}

void CompiledTable::set_default(const TableAction& action, std::span<const std::uint64_t> values) {
  write(layout_.rows, action, values);
}

}  // namespace splitplane::nic
