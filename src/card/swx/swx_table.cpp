#include "card/swx/swx_table.h"

#include <algorithm>
#include <cstring>

namespace splitplane::nic {
namespace {

// The pipeline numbers actions in the order in which they were configured: that of the file.
std::size_t number_of(const SpecFile& spec, std::string_view name) {
  const auto at = std::ranges::find(spec.actions, name, &SpecAction::name);
  return static_cast<std::size_t>(at - spec.actions.begin());
}

unsigned octets_of(const SpecFile& spec, const SpecAction& action) {
  unsigned octets = 0;
  if (!action.arguments.empty()) {
    for (const SpecField& field : spec.find_struct(action.arguments)->fields) octets += field.bits / 8;
  }
  return octets;
}

}  // namespace

Expected<SwxTable> SwxTable::of(rte_swx_pipeline* pipeline, const SpecFile& spec, std::size_t index) {
  const SpecTable& from = spec.tables[index];
  SwxTable table(pipeline, spec, index);

  unsigned first = UINT32_MAX, last = 0;
  for (std::size_t i = 0; i < from.keys.size(); ++i) {
    rte_swx_ctl_table_match_field_info info{};
    rte_swx_ctl_table_match_field_info_get(pipeline, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(i),
                                           &info);
    table.key_.push_back({from.keys[i].field, info.offset / 8, info.n_bits / 8, info.is_header != 0});
    first = std::min(first, info.offset / 8);
    last = std::max(last, (info.offset + info.n_bits) / 8);
  }
  unsigned octets = 0;
  for (TableField& field : table.key_) {
    field.offset -= first;
    octets += field.bytes;
  }
  if (!from.keys.empty()) {
    const bool exact = std::ranges::all_of(from.keys, [](const SpecKey& k) { return k.match == SpecMatch::kExact; });
    int is_stub = 0;
    rte_swx_ctl_table_ops_get(pipeline, static_cast<std::uint32_t>(index), &table.ops_, &is_stub);
    if (!exact || octets != last - first || table.ops_.add == nullptr || table.ops_.del == nullptr) {
      return fail(
          "{}:{}: the key of table {} is not exact and in one piece; allowed: exact keys whose fields lie side "
          "by side",
          spec.path, from.line, from.name);
    }
  }
  table.key_octets_.resize(octets);
  unsigned data = 0;
  for (const SpecTableAction& action : from.actions)
    data = std::max(data, octets_of(spec, *spec.find_action(action.name)));
  table.data_octets_.resize(data);
  return table;
}

std::uint64_t SwxTable::action_id(const SpecTableAction& action) const {
  return number_of(*file_, action.name);
}

std::vector<TableField> SwxTable::arguments(const SpecAction& action) const {
  std::vector<TableField> fields;
  if (action.arguments.empty()) return fields;
  unsigned offset = 0;
  for (std::uint32_t i = 0; i < file_->find_struct(action.arguments)->fields.size(); ++i) {
    rte_swx_ctl_action_arg_info info{};
    rte_swx_ctl_action_arg_info_get(pipeline_, static_cast<std::uint32_t>(number_of(*file_, action.name)), i, &info);
    fields.push_back({info.name, offset, info.n_bits / 8, info.is_network_byte_order != 0});
    offset += info.n_bits / 8;
  }
  return fields;
}

rte_swx_table_state& SwxTable::state() const {
  rte_swx_table_state* all = nullptr;
  rte_swx_pipeline_table_state_get(pipeline_, &all);
  return all[index_];
}

rte_swx_table_entry SwxTable::make_entry(std::span<const std::uint64_t> key) {
  for (std::size_t i = 0; i < key_.size(); ++i) store(key_[i], key_octets_.data(), key[i]);
  rte_swx_table_entry entry{};
  entry.key = key_octets_.data();
  return entry;
}

void SwxTable::write_data(const TableAction& action, std::span<const std::uint64_t> values) {
  std::ranges::fill(data_octets_, std::uint8_t{0});
  for (const auto& argument : action.arguments) store(argument.field, data_octets_.data(), values[argument.from]);
}

bool SwxTable::set(std::span<const std::uint64_t> key, const TableAction& action,
                   std::span<const std::uint64_t> values) {
  rte_swx_table_entry entry = make_entry(key);
  write_data(action, values);
  entry.action_id = action.id;
  entry.action_data = data_octets_.data();
  return ops_.add(state().obj, &entry) == 0;
}

void SwxTable::remove(std::span<const std::uint64_t> key) {
  rte_swx_table_entry entry = make_entry(key);
  ops_.del(state().obj, &entry);
}

void SwxTable::set_default(const TableAction& action, std::span<const std::uint64_t> values) {
  write_data(action, values);
  rte_swx_table_state& at = state();
  at.default_action_id = action.id;
  if (!data_octets_.empty()) std::memcpy(at.default_action_data, data_octets_.data(), data_octets_.size());
}

}  // namespace splitplane::nic
